// Files of every kind, gzipped or not: no reader takes more of them than its limit.
#include "fuzz/memory_file.hpp"
#include "model/base/file.hpp"
#include "model/machine/profile.hpp"
#include "model/pattern/matrix_file.hpp"
#include "model/pattern/pattern.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  constexpr Bytes little = 1 << 16;  // more is legal and slow
  const auto& path = fuzz::memory_file(data, size);
  fuzz::accept_or_refuse([&] { fuzz::expect(std::ssize(read_file(path, {little, "name another"})) <= little); });
  fuzz::accept_or_refuse([&] { read_matrix(path, little); });
  fuzz::accept_or_refuse([&] { read_pattern(path, little).validate(path); });
  return fuzz::accept_or_refuse([&] { read_profile(path); });
}
