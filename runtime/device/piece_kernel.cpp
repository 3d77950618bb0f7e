#include "runtime/device/piece_kernel.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include "runtime/device/device_queue.hpp"

namespace commpass {

namespace {

constexpr std::size_t alignments = 16;  // bytes of the widest access

/// Pieces of many lengths, up to several accesses of all lanes, which begin at all alignments, with gaps between them.
std::vector<LocalCopy> pieces_between(std::byte* from, std::byte* to) {
  std::vector<LocalCopy> pieces;
  std::size_t first = 0, second = 0;
  const auto add = [&](std::size_t bytes) {
    pieces.push_back({from + first, to + second, bytes});
    first += bytes + 1;
    second += bytes + 3;
  };
  for (std::size_t bytes = 0; bytes < 3 * alignments; ++bytes) add(bytes);
  for (const std::size_t bytes : {100, 511, 512, 513, 1024, 2000}) {
    add(bytes);
    // Again with both ends aligned to the widest access.
    first = (first + alignments - 1) / alignments * alignments;
    second = (second + alignments - 1) / alignments * alignments;
    add(bytes);
  }
  return pieces;
}

}  // namespace

std::string fault_of_kernel(DeviceBackend& backend, int device) {
  constexpr Bytes room = Bytes{1} << 14;
  constexpr std::byte untouched{0xA5};
  const Device its{&backend, device};
  const auto from = pinned_buffer(its, room), to = pinned_buffer(its, room);
  const auto first = device_buffer(its, room), second = device_buffer(its, room);
  const auto size = static_cast<std::size_t>(room);
  for (std::size_t i = 0; i < size; ++i) from[i] = static_cast<std::byte>(i * 7 + i / 251);
  std::fill_n(to.get(), size, untouched);

  // Only pieces move from each of these memories to the next one; other bytes keep their values.
  const std::array memories{from.get(), first.get(), second.get(), to.get()};
  std::vector<std::byte> expected(from.get(), from.get() + room);
  DeviceQueue queue(its, nullptr);
  const std::array whole{LocalCopy{to.get(), first.get(), size}, LocalCopy{to.get(), second.get(), size}};
  queue.copy(whole);
  for (std::size_t way = 0; way + 1 < memories.size(); ++way) {
    const auto pieces = pieces_between(memories[way], memories[way + 1]);
    std::vector<std::byte> next(size, untouched);
    for (const auto& [source, target, bytes] : pieces)
      std::copy_n(expected.begin() + (source - memories[way]), bytes, next.begin() + (target - memories[way + 1]));
    expected = std::move(next);
    queue.copy_by_kernel(pieces);
  }
  queue.wait();
  if (std::equal(expected.begin(), expected.end(), to.get())) return {};
  return std::string(backend.name()) + ": its kernel for many pieces does not copy as it should.";
}

}  // namespace commpass
