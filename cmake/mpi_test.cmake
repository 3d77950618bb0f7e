# Which MPI library this is, and tests that run under its mpirun, on several numbers of ranks.
execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE commpass_mpiexec_version ERROR_QUIET)
if(commpass_mpiexec_version MATCHES "Open MPI|OpenRTE")
  set(COMMPASS_MPI_LIBRARY openmpi)
  set(COMMPASS_MPIEXEC_FLAGS --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca btl_vader_single_copy_mechanism none)
  set(COMMPASS_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
else()
  set(COMMPASS_MPI_LIBRARY mpich)
  set(COMMPASS_MPIEXEC_FLAGS "")
  set(COMMPASS_MPI_ENVIRONMENT "")
endif()

# Adds a test of a program for each number of ranks: NAME.nRANKS.
#   commpass_mpiexec_tests(NAME PROGRAM RANKS … ARGUMENTS …)
function(commpass_mpiexec_tests name program)
  cmake_parse_arguments(PARSE_ARGV 2 test "" "" "ARGUMENTS")
  foreach(ranks ${test_UNPARSED_ARGUMENTS})
    add_test(NAME ${name}.n${ranks}
             COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${COMMPASS_MPIEXEC_FLAGS} $<TARGET_FILE:${program}> ${test_ARGUMENTS})
    # As many ranks as cores at a time; ranks beyond the cores take turns, in one test at a time.
    set_tests_properties(${name}.n${ranks} PROPERTIES PROCESSORS ${ranks} TIMEOUT 300 LABELS mpi ENVIRONMENT "${COMMPASS_MPI_ENVIRONMENT}")
  endforeach()
endfunction()

#   commpass_mpi_test(NAME RANKS … SOURCES … LIBRARIES …)
function(commpass_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "" "RANKS;SOURCES;LIBRARIES")
  add_executable(${name} ${test_SOURCES} $<TARGET_OBJECTS:commpass_mpi_main>)
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${test_LIBRARIES} GTest::gtest commpass_test_options)
  commpass_compile_together(${name} 8)
  commpass_share_test_headers(${name})
  commpass_mpiexec_tests(${name} ${name} ${test_RANKS})
endfunction()
