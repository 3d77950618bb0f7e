#include "selector/choose/rank_named.hpp"

#include "model/base/error.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

std::vector<Candidate> rank_named(std::span<const Strategy> strategies,
                                  const std::function<std::vector<Candidate>(std::span<const Strategy>)>& rank,
                                  std::vector<NotPriced>& not_priced) {
  try {
    return rank(strategies);
  } catch (const NotApplicable&) {
    if (strategies.size() < 2) throw;
    std::vector<Strategy> priced;
    for (const auto& strategy : strategies) try {
        rank(std::span(&strategy, 1));
        priced.push_back(strategy);
      } catch (const NotApplicable& error) {
        not_priced.push_back({to_string(strategy), error.reason()});
      }
    if (priced.empty()) throw;
    return rank(priced);
  }
}

}  // namespace commpass
