// Pattern files, gzipped or not.
#include "model/pattern/pattern.hpp"

#include "fuzz/memory_file.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  const auto& path = fuzz::memory_file(data, size);
  return fuzz::accept_or_refuse([&] { read_pattern(path).validate(path); });
}
