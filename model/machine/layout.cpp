#include "model/machine/layout.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"

namespace commpass {

const char* name_of(Locality locality) {
  switch (locality) {
    case Locality::socket: return "socket";
    case Locality::node: return "node";
    case Locality::network: return "network";
  }
  return "?";
}

namespace {

/// Numbers keys 0, 1, … in the order in which they come. Most come several times in a row.
template <class Key>
class Numbering {
 public:
  int of(const Key& key) {
    if (last_ == numbers_.end() || last_->first != key)
      last_ = numbers_.try_emplace(key, static_cast<int>(numbers_.size())).first;
    return last_->second;
  }
  int size() const { return static_cast<int>(numbers_.size()); }

 private:
  std::map<Key, int> numbers_;
  typename std::map<Key, int>::iterator last_ = numbers_.end();
};

}  // namespace

Layout::Layout(std::span<const int> node_of, std::span<const int> socket_of, std::span<const int> group_of) {
  if (node_of.empty()) throw InputError("layout", "it has no ranks", "name at least one node");
  if (!group_of.empty() && group_of.size() != node_of.size())
    throw InputError("layout", fmt::format("{} ranks have a node but {} have a group", node_of.size(), group_of.size()),
                     "give every rank a group, or none");
  if (!socket_of.empty() && socket_of.size() != node_of.size())
    throw InputError("layout",
                     fmt::format("{} ranks have a node but {} have a socket", node_of.size(), socket_of.size()),
                     "give every rank a socket, or none");

  auto places = std::make_shared<Places>();
  const auto ranks = node_of.size();
  Numbering<int> nodes;
  Numbering<std::pair<int, int>> sockets;
  Numbering<int> groups;
  std::vector<int> found;  // ranks of each node so far
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const int node = nodes.of(node_of[rank]);
    found.resize(static_cast<std::size_t>(nodes.size()));
    if (node + 1 < nodes.size()) places->is_in_order_of_nodes = false;
    places->node_of.push_back(node);
    places->local_of.push_back(found[static_cast<std::size_t>(node)]++);
    places->socket_of.push_back(sockets.of({node, socket_of.empty() ? 0 : socket_of[rank]}));
    const int group = groups.of(group_of.empty() ? 0 : group_of[rank]);
    places->group_of.resize(static_cast<std::size_t>(nodes.size()), group);
    places->ranks_of_group.resize(static_cast<std::size_t>(groups.size()));
    ++places->ranks_of_group[static_cast<std::size_t>(group)];
    if (places->group_of[static_cast<std::size_t>(node)] != group)
      throw InputError("layout", fmt::format("rank {} is in another group than the ranks before it on its node", rank),
                       "give all ranks of a node the same group");
  }
  if (groups.size() == 1) places->group_of.clear();
  places->max_ppn = std::ranges::max(found);
  places->sockets = sockets.size();
  places->first.assign(1, 0);
  for (const int ppn : found) places->first.push_back(places->first.back() + static_cast<std::size_t>(ppn));
  places->by_node.resize(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    places->by_node[places->first[static_cast<std::size_t>(places->node_of[rank])] +
                    static_cast<std::size_t>(places->local_of[rank])] = static_cast<Rank>(rank);
  places_ = std::move(places);
}

namespace {

/// @throws InputError unless the product is a layout of a size that a machine may have
int checked_product(int nodes, int sockets, int cores, int groups) {
  constexpr std::int64_t max_ranks = std::int64_t{1} << 26;  // a typing error should not fill the memory
  // Each factor is below 2³¹ but the product of three may overflow, so it is checked factor by factor.
  std::int64_t ranks = 1;
  for (const int factor : {groups, nodes, sockets, cores}) {
    ranks *= factor;
    if (factor < 1 || ranks > max_ranks)
      throw InputError("layout",
                       fmt::format("{}{} nodes x {} sockets x {} ranks is no layout",
                                   groups == 1 ? "" : fmt::format("{} groups x ", groups), nodes, sockets, cores),
                       fmt::format("use positive numbers and at most {} ranks", max_ranks));
  }
  return static_cast<int>(ranks);
}

}  // namespace

Layout Layout::regular(int nodes, int sockets, int cores, int groups) {
  checked_product(nodes, sockets, cores, groups);
  std::vector<int> node_of, socket_of, group_of;
  for (int node = 0; node < groups * nodes; ++node)
    for (int socket = 0; socket < sockets; ++socket)
      for (int core = 0; core < cores; ++core) {
        node_of.push_back(node);
        socket_of.push_back(socket);
        group_of.push_back(node / nodes);
      }
  return Layout(node_of, socket_of, group_of);
}

Layout Layout::with_ppn(int ranks, int ppn) {
  if (ranks < 1 || ppn < 1)
    throw InputError("layout", fmt::format("{} ranks with {} a node is no layout", ranks, ppn), "use positive numbers");
  std::vector<int> node_of(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) node_of[static_cast<std::size_t>(rank)] = rank / ppn;
  return Layout(node_of);
}

int Layout::nodes_of_each_group() const {
  if (groups() == 1 || nodes() % groups() != 0) return 0;
  const int each = nodes() / groups();
  for (int n = 0; n < nodes(); ++n)
    if (group(n) != n / each) return 0;
  return each;
}

std::string Layout::describe() const {
  std::string text = fmt::format("{} {}", nodes(), nodes() == 1 ? "node" : "nodes");
  if (even()) {
    text += fmt::format(" x {} {}", max_ppn(), max_ppn() == 1 ? "rank" : "ranks");
  } else {
    int least = max_ppn();
    for (int node = 0; node < nodes(); ++node) least = std::min(least, ppn(node));
    text += fmt::format(", {} to {} ranks each", least, max_ppn());
  }
  if (sockets() > nodes()) text += fmt::format(", {} sockets", sockets());
  if (groups() > 1) text += fmt::format(", {} groups", groups());
  return text;
}

namespace {

/// What a layout text says, before anything of the size of its product is built.
struct LayoutText {
  int ranks = 0;
  int groups = 1, nodes = 0, sockets = 1, cores = 0;  ///< of a product
  std::vector<int> node_of, socket_of, group_of;      ///< of a list

  Layout build() const {
    return node_of.empty() ? Layout::regular(nodes, sockets, cores, groups) : Layout(node_of, socket_of, group_of);
  }
};

LayoutText read_product(const std::string& text) {
  std::vector<int> factors;
  for (const auto& piece : split(text, 'x')) {
    const auto factor = parse_number<int>(piece);
    if (!factor)
      throw InputError("layout " + text, "'" + piece + "' is no number", "write NODESxRANKS, for example 4x8");
    factors.push_back(*factor);
  }
  constexpr std::size_t with_sockets = 3, with_groups = 4;
  if (factors.size() > with_groups)
    throw InputError("layout " + text, "it has more than four factors",
                     "write NODESxRANKS, NODESxSOCKETSxRANKS or GROUPSxNODESxSOCKETSxRANKS");
  LayoutText result;
  result.cores = factors.back();
  if (factors.size() == with_groups) {
    result.groups = factors.front();
    factors.erase(factors.begin());
  }
  result.nodes = factors.front();
  if (factors.size() == with_sockets) result.sockets = factors[1];
  result.ranks = checked_product(result.nodes, result.sockets, result.cores, result.groups);
  return result;
}

/// The numbers of a rank's place: [group.]node[.socket].
/// @throws InputError
std::vector<int> read_place(const std::string& text, const std::string& piece) {
  std::vector<int> place;
  constexpr std::size_t most = 3;
  for (const auto& part : split(piece, '.'))
    if (const auto number = parse_number<int>(part); number && *number >= 0 && place.size() < most)
      place.push_back(*number);
    else
      throw InputError("layout " + text, "entry '" + piece + "' is no node",
                       piece == text && piece.find('.') == std::string::npos
                           ? "write NODESxRANKS, for example 4x8, or one entry a rank: 0,0,1,1"
                           : "write one entry a rank, NODE, NODE.SOCKET or GROUP.NODE.SOCKET, for example 0,0,1,1");
  return place;
}

LayoutText read_list(const std::string& text) {
  LayoutText result;
  Numbering<std::pair<int, int>> nodes;  // each group has its own
  constexpr std::size_t with_group = 3;
  std::size_t numbers = 0;
  for (const auto& piece : split(text, ',')) {
    auto place = read_place(text, piece);
    const bool has_group = place.size() == with_group;
    if (numbers > 0 && has_group != (numbers == with_group))
      throw InputError("layout " + text, "only some of its entries have a group", "write GROUP.NODE.SOCKET for all");
    numbers = place.size();
    const int group = has_group ? place.front() : 0;
    if (has_group) place.erase(place.begin());
    result.node_of.push_back(nodes.of({group, place.front()}));
    result.socket_of.push_back(place.size() > 1 ? place.back() : 0);
    result.group_of.push_back(group);
  }
  result.ranks = static_cast<int>(result.node_of.size());
  return result;
}

LayoutText read_layout_text(const std::string& text) {
  return text.find('x') != std::string::npos ? read_product(text) : read_list(text);
}

}  // namespace

Layout parse_layout(const std::string& text, int ranks) {
  const auto layout = read_layout_text(text);
  if (ranks > 0 && layout.ranks != ranks)
    throw InputError("layout " + text, fmt::format("it has {} ranks but {} are needed", layout.ranks, ranks),
                     "change the layout or the number of ranks");
  return layout.build();
}

std::string places_text(const Layout& layout) {
  const bool has_groups = layout.groups() > 1, has_sockets = layout.sockets() > layout.nodes();
  std::string text;
  for (Rank rank = 0; rank < layout.ranks(); ++rank) {
    if (rank > 0) text += ',';
    if (has_groups) append(text, "{}.", layout.group(layout.node(rank)));
    append(text, "{}", layout.node(rank));
    if (has_groups || has_sockets) append(text, ".{}", layout.socket(rank));
  }
  return text;
}

int ranks_of_layout(const std::string& text) { return read_layout_text(text).ranks; }

Layout layout_of_node(const Layout& layout, int node) { return layout_of_ranks(layout, layout.ranks_of(node)); }

Layout layout_of_ranks(const Layout& layout, std::span<const Rank> ranks) {
  std::vector<int> nodes, sockets, groups;
  for (const Rank rank : ranks) {
    nodes.push_back(layout.node(rank));
    sockets.push_back(layout.socket(rank));
    groups.push_back(layout.group(layout.node(rank)));
  }
  return Layout(nodes, sockets, groups);
}

}  // namespace commpass
