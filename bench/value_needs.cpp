#include "bench/value_needs.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <tuple>

#include "bench/node_speakers.hpp"
#include "model/base/error.hpp"
#include "model/pattern/matrix_pattern.hpp"

namespace commpass::bench {

namespace {

using Ends = std::pair<Rank, Rank>;
using Indices = std::vector<std::int64_t>;

std::int64_t below(std::mt19937_64& random, std::int64_t end) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
}

/// As many for each rank.
ValueNeeds even(int ranks, std::int64_t values) {
  ValueNeeds needs;
  for (std::int64_t rank = 0; rank <= ranks; ++rank) needs.begin.push_back(rank * values);
  needs.needed.resize(static_cast<std::size_t>(ranks));
  return needs;
}

/// Values that are needed, by owner and needer, in the order of the needer's ghost values.
std::map<Ends, Indices> messages_of(const ValueNeeds& needs) {
  std::map<Ends, Indices> messages;
  for (Rank needer = 0; needer < needs.ranks(); ++needer)
    for (const auto index : needs.needed[static_cast<std::size_t>(needer)])
      messages[{needs.owner(index), needer}].push_back(index);
  return messages;
}

/// How many runs of values that lie one after another a loop takes, from places of which `place_of` tells.
template <class PlaceOf>
int runs_in(const Indices& indices, PlaceOf place_of) {
  int runs = 0;
  std::int64_t last = 0;
  for (const auto index : indices) {
    const std::int64_t place = place_of(index);
    if (runs == 0 || place != last + 1) ++runs;
    last = place;
  }
  return runs;
}
int runs_in(const Indices& indices) {
  return runs_in(indices, [](std::int64_t index) { return index; });
}

Bytes bytes_of(const Indices& indices) { return std::ssize(indices) * value_bytes; }

/// For each value where a list has it.
std::map<std::int64_t, std::int64_t> places_in(const Indices& list) {
  std::map<std::int64_t, std::int64_t> places;
  for (const auto index : list) places.try_emplace(index, std::ssize(places));
  return places;
}

/// Of each message, how many runs bring its values to the ghost values of its needer.
int unpacked_runs(const ValueNeeds& needs, Rank needer, const Indices& message) {
  const auto ghosts = places_in(needs.needed[static_cast<std::size_t>(needer)]);
  return runs_in(message, [&](std::int64_t index) { return ghosts.at(index); });
}

/// The loops of a caller with a buffer with the values for each needer, and one with those of each owner.
void add_callers_loops(const ValueNeeds& needs, int last_stage, PeerSchedule& schedule) {
  std::map<Rank, PeerMessage> packing, unpacking;
  for (const auto& [ends, indices] : messages_of(needs)) {
    const auto& [owner, needer] = ends;
    auto& before = packing.try_emplace(owner, PeerMessage{.stage = 0, .from = owner, .to = owner}).first->second;
    before.bytes += bytes_of(indices);
    before.packed += runs_in(indices);
    auto& after =
        unpacking.try_emplace(needer, PeerMessage{.stage = last_stage, .from = needer, .to = needer}).first->second;
    after.bytes += bytes_of(indices);
    after.unpacked += unpacked_runs(needs, needer, indices);
  }
  for (const auto& [rank, loop] : packing) schedule.push_back(loop);
  for (const auto& [rank, loop] : unpacking) schedule.push_back(loop);
}

constexpr int last_stage = 2;  // of the level-aware exchanges

PeerSchedule in_order(PeerSchedule schedule) {
  std::ranges::stable_sort(schedule, {}, [](const PeerMessage& m) { return std::tuple(m.stage, m.from); });
  return schedule;
}

}  // namespace

Rank ValueNeeds::owner(std::int64_t index) const {
  return static_cast<Rank>(std::ranges::upper_bound(begin, index) - begin.begin()) - 1;
}

ValueNeeds needs_of_matrix(const CoordinateMatrix& matrix, int ranks) {
  ValueNeeds needs;
  for (std::int64_t rank = 0; rank <= ranks; ++rank) needs.begin.push_back(rank * matrix.rows / ranks);
  std::vector<std::set<std::int64_t>> columns(static_cast<std::size_t>(ranks));
  const auto touch = [&](std::int64_t row, std::int64_t column) {
    const Rank rank = needs.owner(row);
    if (needs.owner(column) != rank) columns[static_cast<std::size_t>(rank)].insert(column);
  };
  for (std::size_t i = 0; i < matrix.row.size(); ++i) {
    touch(matrix.row[i], matrix.column[i]);
    if (matrix.symmetry != CoordinateMatrix::Symmetry::general) touch(matrix.column[i], matrix.row[i]);
  }
  for (const auto& of_rank : columns) needs.needed.emplace_back(of_rank.begin(), of_rank.end());
  return needs;
}

ValueNeeds random_needs(int ranks, int owners, int values) {
  constexpr std::int64_t owned = 4096;
  auto needs = even(ranks, owned);
  std::mt19937_64 random(1);
  for (Rank rank = 0; rank < ranks; ++rank) {
    auto& needed = needs.needed[static_cast<std::size_t>(rank)];
    std::set<Rank> drawn;
    while (std::ssize(drawn) < std::min(owners, ranks - 1))
      if (const auto owner = static_cast<Rank>(below(random, ranks)); owner != rank) drawn.insert(owner);
    for (const Rank owner : drawn) {
      std::set<std::int64_t> seen;
      while (std::ssize(seen) < values)
        if (const auto index = needs.begin[static_cast<std::size_t>(owner)] + below(random, owned);
            seen.insert(index).second)
          needed.push_back(index);
    }
  }
  return needs;
}

ValueNeeds popular_needs(int ranks, int values) {
  constexpr std::int64_t owned = 64;
  constexpr int every = 8;
  auto needs = even(ranks, owned);
  std::mt19937_64 random(1);
  for (Rank rank = 0; rank < ranks; ++rank) {
    std::set<std::int64_t> drawn;
    while (std::ssize(drawn) < values) {
      const auto owner = every * below(random, (ranks + every - 1) / every);
      if (owner != rank) drawn.insert(needs.begin[static_cast<std::size_t>(owner)] + below(random, owned));
    }
    needs.needed[static_cast<std::size_t>(rank)].assign(drawn.begin(), drawn.end());
  }
  return needs;
}

std::string to_text(const ValueNeeds& needs) {
  std::ostringstream text;
  const auto line = [&](const Indices& numbers) {
    for (const auto number : numbers) text << number << ' ';
    text << '\n';
  };
  line(needs.begin);
  for (const auto& of_rank : needs.needed) line(of_rank);
  return text.str();
}

ValueNeeds parse_needs(const std::string& text) {
  std::istringstream lines(text);
  ValueNeeds needs;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line);
    Indices list;
    for (std::int64_t number = 0; numbers >> number;) list.push_back(number);
    if (needs.begin.empty()) needs.begin = std::move(list);
    else needs.needed.push_back(std::move(list));
  }
  if (needs.begin.size() != needs.needed.size() + 1) throw Error("these are not what ranks need of each other.");
  return needs;
}

Pattern pattern_of(const ValueNeeds& needs) {
  Pattern pattern{needs.ranks(), {}};
  for (const auto& [ends, indices] : messages_of(needs))
    pattern.edges.push_back({ends.first, ends.second, bytes_of(indices)});
  return pattern;
}

PeerSchedule packed_loop(const ValueNeeds& needs, const Layout&) {
  PeerSchedule schedule;
  for (const auto& [ends, indices] : messages_of(needs))
    schedule.push_back({.from = ends.first,
                        .to = ends.second,
                        .bytes = bytes_of(indices),
                        .packed = runs_in(indices),
                        .unpacked = unpacked_runs(needs, ends.second, indices)});
  return schedule;
}

PeerSchedule packed_locality_aware(const ValueNeeds& needs, const Layout& layout) {
  auto schedule = locality_aware(pattern_of(needs), layout);
  add_callers_loops(needs, last_stage, schedule);
  return in_order(std::move(schedule));
}

PeerSchedule locality_aware_once(const ValueNeeds& needs, const Layout& layout) {
  PeerSchedule schedule;
  add_callers_loops(needs, last_stage, schedule);
  const NodeSpeakers speakers(pattern_of(needs), layout);
  std::map<std::pair<Rank, int>, Indices> for_node;  // of an owner, in the order of the caller's buffer, each once
  const auto messages = messages_of(needs);
  for (const auto& [ends, indices] : messages) {
    const auto& [owner, needer] = ends;
    const int there = layout.node(needer);
    if (layout.node(owner) == there) {
      schedule.push_back({.stage = 0, .from = owner, .to = needer, .bytes = bytes_of(indices)});
      continue;
    }
    auto& list = for_node[{owner, there}];
    const auto known = places_in(list);
    std::ranges::copy_if(indices, std::back_inserter(list), [&](std::int64_t index) { return !known.contains(index); });
  }
  std::map<std::pair<int, int>, Indices> between;  // nodes: what one has for the other, owner after owner
  std::map<std::pair<int, int>, int> parts;
  for (const auto& [ends, indices] : for_node) {
    const auto& [owner, there] = ends;
    const int here = layout.node(owner);
    auto& list = between[{here, there}];
    list.insert(list.end(), indices.begin(), indices.end());
    const Rank sender = speakers.sender(here, there);
    // What one needer alone needs lies together in the caller's buffer; else the values are brought together.
    parts[{here, there}] += owner == sender ? runs_in(indices) : 1;
    if (owner != sender)
      schedule.push_back(
          {.stage = 0, .from = owner, .to = sender, .bytes = bytes_of(indices), .packed = runs_in(indices)});
  }
  for (const auto& [nodes, indices] : between) {
    const int pieces = parts.at(nodes);
    schedule.push_back({.stage = 1,
                        .from = speakers.sender(nodes.first, nodes.second),
                        .to = speakers.receiver(nodes.first, nodes.second),
                        .bytes = bytes_of(indices),
                        .packed = pieces > 1 ? pieces : 0});
  }
  std::map<Ends, std::pair<Indices, int>> scattered;  // by receiver and needer, with the runs that pack it
  for (const auto& [ends, indices] : messages) {
    const int here = layout.node(ends.first), there = layout.node(ends.second);
    if (here == there) continue;
    const auto landed = places_in(between.at({here, there}));
    auto& [list, runs] = scattered[{speakers.receiver(here, there), ends.second}];
    list.insert(list.end(), indices.begin(), indices.end());
    runs += runs_in(indices, [&](std::int64_t index) { return landed.at(index); });
  }
  for (const auto& [ends, packed] : scattered) {
    const auto& [list, runs] = packed;
    schedule.push_back(
        {.stage = last_stage, .from = ends.first, .to = ends.second, .bytes = bytes_of(list), .packed = runs});
  }
  return in_order(std::move(schedule));
}

}  // namespace commpass::bench
