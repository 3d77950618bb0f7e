// bench planning: what do a first and a further communicator take, what do a first and a second plan of a pattern, is
// what modes choose as fast as the MPI library's own call, and what do their trials cost? On two ranks.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "bench/calls_in_turn.hpp"
#include "bench/statistics.hpp"
#include "bench/summary.hpp"
#include "bench/two_ranks.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/profile_lookup.hpp"
#include "runtime/collectives.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/mpi/timed_start.hpp"

namespace commpass::bench {
namespace {

using test::Calls;
using test::counted;

/// As many edges of a size from each of the two ranks to the other.
struct Edges {
  /// @param gap  between them, in bytes
  Edges(const Communicator& communicator, int count, Bytes bytes, Bytes gap = 8)
      : peer(1 - rank_in(communicator.mpi())), out(static_cast<std::size_t>(count * (bytes + gap))), in(out.size()) {
    for (int i = 0; i < count; ++i) {
      sends.push_back({peer, i * (bytes + gap), bytes});
      receives.push_back({peer, i * (bytes + gap), bytes});
    }
  }
  Rank peer;
  std::vector<std::byte> out, in;
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
};

/// What plans of one pattern take.
struct Planned {
  std::string strategy;
  Seconds first_s = 0, second_s = 0;  ///< medians, from a common start until the last rank has its plan
  Calls first, further;               ///< of all further ones together
};

class Planning {
 public:
  Planning(Communicator& communicator, Edges& edges, const char* strategy)
      : communicator_(communicator), edges_(edges), options_{strategy} {}

  /// @param repetitions  of the first plan
  /// @param plans        of the pattern then, which are all there at once
  Planned run(int repetitions, int plans) {
    Planned planned;
    options_.anew = true;
    std::vector<Seconds> first, further;
    for (int i = 0; i < repetitions; ++i) {
      first.push_back(plan());
      planned.first = last_;
    }
    options_.anew = false;
    planned.strategy = exchanges_.front().strategy();
    exchanges_.clear();
    plan();
    for (int i = 1; i < plans; ++i) {
      further.push_back(plan());
      planned.further.add(last_);
    }
    planned.first_s = median(std::move(first));
    planned.second_s = median(std::move(further));
    return planned;
  }

 private:
  Seconds plan() {
    return time_exchange(MPI_COMM_WORLD, [&] {
      const auto before = counted;
      exchanges_.push_back(communicator_.neighbor_exchange(edges_.out.data(), edges_.sends, edges_.in.data(),
                                                           edges_.receives, options_));
      last_ = counted.since(before);
    });
  }

  Communicator& communicator_;
  Edges& edges_;
  ExchangeOptions options_;
  std::vector<Exchange> exchanges_;
  Calls last_;
};

/// Communicators of the same ranks, one after another: the first one detects where they sit.
Json open_communicators(const OutputOptions& options, bool shown, Json& summary) {
  const int further_count = options.quick ? 11 : 101;
  const auto machine = generic_profile().machine;
  const auto open = [&] { return time_exchange(MPI_COMM_WORLD, [&] { Communicator(MPI_COMM_WORLD, machine); }); };
  const Seconds first_s = open();
  std::vector<Seconds> further;
  for (int i = 0; i < further_count; ++i) further.push_back(open());
  const Seconds further_s = median(std::move(further));
  if (shown)
    fmt::print("first communicator {}, a further one {}\n\n", format_seconds(first_s), format_seconds(further_s));
  summary["further_communicator_over_first"] = further_s / first_s;
  return {{"first_s", first_s}, {"further_s", further_s}};
}

Json plan_twice(Communicator& communicator, const OutputOptions& options, bool shown, Json& summary) {
  const int repetitions = options.quick ? 11 : 101, plans = options.quick ? 100 : 1000;
  if (shown)
    fmt::print("{:>8} {:>20} {:>22} {:>11} {:>11} {:>11} {:>11}\n", "edges", "named", "runs", "first", "collectives",
               "further", "collectives");
  Json cases;
  std::vector<double> ratios;
  double most = 0;
  int communicators = 0;
  for (const char* strategy : {"", "standard", "standard,staggered", "tuna,radix=2"})
    for (const int edges_count : {1, 1000}) {
      constexpr Bytes bytes = 64;
      Edges edges(communicator, edges_count, bytes);
      const auto planned = Planning(communicator, edges, strategy).run(repetitions, plans);
      const double each = static_cast<double>(planned.further.collectives()) / (plans - 1);
      ratios.push_back(planned.second_s / planned.first_s);
      most = std::max(most, each);
      communicators += planned.further.communicators;
      if (shown)
        fmt::print("{:>8} {:>20} {:>22} {:>11} {:>11} {:>11} {:>11}\n", edges_count, *strategy ? strategy : "-",
                   planned.strategy, format_seconds(planned.first_s), planned.first.collectives(),
                   format_seconds(planned.second_s), each);
      cases.push_back({{"edges", edges_count},
                       {"named", strategy},
                       {"strategy", planned.strategy},
                       {"first_s", planned.first_s},
                       {"first_collectives", planned.first.collectives()},
                       {"further_plans", plans - 1},
                       {"further_s", planned.second_s},
                       {"further_collectives", planned.further.collectives()},
                       {"further_communicators", planned.further.communicators},
                       {"further_messages", planned.further.messages}});
    }
  summary["further_over_first_gmean"] = geometric_mean(ratios);
  summary["collectives_of_a_further_plan"] = most;
  summary["communicators_of_further_plans"] = communicators;
  return cases;
}

/// What a program does without Commpass: the MPI library's neighbourhood collective.
class OwnCall {
 public:
  OwnCall(const Communicator& communicator, Edges& edges)
      : edges_(edges),
        graph_(OwnCommunicator::with_neighbors(communicator.mpi(), {edges.peer}, {edges.peer})),
        count_(static_cast<int>(edges.out.size())) {}
  void exchange() {
    constexpr int at = 0;
    COMMPASS_MPI_CALL(MPI_Neighbor_alltoallv, edges_.out.data(), &count_, &at, MPI_BYTE, edges_.in.data(), &count_, &at,
                      MPI_BYTE, graph_.get());
  }

 private:
  Edges& edges_;
  OwnCommunicator graph_;
  int count_;
};

struct Compared : ComparedInTurn {
  std::string strategy;
};

void run_once(Exchange& exchange) {
  exchange.start();
  exchange.wait();
}

Exchange plan_by(PlannerMode mode, Communicator& communicator, Edges& edges) {
  ExchangeOptions options;
  options.planner = mode;
  options.anew = true;
  return communicator.neighbor_exchange(edges.out.data(), edges.sends, edges.in.data(), edges.receives, options);
}

/// What a mode has chosen, when its trials are over, and the library's call.
Compared compare_chosen(PlannerMode mode, Communicator& communicator, Bytes bytes, int pairs) {
  constexpr int trials_max = 2000;
  Edges edges(communicator, 1, bytes, 0);
  auto exchange = plan_by(mode, communicator, edges);
  for (int i = 0; i < trials_max && mode == PlannerMode::adaptive && !exchange.measured_seconds(); ++i)
    run_once(exchange);
  OwnCall own(communicator, edges);
  return {compare_in_turn(
              pairs, [&] { run_once(exchange); }, [&] { own.exchange(); }),
          exchange.strategy()};
}

Json compare_all(PlannerMode mode, Communicator& communicator, const OutputOptions& options, bool shown,
                 Json& summary) {
  constexpr Bytes kibibyte = 1024;
  if (shown)
    fmt::print("\n{:>10} {:>22} {:>22} {:>7} {:>16}\n", "bytes", fmt::format("chosen by {}", name_of(mode)),
               "MPI_Neighbor_alltoallv", "ratio", "95 %");
  Json cases;
  double least_ratio = 0;
  for (const Bytes bytes : {Bytes{8}, Bytes{64}, Bytes{512}, 4 * kibibyte, 32 * kibibyte, 256 * kibibyte,
                            1024 * kibibyte, 4096 * kibibyte}) {
    const auto compared = compare_chosen(mode, communicator, bytes, options.quick ? 201 : 1001);
    const auto& ratio = compared.ratio;
    least_ratio = std::max(least_ratio, ratio.low);
    if (shown)
      fmt::print("{:>10} {:>22} {:>22} {:>7.3f} {:>7.3f} … {:.3f}\n", format_bytes(static_cast<double>(bytes)),
                 compared.strategy, format_seconds(compared.own_s), ratio.median, ratio.low, ratio.high);
    cases.push_back({{"bytes", bytes},
                     {"strategy", compared.strategy},
                     {"own_call_s", compared.own_s},
                     {"ratio", ratio.median},
                     {"ratio_low", ratio.low},
                     {"ratio_high", ratio.high}});
  }
  summary[mode == PlannerMode::measure ? "measured_over_own_call_low_max" : "adaptive_over_own_call_low_max"] =
      least_ratio;
  return cases;
}

constexpr int batches = 200, calls_of_batch = 50;

/// Of the times of batches on the slowest rank: the time beyond as many medians, without batches in which a rank
/// has waited for a processor, and that of as many medians.
struct Added {
  Seconds added_s = 0, all_s = 0;
  explicit Added(const std::vector<Seconds>& batches_s) {
    constexpr Seconds waiting_s = 0.5e-3;
    const Seconds batch_s = median(batches_s);
    all_s = batches * batch_s;
    for (const auto seconds : batches_s)
      if (seconds - batch_s < waiting_s) added_s += seconds - batch_s;
  }
  double share() const { return added_s / all_s; }
};

/// What a plan by `adaptive` and its first 10 000 exchanges take, beside those by `estimate`.
Json compare_first_exchanges(Communicator& communicator, const OutputOptions& options, bool shown, Json& summary) {
  constexpr Bytes kibibyte = 1024;
  if (shown)
    fmt::print("\n{:>10} {:>18} {:>10} {:>22} {:>10} {:>14}\n", "bytes", "plan by estimate", "adaptive",
               "10 000 exchanges by it", "adaptive", "decided after");
  Json cases;
  double ratio_max = 0;
  for (const Bytes bytes : {Bytes{8}, Bytes{512}, 4 * kibibyte, 32 * kibibyte}) {
    Edges edges(communicator, 1, bytes, 0);
    std::vector<double> decided;
    std::vector<Seconds> plan_s[2], all_s[2];
    for (int repetition = options.quick ? 11 : 41; repetition > 0; --repetition)
      for (const bool is_tried : {false, true}) {
        std::optional<Exchange> exchange;
        plan_s[is_tried].push_back(time_exchange(MPI_COMM_WORLD, [&] {
          exchange.emplace(plan_by(is_tried ? PlannerMode::adaptive : PlannerMode::estimate, communicator, edges));
        }));
        MPI_Barrier(MPI_COMM_WORLD);
        std::vector<Seconds> batches_s(batches);
        int exchanges = 0, first = 0;
        for (auto& seconds : batches_s)
          seconds = seconds_of([&] {
            for (int i = 0; i < calls_of_batch; ++i) {
              run_once(*exchange);
              ++exchanges;
              if (first == 0 && exchange->measured_seconds()) first = exchanges;
            }
          });
        MPI_Allreduce(MPI_IN_PLACE, batches_s.data(), batches, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        const Added added(batches_s);
        all_s[is_tried].push_back(added.all_s + added.added_s);
        if (is_tried) decided.push_back(first == 0 ? exchanges : first);
      }
    const Seconds by_estimate_s = median(all_s[false]), by_adaptive_s = median(all_s[true]);
    ratio_max = std::max(ratio_max, by_adaptive_s / by_estimate_s);
    if (shown)
      fmt::print("{:>10} {:>18} {:>10} {:>22} {:>10} {:>14.0f}\n", format_bytes(static_cast<double>(bytes)),
                 format_seconds(median(plan_s[false])), format_seconds(median(plan_s[true])),
                 format_seconds(by_estimate_s), format_seconds(by_adaptive_s), median(decided));
    cases.push_back({{"bytes", bytes},
                     {"plan_by_estimate_s", median(plan_s[false])},
                     {"plan_by_adaptive_s", median(plan_s[true])},
                     {"exchanges_by_estimate_s", by_estimate_s},
                     {"exchanges_by_adaptive_s", by_adaptive_s},
                     {"decided_after", median(decided)}});
  }
  summary["adaptive_over_estimate_of_10000_exchanges_max"] = ratio_max;
  return cases;
}

/// Calls that recur, whose trials are the calls themselves.
Json compare_all_calls(Communicator& communicator, PlannerMode mode, const OutputOptions& options, bool shown,
                       Json& summary) {
  AlltoallvOptions with;
  with.planner = mode;
  if (shown) fmt::print("\ncalls by {}:", name_of(mode));
  return compare_calls_in_turn(
      options.quick ? 201 : 1001, shown, summary, [&]() -> Communicator& { return communicator; },
      [](const Communicator&) {},
      [&](int bytes, const char* out, char* in, Communicator& on) {
        on.alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, with);
      },
      [](int bytes, const char* out, char* in, const Communicator& on) {
        COMMPASS_MPI_CALL(MPI_Alltoall, out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, on.mpi());
      },
      [&](const std::vector<int>& counts, const std::vector<int>& places, const char* out, char* in, Communicator& on) {
        on.alltoallv(out, counts, places, MPI_CHAR, in, counts, places, MPI_CHAR, with);
      },
      [](const std::vector<int>& counts, const std::vector<int>& places, const char* out, char* in,
         const Communicator& on) {
        COMMPASS_MPI_CALL(MPI_Alltoallv, out, counts.data(), places.data(), MPI_CHAR, in, counts.data(), places.data(),
                          MPI_CHAR, on.mpi());
      });
}

/// What pricing in the first call, and then trials, add to 10 000 calls of a new communicator, as shares of these.
/// Trials fall into less than half of the batches: they add what these take beyond as many medians. A batch that takes
/// 0.5 ms more is left out: a rank has waited for a processor.
Json cost_of_trials(PlannerMode mode, const OutputOptions& options, bool shown, Json& summary) {
  constexpr int kibibyte = 1024;
  AlltoallvOptions with;
  with.planner = mode;
  if (shown)
    fmt::print("\ncalls by {}:\n{:>10} {:>10} {:>14} {:>14} {:>22} {:>9} {:>9}\n", name_of(mode), "call", "bytes",
               "10 000 calls", "pricing adds", "trials add (median)", "least", "most");
  Json cases;
  double share_max = 0;
  for (const bool is_equal : {true, false})
    for (const int bytes : {8, 512, 4 * kibibyte, 32 * kibibyte, 256 * kibibyte}) {
      std::vector<char> out(2 * static_cast<std::size_t>(bytes)), in(out.size());
      const std::vector<int> counts{bytes, bytes}, places{0, bytes};
      std::vector<double> shares, pricing_shares;
      std::vector<Seconds> calls_s;
      for (int repetition = options.quick ? 11 : 41; repetition > 0; --repetition) {
        Communicator on(MPI_COMM_WORLD, generic_profile().machine);
        const auto call_some = [&](int count) {
          return seconds_of([&] {
            for (int i = 0; i < count; ++i)
              if (is_equal) on.alltoall(out.data(), bytes, MPI_CHAR, in.data(), bytes, MPI_CHAR, with);
              else on.alltoallv(out.data(), counts, places, MPI_CHAR, in.data(), counts, places, MPI_CHAR, with);
          });
        };
        MPI_Barrier(MPI_COMM_WORLD);
        std::vector<Seconds> batches_s(1 + batches);  // the first call is the first one
        for (auto& seconds : batches_s) seconds = call_some(&seconds == batches_s.data() ? 1 : calls_of_batch);
        MPI_Allreduce(MPI_IN_PLACE, batches_s.data(), 1 + batches, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        const Seconds first_s = batches_s.front();
        batches_s.erase(batches_s.begin());
        const Added added(batches_s);
        calls_s.push_back(added.all_s);
        shares.push_back(added.share());
        pricing_shares.push_back(first_s / added.all_s - 1.0 / (batches * calls_of_batch));
      }
      const auto [least, most] = std::ranges::minmax(shares);
      const double share = median(shares), pricing_share = median(pricing_shares);
      share_max = std::max(share_max, share);
      const char* const name = is_equal ? "alltoall" : "alltoallv";
      if (shown)
        fmt::print("{:>10} {:>10} {:>14} {:>13.2f}% {:>21.2f}% {:>8.2f}% {:>8.2f}%\n", name, format_bytes(bytes),
                   format_seconds(median(calls_s)), 100 * pricing_share, 100 * share, 100 * least, 100 * most);
      cases.push_back({{"call", name},
                       {"bytes", bytes},
                       {"calls_s", median(calls_s)},
                       {"pricing_share", pricing_share},
                       {"share", share},
                       {"share_min", least},
                       {"share_max", most}});
    }
  summary["trials_share_of_10000_calls_max"] = share_max;
  return cases;
}

Json run_all(const OutputOptions& options, bool shown) {
  Json json, summary;
  json["communicators"] = open_communicators(options, shown, summary);
  Communicator communicator(MPI_COMM_WORLD, generic_profile().machine);
  json["plans"] = plan_twice(communicator, options, shown, summary);
  json["measured"] = compare_all(PlannerMode::measure, communicator, options, shown, summary);
  json["tried"] = compare_all(PlannerMode::adaptive, communicator, options, shown, summary);
  json["first_exchanges"] = compare_first_exchanges(communicator, options, shown, summary);
  for (const auto mode : {PlannerMode::estimate, PlannerMode::adaptive, PlannerMode::measure}) {
    Communicator of_mode(MPI_COMM_WORLD, generic_profile().machine);
    auto& of_calls = json["calls"][name_of(mode)];
    auto& results = summary[name_of(mode)];
    of_calls["ratios"] = compare_all_calls(of_mode, mode, options, shown, results);
    of_calls["trials"] = cost_of_trials(mode, options, shown, results);
  }
  json["summary"] = summary;
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  using namespace commpass::bench;
  return run_on_two_ranks(
      argc, argv, "planning",
      "What a first and a further plan of a pattern take, and what planning by measuring "
      "gives, on two ranks.",
      [](const OutputOptions& options, commpass::Rank, bool shown) { return run_all(options, shown); });
}
