# Programs that know nothing of Commpass, with and without libcommpass-mpi before the MPI library.
if(NOT TARGET commpass_mpi)
  return()
endif()
commpass_test(rivalry_test SOURCES preload/rivalry_test.cpp LIBRARIES commpass::interposition)
target_link_libraries(rivalry_test PRIVATE MPI::MPI_CXX)

add_executable(unmodified preload/unmodified.c)
target_link_libraries(unmodified PRIVATE MPI::MPI_CXX)
set_target_properties(unmodified PROPERTIES LINKER_LANGUAGE CXX C_STANDARD 11)
target_compile_options(unmodified PRIVATE -Wall -Wextra)
set(commpass_unmodified_programs unmodified)
find_package(Threads REQUIRED)
foreach(name hostile disagreeing last_calls many_calls neighborhoods persistent session)
  add_executable(${name} preload/${name}.c)
  target_link_libraries(${name} PRIVATE MPI::MPI_CXX Threads::Threads)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX C_STANDARD 11)
  target_compile_options(${name} PRIVATE -Wall -Wextra)
endforeach()
if(COMMPASS_FORTRAN)
  foreach(program unmodified messages neighborhoods persistent)
    foreach(module f08 mpi)
      set(name ${program}_${module})
      add_executable(${name} preload/${program}.F90)
      target_link_libraries(${name} PRIVATE MPI::MPI_Fortran)
      target_compile_options(${name} PRIVATE -Wall -ffree-line-length-none)
      if(COMMPASS_MPI_LIBRARY STREQUAL openmpi AND program MATCHES "neighborhoods|persistent")
        target_compile_definitions(${name} PRIVATE COMMPASS_TEST_MPIX)
      endif()
      set_target_properties(${name} PROPERTIES Fortran_MODULE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name}.modules)
    endforeach()
    target_compile_definitions(${program}_mpi PRIVATE COMMPASS_TEST_MPI)
  endforeach()
  list(APPEND commpass_unmodified_programs unmodified_f08 unmodified_mpi)
endif()

if(COMMPASS_MPI_LIBRARY STREQUAL mpich)
  add_library(commpass_preloaded_yield MODULE runtime/yield_when_idle.c)
  set(commpass_yielding ":$<TARGET_FILE:commpass_preloaded_yield>")
endif()

# The program says that all it compared is the same; and rank 0 reports whose calls they were.
#   commpass_unmodified_tests(NAME PROGRAM RANKS … EXPECT REGEX VARIABLES NAME=VALUE … ARGUMENTS … LIBRARY TARGET)
function(commpass_unmodified_tests name program)
  cmake_parse_arguments(PARSE_ARGV 2 test "" "EXPECT;REFUSE;LIBRARY" "VARIABLES;ARGUMENTS")
  if(NOT test_LIBRARY)
    set(test_LIBRARY commpass_mpi)
  endif()
  set(wrong "comparisons failed;other bytes;cannot be preloaded;exited on signal;non-zero;BAD TERMINATION")
  if(test_REFUSE)
    list(APPEND wrong "${test_REFUSE}")
  endif()
  set(preloaded "$<TARGET_FILE:${test_LIBRARY}>${commpass_yielding}")
  foreach(ranks ${test_UNPARSED_ARGUMENTS})
    add_test(NAME ${name}.n${ranks}
             COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${COMMPASS_MPIEXEC_FLAGS}
                     env LD_PRELOAD=${preloaded} COMMPASS_PROFILE=lassen COMMPASS_VERBOSE=1
                     ${test_VARIABLES} $<TARGET_FILE:${program}> ${test_ARGUMENTS})
    set_tests_properties(${name}.n${ranks} PROPERTIES PROCESSORS ${ranks} TIMEOUT 300 LABELS mpi
                         ENVIRONMENT "${COMMPASS_MPI_ENVIRONMENT}"
                         PASS_REGULAR_EXPRESSION "${test_EXPECT}" FAIL_REGULAR_EXPRESSION "${wrong}")
  endforeach()
endfunction()
if(COMMPASS_MPI_LIBRARY STREQUAL mpich)
  list(REMOVE_ITEM commpass_unmodified_programs unmodified_f08)  # its module goes past all names of MPI
endif()
set(commpass_unmodified_ranks 2 3 5)
set(commpass_neighborhood_ranks 1 2 3 4 5)
if(COMMPASS_MPI_LIBRARY STREQUAL mpich)  # whose ranks take longer for it
  set(commpass_unmodified_ranks 2 3)
  set(commpass_neighborhood_ranks 1 2 3 4)
endif()
foreach(program ${commpass_unmodified_programs})
  set(expect "\nalltoallv +[235] +[0-9]+ +0 +[1-9]")
  if(NOT program STREQUAL unmodified)  # from Fortran alone
    string(APPEND expect ".*\nneighbor_alltoallw +[235] +[0-9]+ +0 +[1-9]")
  endif()
  commpass_unmodified_tests(${program}_always ${program} ${commpass_unmodified_ranks} VARIABLES COMMPASS_MPI=always
    EXPECT "${expect}")
  commpass_unmodified_tests(${program}_off ${program} 2 VARIABLES COMMPASS_MPI=off EXPECT "all comparisons hold"
    REFUSE "calls of rank 0")
endforeach()
commpass_unmodified_tests(unmodified_tuna unmodified 2 4 VARIABLES COMMPASS_MPI=always
  COMMPASS_ALLTOALLV_STRATEGY=tuna,radix=2 EXPECT "tuna,radix=2")
commpass_unmodified_tests(unmodified_two_nodes unmodified 4
  VARIABLES COMMPASS_MPI=always COMMPASS_LAYOUT=2x2 COMMPASS_ALLTOALLV_STRATEGY=two-step
  EXPECT "alltoallv +4 +[0-9]+ +0 +[1-9].*two-step")
commpass_unmodified_tests(unmodified_on unmodified 2 3
  VARIABLES COMMPASS_MPI=on COMMPASS_MPI_LOSS=1000 COMMPASS_ALLTOALLV_STRATEGY=standard
  EXPECT "alltoallv +[23] +[0-9]+ +[1-9][0-9]* +[0-9]+ +[1-9]")
commpass_unmodified_tests(unmodified_left unmodified 2 3
  VARIABLES COMMPASS_MPI=on COMMPASS_MPI_LOSS=1000 COMMPASS_ALLTOALLV_STRATEGY=mpi
  EXPECT "\nalltoallw +[23] +[0-9]+ +[1-9][0-9]* +0 +0 [^\n]* mpi\n")
commpass_unmodified_tests(unmodified_alone unmodified 1 VARIABLES COMMPASS_MPI=on
  EXPECT "nothing was taken over: MPI ran all [1-9][0-9]* calls of rank 0")
commpass_unmodified_tests(unmodified_record unmodified 1 2 VARIABLES COMMPASS_MPI=record
  EXPECT "alltoallv +[12] +[1-9][0-9]* +[1-9][0-9]* +0 +0" REFUSE "taken over")
commpass_unmodified_tests(unmodified_calls unmodified 2 VARIABLES COMMPASS_MPI=always
  COMMPASS_MPI_CALLS=alltoallw,neighbor_allgather EXPECT "\nalltoallw +2 +[0-9]+ +0 +[1-9]" REFUSE "\nalltoallv +2")
commpass_unmodified_tests(hostile_always hostile ${commpass_unmodified_ranks} VARIABLES COMMPASS_MPI=always
  EXPECT "\nneighbor_alltoallw +[235] +[0-9]+ +0 +[1-9]")
commpass_unmodified_tests(hostile_two_nodes hostile 4
  VARIABLES COMMPASS_MPI=always COMMPASS_LAYOUT=2x2 COMMPASS_ALLTOALLV_STRATEGY=two-step
  EXPECT "alltoallw +4 +[0-9]+ +0 +[1-9].*two-step")
commpass_unmodified_tests(hostile_by_mpi hostile 3 VARIABLES COMMPASS_MPI=always COMMPASS_ALLTOALLV_STRATEGY=mpi
  EXPECT "neighbor_alltoallw +3 +[0-9]+ +0 +[1-9][^\n]* mpi\n")
# MPI libraries move some of these blocks to wrong places.
commpass_unmodified_tests(neighborhoods_always neighborhoods ${commpass_unmodified_ranks}
  VARIABLES COMMPASS_MPI=always EXPECT "all comparisons hold")
commpass_unmodified_tests(neighborhoods_on neighborhoods ${commpass_neighborhood_ranks}
  VARIABLES COMMPASS_MPI=on EXPECT "all comparisons hold")
commpass_unmodified_tests(neighborhoods_tried neighborhoods 2 ARGUMENTS 24
  VARIABLES COMMPASS_MPI=on COMMPASS_MPI_LOSS=1000 COMMPASS_ALLTOALLV_STRATEGY=standard EXPECT "all comparisons hold")
# Exchanges of persistent collectives are run by plans, which MPI_Start begins.
set(planned "alltoall_init +[235] +[0-9]+ +[0-9]+ +[1-9]")
set(planned "all comparisons hold.*${planned}|${planned}.*all comparisons hold")
commpass_unmodified_tests(persistent_always persistent ${commpass_unmodified_ranks} ARGUMENTS 40 ours
  VARIABLES COMMPASS_MPI=always COMMPASS_MPI_LOSS=1000 EXPECT "${planned}")
commpass_unmodified_tests(persistent_messages persistent 2 3 ARGUMENTS 20 ours
  VARIABLES COMMPASS_MPI=always COMMPASS_ALLTOALLV_STRATEGY=standard EXPECT "${planned}" REFUSE "shared")
commpass_unmodified_tests(persistent_shared persistent 2 ARGUMENTS 20 ours VARIABLES COMMPASS_MPI=always
  COMMPASS_ALLTOALLV_STRATEGY=standard,shared EXPECT "alltoall_init +2 +[0-9]+ +[0-9]+ +[1-9][^\n]* standard,shared\n")
commpass_unmodified_tests(persistent_tried persistent 1 2 3 ARGUMENTS 60
  VARIABLES COMMPASS_MPI=on COMMPASS_MPI_LOSS=1000 EXPECT "all comparisons hold")
commpass_unmodified_tests(persistent_on persistent 2 3 VARIABLES COMMPASS_MPI=on EXPECT "all comparisons hold")
commpass_unmodified_tests(persistent_off persistent 2 VARIABLES COMMPASS_MPI=off EXPECT "all comparisons hold"
  REFUSE "calls of rank 0")
commpass_unmodified_tests(persistent_threads persistent 2 ARGUMENTS 20 threads
  VARIABLES COMMPASS_MPI=always EXPECT "all comparisons hold" REFUSE "_init +2 +[0-9]+ +[0-9]+ +[1-9]")
# A strategy of several stages might wait for ever.
commpass_unmodified_tests(persistent_forwarded persistent 3 VARIABLES COMMPASS_MPI=always
  COMMPASS_ALLTOALLV_STRATEGY=tuna,radix=2 EXPECT "all comparisons hold" REFUSE "_init +3 +[0-9]+ +[0-9]+ +[1-9]")
commpass_unmodified_tests(persistent_limited persistent 3 VARIABLES COMMPASS_MPI=always COMMPASS_LIMITS=messages=1
  COMMPASS_ALLTOALLV_STRATEGY=standard EXPECT "\nalltoall_init +3 +[0-9]+ +[0-9]+ +0")
if(COMMPASS_FORTRAN)  # MPICH's module mpi_f08 goes past all names of MPI
  set(modules mpi f08)
  if(COMMPASS_MPI_LIBRARY STREQUAL mpich)
    set(modules mpi)
  endif()
  foreach(module ${modules})
    commpass_unmodified_tests(persistent_${module} persistent_${module} 2 3 VARIABLES COMMPASS_MPI=always
      EXPECT "${planned}")
    if(COMMPASS_MPI_LIBRARY STREQUAL mpich)  # its own requests of persistent collectives do not complete in each way
      continue()
    endif()
    commpass_unmodified_tests(persistent_${module}_tried persistent_${module} 1 2 3
      VARIABLES COMMPASS_MPI=on COMMPASS_MPI_LOSS=1000 EXPECT "all comparisons hold")
    commpass_unmodified_tests(persistent_${module}_off persistent_${module} 2 VARIABLES COMMPASS_MPI=off
      EXPECT "all comparisons hold" REFUSE "calls of rank 0")
  endforeach()
endif()
if(COMMPASS_FORTRAN)  # MPICH's module mpi_f08 goes past all names of MPI
  commpass_unmodified_tests(neighborhoods_mpi neighborhoods_mpi 1 2 3 VARIABLES COMMPASS_MPI=on
    EXPECT "all comparisons hold")
  if(NOT COMMPASS_MPI_LIBRARY STREQUAL mpich)
    commpass_unmodified_tests(neighborhoods_f08 neighborhoods_f08 1 2 3 VARIABLES COMMPASS_MPI=on
      EXPECT "all comparisons hold")
  endif()
endif()
commpass_unmodified_tests(hostile_on hostile 2 3
  VARIABLES COMMPASS_MPI=on COMMPASS_MPI_LOSS=1000 COMMPASS_ALLTOALLV_STRATEGY=standard
  EXPECT "alltoallv +[23] +[0-9]+ +[1-9][0-9]* +[0-9]+ +[1-9]")
if(COMMPASS_STATIC_CXX_LIBRARY AND COMMPASS_MPI_LIBRARY STREQUAL openmpi)
  add_executable(heap preload/heap.c)
  target_link_libraries(heap PRIVATE MPI::MPI_CXX)
  set_target_properties(heap PROPERTIES LINKER_LANGUAGE CXX C_STANDARD 11)
  target_compile_options(heap PRIVATE -Wall -Wextra)
  commpass_unmodified_tests(heap_off heap 2 VARIABLES COMMPASS_MPI=off EXPECT "the heap shrinks")
  commpass_unmodified_tests(heap_record heap 2 3
    VARIABLES COMMPASS_MPI=record COMMPASS_MPI_RECORD=${CMAKE_CURRENT_BINARY_DIR}/heap.json
    EXPECT "the heap shrinks" REFUSE "the heap keeps")
endif()
add_executable(out_of_reach preload/out_of_reach.c)
target_link_libraries(out_of_reach PRIVATE MPI::MPI_CXX)
set_target_properties(out_of_reach PROPERTIES LINKER_LANGUAGE CXX C_STANDARD 11)
target_compile_options(out_of_reach PRIVATE -Wall -Wextra)
commpass_unmodified_tests(out_of_reach_on out_of_reach 2 VARIABLES COMMPASS_MPI=on
  EXPECT "^commpass: no call was within reach: [^\n]*\n$")
# Errors that MPI returns are returned, and the communicator works on.
set(told "MPI_Alltoallv: alltoallv, rank 1: ")
set(told "all comparisons hold.*${told}|${told}.*all comparisons hold")
commpass_unmodified_tests(disagreeing_always disagreeing 2 3 VARIABLES COMMPASS_MPI=always EXPECT "${told}")
commpass_unmodified_tests(disagreeing_own disagreeing 2 3 VARIABLES COMMPASS_MPI=always ARGUMENTS own EXPECT "${told}")
commpass_unmodified_tests(disagreeing_forwarded disagreeing 4 VARIABLES COMMPASS_MPI=always
  COMMPASS_ALLTOALLV_STRATEGY=tuna,radix=2 ARGUMENTS forwarded EXPECT "${told}")
if(COMMPASS_MPI_LIBRARY STREQUAL mpich)  # after such an error in Open MPI 4.1 the other ranks wait for ever
  commpass_unmodified_tests(disagreeing_on disagreeing 3 VARIABLES COMMPASS_MPI=on
    COMMPASS_MPI_LOSS=1000 COMMPASS_ALLTOALLV_STRATEGY=standard EXPECT "${told}")
  commpass_unmodified_tests(disagreeing_by_mpi disagreeing 3 VARIABLES COMMPASS_MPI=always
    COMMPASS_ALLTOALLV_STRATEGY=mpi EXPECT "${told}")
endif()
# Calls in callbacks of MPI_Finalize are taken over, too.
set(row "alltoall +[23] +24 +0 +24")
set(last_calls "all comparisons hold.*${row}|${row}.*all comparisons hold")
commpass_unmodified_tests(last_calls last_calls 2 3 VARIABLES COMMPASS_MPI=always EXPECT "${last_calls}")
commpass_unmodified_tests(last_calls_free last_calls 2 VARIABLES COMMPASS_MPI=always ARGUMENTS free
  EXPECT "${last_calls}")
# Calls are counted though most of them are not watched.
set(row "alltoall +[23] +18000 .*by samples")
set(many_calls "all comparisons hold.*${row}|${row}.*all comparisons hold")
commpass_unmodified_tests(many_calls many_calls 2 3 VARIABLES COMMPASS_MPI=on EXPECT "${many_calls}")
commpass_unmodified_tests(many_calls_told many_calls 2 3 VARIABLES COMMPASS_MPI=on COMMPASS_MPI_LOSS=1000
  COMMPASS_ALLTOALLV_STRATEGY=standard COMMPASS_MPI_REPORT=/dev/null EXPECT "alltoall +[23] +18000 ")
# Calls that are not within reach are told of.
commpass_unmodified_tests(session session 2 VARIABLES COMMPASS_MPI=always
  EXPECT "MPI ran all calls of MPI sessions before MPI_Init|no sessions" REFUSE "MPI sessions.*MPI sessions")
commpass_unmodified_tests(unmodified_misnamed unmodified 2 VARIABLES COMMPASS_MPI=always COMMPASS_STRATEGY=two-step
  EXPECT "COMMPASS_STRATEGY has no effect on calls that are taken over"
  REFUSE "COMMPASS_STRATEGY has.*COMMPASS_STRATEGY has")
commpass_unmodified_tests(unmodified_misfit unmodified 2 3 VARIABLES COMMPASS_MPI=always COMMPASS_LAYOUT=2x2
  EXPECT "commpass: MPI runs all calls of a communicator of [23] ranks: [^\n]*layout"
  REFUSE "MPI runs all calls of a comm.*MPI runs all calls of a comm")
# Where some ranks lack the library, the others say so.
function(commpass_partly_preloaded_test name)
  add_test(NAME ${name} COMMAND timeout 13 ${MPIEXEC_EXECUTABLE} ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS mpi ENVIRONMENT "${COMMPASS_MPI_ENVIRONMENT}"  # they wait
                       PASS_REGULAR_EXPRESSION "rank [01] has waited 10 s in MPI_Init for ranks that seem to have no"
                       FAIL_REGULAR_EXPRESSION "commpass: .*commpass: ")
endfunction()
set(one ${MPIEXEC_NUMPROC_FLAG} 1)
set(two ${MPIEXEC_NUMPROC_FLAG} 2)
set(preloaded env LD_PRELOAD=$<TARGET_FILE:commpass_mpi> COMMPASS_MPI=on $<TARGET_FILE:unmodified>)
set(plain $<TARGET_FILE:unmodified>)
commpass_partly_preloaded_test(preloaded_on_rank_0 ${COMMPASS_MPIEXEC_FLAGS} ${one} ${preloaded} : ${two} ${plain})
commpass_partly_preloaded_test(preloaded_but_on_rank_0 ${COMMPASS_MPIEXEC_FLAGS} ${one} ${plain} : ${one} ${preloaded})
# An unknown value switches off, and says so in one line.
commpass_unmodified_tests(unmodified_misled unmodified 2 VARIABLES COMMPASS_MPI=sometimes
  EXPECT "left to the MPI library: .*sometimes")

# What record writes of exchanges that are known.
foreach(name duplicates recorded messages)
  add_executable(${name} preload/${name}.c)
  target_link_libraries(${name} PRIVATE MPI::MPI_CXX Threads::Threads)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX C_STANDARD 11)
  target_compile_options(${name} PRIVATE -Wall -Wextra)
endforeach()
list(JOIN COMMPASS_MPIEXEC_FLAGS " " commpass_mpiexec_flags)
list(JOIN COMMPASS_MPI_ENVIRONMENT " " commpass_mpi_environment)
set(commpass_recorded_processors 1)  # ranks of Open MPI wait for their start for most of the time
if(COMMPASS_MPI_LIBRARY STREQUAL mpich)  # and those of MPICH compute while they wait
  set(commpass_recorded_processors 2)
endif()
commpass_test(recorded_test BY_SUITES SOURCES preload/recorded_test.cpp LIBRARIES commpass::selector
  PROPERTIES PROCESSORS ${commpass_recorded_processors} LABELS mpi TIMEOUT 300)
commpass_let_ranks_yield(duplicates messages recorded)
add_dependencies(recorded_test commpass commpass_mpi duplicates messages recorded)
set(commpass_recorded_fortran "")
set(commpass_messages_fortran "")
if(COMMPASS_FORTRAN)
  set(modules mpi)
  if(NOT COMMPASS_MPI_LIBRARY STREQUAL mpich)
    list(APPEND modules f08)
  endif()
  foreach(module ${modules})
    add_dependencies(recorded_test unmodified_${module} messages_${module})
    string(APPEND commpass_recorded_fortran "\"$<TARGET_FILE:unmodified_${module}>\",")
    string(APPEND commpass_messages_fortran "\"$<TARGET_FILE:messages_${module}>\",")
  endforeach()
endif()
target_compile_definitions(recorded_test PRIVATE
  "COMMPASS_TEST_COMMAND=\"$<TARGET_FILE:commpass>\"" "COMMPASS_TEST_RECORDED=\"$<TARGET_FILE:recorded>\""
  "COMMPASS_TEST_MESSAGES=\"$<TARGET_FILE:messages>\"" "COMMPASS_TEST_DUPLICATES=\"$<TARGET_FILE:duplicates>\""
  "COMMPASS_TEST_FORTRAN=${commpass_recorded_fortran}"
  "COMMPASS_TEST_MESSAGES_FORTRAN=${commpass_messages_fortran}"
  "COMMPASS_TEST_MPIEXEC=\"env ${commpass_mpi_environment} ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG}\""
  "COMMPASS_TEST_MPIEXEC_FLAGS=\"${commpass_mpiexec_flags}\"")
if(TARGET commpass_mpi_abi AND COMMPASS_MPI_LIBRARY STREQUAL mpich)
  include(preload_abi.cmake)
endif()
