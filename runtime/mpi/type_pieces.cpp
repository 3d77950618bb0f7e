#include "runtime/mpi/type_pieces.hpp"

#include <cstddef>
#include <cstdint>

namespace commpass {

namespace {

/// The digit of each byte's number, in a memory of so many.
std::vector<std::byte> numbered(std::size_t bytes, int digit) {
  std::vector<std::byte> memory(bytes);
  for (std::size_t i = 0; i < bytes; ++i) memory[i] = static_cast<std::byte>(i >> (8 * digit));
  return memory;
}

}  // namespace

std::optional<std::vector<TypePiece>> pieces_of(const ElementType& type) {
  if (type.is_contiguous()) return std::vector<TypePiece>{{0, type.size()}};
  constexpr Bytes most_bytes = Bytes{1} << 26;
  const Bytes reach = type.end() - type.begin();
  if (reach > most_bytes) return std::nullopt;
  std::vector<Bytes> offsets(static_cast<std::size_t>(type.size()), 0);
  std::vector<std::byte> packed(offsets.size());
  for (int digit = 0; digit == 0 || reach >> (8 * digit) > 0; ++digit) {
    const auto memory = numbered(static_cast<std::size_t>(reach), digit);
    // Where an element would lie whose data begin at this memory.
    const auto element = reinterpret_cast<std::uintptr_t>(memory.data()) - static_cast<std::uintptr_t>(type.begin());
    type.pack(reinterpret_cast<const void*>(element), 1, packed.data());  // NOLINT: as MPI_BOTTOM and displacements
    for (std::size_t i = 0; i < offsets.size(); ++i)
      offsets[i] |= static_cast<Bytes>(std::to_integer<std::uint8_t>(packed[i])) << (8 * digit);
  }
  std::vector<TypePiece> pieces;
  for (const auto offset : offsets) {
    const auto at = offset + type.begin();
    if (!pieces.empty() && pieces.back().offset + pieces.back().bytes == at) ++pieces.back().bytes;
    else pieces.push_back({at, 1});
  }
  return pieces;
}

}  // namespace commpass
