# Headers that every test includes, which take longer than most tests do: read once for all programs, where several
# sources are compiled at a time. (Elsewhere each test must include what it uses.)
function(commpass_share_test_headers target)
  if(NOT COMMPASS_UNITY STREQUAL "all")
    return()
  endif()
  if(NOT TARGET commpass_test_headers)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cpp "")
    add_library(commpass_test_headers OBJECT ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cpp)
    target_link_libraries(commpass_test_headers PRIVATE GTest::gtest commpass_test_options commpass_together)
    target_precompile_headers(commpass_test_headers PRIVATE <gtest/gtest.h> <algorithm> <array> <functional> <map> <memory>
                              <optional> <random> <set> <span> <string> <vector>)
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)  # so that a cache may have it
      target_compile_options(commpass_test_headers PRIVATE -Xclang -fno-pch-timestamp)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM commpass_test_headers)
endfunction()
