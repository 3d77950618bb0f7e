// Blocks of elements of MPI datatypes in a buffer, and their bytes one after another where they have gaps.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/mpi/call_side.hpp"
#include "runtime/mpi/element_type.hpp"

namespace commpass {

/// One side of a call: the user's blocks, and the bytes that an exchange moves. These are the user's own, or packed
/// before it and unpacked after it. Keeps its memory from one call to the next.
class TypedBlocks {
 public:
  struct Block {
    Rank peer = 0;
    Bytes offset = 0, count = 0;  ///< bytes from the begin of the buffer, perhaps MPI_BOTTOM; elements
    std::size_t type = 0;         ///< number of their type; any, if there are none
    Bytes place = 0;              ///< of its bytes in buffer(), after lay_out()
    bool is_first = true;         ///< with this place
  };
  /// Where the bytes of the blocks lie.
  enum class Places {
    users,       ///< in the user's buffer
    packed,      ///< in one of ours, one block after another
    packed_once  ///< the same, but blocks of the same elements share their bytes
  };

  /// Takes the memory of this number of blocks of one type. @throws std::bad_alloc
  void reserve(std::size_t blocks);
  void clear();
  /// Takes the blocks of a side of a call, in the place of those before.
  /// @param name   for errors
  /// @param count  of blocks
  /// @param peers  of the blocks; empty: their numbers
  /// @param peer   a word for these
  /// @throws CallError if lists are too short or too long, the buffer is MPI_IN_PLACE, or as add_checked
  void assign(const char* name, const CallSide& side, int count, MPI_Comm comm, std::span<const Rank> peers = {},
              const char* peer = "rank");
  /// The number of a type. @throws as ElementType
  std::size_t number_of(MPI_Datatype type, MPI_Comm comm);
  /// By number.
  const std::vector<ElementType>& types() const { return types_; }
  void add(const Block& block) { blocks_.push_back(block); }
  /// @param name  for errors
  /// @param peer  a word for the block's
  /// @throws CallError if its count is negative, or its elements have no buffer; as ElementType
  void add_checked(const char* name, const void* buffer, Block block, MPI_Datatype type, MPI_Comm comm,
                   const char* peer = "rank");
  /// Puts them into another order. @param order  numbers of blocks; −1: `none`
  void arrange(const std::vector<int>& order, const Block& none);
  /// Those with a peer. @param peers  by block; −1: none
  TypedBlocks with_peers(const std::vector<Rank>& peers) const;

  std::size_t size() const { return blocks_.size(); }
  const Block& operator[](std::size_t i) const { return blocks_[i]; }
  const ElementType& type(std::size_t i) const { return types_[blocks_[i].type]; }
  Bytes bytes(std::size_t i) const { return bytes(blocks_[i]); }
  /// Are the bytes of a block together, or is there none?
  bool is_contiguous(std::size_t i) const { return is_contiguous(blocks_[i]); }
  /// Of all blocks?
  bool are_contiguous() const;
  /// The address of the first byte of the first block that has some; null: there is none.
  const std::byte* first_byte(const void* users) const;
  /// An address that may lie outside of the buffer's array.
  static std::byte* address(const void* users, Bytes offset) {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(users) +  // NOLINT: MPI_BOTTOM is null
                                        static_cast<std::uintptr_t>(offset));
  }

  /// Decides the places of the bytes.
  void lay_out(Places places);
  /// The user's after all, after lay_out(): the places are those of a buffer that does not exist.
  void leave_unpacked() { is_packed_ = false; }
  bool is_packed() const { return is_packed_; }
  Bytes packed_bytes() const { return std::ssize(packed_); }
  /// The buffer with these places; the user's send buffer is only read. @throws std::bad_alloc
  std::byte* buffer(const void* users);
  /// Edges of the blocks with bytes, in order.
  template <class Edge>
  std::vector<Edge> edges() const {
    std::vector<Edge> result;
    for (const auto& block : blocks_)
      if (bytes(block) > 0) result.push_back({block.peer, block.place, bytes(block)});
    return result;
  }
  /// Bring the bytes to buffer(), or from there to the user's. Nothing happens where they are the user's own.
  /// @throws MpiError
  void pack(const void* users);
  void unpack(void* users) const;

 private:
  bool is_contiguous(const Block& block) const { return bytes(block) == 0 || types_[block.type].is_contiguous(); }
  Bytes bytes(const Block& block) const { return block.count == 0 ? 0 : block.count * types_[block.type].size(); }
  /// Of a block with bytes; 0: there is none.
  Bytes lowest_offset() const;
  void share_places();

  std::vector<ElementType> types_;
  std::vector<MPI_Datatype> handles_;  ///< of the types
  std::vector<Block> blocks_;
  Bytes begin_ = 0, total_ = 0;  ///< the offset of the first byte of buffer(), and the bytes there
  std::vector<std::byte> packed_;
  bool is_packed_ = false;
};

}  // namespace commpass
