# Installs the libraries, so that find_package(commpass) gives commpass::model, commpass::selector and, if built,
# commpass::runtime; and tests that with tests/consumer.
include(CMakePackageConfigHelpers)

set(commpass_package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/commpass)

# Installed headers are the public ones: those that users include, and those that these include.
set(commpass_headers commpass/predict.hpp)
if(COMMPASS_MPI)
  list(APPEND commpass_headers commpass/adapters.hpp commpass/commpass.h)
endif()
set(commpass_public_headers "")
while(commpass_headers)
  list(POP_FRONT commpass_headers header)
  if(header IN_LIST commpass_public_headers)
    continue()
  endif()
  list(APPEND commpass_public_headers ${header})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  cmake_path(GET header PARENT_PATH folder)
  if(folder STREQUAL commpass)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/commpass COMPONENT development)
  else()
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/commpass/${folder} COMPONENT development)
  endif()
  file(STRINGS ${header} lines REGEX "^#include \"")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1" included "${line}")
    list(APPEND commpass_headers ${included})
  endforeach()
endwhile()

if((COMMPASS_SHARED OR COMMPASS_TESTS) AND NOT COMMPASS_SIMULATION AND NOT COMMPASS_SANITIZE)
  include(cmake/shared.cmake)  # tests look at shared libraries, even where static ones are installed
endif()
foreach(room ${commpass_installed_rooms})
  target_compile_features(commpass_${room} PUBLIC cxx_std_20)
  if(COMMPASS_SHARED)
    install(TARGETS commpass_${room}_shared EXPORT commpass-targets COMPONENT libraries
      LIBRARY NAMELINK_COMPONENT development)
  else()
    install(TARGETS commpass_${room} EXPORT commpass-targets COMPONENT development)
  endif()
endforeach()
install(EXPORT commpass-targets NAMESPACE commpass:: DESTINATION ${commpass_package_directory} COMPONENT development)
set(commpass_components ${commpass_installed_rooms})
if(COMMPASS_FORTRAN)
  list(APPEND commpass_components fortran)
  install(EXPORT commpass-fortran-targets NAMESPACE commpass:: DESTINATION ${commpass_package_directory}
    COMPONENT development)
endif()

configure_package_config_file(cmake/commpass-config.cmake.in ${PROJECT_BINARY_DIR}/commpass-config.cmake
                              INSTALL_DESTINATION ${commpass_package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/commpass-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/commpass-config.cmake ${PROJECT_BINARY_DIR}/commpass-config-version.cmake
        DESTINATION ${commpass_package_directory} COMPONENT development)

# pkg-config, for makefiles and for C: paths are relative to the file, so that the prefix may be moved. What static
# libraries use is linked by the program.
set(commpass_pc_libraries "")
set(commpass_pc_requires "")
if(COMMPASS_SHARED)
  list(GET commpass_installed_rooms -1 room)
  list(APPEND commpass_pc_libraries -lcommpass_${room})  # it has all of the others
else()
  foreach(room ${commpass_installed_rooms})
    list(PREPEND commpass_pc_libraries -lcommpass_${room})
  endforeach()
  set(commpass_pc_requires "fmt zlib")
  if(COMMPASS_MPI)
    string(APPEND commpass_pc_requires " hwloc")
  endif()
  if(COMMPASS_METIS AND COMMPASS_METIS_INCLUDE)
    list(APPEND commpass_pc_libraries ${COMMPASS_METIS})
  endif()
  list(APPEND commpass_pc_libraries -lstdc++ -lm -pthread)
endif()
list(JOIN commpass_pc_libraries " " commpass_pc_libraries)
set(commpass_pc_directory ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH commpass_pc_to_prefix /${commpass_pc_directory} /)
configure_file(cmake/commpass.pc.in ${PROJECT_BINARY_DIR}/commpass.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/commpass.pc DESTINATION ${commpass_pc_directory} COMPONENT development)
if(COMMPASS_FORTRAN)
  configure_file(cmake/commpass-fortran.pc.in ${PROJECT_BINARY_DIR}/commpass-fortran.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/commpass-fortran.pc DESTINATION ${commpass_pc_directory} COMPONENT development)
endif()

if(TARGET commpass_runtime_shared AND COMMPASS_TESTS)
  add_test(NAME exports COMMAND ${PROJECT_SOURCE_DIR}/tests/shared/check_exports $<TARGET_FILE:commpass_selector_shared>
                                $<TARGET_FILE:commpass_runtime_shared>)
  add_executable(shared_test tests/shared/across_the_boundary.cpp)
  target_link_libraries(shared_test PRIVATE commpass_runtime_shared commpass_options commpass_cold)
  commpass_mpiexec_tests(shared_test shared_test 1)
endif()

find_program(COMMPASS_DOXYGEN doxygen)
mark_as_advanced(COMMPASS_DOXYGEN)
if(COMMPASS_DOXYGEN AND COMMPASS_MPI AND COMMPASS_TESTS)
  add_test(NAME reference COMMAND ${PROJECT_SOURCE_DIR}/scripts/docs ${PROJECT_BINARY_DIR}/reference)
endif()

# Consumers are not built with sanitizers, so libraries with them cannot be linked.
if(COMMPASS_TESTS AND NOT COMMPASS_SANITIZE)
  add_test(NAME consumer
           COMMAND ${PROJECT_SOURCE_DIR}/tests/consumer/run ${CMAKE_COMMAND} ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
                   -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
                   -DCOMMPASS_MPI=${COMMPASS_MPI} -DCOMMPASS_SHARED=${COMMPASS_SHARED}
                   -DCOMMPASS_FORTRAN=$<BOOL:${COMMPASS_FORTRAN}> -DMPI_EXECUTABLE_SUFFIX=${MPI_EXECUTABLE_SUFFIX}
                   -DCOMMPASS_WERROR=${COMMPASS_WERROR} -DCOMMPASS_CCACHE=${COMMPASS_CCACHE}
                   -DCOMMPASS_UNITY=${COMMPASS_UNITY} -DCOMMPASS_PRECOMPILED_HEADERS=${COMMPASS_PRECOMPILED_HEADERS})
  set_tests_properties(consumer PROPERTIES TIMEOUT 600 RUN_SERIAL ON)
  if(COMMPASS_MPI)
    set_tests_properties(consumer PROPERTIES LABELS mpi
      ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
  endif()
endif()
