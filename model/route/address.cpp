#include "model/route/address.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/route/dimensions.hpp"

namespace commpass {

Address::Numbers Address::append(std::span<const int> radices, int count, const std::string& label) {
  const int one_digit = std::max(count, 2);
  const auto trimmed = trim_radices(radices.empty() ? std::span(&one_digit, 1) : radices, count);
  Numbers numbers{count, 1, 1};
  for (std::size_t i = 0; i < trimmed.size(); ++i) {
    digits.push_back(
        {trimmed.size() == 1 ? label : fmt::format("{} {} of {}", label, i + 1, trimmed.size()), trimmed[i]});
    numbers.slab = numbers.limit;
    numbers.limit *= trimmed[i];
  }
  return numbers;
}

Address Address::flat(int ranks, std::span<const int> radices) {
  Address address;
  address.ranks_ = ranks;
  address.uppers_ = address.append(radices, ranks, "dimension");
  return address;
}

Address Address::of_nodes(const Layout& layout, std::span<const int> local_radices, std::span<const int> node_radices) {
  Address address;
  address.ranks_ = layout.ranks();
  address.layout_ = layout;
  address.locals_ = address.append(local_radices, layout.max_ppn(), "local digit");
  address.uppers_ = address.append(node_radices, layout.nodes(), "node digit");
  return address;
}

void Address::place(std::span<const Rank> positions) {
  if (positions.empty()) return;
  auto moved = std::make_shared<Moved>();
  moved->position_of.assign(positions.begin(), positions.end());
  moved->rank_at.resize(positions.size());
  for (std::size_t rank = 0; rank < positions.size(); ++rank)
    moved->rank_at[at(positions[rank])] = static_cast<Rank>(rank);
  moved_ = std::move(moved);
}

// On a node with fewer ranks, those stand in that have the local rank modulo these.
Rank Address::on_node(int virtual_rank) const {
  const auto mates = layout_->ranks_of(uppers_.existing(virtual_rank / locals_.limit));
  const auto local = at(locals_.existing(virtual_rank % locals_.limit));
  return mates[local < mates.size() ? local : local % mates.size()];
}

std::vector<int> Address::virtual_ranks_of(Rank rank) const {
  if (moved_) rank = moved_->position_of[at(rank)];
  std::vector<int> result;
  const int upper = layout_ ? layout_->node(rank) : rank, ppn = layout_ ? layout_->ppn(upper) : 1;
  uppers_.for_each_in_place_of(upper, [&](int u) {
    for (int local = layout_ ? layout_->local(rank) : 0; local < locals_.count; local += ppn)
      locals_.for_each_in_place_of(local, [&](int l) { result.push_back(u * locals_.limit + l); });
  });
  std::ranges::sort(result);
  return result;
}

std::optional<int> Address::count_alike(int virtual_rank, const DigitRange& same) const {
  const auto [low, high] = same;
  if (is_full()) return ranks_ / (high / low);
  if (layout_ || moved_ || (low > 1 && high < virtual_ranks())) return std::nullopt;
  if (high == virtual_ranks()) return std::clamp(ranks_ - virtual_rank / low * low, 0, low);
  const int lowest = virtual_rank % high;
  return lowest < ranks_ ? (ranks_ - 1 - lowest) / high + 1 : 0;
}

}  // namespace commpass
