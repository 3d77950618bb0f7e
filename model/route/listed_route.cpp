#include "model/route/listed_route.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/base/error.hpp"

namespace commpass {

ListedRoute::ListedRoute(int ranks, const std::vector<ListedPath>& paths, const std::vector<std::string>& labels)
    : ranks_(ranks) {
  const auto is_rank = [&](Rank rank) { return rank >= 0 && rank < ranks; };
  std::size_t count = 1;
  for (const auto& path : paths) count = std::max(count, path.after.size());
  for (std::size_t s = 0; s < count; ++s)
    stages_.push_back({.label = s < labels.size() ? labels[s] : fmt::format("stage {}", s + 1)});
  for (const auto& path : paths) {
    const auto where = fmt::format("route: path from {} to {}", path.source, path.destination);
    if (!is_rank(path.source) || !is_rank(path.destination) || !std::ranges::all_of(path.after, is_rank))
      throw InputError(where, "it has a rank that is not there", fmt::format("use ranks 0 to {}", ranks - 1));
    if (path.after.empty() || path.after.back() != path.destination)
      throw InputError(where, path.after.empty() ? "it has no hop" : fmt::format("it ends at {}", path.after.back()),
                       fmt::format("end it at {}", path.destination));
    if (!first_.emplace(key(path.source, path.destination), after_.size()).second)
      throw InputError(where, "it is listed twice", "list it once");
    after_.insert(after_.end(), path.after.begin(), path.after.end());
    after_.insert(after_.end(), count - path.after.size(), path.destination);
  }
}

Rank ListedRoute::next(const Block& block, Rank, int stage) const {
  const auto first = first_.find(key(block.source, block.destination));
  if (first == first_.end())
    throw InputError("route", fmt::format("it has no path from {} to {}", block.source, block.destination),
                     "list each pair that has a block");
  return after_[first->second + static_cast<std::size_t>(stage)];
}

std::vector<UniformRun> ListedRoute::uniform_runs(Rank, int) const {
  throw NotApplicable("with listed paths", "it has no closed form");
}

}  // namespace commpass
