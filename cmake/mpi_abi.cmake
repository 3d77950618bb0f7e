# libcommpass-mpi-abi: the runtime and libcommpass-mpi for programs that are linked with the ABI of the MPI standard,
# whichever MPI library they run with.
option(COMMPASS_MPI_ABI "Build libcommpass-mpi for the ABI of MPI 5, too, in two minutes more; needs Python" OFF)
if(NOT COMMPASS_MPI_ABI)
  return()
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(commpass_abi_folder ${PROJECT_SOURCE_DIR}/preload/abi)
set(commpass_abi_generated ${PROJECT_BINARY_DIR}/generated/abi)
set(commpass_abi_inputs ${commpass_abi_folder}/standard.txt ${commpass_abi_folder}/write_abi.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${commpass_abi_inputs})
foreach(name mpi_names.h abi_calls.cpp)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${commpass_abi_folder}/write_abi.py ${name}
                  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  file(CONFIGURE OUTPUT ${commpass_abi_generated}/${name} CONTENT "${text}" @ONLY)
endforeach()
add_library(commpass_abi INTERFACE)
target_include_directories(commpass_abi SYSTEM INTERFACE ${commpass_abi_folder} ${commpass_abi_generated})
target_compile_definitions(commpass_abi INTERFACE COMMPASS_MPI_ABI)
