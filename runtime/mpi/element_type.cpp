#include "runtime/mpi/element_type.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "model/base/error.hpp"
#include "runtime/execute/memory.hpp"
#include "runtime/mpi/message_type.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

ElementType::ElementType(MPI_Datatype type, MPI_Comm comm) : type_(type) {
  if (type == MPI_DATATYPE_NULL)
    throw CallError(MPI_ERR_TYPE, "datatype", "it is MPI_DATATYPE_NULL", "give the type of the elements");
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  MPI_Count size = 0;
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  const ReturnedErrors errors;  // for an invalid handle
  COMMPASS_MPI_CALL(MPI_Type_size_x, type, &size);
  COMMPASS_MPI_CALL(MPI_Type_get_extent, type, &lower, &extent);
  COMMPASS_MPI_CALL(MPI_Type_get_true_extent, type, &true_lower, &true_extent);
  COMMPASS_MPI_CALL(MPI_Type_get_envelope, type, &integers, &addresses, &types, &combiner);
  if (size > std::numeric_limits<int>::max())
    throw InputError("datatype", fmt::format("an element has {} bytes", size),
                     "use a type with smaller elements, and more of them");
  size_ = size;
  extent_ = extent;
  begin_ = true_lower;
  end_ = true_lower + true_extent;
  // A derived type without gaps may have its parts in another order.
  contiguous_ =
      combiner == MPI_COMBINER_NAMED && lower == 0 && true_lower == 0 && extent == size && true_extent == size;
  if (contiguous_) return;
  // Only its use shows whether it is committed; later uses are on communicators whose errors may end the program.
  std::byte nothing{};
  int position = 0;
  COMMPASS_MPI_CALL(MPI_Pack, &nothing, 0, type, &nothing, 0, &position, comm);
}

/// MPI packs at most as many bytes as an int counts.
template <class Action>
void ElementType::in_portions(Bytes count, Action action) const {
  constexpr Bytes bytes_max = std::numeric_limits<int>::max();
  const Bytes portion = std::max<Bytes>(1, bytes_max / std::max<Bytes>(1, size_));
  for (Bytes begin = 0; begin < count; begin += portion)
    action(begin, static_cast<int>(std::min(portion, count - begin)));
}

namespace {

/// Numbers the bytes of a memory, has them moved, and reads the numbers again, a digit of 8 bits at a time.
/// @param from_bytes, to_bytes  of the memories; each move writes every byte of the latter
/// @param move                  called with both memories, once for each digit
/// @return for each byte of the second memory, the number of its source byte in the first one
/// @throws what `move` throws, std::bad_alloc
template <class Move>
std::vector<Bytes> traced_bytes(std::size_t from_bytes, std::size_t to_bytes, Move move) {
  constexpr int digit_bits = 8;
  std::vector<std::byte> from(from_bytes), to(to_bytes);
  std::vector<Bytes> numbers(to_bytes, 0);
  for (int shift = 0; shift == 0 || from_bytes >> shift > 0; shift += digit_bits) {
    for (std::size_t i = 0; i < from_bytes; ++i) from[i] = static_cast<std::byte>(i >> shift);
    move(from, to);
    for (std::size_t i = 0; i < to_bytes; ++i) numbers[i] |= std::to_integer<Bytes>(to[i]) << shift;
  }
  return numbers;
}

/// The place of an element whose data begin at `memory`.
std::uintptr_t place_of_element(const ElementType& type, const std::byte* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) - static_cast<std::uintptr_t>(type.begin());
}

/// Calls action(address, count, type). MPICH packs and unpacks nothing at MPI_BOTTOM, though a type may have absolute
/// addresses: then the arguments are those of a derived type, relative to an address of ours.
template <class Action>
void with_address(const void* elements, int count, MPI_Datatype type, Action action) {
  if (elements) {
    action(elements, count, type);
    return;
  }
  static std::byte place{};
  MPI_Aint back = 0;
  COMMPASS_MPI_CALL(MPI_Get_address, &place, &back);
  back = -back;
  MPI_Datatype moved = MPI_DATATYPE_NULL;
  COMMPASS_MPI_CALL(MPI_Type_create_hindexed, 1, &count, &back, type, &moved);
  try {
    COMMPASS_MPI_CALL(MPI_Type_commit, &moved);
    action(&place, 1, moved);
  } catch (...) {
    MPI_Type_free(&moved);
    throw;
  }
  MPI_Type_free(&moved);
}

}  // namespace

void ElementType::pack(const void* elements, Bytes count, std::byte* bytes) const {
  if (count * size_ == 0) return;
  if (contiguous_) {
    copy_bytes(static_cast<const std::byte*>(elements), bytes, count * size_);
    return;
  }
  in_portions(count, [&](Bytes begin, int part) {
    int position = 0;
    with_address(static_cast<const std::byte*>(elements) + begin * extent_, part, type_,
                 [&](const void* where, int number, MPI_Datatype type) {
                   COMMPASS_MPI_CALL(MPI_Pack, where, number, type, bytes + begin * size_,
                                     static_cast<int>(part * size_), &position, MPI_COMM_SELF);
                 });
    if (position != part * size_)
      pack_as_unpacked(static_cast<const std::byte*>(elements) + begin * extent_, part, bytes + begin * size_);
  });
}

// With more than some 500 datatypes, MPI_Pack of MPICH 4.0 packs too few bytes of one without gaps, and returns
// MPI_SUCCESS. MPI_Unpack and sends are right.
void ElementType::pack_as_unpacked(const std::byte* elements, Bytes count, std::byte* bytes) const {
  if (end_ - begin_ != size_) throw Error("MPI_Pack has packed too little of a datatype with gaps.");
  const auto size = static_cast<std::size_t>(size_);
  const auto number = traced_bytes(size, size, [&](const auto& packed, auto& element) {
    unpack(packed.data(), 1, reinterpret_cast<void*>(place_of_element(*this, element.data())));  // NOLINT
  });
  for (Bytes i = 0; i < count; ++i)
    for (std::size_t j = 0; j < size; ++j)
      bytes[i * size_ + number[j]] = elements[i * extent_ + begin_ + static_cast<Bytes>(j)];
}

void ElementType::unpack(const std::byte* bytes, Bytes count, void* elements) const {
  if (count * size_ == 0) return;
  if (contiguous_) {
    copy_bytes(bytes, static_cast<std::byte*>(elements), count * size_);
    return;
  }
  in_portions(count, [&](Bytes begin, int part) {
    int position = 0;
    with_address(static_cast<const std::byte*>(elements) + begin * extent_, part, type_,
                 [&](const void* where, int number, MPI_Datatype type) {
                   COMMPASS_MPI_CALL(MPI_Unpack, bytes + begin * size_, static_cast<int>(part * size_), &position,
                                     const_cast<void*>(where), number, type,
                                     MPI_COMM_SELF);  // NOLINT: ours or the user's
                 });
  });
}

void ElementType::send(const void* elements, Bytes count, Rank peer, int tag, MPI_Comm comm, MPI_Request* request,
                       bool is_synchronous) const {
  if (contiguous_) return send_bytes(elements, count * size_, peer, tag, comm, request, is_synchronous);
#if MPI_VERSION >= 4
  const auto begin_send = is_synchronous ? MPI_Issend_c : MPI_Isend_c;
  check_mpi("MPI_Isend_c", begin_send(elements, count, type_, peer, tag, comm, request));
#else
  const auto begin_send = is_synchronous ? MPI_Issend : MPI_Isend;
  check_mpi("MPI_Isend", begin_send(elements, static_cast<int>(count), type_, peer, tag, comm, request));
#endif
}

std::optional<std::vector<TypePiece>> pieces_of(const ElementType& type) {
  if (type.is_contiguous()) return std::vector<TypePiece>{{0, type.size()}};
  constexpr Bytes reach_bytes_max = Bytes{1} << 26;
  const Bytes reach = type.end() - type.begin();
  if (reach > reach_bytes_max) return std::nullopt;
  const auto offsets = traced_bytes(
      static_cast<std::size_t>(reach), static_cast<std::size_t>(type.size()), [&](const auto& memory, auto& packed) {
        type.pack(reinterpret_cast<const void*>(place_of_element(type, memory.data())), 1, packed.data());  // NOLINT
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
