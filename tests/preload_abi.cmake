# libcommpass-mpi-abi with programs that are compiled for the ABI of the MPI standard, over a stand-in for an MPI library
# that has it. The stand-in calls MPICH.
set(stand_in ${CMAKE_CURRENT_BINARY_DIR}/stand_in)
set(write_stand_in ${CMAKE_CURRENT_SOURCE_DIR}/preload/abi/write_stand_in.py)
set(outputs "")
foreach(name names.c abi_names.hpp calls.cpp)
  add_custom_command(OUTPUT ${stand_in}/${name}
    COMMAND ${Python3_EXECUTABLE} ${write_stand_in} ${commpass_abi_folder} ${name} > ${name}
    DEPENDS ${write_stand_in} ${commpass_abi_inputs} ${commpass_abi_folder}/mpi.h
    WORKING_DIRECTORY ${stand_in} VERBATIM)
  list(APPEND outputs ${stand_in}/${name})
endforeach()
file(MAKE_DIRECTORY ${stand_in}/split)
add_library(stand_in_pmpi OBJECT preload/abi/stand_in.cpp ${stand_in}/abi_names.hpp ${stand_in}/calls.cpp)
target_include_directories(stand_in_pmpi PRIVATE ${stand_in} ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(stand_in_pmpi PRIVATE MPI::MPI_CXX)
add_library(stand_in_mpi OBJECT ${stand_in}/names.c)
target_link_libraries(stand_in_mpi PRIVATE commpass_abi)
set_target_properties(stand_in_pmpi stand_in_mpi PROPERTIES POSITION_INDEPENDENT_CODE ON)
# One library, as Open MPI has it; and two, as MPICH 5.0 does.
add_library(stand_in SHARED $<TARGET_OBJECTS:stand_in_mpi> $<TARGET_OBJECTS:stand_in_pmpi>)
add_library(stand_in_split_pmpi SHARED $<TARGET_OBJECTS:stand_in_pmpi>)
add_library(stand_in_split SHARED $<TARGET_OBJECTS:stand_in_mpi>)
target_link_libraries(stand_in PRIVATE ${CMAKE_DL_LIBS})
target_link_libraries(stand_in_split_pmpi PRIVATE ${CMAKE_DL_LIBS})
target_link_libraries(stand_in_split PRIVATE stand_in_split_pmpi)
set_target_properties(stand_in stand_in_split PROPERTIES OUTPUT_NAME mpi_abi)
set_target_properties(stand_in_split_pmpi PROPERTIES OUTPUT_NAME pmpi_abi)
set_target_properties(stand_in stand_in_split stand_in_split_pmpi PROPERTIES SOVERSION 0 LINKER_LANGUAGE CXX)
set_target_properties(stand_in PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${stand_in})
set_target_properties(stand_in_split stand_in_split_pmpi PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${stand_in}/split)

# MPICH_VERSION: what the MPI library behind the stand-in gets wrong is not tested.
foreach(name unmodified hostile disagreeing last_calls neighborhoods persistent session)
  add_executable(${name}_abi preload/${name}.c)
  target_link_libraries(${name}_abi PRIVATE commpass_abi stand_in Threads::Threads)
  target_compile_definitions(${name}_abi PRIVATE MPICH_VERSION)
  set_target_properties(${name}_abi PROPERTIES LINKER_LANGUAGE CXX C_STANDARD 11)
  target_compile_options(${name}_abi PRIVATE -Wall -Wextra)
endforeach()

function(commpass_abi_tests name program)
  commpass_unmodified_tests(abi_${name} ${program}_abi ${ARGN} LIBRARY commpass_mpi_abi)
endfunction()
set(always VARIABLES COMMPASS_MPI=always COMMPASS_MPI_LOSS=1000)
set(taken "\nalltoallv +[23] +[0-9]+ +0 +[1-9]")
commpass_abi_tests(unmodified unmodified 2 3 ${always} EXPECT "${taken}")
commpass_abi_tests(unmodified_alone unmodified 1 VARIABLES COMMPASS_MPI=on
  EXPECT "nothing was taken over: MPI ran all [1-9][0-9]* calls of rank 0")
commpass_abi_tests(unmodified_off unmodified 2 VARIABLES COMMPASS_MPI=off EXPECT "all comparisons hold"
  REFUSE "calls of rank 0")
commpass_abi_tests(unmodified_split unmodified 2
  VARIABLES LD_LIBRARY_PATH=${stand_in}/split COMMPASS_MPI=always EXPECT "${taken}")
commpass_abi_tests(unmodified_record unmodified 2 VARIABLES COMMPASS_MPI=record
  EXPECT "alltoallv +2 +[1-9][0-9]* +[1-9][0-9]* +0 +0" REFUSE "taken over")
commpass_abi_tests(hostile hostile 2 3 ${always} EXPECT "\nneighbor_alltoallw +[23] +[0-9]+ +0 +[1-9]")
commpass_abi_tests(neighborhoods neighborhoods 1 2 3 ${always} EXPECT "all comparisons hold")
commpass_abi_tests(persistent persistent 2 3 ARGUMENTS 40 ours ${always} EXPECT "${planned}")
commpass_abi_tests(persistent_off persistent 2 VARIABLES COMMPASS_MPI=off EXPECT "all comparisons hold")
commpass_abi_tests(disagreeing disagreeing 2 3 ${always} EXPECT "${told}")
commpass_abi_tests(last_calls last_calls 2 3 ${always} EXPECT "${last_calls}")
commpass_abi_tests(session session 2 ${always} EXPECT "MPI ran all calls of MPI sessions before MPI_Init")

# A program that loads MPI late and for itself, as extensions of Python do.
add_library(unmodified_late MODULE preload/unmodified.c)
target_link_libraries(unmodified_late PRIVATE commpass_abi stand_in)
target_compile_definitions(unmodified_late PRIVATE MPICH_VERSION)
target_compile_options(unmodified_late PRIVATE -Wall -Wextra)
add_test(NAME abi_loaded_late
         COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 env LD_PRELOAD=$<TARGET_FILE:commpass_mpi_abi>
           COMMPASS_PROFILE=lassen COMMPASS_VERBOSE=1 COMMPASS_MPI=always
           ${Python3_EXECUTABLE} -c "import ctypes; ctypes.CDLL('$<TARGET_FILE:unmodified_late>').main()")
set_tests_properties(abi_loaded_late PROPERTIES PROCESSORS 2 LABELS mpi TIMEOUT 300
                     PASS_REGULAR_EXPRESSION "${taken}" FAIL_REGULAR_EXPRESSION "comparisons failed;other bytes")

# A library of the other kind does nothing, and says so once.
set(told "MPI runs all calls: the program's MPI library is")
commpass_unmodified_tests(abi_in_mpich unmodified 2 LIBRARY commpass_mpi_abi ${always}
  EXPECT "${told} libmpi[a-z]*.so.12, and libcommpass-mpi-abi is for the ABI of MPI 5; preload libcommpass-mpi in"
  REFUSE "calls of rank 0;${told}.*${told}")
commpass_unmodified_tests(mpich_in_abi unmodified_abi 2 LIBRARY commpass_mpi ${always}
  EXPECT "${told} libmpi_abi.so.0, and libcommpass-mpi is not for the ABI of MPI 5; preload libcommpass-mpi-abi in"
  REFUSE "calls of rank 0;${told}.*${told}")
# A process without MPI.
add_test(NAME abi_without_mpi COMMAND env LD_PRELOAD=$<TARGET_FILE:commpass_mpi_abi> COMMPASS_MPI=on
  COMMPASS_VERBOSE=1 sh -c "echo fine")
set_tests_properties(abi_without_mpi PROPERTIES PASS_REGULAR_EXPRESSION "^fine\n$")

# commpass run takes the library of the program's kind.
add_test(NAME abi_run COMMAND $<TARGET_FILE:commpass> run --always --profile lassen --
  ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 $<TARGET_FILE:unmodified_abi>)
set_tests_properties(abi_run PROPERTIES PROCESSORS 2 LABELS mpi TIMEOUT 300
  PASS_REGULAR_EXPRESSION "called from unmodified_abi" FAIL_REGULAR_EXPRESSION "comparisons failed;other bytes")
foreach(suffix "" _abi)
  string(REPLACE _ - library "libcommpass-mpi${suffix}.so")
  add_test(NAME abi_run_picks${suffix} COMMAND $<TARGET_FILE:commpass> run --print --
    ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 $<TARGET_FILE:unmodified${suffix}>)
  set_tests_properties(abi_run_picks${suffix} PROPERTIES PASS_REGULAR_EXPRESSION "LD_PRELOAD [^ ]*/${library}[. ]")
endforeach()

add_test(NAME abi_symbols COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/preload/abi/check_symbols
  ${commpass_abi_folder} $<TARGET_FILE:commpass_mpi_abi> $<TARGET_FILE:commpass_mpi> $<TARGET_FILE:stand_in>)
