#include "selector/choose/tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "selector/choose/library_price.hpp"
#include "selector/choose/ties.hpp"

namespace commpass {

namespace {

constexpr int ranks_min = 3;  ///< two ranks have one way to exchange blocks
constexpr Bytes block_bytes_max = Bytes{4} << 20;

struct Choice {
  bool is_own = true;  ///< the library's
  Candidate taken, own;
};

/// @param offers  priced
Choice choose(const Candidate& own, std::span<const Candidate> offers, double uncertainty) {
  std::vector<Candidate> candidates{own};
  candidates.insert(candidates.end(), offers.begin(), offers.end());
  const auto is_own = [&](const Candidate& candidate) { return candidate.library == own.library; };
  decide(
      candidates, uncertainty,
      [](const Candidate& each) {
        return Evidence{excess(each), each.cost.seconds, false, each.cost.sampling_error};
      },
      [&](const Candidate& each) { return is_own(each) ? 0 : 1; });
  return {is_own(candidates.front()), candidates.front(), own};
}

/// Merges the choice into the rules of smaller blocks.
void add_rule(std::vector<TuningRule>& rules, Bytes bytes, const Choice& choice) {
  const auto algorithm = choice.is_own ? std::nullopt : choice.taken.library;
  if (rules.empty() || rules.back().algorithm != algorithm)
    rules.push_back({.bytes_from = rules.empty() ? 0 : bytes, .algorithm = algorithm});
  auto& rule = rules.back();
  const Seconds library_s = choice.own.cost.seconds, seconds = choice.taken.cost.seconds;
  const auto* const limit = excess(choice.own) > excess(choice.taken) ? choice.own.exceeded_limit : nullptr;
  const auto gain = [](bool keeps_limit, Seconds before, Seconds after) {
    return std::pair(keeps_limit, before / after);
  };
  if (rule.seconds > 0 &&
      gain(limit != nullptr, library_s, seconds) <= gain(rule.exceeded_limit != nullptr, rule.library_s, rule.seconds))
    return;
  rule.gain_bytes = bytes;
  rule.library_name = choice.own.library->name;
  rule.exceeded_limit = limit;
  rule.library_s = library_s;
  rule.seconds = seconds;
}

/// The algorithm of all choices that are not the library's own; nothing if they differ, or there are none.
std::optional<LibraryAlgorithm> common_choice(std::span<const Choice> choices) {
  std::optional<LibraryAlgorithm> common;
  for (const auto& choice : choices) {
    if (choice.is_own) continue;
    if (common && common != choice.taken.library) return std::nullopt;
    common = choice.taken.library;
  }
  return common;
}

/// Prices of one size of blocks on some ranks; each algorithm is priced once.
class Prices {
 public:
  Prices(std::string_view library, Bytes bytes, const Layout& layout, const Machine& machine)
      : library_(library), bytes_(static_cast<double>(bytes)), layout_(layout), machine_(machine) {}

  Choice choose_for(LibraryFunction function) {
    std::vector<Candidate> offers;
    for (const auto& algorithm : offered_algorithms(library_, function)) offers.push_back(price(algorithm));
    const auto own = price(library_algorithm(library_, function, layout_.ranks(), bytes_));
    return choose(own, offers, uncertainty_of(machine_));
  }

 private:
  Candidate price(const LibraryAlgorithm& algorithm) {
    const auto known =
        std::ranges::find(priced_, algorithm.strategy, [](const Candidate& each) { return each.library->strategy; });
    auto candidate =
        known != priced_.end()
            ? *known
            : priced_.emplace_back(price_algorithms(std::span(&algorithm, 1), bytes_, layout_, machine_).front());
    candidate.library = algorithm;
    return candidate;
  }

  std::string_view library_;
  double bytes_;
  const Layout& layout_;
  const Machine& machine_;
  std::vector<Candidate> priced_;
};

TunedRanks tune(std::string_view library, const Layout& layout, const Machine& machine) {
  TunedRanks result{.ranks = layout.ranks()};
  const bool has_alltoallv = !offered_algorithms(library, LibraryFunction::alltoallv).empty();
  std::vector<Choice> of_alltoallv;
  for (Bytes bytes = 1; bytes <= block_bytes_max; bytes *= 2) {
    Prices prices(library, bytes, layout, machine);
    add_rule(result.alltoall, bytes, prices.choose_for(LibraryFunction::alltoall));
    if (has_alltoallv) of_alltoallv.push_back(prices.choose_for(LibraryFunction::alltoallv));
  }
  result.alltoallv = common_choice(of_alltoallv);
  return result;
}

}  // namespace

std::vector<int> tuned_ranks(const Layout& layout) {
  std::set<int> numbers{layout.ranks()};
  for (std::int64_t ranks = 4; ranks < layout.ranks(); ranks *= 2) numbers.insert(static_cast<int>(ranks));
  for (std::int64_t nodes = 1; nodes < layout.nodes(); nodes *= 2)
    for (const auto ranks : {nodes * layout.max_ppn(), 3 * nodes * layout.max_ppn()})
      if (ranks < layout.ranks()) numbers.insert(static_cast<int>(ranks));
  std::erase_if(numbers, [](int ranks) { return ranks < ranks_min; });
  return {numbers.begin(), numbers.end()};
}

Tuning find_tuning(std::string_view library, const Layout& layout, const Machine& machine) {
  Tuning tuning{.library = describe_rules_of(library), .ranks = {}};
  std::vector<Rank> all(static_cast<std::size_t>(layout.ranks()));
  std::iota(all.begin(), all.end(), 0);
  for (const int ranks : tuned_ranks(layout))
    tuning.ranks.push_back(
        tune(library, layout_of_ranks(layout, std::span(all).first(static_cast<std::size_t>(ranks))), machine));
  return tuning;
}

}  // namespace commpass
