# What the command says of itself, installed: scripts for completion, and, where help2man is found, manual pages.
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

find_program(COMMPASS_HELP2MAN help2man)
if(COMMPASS_HELP2MAN)
  # A page for each command: commpass-predict.1 is what `man commpass predict` looks for.
  foreach(command "" predict report pattern profile run record advise export strategies patterns calibrate measure doctor)
    set(page commpass)
    if(command)
      set(page commpass-${command})
    endif()
    string(STRIP "$<TARGET_FILE:commpass> ${command}" line)
    add_custom_command(OUTPUT ${commpass_manual}/${page}.1
      COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C.UTF-8 ${COMMPASS_HELP2MAN} --no-info --no-discard-stderr --locale=C.UTF-8
              --version-string=${PROJECT_VERSION} --source=Commpass "--name=${PROJECT_DESCRIPTION}"
              --output=${commpass_manual}/${page}.1 ${line}
      DEPENDS commpass VERBATIM)
    list(APPEND commpass_manual_files ${commpass_manual}/${page}.1)
    install(FILES ${commpass_manual}/${page}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endforeach()
else()
  message(STATUS "Manual pages are left out: help2man is not here")
endif()
add_custom_target(manual ALL DEPENDS ${commpass_manual_files})
