#include "runtime/mpi/type_pieces.hpp"

#include <cstddef>
#include <cstdint>

#include "runtime/mpi/byte_trace.hpp"

namespace commpass {

std::optional<std::vector<TypePiece>> pieces_of(const ElementType& type) {
  if (type.is_contiguous()) return std::vector<TypePiece>{{0, type.size()}};
  constexpr Bytes most_bytes = Bytes{1} << 26;
  const Bytes reach = type.end() - type.begin();
  if (reach > most_bytes) return std::nullopt;
  const auto offsets = traced_bytes(
      static_cast<std::size_t>(reach), static_cast<std::size_t>(type.size()), [&](const auto& memory, auto& packed) {
        // Where an element would lie whose data begin at this memory.
        const auto element =
            reinterpret_cast<std::uintptr_t>(memory.data()) - static_cast<std::uintptr_t>(type.begin());
        type.pack(reinterpret_cast<const void*>(element), 1, packed.data());  // NOLINT: as MPI_BOTTOM and displacements
      });
  std::vector<TypePiece> pieces;
  for (const auto offset : offsets) {
    const auto at = offset + type.begin();
    if (!pieces.empty() && pieces.back().offset + pieces.back().bytes == at) ++pieces.back().bytes;
    else pieces.push_back({at, 1});
  }
  return pieces;
}

}  // namespace commpass
