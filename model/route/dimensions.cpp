#include "model/route/dimensions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/error.hpp"

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

std::vector<Dimensions> vary_dimensions(std::span<const std::int64_t> sizes, std::int64_t count) {
  std::vector<Dimensions> result;
  const auto add = [&](const Dimensions& varied) {
    const std::vector<int> radices(varied.begin(), varied.end());
    const auto trimmed = trim_radices(radices, count);
    const Dimensions kept(trimmed.begin(), trimmed.end());
    if (!kept.empty() && !std::ranges::equal(kept, sizes) && std::ranges::find(result, kept) == result.end())
      result.push_back(kept);
  };
  /// The same with dimensions `at` … `at + replaced − 1` replaced.
  const auto replace = [&](std::size_t at, std::ptrdiff_t replaced, const Dimensions& by) {
    Dimensions varied(sizes.begin(), sizes.end());
    const auto place = varied.begin() + static_cast<std::ptrdiff_t>(at);
    varied.insert(varied.erase(place, place + replaced), by.begin(), by.end());
    add(varied);
  };
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto size = sizes[i];
    if (size > 3) {
      const auto root = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(size)) - 1e-9));
      replace(i, 1, {root, (size + root - 1) / root});
      replace(i, 1, {2, (size + 1) / 2});
      replace(i, 1, {(size + 1) / 2, 2});
    }
    if (i + 1 == sizes.size()) continue;
    const auto next = sizes[i + 1];
    replace(i, 2, {size * next});
    replace(i, 2, {next, size});
    if (next > 3) replace(i, 2, {2 * size, (next + 1) / 2});
    if (size > 3) replace(i, 2, {(size + 1) / 2, 2 * next});
  }
  return result;
}

}  // namespace commpass
