// A file that is in memory: a disk would be slow.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "fuzz/fuzz.hpp"

namespace commpass::fuzz {

/// Writes the one file that there is. @return its name
inline const std::string& memory_file(const std::uint8_t* data, std::size_t size) {
  static const int file = memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  expect(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
  return path;
}

}  // namespace commpass::fuzz
