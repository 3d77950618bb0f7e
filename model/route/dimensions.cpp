#include "model/route/dimensions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "model/base/error.hpp"

namespace commpass {

std::vector<int> trim_radices(std::span<const int> sizes, std::int64_t count) {
  std::vector<int> trimmed;
  std::int64_t slab = 1;
  for (const int size : sizes) {
    if (size < 2)
      throw InputError("dimensions", fmt::format("a size of {} splits nothing", size), "use sizes of 2 or more");
    const auto needed = (count + slab - 1) / slab;
    if (needed <= 1) break;
    trimmed.push_back(static_cast<int>(std::min<std::int64_t>(size, needed)));
    slab *= trimmed.back();
  }
  if (slab < count)
    throw InputError("dimensions", fmt::format("their product {} is less than the {} ranks", slab, count),
                     "use larger sizes");
  return trimmed;
}

std::string too_small(std::span<const std::int64_t> sizes, std::int64_t count, const std::string& things) {
  std::int64_t product = 1;
  for (const auto size : sizes) {
    product *= size;
    if (product >= count) return "";
  }
  return fmt::format("the product {} of its dimensions is less than the {} {}", product, count, things);
}

namespace {

/// a × b = number with 2 ≤ a, b: all of them, the most even first.
std::vector<Dimensions> pairs_of(std::int64_t number) {
  std::vector<Dimensions> pairs;
  for (std::int64_t a = 2; a * a <= number; ++a) {
    if (number % a != 0) continue;
    pairs.push_back({a, number / a});
    if (a * a != number) pairs.push_back({number / a, a});
  }
  std::ranges::reverse(pairs);
  return pairs;
}

/// Two sizes near the root with a product of `number` or more, for numbers without divisors.
Dimensions cut_at_root(std::int64_t number) {
  const auto root = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(number)) - 1e-9));
  return {root, (number + root - 1) / root};
}

/// Dimensions that are like others but for some of their sizes.
class Variations {
 public:
  Variations(std::span<const std::int64_t> sizes, std::int64_t count) : sizes_(sizes), count_(count) {}

  /// With dimensions `at` … `at + replaced − 1` replaced.
  void replace(std::size_t at, std::ptrdiff_t replaced, const Dimensions& by) {
    Dimensions varied(sizes_.begin(), sizes_.end());
    const auto place = varied.begin() + static_cast<std::ptrdiff_t>(at);
    varied.insert(varied.erase(place, place + replaced), by.begin(), by.end());
    const std::vector<int> radices(varied.begin(), varied.end());
    const auto trimmed = trim_radices(radices, count_);
    const Dimensions kept(trimmed.begin(), trimmed.end());
    if (!kept.empty() && !std::ranges::equal(kept, sizes_) && std::ranges::find(result_, kept) == result_.end())
      result_.push_back(kept);
  }

  std::vector<Dimensions> take() { return std::move(result_); }

 private:
  std::span<const std::int64_t> sizes_;
  std::int64_t count_;
  std::vector<Dimensions> result_;
};

}  // namespace

std::vector<Dimensions> vary_dimensions(std::span<const std::int64_t> given, std::int64_t count) {
  if (count < 2) return {};
  const std::vector<int> radices(given.begin(), given.end());
  const auto trimmed = trim_radices(radices, count);
  const Dimensions sizes(trimmed.begin(), trimmed.end());
  Variations variations(sizes, count);
  // The nearest come first: a caller that prices them may stop early.
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto size = sizes[i];
    if (size > 3) {
      variations.replace(i, 1, cut_at_root(size));
      variations.replace(i, 1, {2, (size + 1) / 2});
      variations.replace(i, 1, {(size + 1) / 2, 2});
    }
    if (i + 1 == sizes.size()) continue;
    const auto next = sizes[i + 1];
    variations.replace(i, 2, {size * next});
    variations.replace(i, 2, {next, size});
    if (next > 3) variations.replace(i, 2, {2 * size, (next + 1) / 2});
    if (size > 3) variations.replace(i, 2, {(size + 1) / 2, 2 * next});
  }
  // The divisors of the dimension to be cut, which waste nothing.
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (const auto& pair : pairs_of(sizes[i])) variations.replace(i, 1, pair);
    if (i + 1 == sizes.size()) continue;
    const auto product = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
    const auto others = product / (sizes[i] * sizes[i + 1]);
    for (const auto& pair : pairs_of((count + others - 1) / others)) variations.replace(i, 2, pair);
  }
  return variations.take();
}

}  // namespace commpass
