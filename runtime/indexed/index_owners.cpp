#include "runtime/indexed/index_owners.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "model/base/error.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/sparse/sparse_lists.hpp"

namespace commpass {

namespace {

std::string place_of(Index index) { return fmt::format("indexed exchange, index {}", index); }

[[noreturn]] void fail_without_owner(Index index, Rank rank) {
  throw InputError(place_of(index), fmt::format("rank {} needs it and no rank owns it", rank),
                   "need only indices that have an owner");
}
[[noreturn]] void fail_with_two_owners(Index index, Rank a, Rank b) {
  throw InputError(place_of(index), fmt::format("ranks {} and {} both own it", std::min(a, b), std::max(a, b)),
                   "give every index one owner");
}

/// What ranks own, in the order of the indices.
struct OwnedRange {
  IndexRange range;
  Rank owner = 0;
};

std::vector<Rank> owners_of_ranges(MPI_Comm comm, IndexRange own, std::span<const Index> needed) {
  const int ranks = ranks_in(comm);
  const Rank rank = rank_in(comm);
  std::vector<Index> table;
  all_or_none(comm, [&] { table.resize(2 * static_cast<std::size_t>(ranks)); });
  const std::array<Index, 2> mine{own.begin, own.end};
  COMMPASS_MPI_CALL(MPI_Allgather, mine.data(), 2, MPI_INT64_T, table.data(), 2, MPI_INT64_T, comm);

  std::vector<Rank> owners;
  all_or_none(comm, [&] {
    std::vector<OwnedRange> owned;
    for (Rank r = 0; r < ranks; ++r) {
      const auto entry = 2 * static_cast<std::size_t>(r);
      if (table[entry] < table[entry + 1]) owned.push_back({{table[entry], table[entry + 1]}, r});
    }
    const auto begin_of = [](const OwnedRange& o) { return o.range.begin; };
    std::ranges::sort(owned, {}, begin_of);
    for (std::size_t i = 1; i < owned.size(); ++i)
      if (owned[i].range.begin < owned[i - 1].range.end)
        fail_with_two_owners(owned[i].range.begin, owned[i - 1].owner, owned[i].owner);
    for (const Index index : needed) {
      const auto next = std::ranges::upper_bound(owned, index, {}, begin_of);
      if (next == owned.begin() || index >= std::prev(next)->range.end) fail_without_owner(index, rank);
      owners.push_back(std::prev(next)->owner);
    }
  });
  return owners;
}

/// The rank that knows who owns an index. Indices that lie close together have the same one, so that ranks ask few; far
/// ones are scattered, so that a rank does not know many more than others, wherever in 64 bits the indices lie.
Rank directory_rank(Index index, int ranks) {
  constexpr std::uint64_t close = 512;  // 4 KiB of indices, a message of some size
  auto mixed = static_cast<std::uint64_t>(index) / close + 0x9E3779B97F4A7C15U;  // SplitMix64 (Steele, Lea, Flood 2014)
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
  return static_cast<Rank>((mixed ^ (mixed >> 31)) % static_cast<std::uint64_t>(ranks));
}

RankLists<Index> by_directory(std::span<const Index> indices, int ranks) {
  RankLists<Index> result;
  for (const Index index : indices) result[directory_rank(index, ranks)].push_back(index);
  return result;
}

constexpr Rank no_owner = -1;

using Directory = std::vector<std::pair<Index, Rank>>;  // ascending

/// What ranks have told this one of their indices. Collective.
Directory make_directory(SparseEngine& engine, std::span<const Index> indices, const SparseOptions& options) {
  const MPI_Comm comm = engine.context()->comm.get();
  RankLists<Index> told;
  all_or_none(comm, [&] { told = by_directory(indices, ranks_in(comm)); });
  told = exchange_lists(engine, told, options);
  Directory directory;
  all_or_none(comm, [&] {
    for (const auto& [rank, list] : told)
      for (const Index index : list) directory.emplace_back(index, rank);
    std::ranges::sort(directory);
  });
  return directory;
}

/// The lowest rank that has told of each index, or no_owner. Collective.
std::vector<Rank> look_up(SparseEngine& engine, const Directory& directory, std::span<const Index> needed,
                          const SparseOptions& options) {
  const MPI_Comm comm = engine.context()->comm.get();
  const int ranks = ranks_in(comm);
  RankLists<Index> asked;
  all_or_none(comm, [&] { asked = by_directory(needed, ranks); });
  const auto questions = exchange_lists(engine, asked, options);
  RankLists<Rank> answers;
  all_or_none(comm, [&] {
    for (const auto& [asker, indices] : questions)
      for (const Index index : indices) {
        const auto entry = std::ranges::lower_bound(directory, index, {}, [](const auto& e) { return e.first; });
        answers[asker].push_back(entry != directory.end() && entry->first == index ? entry->second : no_owner);
      }
  });
  answers = exchange_lists(engine, answers, options);
  std::vector<Rank> owners;
  all_or_none(comm, [&] {
    std::map<Rank, std::size_t> taken;  // of the answers, which are in the order of the questions
    for (const Index index : needed) {
      const Rank from = directory_rank(index, ranks);
      owners.push_back(answers.at(from)[taken[from]++]);
    }
  });
  return owners;
}

std::vector<Rank> owners_by_directory(SparseEngine& engine, const OwnedIndices& owned, std::span<const Index> needed,
                                      const SparseOptions& options) {
  const MPI_Comm comm = engine.context()->comm.get();
  std::vector<Index> indices;
  all_or_none(comm, [&] { indices = owned.indices(); });
  const auto directory = make_directory(engine, indices, options);
  all_or_none(comm, [&] {
    const auto twice = std::ranges::adjacent_find(directory, {}, [](const auto& entry) { return entry.first; });
    if (twice != directory.end()) fail_with_two_owners(twice->first, twice->second, std::next(twice)->second);
  });
  auto owners = look_up(engine, directory, needed, options);
  all_or_none(comm, [&] {
    const auto missing = std::ranges::find(owners, no_owner);
    if (missing != owners.end())
      fail_without_owner(needed[static_cast<std::size_t>(missing - owners.begin())], rank_in(comm));
  });
  return owners;
}

}  // namespace

OwnedIndices::OwnedIndices(IndexRange range) : range_(range) {
  if (range.begin < 0 || range.begin > range.end)
    throw InputError("indexed exchange", fmt::format("the range from {} to before {} is none", range.begin, range.end),
                     "use 0 <= begin <= end");
}

OwnedIndices::OwnedIndices(std::span<const Index> list) {
  for (const Index index : list) sorted_.emplace_back(index, std::ssize(sorted_));
  std::ranges::sort(sorted_);
  if (!sorted_.empty() && sorted_.front().first < 0)
    throw InputError(place_of(sorted_.front().first), "it is negative", "use 0 or more");
  const auto twice = std::ranges::adjacent_find(sorted_, {}, [](const auto& entry) { return entry.first; });
  if (twice != sorted_.end())
    throw InputError(place_of(twice->first), "a rank lists it twice among its own", "list it once");
}

std::optional<std::int64_t> OwnedIndices::position(Index index) const {
  if (is_range())
    return index >= range_.begin && index < range_.end ? std::optional(index - range_.begin) : std::nullopt;
  const auto entry = std::ranges::lower_bound(sorted_, index, {}, [](const auto& e) { return e.first; });
  return entry != sorted_.end() && entry->first == index ? std::optional(entry->second) : std::nullopt;
}

std::vector<Index> OwnedIndices::indices() const {
  std::vector<Index> result(static_cast<std::size_t>(count()));
  if (is_range()) std::iota(result.begin(), result.end(), range_.begin);
  else std::ranges::transform(sorted_, result.begin(), [](const auto& entry) { return entry.first; });
  return result;
}

std::vector<Rank> find_owners(SparseEngine& engine, const OwnedIndices& owned, std::span<const Index> needed,
                              const SparseOptions& options) {
  // An empty list is an empty range, too.
  int mine = owned.is_range() ? 1 : 0, all_ranges = 0;
  COMMPASS_MPI_CALL(MPI_Allreduce, &mine, &all_ranges, 1, MPI_INT, MPI_MIN, engine.context()->comm.get());
  return all_ranges ? owners_of_ranges(engine.context()->comm.get(), owned.range(), needed)
                    : owners_by_directory(engine, owned, needed, options);
}

std::vector<Rank> elect_owners(SparseEngine& engine, std::span<const Index> indices, const SparseOptions& options) {
  return look_up(engine, make_directory(engine, indices, options), indices, options);
}

}  // namespace commpass
