#include "model/route/sparse_strategy.hpp"

#include <algorithm>
#include <string_view>

#include "model/base/error.hpp"
#include "model/base/nearest_names.hpp"
#include "model/route/catalogue.hpp"

namespace commpass {

namespace {

constexpr const char* direct = "direct";
constexpr const char* direct_route = "standard";

std::string names() {
  std::string result;
  for (const auto& row : discoveries()) result += (result.empty() ? "" : ", ") + std::string(row.name);
  return result;
}

InputError refuse_discovery(const std::string& discovery, const std::string& where) {
  std::vector<std::string> known;
  for (const auto& row : discoveries()) known.emplace_back(row.name);
  const auto near = did_you_mean(discovery, known);
  return {where, "there is no discovery '" + discovery + "'",
          near + (near.empty() ? "use" : "Use") + " one of " + names()};
}

}  // namespace

const std::vector<DiscoveryRow>& discoveries() {
  static const std::vector<DiscoveryRow> rows{
      {Discovery::nbx, "nbx", "synchronous sends, probes, and a non-blocking reduction that ends when all is received",
       "nothing",
       "sparse dynamic data exchange paper (Geyko et al.) §IV-B; Hoefler, Siebert, Lumsdaine 2010; with a reduction in "
       "place of the barrier"},
      {Discovery::reduce, "reduce", "the number of messages by a reduce-scatter, then probes",
       "16 bytes for each rank that may send in the stage",
       "sparse dynamic data exchange paper (Geyko et al.) §IV-A, with a reduce-scatter"},
      {Discovery::allreduce, "allreduce",
       "the number of messages by an allreduce, then probes: the paper's personalized method",
       "32 bytes for each rank that may send in the stage", "sparse dynamic data exchange paper (Geyko et al.) §IV-A"},
      {Discovery::rma, "rma", "a put into a slot of one's own at the receiver; constant sizes only",
       "two slots for each rank, kept with the communicator", "sparse dynamic data exchange paper (Geyko et al.) §IV-C",
       true},
      {Discovery::dense, "dense", "a size to every possible peer, even for nothing, then the data",
       "48 bytes for each rank that may send in the stage",
       "Hoefler, Siebert, Lumsdaine 2010 (personalized exchange), among the peers of the stage"},
  };
  return rows;
}

const DiscoveryRow& discovery_row(Discovery discovery) {
  return *std::ranges::find(discoveries(), discovery, &DiscoveryRow::discovery);
}

bool SparseStrategy::is_direct() const { return route.route == direct_route; }

SparseStrategy parse_sparse_strategy(const std::string& text) {
  const auto plus = text.rfind('+');
  const auto where = "sparse strategy " + text;
  if (text.find('@') != std::string::npos)
    throw InputError(where, "it names a memory path", "leave '@...' out: sparse exchanges move host memory only");
  if (plus == std::string::npos)
    throw InputError(where, "it names no discovery", "use ROUTE+DISCOVERY, with one of " + names());
  const auto route = text.substr(0, plus), discovery = text.substr(plus + 1);
  const auto row = std::ranges::find_if(discoveries(), [&](const auto& r) { return discovery == r.name; });
  if (row == discoveries().end()) throw refuse_discovery(discovery, where);
  const auto comma = std::min(route.find(','), route.size());
  const auto name = route.substr(0, comma) == direct ? direct_route + route.substr(comma) : route;
  SparseStrategy strategy{parse_strategy(name), row->discovery};
  if (is_automatic(strategy.route))
    throw InputError("strategy " + text,
                     "it leaves a number to the model, which does not choose it for sparse exchanges",
                     "name a number in place of 'auto'");
  const auto& route_row = catalogue_row(strategy.route.route);
  if (strategy.route.window != route_row.default_window || strategy.route.coalescing != Coalescing::coalesced)
    throw InputError(where, "it has a window or staggered messages",
                     "leave them out: a receiver that knows nothing cannot count rounds");
  if (strategy.is_direct() && !strategy.route.arguments.empty())
    throw InputError(where, "the direct route has no parameters in a sparse exchange", "use direct+" + discovery);
  if (pattern_need(strategy.route) != PatternNeed::nothing)
    throw InputError(where, "its route depends on the whole pattern, which no rank knows",
                     "use direct, two-step or stfw");
  if (row->constant_size_only && !strategy.is_direct())
    throw InputError(where, discovery + " needs the direct route", "use direct+" + discovery);
  if (row->constant_size_only && strategy.route.path.is_shared)
    throw InputError(where, discovery + " puts messages into a window, within nodes too", "leave 'shared' out");
  return strategy;
}

std::string to_string(const SparseStrategy& strategy) {
  return (strategy.is_direct() ? direct + to_string(strategy.route.path) : to_string(strategy.route)) + "+" +
         discovery_row(strategy.discovery).name;
}

std::vector<SparseStrategy> suggest_sparse_strategies(const Layout& layout, bool constant_size) {
  std::vector<SparseStrategy> result;
  for (const std::string_view name : {direct_route, "two-step", "two-step-socket", "stfw"})
    for (const auto& route : catalogue_row(std::string(name)).suggest(layout)) {
      if (route.window != catalogue_row(route.route).default_window || route.coalescing != Coalescing::coalesced)
        continue;
      for (const auto& row : discoveries()) {
        const SparseStrategy strategy{route, row.discovery};
        if (!row.constant_size_only || (constant_size && strategy.is_direct())) result.push_back(strategy);
      }
    }
  if (layout.max_ppn() == 1) return result;
  for (std::size_t i = 0, by_messages = result.size(); i < by_messages; ++i) {
    auto strategy = result[i];
    strategy.route.path.is_shared = true;
    if (!discovery_row(strategy.discovery).constant_size_only) result.push_back(std::move(strategy));
  }
  return result;
}

}  // namespace commpass
