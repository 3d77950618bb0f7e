#include "runtime/mpi/typed_blocks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

void TypedBlocks::reserve(std::size_t blocks) {
  types_.reserve(1);
  handles_.reserve(1);
  blocks_.reserve(blocks);
}

void TypedBlocks::clear() {
  types_.clear();
  handles_.clear();
  blocks_.clear();
}

/// Of the last few types, those of many blocks are found again at little cost.
std::size_t TypedBlocks::number_of(MPI_Datatype type, MPI_Comm comm) {
  constexpr std::size_t types_compared_max = 16;
  const auto end = handles_.size(), begin = end - std::min(end, types_compared_max);
  for (auto i = begin; i < end; ++i)
    if (handles_[i] == type) return i;
  types_.emplace_back(type, comm);
  handles_.push_back(type);
  return end;
}

void TypedBlocks::assign(const char* name, const CallSide& side, int count, MPI_Comm comm, std::span<const Rank> peers,
                         const char* peer) {
  using Shape = CallSide::Shape;
  if (side.buffer == MPI_IN_PLACE)
    throw CallError(MPI_ERR_BUFFER, name, "MPI_IN_PLACE is given",
                    "give a buffer, and MPI_IN_PLACE as the send buffer of an all-to-all alone");
  if (count < 0) throw CallError(MPI_ERR_ARG, name, fmt::format("there are {} {}s", count, peer), "use 0 or more");
  const auto size = static_cast<std::size_t>(count);
  if (side.has_counts() && (side.counts.size() != size || side.displacements.size() != size ||
                            (side.shape == Shape::w && side.types.size() != size)))
    throw CallError(
        MPI_ERR_ARG, name,
        fmt::format("there are {} counts, {} displacements{} for {} {}s", side.counts.size(), side.displacements.size(),
                    side.shape == Shape::w ? fmt::format(", {} types", side.types.size()) : "", count, peer),
        "give one of each for every one");
  // A named type without gaps is the same as long as MPI runs; others may be freed between calls.
  const bool is_known = handles_.size() == 1 && handles_.front() == side.type && types_.front().is_contiguous();
  if (is_known) blocks_.clear();
  else clear();
  const auto* const type = side.shape == Shape::w || count == 0 ? nullptr : &types_[number_of(side.type, comm)];
  const Bytes extent = type ? type->extent() : 1;
  // Of a w, an address may be relative to MPI_BOTTOM, which is null.
  const bool is_nowhere = type && type->is_contiguous() && !side.buffer;
  for (std::size_t i = 0; i < size; ++i) {
    const Bytes elements = side.has_counts() ? side.counts[i] : side.count;
    const Bytes number = side.has_counts()            ? side.displacements[i]
                         : side.shape == Shape::equal ? static_cast<Bytes>(i) * elements
                                                      : 0;
    const Block block{peers.empty() ? static_cast<Rank>(i) : peers[i], is_nowhere ? 0 : number * extent, elements};
    if (side.shape == Shape::w && elements == 0) add(block);  // MPI allows any type there
    else add_checked(name, side.buffer, block, side.shape == Shape::w ? side.types[i] : side.type, comm, peer);
  }
}

void TypedBlocks::add_checked(const char* name, const void* buffer, Block block, MPI_Datatype type, MPI_Comm comm,
                              const char* peer) {
  const auto refuse = [&](int error_class, const char* what, const char* remedy) {
    throw CallError(error_class, name, fmt::format(fmt::runtime(what), block.count, peer, block.peer), remedy);
  };
  if (block.count < 0) refuse(MPI_ERR_COUNT, "the count for {1} {2} is {0}", "use 0 or more");
  block.type = number_of(type, comm);
  add(block);
  // Address 0 is MPI_BOTTOM, to which addresses of derived types are relative.
  if (!buffer && block.offset == 0 && bytes(block) > 0 && types_[block.type].is_contiguous())
    refuse(MPI_ERR_BUFFER, "there are {0} elements for {1} {2} and no buffer", "give a buffer, or counts of 0");
}

void TypedBlocks::arrange(const std::vector<int>& order, const Block& none) {
  std::vector<Block> arranged;
  arranged.reserve(order.size());
  for (const int number : order) arranged.push_back(number < 0 ? none : blocks_[static_cast<std::size_t>(number)]);
  blocks_ = std::move(arranged);
}

TypedBlocks TypedBlocks::with_peers(const std::vector<Rank>& peers) const {
  auto result = *this;
  for (std::size_t i = 0; i < peers.size(); ++i) result.blocks_[i].peer = peers[i];
  std::erase_if(result.blocks_, [](const Block& block) { return block.peer < 0; });
  return result;
}

bool TypedBlocks::are_contiguous() const {
  return std::ranges::all_of(blocks_, [&](const Block& block) { return is_contiguous(block); });
}

const std::byte* TypedBlocks::first_byte(const void* users) const {
  const auto first = std::ranges::find_if(blocks_, [&](const Block& block) { return bytes(block) > 0; });
  return first == blocks_.end() ? nullptr : address(users, first->offset + types_[first->type].begin());
}

Bytes TypedBlocks::lowest_offset() const {
  constexpr Bytes none = std::numeric_limits<Bytes>::max();
  Bytes lowest = none;
  for (const auto& block : blocks_)
    if (bytes(block) > 0) lowest = std::min(lowest, block.offset);
  return lowest == none ? 0 : lowest;
}

void TypedBlocks::lay_out(Places places) {
  is_packed_ = places != Places::users;
  begin_ = is_packed_ ? 0 : lowest_offset();
  total_ = 0;
  if (places == Places::packed_once) return share_places();
  for (auto& block : blocks_) {
    block.place = is_packed_         ? total_
                  : bytes(block) > 0 ? block.offset - begin_
                                     : 0;  // that of nothing may be anything
    total_ += bytes(block);
  }
}

void TypedBlocks::share_places() {
  std::map<std::tuple<Bytes, Bytes, std::size_t>, Bytes> known;
  for (auto& block : blocks_) {
    const auto [at, is_new] = known.try_emplace({block.offset, block.count, block.type}, total_);
    block.place = at->second;
    block.is_first = is_new;
    if (is_new) total_ += bytes(block);
  }
}

std::byte* TypedBlocks::buffer(const void* users) {
  if (!is_packed_) return address(users, begin_);
  packed_.resize(static_cast<std::size_t>(total_));
  return packed_.data();
}

void TypedBlocks::pack(const void* users) {
  if (!is_packed_) return;
  for (const auto& block : blocks_)
    if (block.is_first && block.count > 0)
      types_[block.type].pack(address(users, block.offset), block.count, packed_.data() + block.place);
}

void TypedBlocks::unpack(void* users) const {
  if (!is_packed_) return;
  for (const auto& block : blocks_)
    if (block.count > 0)
      types_[block.type].unpack(packed_.data() + block.place, block.count, address(users, block.offset));
}

}  // namespace commpass
