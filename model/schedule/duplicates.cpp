#include "model/schedule/duplicates.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace commpass {

std::vector<std::uint32_t> first_alike(std::span<const Block> blocks) {
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t b = 0; b < blocks.size(); ++b)
    if (blocks[b].payload != no_payload) candidates.push_back(b);
  if (candidates.empty()) return {};

  const auto content = [&](std::uint32_t b) {
    return std::tuple(blocks[b].source, blocks[b].payload, blocks[b].offset, blocks[b].bytes);
  };
  std::ranges::sort(candidates, {}, [&](std::uint32_t b) { return std::tuple_cat(content(b), std::tuple(b)); });
  std::vector<std::uint32_t> first(blocks.size());
  std::iota(first.begin(), first.end(), 0U);
  for (std::size_t i = 1; i < candidates.size(); ++i)
    if (content(candidates[i]) == content(candidates[i - 1])) first[candidates[i]] = first[candidates[i - 1]];
  return first;
}

}  // namespace commpass
