# Installed texts: what the command says of itself (scripts for completion, manual pages), documents and examples.
set(commpass_manual ${PROJECT_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${commpass_manual})
add_custom_command(OUTPUT ${commpass_manual}/commpass.bash ${commpass_manual}/_commpass
  COMMAND commpass completion bash >${commpass_manual}/commpass.bash
  COMMAND commpass completion zsh >${commpass_manual}/_commpass
  DEPENDS commpass)
set(commpass_manual_files ${commpass_manual}/commpass.bash ${commpass_manual}/_commpass)
install(FILES ${commpass_manual}/commpass.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME commpass)
install(FILES ${commpass_manual}/_commpass DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

# A page for each command: commpass-predict.1 is what `man commpass predict` looks for.
add_custom_command(OUTPUT ${commpass_manual}/man1/commpass.1
  COMMAND commpass help --man=${commpass_manual}/man1
  DEPENDS commpass VERBATIM)
install(DIRECTORY ${commpass_manual}/man1/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
add_custom_target(manual ALL DEPENDS ${commpass_manual_files} ${commpass_manual}/man1/commpass.1)

# The pages of docs/, with what they link to.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md HACKING.md SECURITY.md CITATION.cff LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN Doxyfile EXCLUDE
  PATTERN CMakeLists.txt EXCLUDE)

if(COMMPASS_TESTS)
  add_test(NAME site COMMAND ${PROJECT_SOURCE_DIR}/scripts/docs --site ${PROJECT_BINARY_DIR}/site)
  set_tests_properties(site PROPERTIES SKIP_RETURN_CODE 77)
  # Each page is easier to read than newspapers are (60), and the score of a sentence is that by hand.
  add_test(NAME reading_ease COMMAND ${PROJECT_SOURCE_DIR}/scripts/reading-ease --least 60)
  file(WRITE ${PROJECT_BINARY_DIR}/one_sentence.md "# A heading\n\nThe cat sat on the mat.\n")
  add_test(NAME reading_ease_of_a_sentence
           COMMAND ${PROJECT_SOURCE_DIR}/scripts/reading-ease --least 117 ${PROJECT_BINARY_DIR}/one_sentence.md)
  set_tests_properties(reading_ease_of_a_sentence PROPERTIES
    PASS_REGULAR_EXPRESSION " 116[.]1 +6[.]0 +6 .*is harder to read than 117")
  add_test(NAME manual COMMAND ${PROJECT_SOURCE_DIR}/tests/packaging/check_manual $<TARGET_FILE:commpass>)
endif()
