# Which MPI library this is, and tests that run under its mpirun, on several numbers of ranks.
execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE commpass_mpiexec_version ERROR_QUIET)
if(commpass_mpiexec_version MATCHES "Open MPI|OpenRTE")
  set(COMMPASS_MPI_LIBRARY openmpi)
  set(COMMPASS_MPIEXEC_FLAGS --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca
    btl_vader_single_copy_mechanism none)
  # Without UCX, which looks for networks for 0.4 s at each start and then leaves messages to `ob1`. Where a rank ends
  # with an error, mpirun gives the others a second to end; they need none.
  set(COMMPASS_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_pml=ob1
    OMPI_MCA_odls_base_sigkill_timeout=0)
else()
  set(COMMPASS_MPI_LIBRARY mpich)
  set(COMMPASS_MPIEXEC_FLAGS "")
  set(COMMPASS_MPI_ENVIRONMENT "")
  if(COMMPASS_TESTS)
    enable_language(C)
    add_library(commpass_yield OBJECT ${PROJECT_SOURCE_DIR}/tests/runtime/yield_when_idle.c)
  endif()
endif()

# Has ranks of programs of tests let others run while they wait.
function(commpass_let_ranks_yield)
  if(NOT TARGET commpass_yield)
    return()
  endif()
  foreach(program IN LISTS ARGN)
    get_target_property(yields ${program} commpass_yields)
    if(NOT yields)
      target_sources(${program} PRIVATE $<TARGET_OBJECTS:commpass_yield>)
      target_link_libraries(${program} PRIVATE ${CMAKE_DL_LIBS})
      set_target_properties(${program} PROPERTIES commpass_yields ON)
    endif()
  endforeach()
endfunction()

# Adds a test of a program for each number of ranks: NAME.nRANKS.
#   commpass_mpiexec_tests(NAME PROGRAM RANKS … ARGUMENTS …)
function(commpass_mpiexec_tests name program)
  cmake_parse_arguments(PARSE_ARGV 2 test "" "" "ARGUMENTS")
  commpass_let_ranks_yield(${program})
  foreach(ranks ${test_UNPARSED_ARGUMENTS})
    add_test(NAME ${name}.n${ranks}
             COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${COMMPASS_MPIEXEC_FLAGS}
             $<TARGET_FILE:${program}> ${test_ARGUMENTS})
    # A test waits for as many of ctest's jobs as it has ranks; ranks beyond these take turns, in one test at a time.
    set_tests_properties(${name}.n${ranks} PROPERTIES PROCESSORS ${ranks} TIMEOUT 300 LABELS mpi
      ENVIRONMENT "${COMMPASS_MPI_ENVIRONMENT}")
  endforeach()
endfunction()

# A program of tests under MPI, which commpass_mpi_tests fills and commpass_start_mpi_tests registers.
#   commpass_mpi_program(NAME SOURCES … LIBRARIES …)
function(commpass_mpi_program name)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "" "SOURCES;LIBRARIES")
  add_executable(${name})
  commpass_optimised_first(${name} ${program_LIBRARIES})
  target_sources(${name} PRIVATE ${program_SOURCES} $<TARGET_OBJECTS:commpass_mpi_main>)
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${program_LIBRARIES} GTest::gtest commpass_test_options)
  commpass_precompile(${name} tests)
  commpass_compile_together(${name} 8)
endfunction()

# Adds sources to a program; their suites run on these numbers of ranks, those of other sources on others.
#   commpass_mpi_tests(PROGRAM RANKS … SOURCES …)
function(commpass_mpi_tests program)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "" "RANKS;SOURCES")
  target_sources(${program} PRIVATE ${test_SOURCES})
  commpass_list_tests(${program} ${test_SOURCES})
  commpass_suites_of(suites ${test_SOURCES})
  set_property(TARGET ${program} APPEND PROPERTY commpass_suites ${suites})
  foreach(suite IN LISTS suites)
    set_property(TARGET ${program} PROPERTY commpass_ranks_of_${suite} ${test_RANKS})
  endforeach()
  set_property(TARGET ${program} APPEND PROPERTY commpass_ranks ${test_RANKS})
endfunction()

# A test for each number of ranks, PROGRAM.nRANKS: one start of the program with all suites that run on this number.
function(commpass_start_mpi_tests program)
  get_target_property(all_ranks ${program} commpass_ranks)
  get_target_property(suites ${program} commpass_suites)
  list(REMOVE_DUPLICATES all_ranks)
  foreach(ranks IN LISTS all_ranks)
    set(others "")  # suites that are not to run: a suite that CMake has not seen yet runs on any number
    foreach(suite IN LISTS suites)
      get_target_property(own ${program} commpass_ranks_of_${suite})
      if(NOT ranks IN_LIST own)
        list(APPEND others ${suite}.* */${suite}.*)
      endif()
    endforeach()
    list(JOIN others : others)
    commpass_mpiexec_tests(${program} ${program} ${ranks} ARGUMENTS --gtest_filter=-${others})
  endforeach()
endfunction()

# A program whose suites all run on the same numbers of ranks.
#   commpass_mpi_test(NAME RANKS … SOURCES … LIBRARIES …)
function(commpass_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "" "RANKS;SOURCES;LIBRARIES")
  commpass_mpi_program(${name} SOURCES ${test_SOURCES} LIBRARIES ${test_LIBRARIES})
  commpass_list_tests(${name} ${test_SOURCES})
  commpass_mpiexec_tests(${name} ${name} ${test_RANKS})
endfunction()
