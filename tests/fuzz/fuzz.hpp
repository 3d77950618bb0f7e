// What the fuzz targets share: how libFuzzer hands over an input, and what a parser may do with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "model/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace commpass::fuzz {

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Stops the run as a finding unless `holds`.
inline void expect(bool holds) {
  if (!holds) std::abort();
}

/// A parser accepts its input or refuses it with an Error; any other exception ends the run as a finding.
/// @return for libFuzzer: 0
template <class Parse>
int accept_or_refuse(Parse parse) {
  try {
    parse();
  } catch (const Error&) {}
  return 0;
}

}  // namespace commpass::fuzz
