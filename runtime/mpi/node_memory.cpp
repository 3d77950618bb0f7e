#include "runtime/mpi/node_memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>

#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

constexpr Bytes line = 64, first_part_bytes = Bytes{256} << 10;

}  // namespace

void NodeMemory::open(MPI_Comm comm) {
  if (node_) return;
  auto node = OwnCommunicator::split_by_node(comm);
  all_or_none(comm, [&] {
    MPI_Group all = MPI_GROUP_NULL, here = MPI_GROUP_NULL;
    COMMPASS_MPI_CALL(MPI_Comm_group, comm, &all);
    COMMPASS_MPI_CALL(MPI_Comm_group, node.get(), &here);
    int ranks = 0;
    COMMPASS_MPI_CALL(MPI_Group_size, all, &ranks);
    std::vector<Rank> numbers(static_cast<std::size_t>(ranks));
    ranks_on_node_.resize(numbers.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    COMMPASS_MPI_CALL(MPI_Group_translate_ranks, all, ranks, numbers.data(), here, ranks_on_node_.data());
    COMMPASS_MPI_CALL(MPI_Group_free, &all);
    COMMPASS_MPI_CALL(MPI_Group_free, &here);
  });
  node_.emplace(std::move(node));
}

std::optional<NodeMemory::Range> NodeMemory::take(MPI_Comm comm, Bytes bytes) {
  bytes = (bytes + line - 1) / line * line;
  const auto has_room = [&](const Part& part) { return part.arena.has_room(bytes); };
  std::int64_t missing = std::ranges::any_of(parts_, has_room) ? 0 : bytes;
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &missing, 1, MPI_INT64_T, MPI_MAX, comm);
  if (missing > 0 && !grow(comm, missing)) return std::nullopt;
  const auto part = std::ranges::find_if(parts_, has_room);
  std::optional<Range> range;
  all_or_none(comm, [&] {
    const Place place{part - parts_.begin(), part->begin + part->arena.allocate(bytes)};
    std::memset(part->mapping.all().data() + place.offset, 0, static_cast<std::size_t>(bytes));
    range.emplace(*this, place, bytes);
  });
  return range;
}

NodeMemory::Place NodeMemory::take_number(Range& range) {
  if (numbers_.empty()) return range.split_off(line);
  const auto free = numbers_.back();
  numbers_.pop_back();
  return free;
}

void NodeMemory::give_back_number(const Place& place) noexcept {
  try {
    numbers_.push_back(place);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the line is lost
  }
}

/// By a part of twice the size of the last one, or of the size that is needed.
bool NodeMemory::grow(MPI_Comm comm, Bytes bytes) {
  const Bytes ample = std::max(parts_.empty() ? first_part_bytes : 2 * parts_.back().bytes, bytes);
  if (is_exhausted_) return false;
  is_exhausted_ = !add_part(comm, ample) && (ample == bytes || !add_part(comm, bytes));
  return !is_exhausted_;
}

bool NodeMemory::add_part(MPI_Comm comm, Bytes bytes) {
  Part part{.begin = node_->rank() * bytes, .bytes = bytes};
  all_or_none(comm, [&] {
    part.arena.release(0, bytes);
    parts_.reserve(parts_.size() + 1);
  });
  part.mapping.open(node_->get(), static_cast<std::size_t>(bytes));
  int is_there = part.mapping.all().empty() ? 0 : 1;
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &is_there, 1, MPI_INT, MPI_MIN, comm);
  if (is_there) parts_.push_back(std::move(part));
  return is_there != 0;
}

void NodeMemory::give_back(const Range& range) noexcept {
  if (range.bytes() == 0) return;
  auto& part = parts_[static_cast<std::size_t>(range.place().mapping)];
  try {
    part.arena.release(range.place().offset - part.begin, range.bytes());
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the range is lost
  }
}

}  // namespace commpass
