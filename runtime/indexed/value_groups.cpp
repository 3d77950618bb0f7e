#include "runtime/indexed/value_groups.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "model/cost/value_loops.hpp"

namespace commpass {

std::vector<ValueGroup> group_values(std::span<const ValueRequest> requests) {
  struct Wanted {
    std::int64_t position = 0;
    std::size_t request = 0;
    std::int64_t ordinal = 0;
  };
  std::vector<Wanted> wanted;
  for (std::size_t r = 0; r < requests.size(); ++r)
    for (std::int64_t ordinal = 0; ordinal < std::ssize(requests[r].positions); ++ordinal)
      wanted.push_back({requests[r].positions[static_cast<std::size_t>(ordinal)], r, ordinal});
  std::ranges::sort(wanted, {}, [](const Wanted& w) { return std::pair(w.position, w.request); });

  std::map<std::vector<std::size_t>, ValueGroup> groups;
  for (std::size_t i = 0; i < wanted.size();) {
    const auto first = i;
    std::vector<std::size_t> readers;
    for (; i < wanted.size() && wanted[i].position == wanted[first].position; ++i) readers.push_back(wanted[i].request);
    if (readers.size() < 2) continue;
    auto& group = groups[readers];
    group.positions.push_back(wanted[first].position);
    for (auto w = first; w < i; ++w) group.ordinals.push_back(wanted[w].ordinal);
  }
  std::vector<ValueGroup> result;
  for (auto& [readers, group] : groups) {
    group.readers = readers;
    result.push_back(std::move(group));
  }
  return result;
}

void keep_worthwhile(std::vector<ValueGroup>& groups, std::span<const ValueRequest> requests, Rank owner,
                     Bytes value_bytes, const Layout& layout, const Machine& machine) {
  const auto price = price_of_sharing(machine, layout.ppn(layout.node(owner)));
  std::erase_if(groups, [&](const ValueGroup& group) {
    std::map<int, std::int64_t> readers_of_node;
    for (const auto reader : group.readers) ++readers_of_node[layout.node(requests[reader].needer)];
    std::int64_t spared = 0;  // copies of each value
    for (const auto& [node, readers] : readers_of_node)
      if (node != layout.node(owner)) spared += readers - 1;
    const auto values = static_cast<double>(std::ssize(group.positions)),
               readers = static_cast<double>(std::ssize(group.readers)), bytes = static_cast<double>(value_bytes);
    return values * (static_cast<double>(spared) * bytes * price.byte_s + (readers - 1) * price.value_s(bytes)) <=
           readers * price.edge_s;
  });
}

}  // namespace commpass
