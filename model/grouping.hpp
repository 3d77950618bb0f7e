// Groups items that have equal keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace commpass {

/// Sorts by a key in 0 … keys−1, keeping the order of equal keys.
/// @return by key, where its items begin; and their number at the end
template <class Item, class Key>
std::vector<std::size_t> stable_counting_sort(std::vector<Item>& items, int keys, Key key) {
  const auto key_of = [&](const Item& item) { return static_cast<std::size_t>(std::invoke(key, item)); };
  std::vector<std::size_t> place(static_cast<std::size_t>(keys) + 1, 0);
  for (const auto& item : items) ++place[key_of(item) + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  auto begins = place;
  std::vector<Item> sorted(items.size());
  for (const auto& item : items) sorted[place[key_of(item)]++] = item;
  items = std::move(sorted);
  return begins;
}

/// Groups items by a key in 0 … keys−1, again and again: a grouping takes a time that depends on the number of items,
/// not on that of keys.
class Grouping {
 public:
  explicit Grouping(std::size_t keys = 0) : place_(keys, 0) {}

  struct Group {
    std::size_t key = 0;
    std::size_t begin = 0, end = 0;  ///< its items in `grouped`
  };

  /// Copies `items` to `grouped`, with those of one key next to each other, in their order.
  /// @return the groups in the order of their first items, until the next call
  template <class Item, class Key>
  std::span<const Group> group(const std::vector<Item>& items, std::vector<Item>& grouped, Key key) {
    groups_.clear();
    for (const auto& item : items) {
      const std::size_t k = key(item);
      if (place_[k]++ == 0) groups_.push_back({k, 0, 0});
    }
    if (groups_.size() == 1) {
      grouped = items;
      groups_.front().end = items.size();
      place_[groups_.front().key] = 0;
      return groups_;
    }
    std::size_t position = 0;
    for (auto& group : groups_) {
      group.begin = position;
      position += std::exchange(place_[group.key], static_cast<std::uint32_t>(position));
      group.end = position;
    }
    grouped.resize(items.size());
    for (const auto& item : items) grouped[place_[key(item)]++] = item;
    for (const auto& group : groups_) place_[group.key] = 0;
    return groups_;
  }

 private:
  std::vector<std::uint32_t> place_;  // by key: how many items it has, then the place of the next one; 0 between calls
  std::vector<Group> groups_;
};

}  // namespace commpass
