#include "model/machine/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "model/error.hpp"
#include "model/text.hpp"

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

Layout::Layout(std::span<const int> node_of, std::span<const int> socket_of) {
  if (node_of.empty()) throw InputError("layout", "it has no ranks", "name at least one node");
  if (!socket_of.empty() && socket_of.size() != node_of.size())
    throw InputError("layout",
                     fmt::format("{} ranks have a node but {} have a socket", node_of.size(), socket_of.size()),
                     "give every rank a socket, or none");

  auto places = std::make_shared<Places>();
  const auto ranks = node_of.size();
  Numbering<int> nodes;
  Numbering<std::pair<int, int>> sockets;
  std::vector<int> found;  // ranks of each node so far
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const int node = nodes.of(node_of[rank]);
    found.resize(static_cast<std::size_t>(nodes.size()));
    if (node + 1 < nodes.size()) places->is_in_order_of_nodes = false;
    places->node_of.push_back(node);
    places->local_of.push_back(found[static_cast<std::size_t>(node)]++);
    places->socket_of.push_back(sockets.of({node, socket_of.empty() ? 0 : socket_of[rank]}));
  }
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
int checked_product(int nodes, int sockets, int cores) {
  constexpr std::int64_t max_ranks = std::int64_t{1} << 26;  // a typing error should not fill the memory
  const bool positive = nodes > 0 && sockets > 0 && cores > 0;
  // Each factor is below 2³¹ but the product of three may overflow, so it is checked factor by factor.
  if (!positive || std::int64_t{nodes} * sockets > max_ranks || std::int64_t{nodes} * sockets * cores > max_ranks)
    throw InputError("layout", fmt::format("{} nodes x {} sockets x {} ranks is no layout", nodes, sockets, cores),
                     fmt::format("use positive numbers and at most {} ranks", max_ranks));
  return nodes * sockets * cores;
}

}  // namespace

Layout Layout::regular(int nodes, int sockets, int cores) {
  checked_product(nodes, sockets, cores);
  std::vector<int> node_of, socket_of;
  for (int node = 0; node < nodes; ++node)
    for (int socket = 0; socket < sockets; ++socket)
      for (int core = 0; core < cores; ++core) {
        node_of.push_back(node);
        socket_of.push_back(socket);
      }
  return Layout(node_of, socket_of);
}

Layout Layout::with_ppn(int ranks, int ppn) {
  if (ranks < 1 || ppn < 1)
    throw InputError("layout", fmt::format("{} ranks with {} a node is no layout", ranks, ppn), "use positive numbers");
  std::vector<int> node_of(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) node_of[static_cast<std::size_t>(rank)] = rank / ppn;
  return Layout(node_of);
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
  return text;
}

namespace {

/// What a layout text says, before anything of the size of its product is built.
struct LayoutText {
  int ranks = 0;
  int nodes = 0, sockets = 1, cores = 0;  ///< of a product
  std::vector<int> node_of, socket_of;    ///< of a list

  Layout build() const { return node_of.empty() ? Layout::regular(nodes, sockets, cores) : Layout(node_of, socket_of); }
};

LayoutText read_product(const std::string& text) {
  std::vector<int> factors;
  for (const auto& piece : split(text, 'x')) {
    const auto factor = parse_number<int>(piece);
    if (!factor)
      throw InputError("layout " + text, "'" + piece + "' is no number", "write NODESxRANKS, for example 4x8");
    factors.push_back(*factor);
  }
  if (factors.size() > 3)
    throw InputError("layout " + text, "it has more than three factors", "write NODESxRANKS or NODESxSOCKETSxRANKS");
  LayoutText result;
  result.nodes = factors.front();
  result.cores = factors.back();
  if (factors.size() == 3) result.sockets = factors[1];
  result.ranks = checked_product(result.nodes, result.sockets, result.cores);
  return result;
}

LayoutText read_list(const std::string& text) {
  LayoutText result;
  for (const auto& piece : split(text, ',')) {
    const auto parts = split(piece, '.');
    const auto node = parse_number<int>(parts[0]);
    const auto socket = parts.size() == 2 ? parse_number<int>(parts[1]) : std::optional<int>(0);
    if (parts.size() > 2 || !node || !socket || *node < 0 || *socket < 0)
      throw InputError("layout " + text, "entry '" + piece + "' is no node",
                       "write one entry a rank, NODE or NODE.SOCKET, for example 0,0,1,1");
    result.node_of.push_back(*node);
    result.socket_of.push_back(*socket);
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

int ranks_of_layout(const std::string& text) { return read_layout_text(text).ranks; }

Layout layout_of_node(const Layout& layout, int node) {
  std::vector<int> sockets;
  for (const Rank rank : layout.ranks_of(node)) sockets.push_back(layout.socket(rank));
  return Layout(std::vector<int>(sockets.size(), 0), sockets);
}

}  // namespace commpass
