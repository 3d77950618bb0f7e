# Shared libraries of the rooms that are installed. Each has the objects of the static ones, and exports only the
# declarations of installed headers; so our programs and tests, which use private functions, are linked
# statically.

# The names that the headers declare, as patterns of a linker's version script.
#   commpass_write_exports(FILE HEADER …)
function(commpass_write_exports file)
  set(functions "")
  set(classes "")
  list(FILTER ARGN INCLUDE REGEX "hpp$")  # functions for C have a prefix
  foreach(header ${ARGN})
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR}
      APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${header})
    file(READ ${PROJECT_SOURCE_DIR}/${header} text)
    string(REGEX MATCHALL "\n[A-Za-z][^][;={(\n]*[ &*][a-z_0-9]+\\(" found "${text}")
    list(TRANSFORM found REPLACE ".*[ &*]([a-z_0-9]+)\\($" "\\1")
    list(APPEND functions ${found})
    string(REGEX MATCHALL "\n(class|struct|enum class) [A-Z][A-Za-z_]*[^][;\n]*{" found "${text}")
    list(TRANSFORM found REPLACE "\n(class|struct|enum class) ([A-Z][A-Za-z_]*).*" "\\2")
    list(APPEND classes ${found})
  endforeach()
  list(REMOVE_DUPLICATES functions)
  list(REMOVE_DUPLICATES classes)
  set(patterns "")
  # A function's name ends at its arguments or at its ABI's tag; patterns have neither parentheses nor spaces.
  foreach(name IN LISTS functions)
    string(APPEND patterns "      commpass::${name}[!a-zA-Z0-9_]*;\n")
  endforeach()
  foreach(name IN LISTS classes)
    string(APPEND patterns
      "      commpass::${name}::*; vtable?for?commpass::${name}; typeinfo*for?commpass::${name};\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file}
    CONTENT "{\n  global:\n    commpass_*;\n    extern \"C++\" {\n${patterns}    };\n  local: *;\n};\n" @ONLY)
endfunction()

#   commpass_shared_library(NAME ROOM …)
function(commpass_shared_library name)
  set(target commpass_${name}_shared)
  set(exports ${PROJECT_BINARY_DIR}/generated/${name}.exports)
  commpass_write_exports(${exports} ${commpass_public_headers})
  add_library(${target} SHARED)
  foreach(room ${ARGN})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:commpass_${room}>)
    if(TARGET commpass_${room}_cold)
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:commpass_${room}_cold>)
    endif()
    get_target_property(libraries commpass_${room} LINK_LIBRARIES)
    list(FILTER libraries EXCLUDE REGEX "commpass|MPI::")
    target_link_libraries(${target} PRIVATE ${libraries})
  endforeach()
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME commpass_${name} EXPORT_NAME ${name}
                        VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINK_DEPENDS ${exports})
  target_link_options(${target} PRIVATE LINKER:--version-script=${exports})
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/commpass>)
  target_compile_features(${target} INTERFACE cxx_std_20)
endfunction()

commpass_shared_library(selector model selector)
add_library(commpass_model_shared INTERFACE)
set_target_properties(commpass_model_shared PROPERTIES EXPORT_NAME model)
target_link_libraries(commpass_model_shared INTERFACE commpass_selector_shared)
if(COMMPASS_MPI)
  commpass_shared_library(runtime model selector runtime)
  target_link_libraries(commpass_runtime_shared PUBLIC MPI::MPI_CXX)
endif()
