#include "runtime/neighbor/trials.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/median.hpp"
#include "runtime/choose/timed_rounds.hpp"
#include "runtime/device/device_data.hpp"
#include "runtime/execute/memory.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/mpi/timed_start.hpp"

namespace commpass {

namespace {

/// A receive buffer of ours, in the same memory as the user's, and with the same relative places.
struct ScratchReceives {
  std::vector<ReceiveEdge> edges;
  Memory::Buffer buffer;

  /// @param device  of the user's buffer; nothing: host memory
  /// @throws std::bad_alloc, DeviceError
  ScratchReceives(std::span<const ReceiveEdge> receives, const std::optional<Device>& device)
      : edges(receives.begin(), receives.end()) {
    std::erase_if(edges, [](const ReceiveEdge& edge) { return edge.bytes <= 0; });
    if (edges.empty()) return;
    const Bytes begin = std::ranges::min(edges, {}, &ReceiveEdge::offset).offset;
    Bytes end = 0;
    for (auto& edge : edges) {
      edge.offset -= begin;
      end = std::max(end, edge.offset + edge.bytes);
    }
    buffer = device ? device_buffer(*device, end) : host_memory().allocate(end);
  }
};

struct Trial {
  Contender contender;
  Strategy strategy;
  std::unique_ptr<Executor> executor;  ///< none: it could not be planned
};

/// The strategies to try, the baseline first.
std::vector<Contender> trials_for(const Decision& decision) {
  std::vector<Contender> result;
  const auto add = [&](const Contender& contender, bool also_immediate) {
    if (std::ranges::find(result, contender.strategy, &Contender::strategy) != result.end()) return;
    result.push_back(contender);
    if (!also_immediate) return;
    result.push_back(contender);
    result.back().requests = RequestLife::immediate;
  };
  const auto add_by_name = [&](const std::string& name, bool also_immediate) {
    const auto known = std::ranges::find(decision.contenders, name, &Contender::strategy);
    add(known == decision.contenders.end() ? Contender{name, std::nullopt} : *known, also_immediate);
  };
  if (!decision.is_of_family) {
    std::vector<std::string> names;
    for (const auto& contender : decision.contenders) names.push_back(contender.strategy);
    for (const auto& path : paths_of(names)) {
      if (NeighborhoodCollective::is_available()) add_by_name("mpi" + path, false);
      add_by_name("standard" + path, true);
    }
  }
  for (const auto& contender : decision.contenders)
    add(contender, decision.planner == PlannerMode::patient || &contender == decision.contenders.data());
  return result;
}

/// Plans all of them. Collective.
std::vector<Trial> plan_trials(const Context& context, const Context::Address& address, const BuffersAndEdges& given,
                               const Decision& decision) {
  std::vector<Trial> trials;
  all_or_none(context.comm.get(), [&] {
    for (auto& contender : trials_for(decision))
      trials.push_back({contender, parse_strategy(contender.strategy), nullptr});
  });
  for (auto& trial : trials) {
    try {
      ExchangeDraft draft(context, address, given);
      draft.use(trial.contender.requests);
      trial.executor = draft.make(trial.strategy);
    } catch (const MpiError&) {
      throw;
    } catch (const Error&) {  // the same on every rank
    }
  }
  std::erase_if(trials, [](const Trial& trial) { return !trial.executor; });
  return trials;
}

/// The user's stream on a device, whose work follows the exchange.
struct UsersStream {
  std::optional<Device> device;  ///< nothing: no data is on a device
  DeviceBackend::Stream stream = nullptr;

  void wait() const {
    if (device) device->backend->synchronize(device->number, stream);
  }
};

/// This rank's mean time of consecutive exchanges, from a common start until their data has arrived.
Seconds time_some(MPI_Comm comm, Executor& executor, const UsersStream& users, int exchanges) {
  common_start(comm);
  const double begin = MPI_Wtime();
  for (int i = 0; i < exchanges; ++i) {
    executor.start();
    executor.wait();
  }
  users.wait();
  return (MPI_Wtime() - begin) / exchanges;
}

/// Times trials in rounds of several exchanges each.
class ExchangeRounds {
 public:
  /// Collective. @throws Error, the same on every rank
  ExchangeRounds(MPI_Comm comm, std::span<const Trial> trials, const UsersStream& users, Seconds budget)
      : comm_(comm), trials_(trials), users_(users), budget_(budget), rounds_(comm, trials.size(), rounds_max) {
    warm_up();
  }

  /// Collective.
  void run() {
    const double begin = MPI_Wtime();
    for (bool is_over = rounds_.runners() < 2; !is_over;) {
      time_round(exchanges_);
      is_over = rounds_.tell(rank_in(comm_) == 0 && is_enough(MPI_Wtime() - begin));
    }
  }
  const TimedRounds& rounds() const { return rounds_; }
  int exchanges() const { return exchanges_; }

 private:
  static constexpr std::size_t rounds_max = 1000;

  void time_round(int exchanges) {
    for (const auto i : rounds_.order())
      if (rounds_.is_running(i)) rounds_.note(i, time_some(comm_, *trials_[i].executor, users_, exchanges));
    rounds_.collect();
  }

  /// Finds the number of exchanges of a sample, and drops trials that exceed the budget.
  void warm_up() {
    constexpr int turns = 2;
    for (int i = 0; i < turns; ++i) time_round(1);
    if (rank_in(comm_) == 0) {
      constexpr Seconds sample_s = 100e-6;  // long enough for the clock, short enough to lie within a time slice
      constexpr double exchanges_max = 200;
      exchanges_ = static_cast<int>(
          std::clamp(sample_s / std::max(rounds_.slowest(0), sample_s / exchanges_max), 1., exchanges_max));
      Seconds total = 0;
      for (std::size_t i = 0; i < trials_.size(); ++i) {
        const auto its = rounds_.slowest(i) * exchanges_ * static_cast<double>(TimedRounds::least);
        if (i == 0 || total + its <= budget_) total += its;
        else rounds_.drop(i);
      }
    }
    COMMPASS_MPI_CALL(MPI_Bcast, &exchanges_, 1, MPI_INT, 0, comm_);
    rounds_.tell(false);
  }

  /// On rank 0.
  bool is_enough(Seconds elapsed) {
    rounds_.keep();
    return rounds_.review() || (rounds_.rounds() >= TimedRounds::least && elapsed > budget_);
  }

  MPI_Comm comm_;
  std::span<const Trial> trials_;
  UsersStream users_;
  Seconds budget_;
  TimedRounds rounds_;
  int exchanges_ = 1;
};

std::string trial_name(const Contender& contender) {
  return contender.strategy + (contender.requests == RequestLife::immediate ? " with new requests each time" : "");
}

}  // namespace

void choose_by_trials(const Context& context, const Context::Address& address, const BuffersAndEdges& given,
                      std::optional<Seconds> seconds, Decision& decision) {
  const MPI_Comm comm = context.comm.get();
  Seconds budget = seconds.value_or(default_planner_seconds(decision.planner));
  COMMPASS_MPI_CALL(MPI_Bcast, &budget, 1, MPI_DOUBLE, 0, comm);
  std::optional<ScratchReceives> scratch;
  auto tried = given;
  UsersStream users{{}, context.stream};
  all_or_none(comm, [&] {
    if (given.sides.any()) users.device = given.sides.device();
    scratch.emplace(given.receives, given.sides.receives);
    tried.receive_buffer = scratch->buffer.get();
    tried.receives = scratch->edges;
    if (given.sides.receives) tried.sides.receive_ends = Ends::reached;  // in one allocation
  });
  auto trials = plan_trials(context, address, tried, decision);
  if (trials.empty()) return;  // planning then reports the error
  ExchangeRounds exchange_rounds(comm, trials, users, budget);
  exchange_rounds.run();
  int chosen = 0;
  double measured = 0;  // 0: it was not timed
  std::string text;
  all_or_none(comm, [&] {
    if (rank_in(comm) != 0) return;
    const auto& rounds = exchange_rounds.rounds();
    const auto ratios = rounds.ratios();
    const auto best = fastest_beyond_doubt(ratios);
    if (const auto& own = rounds.times(best); !own.empty()) measured = median(own);
    std::vector<std::string> names;
    for (const auto& trial : trials) names.push_back(trial_name(trial.contender));
    text = fmt::format("Measured for up to {}", format_seconds(budget)) +
           explain_rounds(rounds, names, ratios, best, fmt::format(" of {} exchanges", exchange_rounds.exchanges()));
    chosen = static_cast<int>(best);
  });
  COMMPASS_MPI_CALL(MPI_Bcast, &chosen, 1, MPI_INT, 0, comm);
  COMMPASS_MPI_CALL(MPI_Bcast, &measured, 1, MPI_DOUBLE, 0, comm);
  text = broadcast(comm, text);
  all_or_none(comm, [&] {
    const auto& contender = trials[static_cast<std::size_t>(chosen)].contender;
    decision.strategy = contender.strategy;
    decision.predicted_s = contender.predicted_s;
    decision.requests = contender.requests;
    decision.measured_s = measured > 0 ? std::optional(measured) : std::nullopt;
    decision.explanation += text;
  });
}

}  // namespace commpass
