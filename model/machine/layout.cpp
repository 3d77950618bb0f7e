#include "model/machine/layout.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"

namespace commpass {

namespace {

/// Numbers pairs 0, 1, … in the order in which they come. Most come several times in a row.
class Numbering {
 public:
  int of(std::pair<int, int> key) {
    if (last_ == numbers_.end() || last_->first != key)
      last_ = numbers_.try_emplace(key, static_cast<int>(numbers_.size())).first;
    return last_->second;
  }

 private:
  std::map<std::pair<int, int>, int> numbers_;
  std::map<std::pair<int, int>, int>::iterator last_ = numbers_.end();
};

/// The levels that are told of nodes, sockets and groups.
/// @throws InputError
std::vector<Layout::LevelIds> standard_ids(std::span<const int> node_of, std::span<const int> socket_of,
                                           std::span<const int> group_of) {
  if (node_of.empty()) throw InputError("layout", "it has no ranks", "name at least one node");
  const auto check = [&](std::span<const int> ids, const char* what) {
    if (!ids.empty() && ids.size() != node_of.size())
      throw InputError("layout", fmt::format("{} ranks have a node but {} have a {}", node_of.size(), ids.size(), what),
                       fmt::format("give every rank a {}, or none", what));
  };
  check(group_of, "group");
  check(socket_of, "socket");
  std::map<int, int> group_of_node;
  for (std::size_t rank = 0; rank < group_of.size(); ++rank)
    if (group_of_node.try_emplace(node_of[rank], group_of[rank]).first->second != group_of[rank])
      throw InputError("layout", fmt::format("rank {} is in another group than the ranks before it on its node", rank),
                       "give all ranks of a node the same group");
  std::vector<Layout::LevelIds> result;
  const auto add = [&](Level level, std::span<const int> ids) {
    if (!ids.empty()) result.push_back({standard_level::name(level), {ids.begin(), ids.end()}});
  };
  add(standard_level::socket, socket_of);
  add(standard_level::node, node_of);
  add(standard_level::group, group_of);
  return result;
}

/// @throws InputError
void check_levels(std::span<const Layout::LevelIds> levels) {
  if (levels.size() >= most_levels)
    throw InputError("layout", fmt::format("it has {} levels", levels.size()),
                     fmt::format("use {} at most", most_levels - 1));
  std::set<std::string> names;
  for (const auto& level : levels) {
    if (!names.insert(level.name).second)
      throw InputError("layout", fmt::format("it has level '{}' twice", level.name), "give each level another name");
    if (level.ids.empty() || level.ids.size() != levels.front().ids.size())
      throw InputError("layout", "its levels have different ranks, or none", "give every rank a place at each level");
  }
  if (!names.contains(node_level_name))
    throw InputError("layout", "no level is named node", "call node that one whose ranks share memory");
}

}  // namespace

Layout::Layout(std::span<const int> node_of, std::span<const int> socket_of, std::span<const int> group_of)
    : Layout(standard_ids(node_of, socket_of, group_of)) {}

Layout::Layout(std::span<const LevelIds> levels) : Layout(levels, false) {}

Layout::Layout(std::span<const LevelIds> levels, bool keeps_all) {
  check_levels(levels);
  auto places = std::make_shared<Places>();
  const auto ranks = levels.front().ids.size();
  std::shared_ptr<const std::vector<int>> outer;
  for (std::size_t l = levels.size(); l-- > 0;) {
    Numbering numbers;
    std::vector<int> instance_of(ranks), ranks_of;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const int own = numbers.of({outer ? (*outer)[rank] : 0, levels[l].ids[rank]});
      instance_of[rank] = own;
      ranks_of.resize(std::max(ranks_of.size(), at(own) + 1));
      ++ranks_of[at(own)];
    }
    if (!outer || instance_of != *outer) outer = std::make_shared<const std::vector<int>>(std::move(instance_of));
    if (levels[l].name == node_level_name) places->node_of = outer;
    // A level that contains all nodes tells nothing.
    if (places->node_of || ranks_of.size() > 1 || keeps_all)
      places->told.insert(places->told.begin(), {levels[l].name, outer, std::move(ranks_of)});
  }

  std::vector<int> found;  // ranks of each node so far
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const int node = (*places->node_of)[rank];
    if (std::cmp_less(node + 1, found.size())) places->is_in_order_of_nodes = false;
    found.resize(std::max(found.size(), static_cast<std::size_t>(node) + 1));
    places->local_of.push_back(found[static_cast<std::size_t>(node)]++);
  }
  places->max_ppn = std::ranges::max(found);
  places->first.assign(1, 0);
  for (const int ppn : found) places->first.push_back(places->first.back() + static_cast<std::size_t>(ppn));
  places->by_node.resize(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    places->by_node[places->first[static_cast<std::size_t>((*places->node_of)[rank])] +
                    static_cast<std::size_t>(places->local_of[rank])] = static_cast<Rank>(rank);

  // Sockets are within nodes, whose own instances stand in for those that are not told, and groups outside them.
  const auto find = [&](auto begin, auto end, Level level) {
    return std::ranges::find(begin, end, standard_level::name(level), &LayoutLevel::name);
  };
  const auto node = find(places->told.begin(), places->told.end(), standard_level::node);
  const auto socket = find(places->told.begin(), node, standard_level::socket);
  const auto group = find(node, places->told.end(), standard_level::group);
  places->socket_of = socket->instance_of;
  places->sockets = socket->instances();
  places->all_ranks.assign(1, static_cast<int>(ranks));
  places->ranks_of_group = group == places->told.end() ? places->all_ranks : group->ranks_of;
  if (group != places->told.end()) places->group_of = group->instance_of;
  places_ = std::move(places);

  std::vector<MachineLevel> own;
  for (const auto& name : level_names()) own.push_back({.name = name});
  set_levels(own, {});
}

std::vector<std::string> Layout::level_names() const {
  std::vector<std::string> standard, own;
  for (const auto& level : standard_level::levels()) standard.push_back(level.name);
  for (const auto& told : places_->told) own.push_back(told.name);
  own.push_back(standard.back());
  while (std::ranges::count(own, own.back()) > 1) own.back().insert(0, "outer-");
  const auto place = [&](const std::string& name) { return std::ranges::find(standard, name); };
  return std::ranges::is_sorted(own, {}, place) ? standard : own;
}

Layout Layout::on(const Machine& machine) const {
  auto result = *this;
  result.set_levels(machine.levels, machine.host);
  return result;
}

std::vector<std::optional<Level>> Layout::levels_among(std::span<const MachineLevel> levels) const {
  const auto outermost = static_cast<Level>(levels.size() - 1);
  const auto all = told();
  std::vector<std::optional<Level>> result(all.size());
  const auto node = at(std::ranges::find(all, node_level_name, &LayoutLevel::name) - all.begin());
  const auto node_level = find_level(levels, node_level_name).value_or(outermost);
  if (node_level < outermost) result[node] = node_level;
  Level before = node_level;
  for (std::size_t i = node + 1; i < all.size(); ++i)
    if (const auto found = find_level(levels, all[i].name); found > before && found < outermost)
      before = (result[i] = found).value();
  before = node_level;
  for (std::size_t i = node; i-- > 0;)
    if (const auto found = find_level(levels, all[i].name); found && found < before)
      before = (result[i] = found).value();
  return result;
}

void Layout::set_levels(std::span<const MachineLevel> levels, const MemoryChannels& channels) {
  outermost_ = static_cast<Level>(levels.size() - 1);
  node_level_ = find_level(levels, node_level_name).value_or(outermost_);
  compared_count_ = 0;
  instances_.fill({});
  instances_[outermost_] = {nullptr, places_->all_ranks};
  Level before = outermost_;
  const auto known = levels_among(levels);
  for (std::size_t i = known.size(); i-- > 0;) {
    if (!known[i]) continue;
    before = *known[i];
    const auto& [name, instance_of, ranks_of] = places_->told[i];
    compared_[compared_count_++] = {before, instance_of->data()};
    instances_[before] = {instance_of->data(), ranks_of};
  }
  // All ranks of the innermost instances share those of levels within.
  for (Level level = 0; level < before; ++level) instances_[level] = instances_[before];
  if (compared_count_ > 0) compared_[compared_count_ - 1].level = 0;
  has_pairs_.fill(false);
  int within = ranks();
  for (std::size_t i = compared_count_; i-- > 0;) {
    const auto level = compared_[i].level;
    has_pairs_[level] = instances(level) < within;
    within = instances(level);
  }
  has_pairs_[outermost_] = has_pairs_[outermost_] || within > 1;
  for (std::size_t level = 0; level <= outermost_; ++level) {
    auto channel = level;
    if (level > node_level_)
      while (channel < outermost_ && !channels.has(static_cast<Level>(channel))) ++channel;
    channel_levels_[level] = static_cast<Level>(channel);
  }
}

namespace {

/// A level of a product, and how many instances one of the next outer level has; of ranks, how many.
struct Factor {
  std::string name;
  int count = 1;
};

/// @param factors  outermost first; the last is that of ranks
/// @throws InputError unless the product is a layout of a size that a machine may have
int checked_product(std::span<const Factor> factors) {
  constexpr std::int64_t max_ranks = std::int64_t{1} << 26;  // a typing error should not fill the memory
  // Each factor is below 2³¹ but the product of three may overflow, so it is checked factor by factor.
  std::int64_t ranks = 1;
  for (const auto& factor : factors) {
    ranks *= factor.count;
    if (factor.count >= 1 && ranks <= max_ranks) continue;
    std::vector<std::string> parts;
    for (const auto& [name, count] : factors) parts.push_back(fmt::format("{} {}s", count, name));
    throw InputError("layout", join(parts, " x ") + " is no layout",
                     fmt::format("use positive numbers and at most {} ranks", max_ranks));
  }
  return static_cast<int>(ranks);
}

Layout product(std::span<const Factor> factors) {
  const int ranks = checked_product(factors);
  std::vector<Layout::LevelIds> levels;
  int below = 1;  // ranks in an instance
  for (std::size_t f = factors.size(); f-- > 1;) {
    below *= factors[f].count;
    auto& ids = levels.emplace_back(Layout::LevelIds{factors[f - 1].name, {}}).ids;
    ids.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) ids.push_back(rank / below);
  }
  return Layout(levels);
}

}  // namespace

Layout Layout::regular(int nodes, int sockets, int cores, int groups) {
  std::vector<Factor> factors{{standard_level::name(standard_level::node), nodes},
                              {standard_level::name(standard_level::socket), sockets},
                              {"rank", cores}};
  if (groups != 1) factors.insert(factors.begin(), {standard_level::name(standard_level::group), groups});
  return product(factors);
}

Layout Layout::with_ppn(int ranks, int ppn) {
  if (ranks < 1 || ppn < 1)
    throw InputError("layout", fmt::format("{} ranks with {} a node is no layout", ranks, ppn), "use positive numbers");
  std::vector<int> node_of(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) node_of[static_cast<std::size_t>(rank)] = rank / ppn;
  return Layout(node_of);
}

Level Layout::farthest() const {
  const auto last = std::ranges::find(has_pairs_.rbegin(), has_pairs_.rend(), true);
  return last == has_pairs_.rend() ? Level{0} : static_cast<Level>(has_pairs_.rend() - last - 1);
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
  for (const auto& level : told())
    if (level.instances() != nodes()) text += fmt::format(", {} {}s", level.instances(), level.name);
  return text;
}

namespace {

/// What a layout text says, before anything of the size of its product is built.
struct LayoutText {
  int ranks = 0;
  std::vector<Factor> factors;           ///< of a product
  std::vector<Layout::LevelIds> levels;  ///< of a list, innermost first

  Layout build() const { return levels.empty() ? product(factors) : Layout(levels); }
};

/// What unnamed factors are, by how many there are besides ranks.
const std::vector<std::vector<std::string>> levels_of_product{{"node"},
                                                              {"node", "socket"},
                                                              {"group", "node", "socket"},
                                                              {"group", "node", "socket", "numa"},
                                                              {"group", "node", "socket", "numa", "cache"}};

/// The part of a text that an error names: it may have a million levels, or ranks.
std::string shown_part(const std::string& text) {
  constexpr std::size_t length = 60;
  return text.size() <= length ? text : text.substr(0, length) + "...";
}

InputError error_in(const std::string& text, const std::string& what, const std::string& remedy) {
  return {"layout " + shown_part(text), what, remedy};
}

/// @throws InputError
void check_level_count(const std::string& text, std::size_t count) {
  if (count >= most_levels)
    throw error_in(text, fmt::format("it has {} levels", count), fmt::format("use {} at most", most_levels - 1));
}

/// @throws InputError
void check_name(const std::string& text, const std::string& name) {
  if (!is_level_name(name))
    throw error_in(text, "'" + shown_part(name) + "' is no name of a level", "use a to z, 0 to 9, _ and -");
}

/// @throws InputError
int read_factor(const std::string& text, const std::string& number, const std::string& piece,
                const std::string& remedy) {
  if (const auto factor = parse_number<int>(number)) return *factor;
  throw error_in(text, "'" + shown_part(piece) + "' is no number", remedy);
}

/// "4x2x8"
LayoutText read_product(const std::string& text) {
  const auto pieces = split(text, 'x');
  check_level_count(text, pieces.size() - 1);
  LayoutText result;
  for (const auto& piece : pieces)
    result.factors.push_back({"rank", read_factor(text, piece, piece, "write NODESxRANKS, for example 4x8")});
  if (pieces.size() - 2 >= levels_of_product.size())  // 'x' separates at least two
    throw error_in(text, fmt::format("it has {} factors", pieces.size()),
                   "write NODESxRANKS, NODESxSOCKETSxRANKS, GROUPSxNODESxSOCKETSxRANKS, or name them: node=4,core=8");
  const auto& names = levels_of_product[pieces.size() - 2];
  for (std::size_t f = 0; f < names.size(); ++f) result.factors[f].name = names[f];
  result.ranks = checked_product(result.factors);
  return result;
}

/// "node=4,socket=2,core=8"
LayoutText read_named_product(const std::string& text) {
  const auto pieces = split(text, ',');
  check_level_count(text, pieces.size() - 1);
  LayoutText result;
  for (const auto& piece : pieces) {
    const auto sign = std::min(piece.find('='), piece.size());
    const auto number = piece.substr(std::min(sign + 1, piece.size()));
    result.factors.push_back(
        {piece.substr(0, sign), read_factor(text, number, piece, "write LEVEL=NUMBER, for example node=4,core=8")});
    const auto& name = result.factors.back().name;
    check_name(text, name);
    if (std::ranges::count(result.factors, name, &Factor::name) > 1)
      throw error_in(text, "it has level '" + shown_part(name) + "' twice", "give each level another name");
  }
  result.ranks = checked_product(result.factors);
  return result;
}

/// The numbers of a rank's place, outermost first.
/// @throws InputError
std::vector<int> read_place(const std::string& text, const std::string& piece, bool is_named) {
  std::vector<int> place;
  constexpr std::size_t most = 3;
  for (const auto& part : split(piece, '.'))
    if (const auto number = parse_number<int>(part);
        number && *number >= 0 && place.size() < (is_named ? most_levels : most))
      place.push_back(*number);
    else
      throw error_in(text, "entry '" + shown_part(piece) + "' is no node",
                     piece == text && piece.find('.') == std::string::npos
                         ? "write NODESxRANKS, for example 4x8, or one entry a rank: 0,0,1,1"
                         : "write one entry a rank, NODE, NODE.SOCKET or GROUP.NODE.SOCKET, for example 0,0,1,1");
  return place;
}

/// @param names  of the levels, outermost first; empty: node, node and socket, or group, node and socket
LayoutText read_list(const std::string& text, std::vector<std::string> names, const std::string& entries) {
  const bool is_named = !names.empty();
  check_level_count(text, names.size());
  for (const auto& name : names) check_name(text, name);
  const std::size_t with_group = levels_of_product[2].size();
  std::vector<std::vector<int>> places;
  for (const auto& piece : split(entries, ',')) {
    places.push_back(read_place(text, piece, is_named));
    const auto numbers = places.back().size(), before = places.front().size();
    if (is_named && numbers != names.size())
      throw error_in(text, "entry '" + shown_part(piece) + "' has another number of levels",
                     fmt::format("write {} for each rank", join(names, ".")));
    if ((numbers == with_group) != (before == with_group) && !is_named)
      throw error_in(text, "only some of its entries have a group", "write GROUP.NODE.SOCKET for all");
  }
  if (!is_named) {
    std::size_t most = 0;
    for (const auto& place : places) most = std::max(most, place.size());
    names = levels_of_product[most - 1];
  }
  LayoutText result;
  result.ranks = static_cast<int>(places.size());
  for (std::size_t l = names.size(); l-- > 0;) {
    auto& ids = result.levels.emplace_back(Layout::LevelIds{names[l], {}}).ids;
    for (const auto& place : places) ids.push_back(l < place.size() ? place[l] : 0);
  }
  return result;
}

LayoutText read_layout_text(const std::string& text) {
  if (const auto colon = text.find(':'); colon != std::string::npos)
    return read_list(text, split(std::string_view(text).substr(0, colon), '.'), text.substr(colon + 1));
  if (text.find('=') != std::string::npos) return read_named_product(text);
  return text.find('x') != std::string::npos ? read_product(text) : read_list(text, {}, text);
}

}  // namespace

Layout parse_layout(const std::string& text, int ranks) {
  const auto layout = read_layout_text(text);
  if (ranks > 0 && layout.ranks != ranks)
    throw error_in(text, fmt::format("it has {} ranks but {} are needed", layout.ranks, ranks),
                   "change the layout or the number of ranks");
  return layout.build();
}

std::string places_text(const Layout& layout) {
  std::vector<std::string> names;
  for (const auto& level : layout.told()) names.insert(names.begin(), level.name);
  const bool is_named =
      std::ranges::none_of(levels_of_product, [&](const auto& unnamed) { return unnamed == names; }) ||
      names.size() > levels_of_product[2].size();
  std::string text = is_named ? join(names, ".") + ":" : "";
  for (Rank rank = 0; rank < layout.ranks(); ++rank) {
    if (rank > 0) text += ',';
    for (std::size_t l = layout.told().size(); l-- > 0;)
      append(text, "{}{}", (*layout.told()[l].instance_of)[static_cast<std::size_t>(rank)], l > 0 ? "." : "");
  }
  return text;
}

int ranks_of_layout(const std::string& text) { return read_layout_text(text).ranks; }

namespace {

std::vector<Layout::LevelIds> ids_of_ranks(const Layout& layout, std::span<const Rank> ranks) {
  std::vector<Layout::LevelIds> levels;
  for (const auto& level : layout.told()) {
    auto& ids = levels.emplace_back(Layout::LevelIds{level.name, {}}).ids;
    for (const Rank rank : ranks) ids.push_back((*level.instance_of)[static_cast<std::size_t>(rank)]);
  }
  return levels;
}

}  // namespace

Layout layout_of_ranks(const Layout& layout, std::span<const Rank> ranks) {
  return Layout(ids_of_ranks(layout, ranks));
}

Layout layout_of_part(const Layout& layout, std::span<const Rank> ranks) {
  return Layout(ids_of_ranks(layout, ranks), true);
}

}  // namespace commpass
