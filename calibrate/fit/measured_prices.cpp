#include "calibrate/fit/measured_prices.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "calibrate/fit/counterparts.hpp"
#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/pattern/generate.hpp"
#include "selector/choose/alltoall_choice.hpp"
#include "selector/choose/library_price.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/parallel.hpp"
#include "selector/choose/select.hpp"
#include "selector/choose/sparse_choice.hpp"

namespace commpass {
namespace {

/// The number of a key in "spmv:level=3,max_neighbors=4".
int pattern_number(const MeasuredCase& of, const std::string& key) {
  for (const auto& piece : split(std::string_view(of.pattern).substr(of.pattern.find(':') + 1), ','))
    if (piece.starts_with(key + "="))
      if (const auto value = parse_number<int>(std::string_view(piece).substr(key.size() + 1)); value && *value > 0)
        return *value;
  throw InputError("pattern " + of.pattern, "it has no number " + key, "write it as the tables of bench/world do");
}

/// One rank sends to ranks of the other node, or they send to it.
Pattern burst(const MeasuredCase& of, bool is_back) {
  Pattern pattern{of.ranks(), {}};
  const int messages = pattern_number(of, "messages");
  if (of.nodes < 2 || messages > of.ppn)
    throw InputError("pattern " + of.pattern, fmt::format("{} ranks of another node are needed", messages),
                     "correct its nodes, ppn or messages");
  for (int i = 0; i < messages; ++i) {
    const Rank first = 0, other = of.ppn + i;
    pattern.edges.push_back({is_back ? other : first, is_back ? first : other, of.bytes});
  }
  return pattern;
}

/// Stand-in for a matrix by rows whose largest number of neighbours is known: each rank sends to the nearest ranks,
/// half of them on either side, without wrapping around.
Pattern nearest_ranks(const MeasuredCase& of) {
  Pattern pattern{of.ranks(), {}};
  const int neighbors = pattern_number(of, "max_neighbors");
  for (Rank rank = 0; rank < of.ranks(); ++rank)
    for (Rank to = rank - neighbors / 2; to <= rank + (neighbors + 1) / 2; ++to)
      if (to != rank && to >= 0 && to < of.ranks()) pattern.edges.push_back({rank, to, of.bytes});
  return pattern;
}

/// Stand-in for a pattern whose busiest rank is known: all ranks send as much. The nodes of the table include the
/// sender's.
SparseTraffic busiest_traffic(const MeasuredCase& of) {
  const std::int64_t messages = pattern_number(of, "max_messages"), nodes = pattern_number(of, "max_nodes");
  const std::int64_t network = messages * (nodes - 1) / nodes, ranks = of.ranks();
  return {.messages = ranks * messages,
          .bytes = ranks * messages * of.bytes,
          .network_messages = ranks * network,
          .nodes_reached = ranks * (nodes - 1),
          .messages_max = messages,
          .bytes_max = messages * of.bytes,
          .network_messages_max = network,
          .nodes_reached_max = nodes - 1,
          .received_messages_max = messages,
          .received_bytes_max = messages * of.bytes};
}

class Prices {
 public:
  /// @param paths  of the data
  Prices(const PriceQuestion& question, const Machine& machine, const Layout& layout, std::vector<DataPath> paths)
      : question_(question),
        limited_(machine),
        machine_(without_limits(machine)),
        layout_(layout),
        paths_(std::move(paths)) {}

  PriceAnswer answer() && {
    for (const auto& of : question_.cases) {
      if (of.pattern.starts_with("alltoallv:")) one_shot(of);
      else if (of.pattern.starts_with("alltoall")) alltoall(of);
      else if (of.pattern.starts_with("burst:")) with_pattern(of, {burst(of, false), burst(of, true)});
      else if (of.pattern.starts_with("spmv:")) with_pattern(of, {nearest_ranks(of)});
      else if (of.pattern.starts_with("sdde-constant:")) sparse(of);
      else throw InputError("pattern " + of.pattern, "it has no rule by which it is priced", "leave its rows out");
    }
    return std::move(answer_);
  }

 private:
  /// Records the seconds of a strategy, or why it has no price.
  template <class Find>
  void record(const MeasuredCase& of, const std::string& strategy, Find seconds) {
    try {
      answer_.cases[of].seconds[strategy] = seconds();
    } catch (const NotApplicable& error) {
      ++answer_.not_priced[strategy + ": " + error.reason()];
    }
  }

  /// In closed form if all strategies have one, or ranks are many, as `commpass predict --sweep`.
  void alltoall(const MeasuredCase& of) {
    constexpr int with_edges_max = 1024;
    const bool is_closed = of.ranks() > with_edges_max ||
                           std::ranges::all_of(question_.strategies,
                                               [](const auto& text) { return has_closed_form(parse_strategy(text)); });
    if (is_closed) {
      for (const auto& text : question_.strategies) {
        const auto strategy = parse_strategy(text);
        record(of, text, [&] {
          return rank_alltoall(of.bytes, layout_, machine_, CostModel::burst, std::span(&strategy, 1), {}, paths_)
              .front()
              .cost.seconds;
        });
      }
    } else {
      with_pattern(of, {generate_pattern(fmt::format("alltoall:ranks={},bytes={}", of.ranks(), of.bytes))});
    }
    if (!question_.has_choice) return;
    if (!question_.is_on_devices) try {
        answer_.cases[of].library_s = price_alltoall(parse_strategy("mpi"), of.bytes, layout_, machine_).cost.seconds;
      } catch (const NotApplicable&) {  // NOLINT(bugprone-empty-catch): no price
      }
    const auto ranking = rank_alltoall(of.bytes, layout_, limited_, CostModel::burst, {}, {}, paths_);
    const auto chosen = std::ranges::find(ranking, false, &Candidate::is_part);
    answer_.cases[of].chosen = to_string(as_run(*chosen));
  }

  /// Blocks of uniform sizes from 0 to twice their mean, which are new in each call.
  void one_shot(const MeasuredCase& of) {
    const auto blocks = parse_alltoallv(fmt::format("alltoallv:ranks={},bytes={}", of.ranks(), 2 * of.bytes)).value();
    const RandomPattern random{.block_bytes = blocks.mean_bytes, .size_variance = blocks.size_variance};
    for (const auto& text : question_.strategies)
      record(of, text, [&] { return price_one_shot(parse_strategy(text), random, layout_, machine_).cost.seconds; });
  }

  /// The mean over the patterns.
  void with_pattern(const MeasuredCase& of, const std::vector<Pattern>& patterns) {
    for (const auto& text : question_.strategies) {
      const auto strategy = parse_strategy(text);
      record(of, text, [&] {
        Seconds sum = 0;
        for (const auto& pattern : patterns)
          sum += rank_strategies(pattern, layout_, machine_, CostModel::burst, std::span(&strategy, 1), {},
                                 RankingDepth::all, paths_)
                     .front()
                     .cost.seconds;
        return sum / static_cast<double>(patterns.size());
      });
    }
  }

  void sparse(const MeasuredCase& of) {
    constexpr bool constant_size = true;
    const auto traffic = busiest_traffic(of);
    for (const auto& text : question_.strategies)
      record(of, text, [&] {
        const auto strategy = parse_sparse_strategy(text);
        if (const auto reason = why_no_price(strategy, layout_, machine_, constant_size); !reason.empty())
          throw NotApplicable(text, reason);
        return SparseChoice(layout_, machine_, std::vector{strategy}).rank(traffic).front().seconds;
      });
    if (!question_.has_choice) return;
    const auto ranking = SparseChoice(layout_, machine_, constant_size).rank(traffic);
    if (!ranking.empty()) answer_.cases[of].chosen = to_string(ranking.front().strategy);
  }

  const PriceQuestion& question_;
  const Machine& limited_;  ///< prices the choice of `predict`
  const Machine machine_;   ///< prices measured algorithms, which limit no messages in flight
  const Layout& layout_;
  std::vector<DataPath> paths_;
  PriceAnswer answer_;
};

Layout layout_of(const MeasuredCase& of, int sockets_of_node) {
  const int sockets = of.sockets > 0 ? of.sockets : sockets_of_node;
  const bool has_sockets = sockets > 1 && of.ppn % sockets == 0 && of.ppn > sockets;
  return parse_layout(has_sockets ? fmt::format("{}x{}x{}", of.nodes, sockets, of.ppn / sockets)
                                  : fmt::format("{}x{}", of.nodes, of.ppn));
}

}  // namespace

PriceAnswer price_measured(const PriceQuestion& question, const Machine& machine, int sockets) {
  if (question.cases.empty()) return {};
  const auto layout = layout_of(question.cases.front(), sockets);
  std::vector<DataPath> paths;
  try {
    paths = offered_paths(question.is_on_devices ? DataPlace::device : DataPlace::host, layout, machine);
    require_parameters(layout.on(machine), machine, paths.front());
  } catch (const InputError& error) {  // the profile prices none of them
    std::string reason = error.what();
    if (reason.ends_with('.')) reason.pop_back();
    return {{}, {{reason, static_cast<int>(question.cases.size() * question.strategies.size())}}};
  }
  return Prices(question, machine, layout, std::move(paths)).answer();
}

std::vector<PriceQuestion> questions_of(std::span<const MeasuredTime> times, bool has_choice) {
  std::map<std::tuple<std::string, int, int, int, std::string, bool>, PriceQuestion> questions;
  for (const auto& [of, algorithm, date, fastest_s, median_s, runs, stalled_share] : times) {
    const auto strategy = counterpart(algorithm, of);
    if (strategy.empty()) continue;
    const bool is_on_devices = is_on_path(strategy);
    const auto kind = of.pattern.substr(0, of.pattern.find(':'));
    auto& question = questions[{of.machine, of.nodes, of.ppn, of.sockets, kind, is_on_devices}];
    if (question.cases.empty() || question.cases.back() != of) question.cases.push_back(of);
    question.strategies.insert(strategy);
    question.is_on_devices = is_on_devices;
    question.has_choice = has_choice;
  }
  std::vector<PriceQuestion> all;
  for (auto& [key, question] : questions) {
    std::ranges::sort(question.cases);
    question.cases.erase(std::unique(question.cases.begin(), question.cases.end()), question.cases.end());
    all.push_back(std::move(question));
  }
  return all;
}

std::vector<std::optional<Seconds>> predicted_seconds(std::span<const MeasuredTime> times, const Machine& machine,
                                                      int sockets) {
  std::vector<PriceQuestion> questions;  // of one strategy each, so that all cores share the work
  for (const auto& question : questions_of(times, false))
    for (const auto& strategy : question.strategies) {
      questions.push_back(question);
      questions.back().strategies = {strategy};
    }
  std::map<std::pair<MeasuredCase, std::string>, Seconds> prices;
  std::vector<PriceAnswer> answers(questions.size());
  in_parallel(
      questions.size(), [&](std::size_t i) { answers[i] = price_measured(questions[i], machine, sockets); },
      [&](std::size_t i) {
        for (const auto& [of, found] : answers[i].cases)
          for (const auto& [strategy, seconds] : found.seconds) prices[{of, strategy}] = seconds;
      });
  std::vector<std::optional<Seconds>> result;
  for (const auto& time : times) {
    const auto found = prices.find({time.of, counterpart(time.algorithm, time.of)});
    result.push_back(found == prices.end() ? std::nullopt : std::optional(found->second));
  }
  return result;
}

}  // namespace commpass
