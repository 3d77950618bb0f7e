#include <cstddef>
#include <cstring>

#include "runtime/indexed/value_runs.hpp"

namespace commpass {

namespace {

const std::byte* at(const void* values, std::int64_t position, Bytes value_bytes) {
  return static_cast<const std::byte*>(values) + position * value_bytes;
}
std::byte* at(void* values, std::int64_t position, Bytes value_bytes) {
  return static_cast<std::byte*>(values) + position * value_bytes;
}

}  // namespace

void copy_values(const ValueRuns& runs, Bytes value_bytes, const void* from, void* to) {
  constexpr std::size_t number = sizeof(double);
  for (const auto& run : runs) {
    const auto bytes = static_cast<std::size_t>(run.count * value_bytes);
    const auto* source = at(from, run.from, value_bytes);
    auto* target = at(to, run.to, value_bytes);
    // Many runs of an irregular exchange are single numbers, for which a call of memcpy costs more than the copy.
    if (bytes == number) std::memcpy(target, source, number);
    else std::memcpy(target, source, bytes);
  }
}

void add_values(const ValueRuns& runs, Bytes value_bytes, const void* from, void* to, const Addition& add) {
  for (const auto& run : runs) add(at(from, run.from, value_bytes), at(to, run.to, value_bytes), run.count);
}

}  // namespace commpass
