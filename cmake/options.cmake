# Warnings and sanitizers, the same for every target of ours.
add_library(commpass_options INTERFACE)
target_compile_options(commpass_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                       $<$<BOOL:${COMMPASS_WERROR}>:-Werror>)
# Code that runs once (command line, JSON, reports): optimised no more than it pays for the compiler's time.
set(commpass_cold_options $<$<CONFIG:Release>:-O1> $<$<CONFIG:Debug>:-O0>)
add_library(commpass_cold INTERFACE)
target_compile_options(commpass_cold INTERFACE ${commpass_cold_options})
if(COMMPASS_SANITIZE)
  # What an access to null, or beyond an object, does is reported by the address sanitizer, which takes no check before
  # each.
  add_compile_options(-fsanitize=${COMMPASS_SANITIZE} -fno-sanitize=null,object-size -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${COMMPASS_SANITIZE})
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld COMMPASS_LLD)
  if(COMMPASS_LLD)  # a hundred large programs, which the usual linker takes five minutes to link
    add_link_options(-fuse-ld=lld)
  endif()
endif()
# Tests: what they call is optimised as everywhere, and they themselves not at all.
add_library(commpass_test_options INTERFACE)
target_compile_options(commpass_test_options INTERFACE -O0)
target_link_libraries(commpass_test_options INTERFACE commpass_options)
# The libraries are instrumented for libFuzzer wherever sanitizers are: so preset fuzz takes what preset sanitize has
# compiled.
add_library(commpass_coverage INTERFACE)
if(COMMPASS_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(commpass_coverage INTERFACE -fsanitize=fuzzer-no-link)
endif()
set(commpass_fuzzed_rooms model selector)

set(commpass_installed_rooms model selector)
if(COMMPASS_MPI)
  list(APPEND commpass_installed_rooms runtime)
endif()

set(commpass_unit_sources 24)  # of a library: after a change of one source, its unit is compiled

# A library of one room of the house. COLD: sources that run once.
#   commpass_room(NAME SOURCES … COLD … DEPENDS …)
function(commpass_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "" "SOURCES;COLD;DEPENDS;PRIVATE_DEPENDS")
  add_library(commpass_${name} STATIC ${room_SOURCES})
  add_library(commpass::${name} ALIAS commpass_${name})
  set(compiled commpass_${name})
  if(room_COLD)
    add_library(commpass_${name}_cold OBJECT ${room_COLD})
    target_sources(commpass_${name} PRIVATE $<TARGET_OBJECTS:commpass_${name}_cold>)
    set_target_properties(commpass_${name} PROPERTIES LINKER_LANGUAGE CXX)
    list(APPEND compiled commpass_${name}_cold)
  endif()
  foreach(target ${compiled})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON EXPORT_NAME ${name})
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/commpass>)
    target_link_libraries(${target} PUBLIC ${room_DEPENDS} PRIVATE ${room_PRIVATE_DEPENDS}
      $<BUILD_INTERFACE:commpass_options>)
    if(name IN_LIST commpass_fuzzed_rooms)
      target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:commpass_coverage>)
    endif()
    commpass_compile_together(${target} ${commpass_unit_sources})
  endforeach()
  if(room_SOURCES)
    commpass_precompile(commpass_${name} rooms)
  endif()
  if(room_COLD)
    target_link_libraries(commpass_${name}_cold PRIVATE commpass_cold)
    commpass_precompile(commpass_${name}_cold cold)
  endif()
endfunction()

# Puts the objects of rooms before those of a program, which gets its own sources after this call. Of a template's
# function that several objects have, the linker takes the first, and the program's, or those of cold sources, may not be
# optimised. LIBRARIES: what the program links. Not for rooms of which tests replace sources.
#   commpass_optimised_first(PROGRAM LIBRARIES …)
function(commpass_optimised_first program)
  set(rooms "")
  set(libraries ${ARGN})
  while(libraries)
    list(POP_FRONT libraries library)
    if(NOT TARGET "${library}")
      continue()
    endif()
    get_target_property(room ${library} ALIASED_TARGET)
    if(NOT room)
      set(room ${library})
    endif()
    if(room MATCHES "^commpass_(fit|model|selector)$" AND NOT room IN_LIST rooms)
      list(APPEND rooms ${room})
      target_sources(${program} PRIVATE $<TARGET_OBJECTS:${room}>)
    endif()
    get_target_property(needed ${room} INTERFACE_LINK_LIBRARIES)
    if(needed)
      list(APPEND libraries ${needed})
    endif()
  endwhile()
endfunction()
