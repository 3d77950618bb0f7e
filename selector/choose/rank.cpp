#include "selector/choose/rank.hpp"

#include "model/base/error.hpp"
#include "model/route/strategy.hpp"
#include "selector/choose/family.hpp"
#include "selector/choose/ties.hpp"

namespace commpass {

std::vector<Candidate> rank(const Alternatives& alternatives, const Layout& layout, const Machine& machine,
                            const Calls& calls, std::span<const Strategy> named) {
  const auto& price = alternatives.price;
  const auto edges = alternatives.edges;
  if (alternatives.family) return rank_family(price, *alternatives.family, layout, edges, calls);
  const auto priced = [&] {
    if (!named.empty()) return price(with_chosen_values(price, named, layout, edges, calls));
    const auto suggestions = alternatives.suggestions();
    if (alternatives.by_depth)
      return rank_finalists(*alternatives.by_depth, suggestions, layout, machine, edges, alternatives.at_once);
    return rank_suggestions(alternatives.has_edges ? price : leave_out_open_forms(price), suggestions, layout, edges,
                            calls, alternatives.from);
  };
  auto ranking = priced();
  sort_ranking(ranking, calls);
  return prefer_simplest_of_ties(std::move(ranking), machine, calls);
}

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
