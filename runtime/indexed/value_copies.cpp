#include <cstddef>
#include <cstring>

#include "runtime/execute/memory.hpp"
#include "runtime/indexed/value_runs.hpp"

namespace commpass {

namespace {

const std::byte* at(const void* values, std::int64_t position, Bytes value_bytes) {
  return static_cast<const std::byte*>(values) + position * value_bytes;
}
std::byte* at(void* values, std::int64_t position, Bytes value_bytes) {
  return static_cast<std::byte*>(values) + position * value_bytes;
}

constexpr std::size_t number = sizeof(double);

/// Many pieces of an irregular exchange are single numbers, for which a call of memcpy costs more than the copy.
void copy_piece(const std::byte* from, std::byte* to, std::size_t bytes) {
  if (bytes == number) std::memcpy(to, from, number);
  else std::memcpy(to, from, bytes);
}

class ValueMemory final : public Memory {
 public:
  void copy(std::span<const LocalCopy> copies) override {
    for (const auto& [from, to, bytes] : copies)
      if (bytes > 0) copy_piece(from, to, bytes);
  }
  void order() override {}
};

}  // namespace

Memory& value_memory() {
  static ValueMemory memory;
  return memory;
}

void copy_values(const ValueRuns& runs, Bytes value_bytes, const void* from, void* to) {
  for (const auto& run : runs)
    copy_piece(at(from, run.from, value_bytes), at(to, run.to, value_bytes),
               static_cast<std::size_t>(run.count * value_bytes));
}

void add_values(const ValueRuns& runs, Bytes value_bytes, const void* from, void* to, const Addition& add) {
  for (const auto& run : runs) add(at(from, run.from, value_bytes), at(to, run.to, value_bytes), run.count);
}

void add_pieces(std::span<const LocalCopy> pieces, Bytes value_bytes, const Addition& add) {
  for (const auto& [from, to, bytes] : pieces) add(from, to, static_cast<Bytes>(bytes) / value_bytes);
}

}  // namespace commpass
