# Settings for cheap compilation, the same for every preset: a compiler cache, several sources in one unit, precompiled
# headers.
option(COMMPASS_CCACHE "Compile through ccache, where it is found" ${PROJECT_IS_TOP_LEVEL})
option(COMMPASS_UNITY "Compile several sources of a target as one unit" ${PROJECT_IS_TOP_LEVEL})
option(COMMPASS_PRECOMPILED_HEADERS "Read the headers of libraries once for each set of compiler flags"
  ${PROJECT_IS_TOP_LEVEL})

# Paths below the source directory are hashed relative to the build directory, so that presets share objects.
if(COMMPASS_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(COMMPASS_CCACHE_PROGRAM ccache)
  if(COMMPASS_CCACHE_PROGRAM)
    set(commpass_ccache ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
                        CCACHE_SLOPPINESS=pch_defines,time_macros)
    if(NOT DEFINED ENV{CCACHE_DIR})
      list(APPEND commpass_ccache CCACHE_DIR=${PROJECT_SOURCE_DIR}/build/ccache)
    endif()
    list(APPEND commpass_ccache ${COMMPASS_CCACHE_PROGRAM})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${commpass_ccache})
    set(CMAKE_C_COMPILER_LAUNCHER ${commpass_ccache})
  endif()
endif()

# Warnings that only the neighbours of a source in its unit cause.
add_library(commpass_together INTERFACE)
target_compile_options(commpass_together INTERFACE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)

# Compiles up to MOST sources of a target as one unit. Call it when commpass_options is linked: the last of two switches
# counts. A source whose names clash with its neighbours', and one that a test replaces at link time, has
# SKIP_UNITY_BUILD_INCLUSION.
function(commpass_compile_together target most)
  if(NOT COMMPASS_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${most})
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:commpass_together>)
endfunction()

set(commpass_headers_of_rooms <algorithm> <array> <cmath> <cstdint> <functional> <limits> <map> <memory> <numeric>
    <optional>
    <ranges> <set> <span> <string> <string_view> <utility> <variant> <vector> <fmt/core.h>)
set(commpass_headers_of_tests <algorithm> <array> <cmath> <functional> <map> <memory> <optional> <random> <set> <span>
    <string>
    <vector> <gtest/gtest.h>)

# Has a target read the headers of the standard library, and of fmt or GoogleTest, from one precompiled header for its
# KIND: `rooms` and `cold` (libraries, with commpass_cold), `programs` (with commpass_cold), `tests` (with
# commpass_test_options). Targets of one kind have the same compiler flags. Each source still includes what it uses:
# preset `clang` has no such headers.
function(commpass_precompile target kind)
  if(NOT COMMPASS_PRECOMPILED_HEADERS)
    return()
  endif()
  set(shared commpass_headers_for_${kind}${commpass_headers_suffix})
  if(NOT TARGET ${shared})
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${shared}.cpp "")
    add_library(${shared} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${shared}.cpp)
    set(headers ${commpass_headers_of_rooms})
    if(kind STREQUAL "tests")
      target_link_libraries(${shared} PRIVATE GTest::gtest commpass_test_options)
      set(headers ${commpass_headers_of_tests})
    else()
      target_link_libraries(${shared} PRIVATE fmt::fmt commpass_options)
      if(NOT kind STREQUAL "rooms")
        target_link_libraries(${shared} PRIVATE commpass_cold)
      endif()
      if(NOT kind STREQUAL "programs")
        set_target_properties(${shared} PROPERTIES POSITION_INDEPENDENT_CODE ON)
      endif()
    endif()
    target_link_libraries(${shared} PRIVATE commpass_together)
    target_precompile_headers(${shared} PRIVATE ${headers})
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)  # so that a cache may have it
      target_compile_options(${shared} PRIVATE -Xclang -fno-pch-timestamp)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
  if(NOT kind STREQUAL "tests")  # a header that was compiled with fmt's definitions needs them
    target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # which ccache asks for
  endif()
endfunction()
