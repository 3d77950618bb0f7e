#include "runtime/neighbor/trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <vector>

#include "model/error.hpp"
#include "model/median.hpp"
#include "model/text.hpp"
#include "runtime/device/device_data.hpp"
#include "runtime/execute/memory.hpp"
#include "runtime/mpi/common_start.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"
#include "runtime/mpi/ranks.hpp"
#include "selector/choose/measured_choice.hpp"

namespace commpass {

namespace {

/// A receive buffer of ours in the place of the user's, in the same memory and with the same places relative to each
/// other.
struct ScratchReceives {
  std::vector<ReceiveEdge> edges;
  Memory::Buffer buffer;

  /// @param device  on which the user's lies; nothing: in host memory
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
  std::vector<Seconds> seconds{};      ///< on rank 0: of one exchange on the slowest rank, in each round
  bool is_running = true;              ///< may it still be the fastest?
};

constexpr auto* libraries_own = "mpi";

/// The endings of names that say how data on devices gets into messages: those of the contenders. For data in host
/// memory, and where no path has a price, the empty one.
std::vector<std::string> paths_of(std::span<const Contender> contenders) {
  std::vector<std::string> paths;
  for (const auto& contender : contenders)
    if (const auto path = to_string(parse_strategy(contender.strategy).path);
        std::ranges::find(paths, path) == paths.end())
      paths.push_back(path);
  return paths;
}

/// What is tried, that which stays unless another one is faster first.
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
    for (const auto& path : paths_of(decision.contenders)) {
      if (NeighborhoodCollective::is_available()) add_by_name(libraries_own + path, false);
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

/// The user's stream on a device, which is to have what was exchanged.
struct UsersStream {
  std::optional<Device> device;  ///< nothing: there is none
  DeviceBackend::Stream stream = nullptr;

  void wait() const {
    if (device) device->backend->synchronize(device->number, stream);
  }
};

/// This rank's time of one exchange, of several one after another from a common start until their data is there.
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

/// Times trials in rounds: in each of them each that is running, in another order.
class Rounds {
 public:
  // Of an interval with 95 % at least 6 are needed; above the most it hardly shrinks.
  static constexpr std::size_t least = 7, most = 1000;

  /// Collective. @throws Error, the same on every rank
  Rounds(MPI_Comm comm, std::vector<Trial>& trials, const UsersStream& users, Seconds budget)
      : comm_(comm), trials_(trials), users_(users), budget_(budget), rank_(rank_in(comm)) {
    all_or_none(comm, [&] {
      order_.resize(trials.size());
      mine_.resize(trials.size());
      slowest_.resize(trials.size());
      word_.resize(trials.size() + 1);
      if (rank_ == 0)
        for (auto& trial : trials) trial.seconds.reserve(most);
    });
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    warm_up();
  }

  /// Collective.
  void run() {
    const double begin = MPI_Wtime();
    for (bool is_over = runners() < 2; !is_over;) {
      time_round(exchanges_);
      if (rank_ == 0) keep_times();
      is_over = tell(rank_ == 0 && review(MPI_Wtime() - begin));
    }
  }
  int exchanges() const { return exchanges_; }

 private:
  std::size_t runners() const {
    return static_cast<std::size_t>(std::ranges::count(trials_, true, &Trial::is_running));
  }

  void time_round(int exchanges) {
    std::ranges::shuffle(order_, random_);
    std::ranges::fill(mine_, 0);
    for (const auto i : order_)
      if (trials_[i].is_running) mine_[i] = time_some(comm_, *trials_[i].executor, users_, exchanges);
    COMMPASS_MPI_CALL(MPI_Reduce, mine_.data(), slowest_.data(), static_cast<int>(mine_.size()), MPI_DOUBLE, MPI_MAX, 0,
                      comm_);
  }

  void keep_times() {
    for (std::size_t i = 0; i < trials_.size(); ++i)
      if (trials_[i].is_running) trials_[i].seconds.push_back(slowest_[i]);
  }

  /// How many exchanges a sample has, and what fits into the budget at all.
  void warm_up() {
    constexpr int turns = 2;
    for (int i = 0; i < turns; ++i) time_round(1);
    if (rank_ == 0) {
      constexpr Seconds sample_s = 100e-6;  // long enough for the clock, short enough to lie within a time slice
      constexpr double most_exchanges = 200;
      exchanges_ =
          static_cast<int>(std::clamp(sample_s / std::max(slowest_[0], sample_s / most_exchanges), 1., most_exchanges));
      Seconds total = 0;
      for (std::size_t i = 0; i < trials_.size(); ++i) {
        const auto its = slowest_[i] * exchanges_ * static_cast<double>(least);
        trials_[i].is_running = i == 0 || total + its <= budget_;
        if (trials_[i].is_running) total += its;
      }
    }
    COMMPASS_MPI_CALL(MPI_Bcast, &exchanges_, 1, MPI_INT, 0, comm_);
    tell(false);
  }

  /// On rank 0: who is beaten, and is that enough?
  bool review(Seconds elapsed) {
    const auto rounds = trials_[0].seconds.size();
    if (rounds >= next_review_) {
      next_review_ = rounds * 3 / 2;
      try {
        std::vector<std::vector<Seconds>> seconds;
        for (const auto& trial : trials_) seconds.push_back(trial.seconds);
        const auto ratios = ratios_to_first(seconds);
        for (std::size_t i = 1; i < trials_.size(); ++i)
          if (is_beaten(ratios, i)) trials_[i].is_running = false;
      } catch (const std::bad_alloc&) {
        return true;
      }
    }
    return rounds >= most || runners() < 2 || (rounds >= least && elapsed > budget_);
  }

  /// What rank 0 has found, on all ranks. @return the argument of rank 0
  bool tell(bool is_over) {
    for (std::size_t i = 0; i < trials_.size(); ++i) word_[i] = trials_[i].is_running ? 1 : 0;
    word_.back() = is_over ? 1 : 0;
    COMMPASS_MPI_CALL(MPI_Bcast, word_.data(), static_cast<int>(word_.size()), MPI_CHAR, 0, comm_);
    for (std::size_t i = 0; i < trials_.size(); ++i) trials_[i].is_running = word_[i] != 0;
    return word_.back() != 0;
  }

  MPI_Comm comm_;
  std::vector<Trial>& trials_;
  UsersStream users_;
  Seconds budget_;
  Rank rank_;
  std::mt19937 random_{1};  // the same on every rank
  std::vector<std::size_t> order_;
  std::vector<double> mine_, slowest_;
  std::vector<char> word_;
  std::size_t next_review_ = least;
  int exchanges_ = 1;
};

std::string trial_name(const Contender& contender) {
  return contender.strategy + (contender.requests == RequestLife::immediate ? " with new requests each time" : "");
}

std::string describe_trial(const Trial& trial, const MedianInterval& ratio) {
  if (trial.seconds.empty())
    return fmt::format("  {}: not timed, for it does not fit into that time\n", trial_name(trial.contender));
  return fmt::format("  {}: {} times as long (95 %: {} to {})\n", trial_name(trial.contender),
                     format_fixed(ratio.median, 3), format_fixed(ratio.low, 3), format_fixed(ratio.high, 3));
}

std::string explain_trials(std::span<const Trial> trials, std::span<const MedianInterval> ratios, std::size_t chosen,
                           const Rounds& rounds, Seconds budget) {
  const auto& baseline = trials.front();
  auto text = fmt::format("Measured for up to {}", format_seconds(budget));
  if (!baseline.seconds.empty())
    text += fmt::format(", {} rounds of {} exchanges: {} takes {}", baseline.seconds.size(), rounds.exchanges(),
                        trial_name(baseline.contender), format_seconds(median(baseline.seconds)));
  text += ".\n";
  for (std::size_t i = 1; i < trials.size(); ++i) text += describe_trial(trials[i], ratios[i]);
  return text + (chosen == 0 ? fmt::format("Kept: {}, for nothing that was timed is faster beyond doubt.\n",
                                           trial_name(baseline.contender))
                             : fmt::format("Chosen: {}, which is faster than {} beyond doubt.\n",
                                           trial_name(trials[chosen].contender), trial_name(baseline.contender)));
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
  if (trials.empty()) return;  // what is wrong the plan itself will tell
  Rounds rounds(comm, trials, users, budget);
  rounds.run();
  int chosen = 0;
  double measured = 0;  // 0: it was not timed
  std::string text;
  all_or_none(comm, [&] {
    if (rank_in(comm) != 0) return;
    std::vector<std::vector<Seconds>> times;
    for (const auto& trial : trials) times.push_back(trial.seconds);
    const auto ratios = ratios_to_first(times);
    chosen = static_cast<int>(fastest_beyond_doubt(ratios));
    if (const auto& own = times[static_cast<std::size_t>(chosen)]; !own.empty()) measured = median(own);
    text = explain_trials(trials, ratios, static_cast<std::size_t>(chosen), rounds, budget);
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
