// Pattern files, gzipped or not. The file is in memory: a disk would be slow.
#include "model/pattern.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  static const int file = memfd_create("fuzz.mtx", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  fuzz::expect(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
  return fuzz::accept_or_refuse([&] { read_pattern(path).validate(path); });
}
