#include "runtime/choose/shared_pricing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"
#include "selector/choose/candidate_text.hpp"

namespace commpass {

std::vector<Rank> choose_evaluators(const Layout& layout, int most, int most_of_node) {
  std::vector<Rank> evaluators;
  for (int local = 0; local < std::min(most_of_node, layout.max_ppn()); ++local)
    for (int i = 0; i < layout.nodes(); ++i) {
      const int node = (layout.node(0) + i) % layout.nodes();
      if (static_cast<int>(evaluators.size()) < most && local < layout.ppn(node))
        evaluators.push_back(layout.ranks_of(node)[static_cast<std::size_t>(local)]);
    }
  return evaluators;
}

int most_threads_of_node(std::int64_t edges) {
  constexpr std::int64_t edge_bytes = 300;  // with a schedule (docs/environment.md, "Limits")
  constexpr std::int64_t node_bytes = std::int64_t{1} << 31;
  return static_cast<int>(std::max<std::int64_t>(1, node_bytes / (edge_bytes * std::max<std::int64_t>(1, edges))));
}

OwnCommunicator evaluators_of(MPI_Comm comm, const Layout& layout, std::int64_t edges) {
  int groups = 0;  // more ranks would have nothing to do
  all_or_none(comm, [&] {
    if (rank_in(comm) == 0) groups = static_cast<int>(by_route(suggest_strategies(layout)).size());
  });
  COMMPASS_MPI_CALL(MPI_Bcast, &groups, 1, MPI_INT, 0, comm);
  const auto evaluators = choose_evaluators(layout, groups, most_threads_of_node(edges));
  const auto place = std::ranges::find(evaluators, rank_in(comm));
  return OwnCommunicator::split(comm, place != evaluators.end() ? 0 : MPI_UNDEFINED,
                                static_cast<int>(place - evaluators.begin()));
}

namespace {

/// The texts of all ranks on rank 0, elsewhere nothing. Collective.
std::vector<std::string> gather(MPI_Comm comm, const std::string& text) {
  const Rank rank = rank_in(comm);
  const int size = ranks_in(comm);
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(rank == 0 ? static_cast<std::size_t>(size) : 0), offsets(lengths.size());
  COMMPASS_MPI_CALL(MPI_Gather, &length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm);
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::string all(static_cast<std::size_t>(std::accumulate(lengths.begin(), lengths.end(), 0)), '\0');
  COMMPASS_MPI_CALL(MPI_Gatherv, text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, 0,
                    comm);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    texts.push_back(all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i])));
  return texts;
}

/// The numbers of the strategies that one of `size` ranks prices.
std::vector<std::size_t> share_of(Rank rank, int size, std::span<const Strategy> strategies) {
  const auto groups = by_route(strategies);
  std::vector<std::size_t> numbers;
  for (auto g = static_cast<std::size_t>(rank); g < groups.size(); g += static_cast<std::size_t>(size))
    numbers.insert(numbers.end(), groups[g].begin(), groups[g].end());
  return numbers;
}

// What a rank answers begins with one of these.
constexpr char done_mark = '+', failed_mark = '-';

std::string price_share(const Pricer& price, Rank rank, int size, std::span<const Strategy> strategies) {
  try {
    std::vector<Strategy> mine;
    for (const auto i : share_of(rank, size, strategies)) mine.push_back(strategies[i]);
    return fmt::format("{}{}", done_mark, to_text(price(mine)));
  } catch (const std::exception& error) {
    return fmt::format("{}{}", failed_mark, error.what());
  }
}

/// Prices strategies that all ranks know. @return on rank 0 all candidates. Collective.
std::vector<Candidate> price_together(MPI_Comm comm, const Pricer& price, std::span<const Strategy> strategies) {
  const Rank rank = rank_in(comm);
  const int size = ranks_in(comm);
  const auto answers = gather(comm, price_share(price, rank, size, strategies));
  std::vector<Candidate> candidates(rank == 0 ? strategies.size() : 0);
  for (Rank from = 0; from < static_cast<Rank>(answers.size()); ++from) {
    const auto& answer = answers[static_cast<std::size_t>(from)];
    if (answer.front() == failed_mark) throw Error(fmt::format("pricing strategies: {}", answer.substr(1)));
    const auto numbers = share_of(from, size, strategies);
    auto priced = parse_candidates(answer.substr(1));
    for (std::size_t i = 0; i < numbers.size(); ++i) candidates[numbers[i]] = std::move(priced[i]);
  }
  return candidates;
}

// What rank 0 wants priced is broadcast as text, the number of the pricer first; none: nothing more.
constexpr char name_separator = ';', first_pricer = '0';

std::string wish(std::size_t pricer, std::span<const Strategy> strategies) {
  std::string text(1, static_cast<char>(first_pricer + static_cast<char>(pricer)));
  for (const auto& strategy : strategies) {
    if (text.size() > 1) text += name_separator;
    text += to_string(strategy);
  }
  return text;
}

void help(MPI_Comm comm, std::span<const Pricer> prices) {
  for (auto wanted = broadcast(comm, {}); !wanted.empty(); wanted = broadcast(comm, {})) {
    std::vector<Strategy> strategies;
    for (const auto& text : split(wanted.substr(1), name_separator)) strategies.push_back(parse_strategy(text));
    price_together(comm, prices[static_cast<std::size_t>(wanted.front() - first_pricer)], strategies);
  }
}

}  // namespace

void share_pricing(MPI_Comm comm, std::span<const Pricer> prices,
                   const std::function<void(std::span<const Pricer> shared)>& decide) {
  const Rank rank = rank_in(comm);
  if (rank != 0) return help(comm, prices);
  std::vector<Pricer> shared;
  for (std::size_t p = 0; p < prices.size(); ++p)
    shared.push_back([comm, &price = prices[p], p](std::span<const Strategy> strategies) {
      if (strategies.empty()) return std::vector<Candidate>{};
      broadcast(comm, wish(p, strategies));
      return price_together(comm, price, strategies);
    });
  try {
    decide(shared);
  } catch (...) {
    broadcast(comm, {});  // or the others wait for ever
    throw;
  }
  broadcast(comm, {});
}

void share_pricing(MPI_Comm comm, const Layout& layout, std::int64_t edges,
                   const std::function<std::vector<Pricer>(MPI_Comm evaluators)>& prices_of,
                   const std::function<void(std::span<const Pricer> shared)>& decide) {
  const auto evaluators = evaluators_of(comm, layout, edges);
  all_or_none(comm, [&] {  // no evaluator waits for one that has failed, so they may communicate
    if (!evaluators) return;
    const auto prices = prices_of(evaluators.get());
    share_pricing(evaluators.get(), prices, decide);
  });
}

}  // namespace commpass
