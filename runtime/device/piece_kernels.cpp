#include "runtime/device/piece_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
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

/// Bytes, of which pieces move from each memory to the next one; other bytes keep their values.
bool copies_rightly(DeviceQueue& queue, std::span<std::byte* const> memories, std::size_t size) {
  constexpr std::byte untouched{0xA5};
  auto *const from = memories.front(), *const to = memories.back();
  for (std::size_t i = 0; i < size; ++i) from[i] = static_cast<std::byte>(i * 7 + i / 251);
  std::fill_n(to, size, untouched);
  std::vector<std::byte> expected(from, from + size);
  for (auto* const memory : memories.subspan(1, memories.size() - 2))
    queue.copy(std::array{LocalCopy{to, memory, size}});
  for (std::size_t way = 0; way + 1 < memories.size(); ++way) {
    const auto pieces = pieces_between(memories[way], memories[way + 1]);
    std::vector<std::byte> next(size, untouched);
    for (const auto& [source, target, bytes] : pieces)
      std::copy_n(expected.begin() + (source - memories[way]), bytes, next.begin() + (target - memories[way + 1]));
    expected = std::move(next);
    queue.copy_by_kernel(pieces);
  }
  queue.wait();
  return std::equal(expected.begin(), expected.end(), to);
}

/// Numbers of pinned memory, of which pieces are added to those of the device.
template <class Number>
bool adds_rightly(DeviceQueue& queue, std::byte* pinned, std::byte* on_device) {
  constexpr std::size_t numbers = 600, bytes = numbers * sizeof(Number);
  std::vector<Number> values, sums;
  for (std::size_t i = 0; i < numbers; ++i) {
    values.push_back(static_cast<Number>(static_cast<Number>(i * 39 % 127) / Number{3}));
    sums.push_back(static_cast<Number>(static_cast<Number>(i * 23 % 113) * Number{7}));
  }
  std::memcpy(pinned, sums.data(), bytes);
  queue.copy(std::array{LocalCopy{pinned, on_device, bytes}});
  queue.wait();
  std::memcpy(pinned, values.data(), bytes);
  std::vector<LocalCopy> pieces;
  for (std::size_t first = 0, count = 1; first + count < numbers; first += count + 1, count = count * 3 % 100)
    pieces.push_back({pinned + first * sizeof(Number), on_device + first * sizeof(Number), count * sizeof(Number)});
  queue.add_by_kernel(pieces, number_type_of<Number>());
  queue.wait();
  queue.copy(std::array{LocalCopy{on_device, pinned, bytes}});
  queue.wait();
  const auto add = addition_of<Number>(1);
  for (const auto& [from, to, size] : pieces) {
    const auto first = static_cast<std::size_t>(to - on_device) / sizeof(Number);
    add(&values[first], &sums[first], static_cast<std::int64_t>(size / sizeof(Number)));
  }
  return std::memcmp(pinned, sums.data(), bytes) == 0;
}

template <class... Numbers>
bool adds_each_rightly(DeviceQueue& queue, std::byte* pinned, std::byte* on_device) {
  return (adds_rightly<Numbers>(queue, pinned, on_device) && ...);
}

}  // namespace

std::string fault_of_kernels(DeviceBackend& backend, int device) {
  constexpr Bytes room = Bytes{1} << 14;
  const Device its{&backend, device};
  const auto from = pinned_buffer(its, room), to = pinned_buffer(its, room);
  const auto first = device_buffer(its, room), second = device_buffer(its, room);
  const std::array memories{from.get(), first.get(), second.get(), to.get()};
  DeviceQueue queue(its, nullptr);
  if (!copies_rightly(queue, memories, static_cast<std::size_t>(room)))
    return std::string(backend.name()) + ": its kernel for many pieces does not copy as it should.";
  if (!adds_each_rightly<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, float, double>(queue, from.get(),
                                                                                                   first.get()))
    return std::string(backend.name()) + ": its kernel for many pieces does not add as it should.";
  return {};
}

}  // namespace commpass
