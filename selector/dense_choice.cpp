#include "selector/dense_choice.hpp"

#include <algorithm>

#include "model/catalogue.hpp"

namespace commpass {

std::vector<Candidate> rank_one_shot(Bytes bytes, const Layout& layout, const Machine& machine) {
  constexpr Bytes size_bytes = 8;
  auto ranking = rank_alltoall(bytes, layout, machine);
  // The library's neighbourhood collective wants to know its neighbours before.
  std::erase_if(ranking, [&](const Candidate& c) { return is_run_by_library(*make_route(c.strategy, layout)); });
  for (auto& candidate : ranking) {
    auto& cost = candidate.cost;
    if (cost.stages.size() < 2) continue;
    auto telling = candidate.strategy;
    telling.window = {};  // sizes of all rounds of a stage go at once
    const auto sizes = price_alltoall(telling, size_bytes, layout, machine).cost;
    for (std::size_t stage = 0; stage + 1 < sizes.stages.size(); ++stage) cost.seconds += sizes.stages[stage].seconds;
  }
  std::ranges::stable_sort(ranking, {}, [](const Candidate& c) { return c.cost.seconds; });
  return ranking;
}

}  // namespace commpass
