#include "runtime/device/copy_groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace commpass {

namespace {

// Smaller parts cost more than they save: a copy on Lassen (node-aware paper, table 3) takes at least 13 µs, the time
// of 8 KiB and more.
constexpr Bytes share_min = Bytes{8} << 10;

std::size_t at(Rank rank) { return static_cast<std::size_t>(rank); }

}  // namespace

CopyGroups::CopyGroups(const Layout& layout, std::span<const OnDevice> data, int copies)
    : data_(data.begin(), data.end()), helpers_(data.size()), helped_(data.size()) {
  std::iota(helped_.begin(), helped_.end(), Rank{0});
  struct Node {
    std::vector<Rank> owners, others;
  };
  std::map<int, Node> nodes;
  for (Rank rank = 0; rank < layout.ranks(); ++rank) {
    auto& node = nodes[layout.node(rank)];
    (data_[at(rank)] == OnDevice::nothing ? node.others : node.owners).push_back(rank);
  }
  for (const auto& [number, node] : nodes) {
    if (node.owners.empty()) continue;
    const auto each = std::min(static_cast<std::size_t>(copies) - 1, node.others.size() / node.owners.size());
    for (std::size_t owner = 0; owner < node.owners.size(); ++owner)
      for (std::size_t i = 0; i < each; ++i) {
        const Rank helper = node.others[owner * each + i];
        helpers_[at(node.owners[owner])].push_back(helper);
        helped_[at(helper)] = node.owners[owner];
      }
  }
}

bool CopyGroups::has(Rank rank, OnDevice side) const {
  return (static_cast<unsigned>(data_[at(rank)]) & static_cast<unsigned>(side)) != 0;
}

std::vector<Rank> CopyGroups::group(Rank rank, OnDevice side) const {
  std::vector<Rank> result{rank};
  if (has(rank, side)) result.insert(result.end(), helpers(rank).begin(), helpers(rank).end());
  return result;
}

std::vector<CopyShare> CopyGroups::shares(Rank source, Rank destination, std::int64_t index, Bytes bytes) const {
  const auto senders = group(source, OnDevice::sends), receivers = group(destination, OnDevice::receives);
  const auto most = static_cast<Bytes>(std::max(senders.size(), receivers.size()));
  const auto parts = std::clamp<Bytes>(bytes / share_min, 1, most);
  // Edges of one part go to the members in turn.
  const auto turn = static_cast<std::size_t>(source + destination + index);
  std::vector<CopyShare> result;
  for (Bytes part = 0; part < parts; ++part) {
    const auto member = turn + static_cast<std::size_t>(part);
    const Bytes begin = bytes / parts * part, end = part + 1 == parts ? bytes : bytes / parts * (part + 1);
    result.push_back({senders[member % senders.size()], receivers[member % receivers.size()], begin, end - begin});
  }
  return result;
}

}  // namespace commpass
