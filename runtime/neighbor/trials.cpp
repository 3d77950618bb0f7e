#include "runtime/neighbor/trials.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "runtime/device/device_data.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/execute/memory.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"
#include "runtime/mpi/oversubscription.hpp"
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

/// The strategies to try, the baseline first; of a family its members alone. Of ours, standard and the best by its
/// price, in `patient` all, are tried with new requests each time, too.
/// @param shares  are they tried through memory of a node, too?
std::vector<Contender> trials_for(const Decision& decision, bool shares) {
  const auto& by_price = decision.contenders;
  std::vector<Contender> result;
  for (const auto& contender :
       decision.is_of_family ? by_price : with_programs_methods(by_price, NeighborhoodCollective::is_available())) {
    result.push_back(contender);
    auto strategy = parse_strategy(contender.strategy);
    const auto shared = through_node_memory(strategy);
    strategy.path = {};
    const auto name = to_string(strategy);
    if (name == "mpi") continue;
    if (decision.how.planner != PlannerMode::patient && contender.strategy != by_price.front().strategy &&
        (decision.is_of_family || name != "standard"))
      continue;
    result.push_back(contender);
    result.back().requests = RequestLife::immediate;
    if (shares && shared && !decision.is_of_family &&
        std::ranges::find(by_price, to_string(*shared), &Contender::strategy) == by_price.end())
      result.push_back({to_string(*shared)});
  }
  return result;
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

/// Times them in rounds of several exchanges each. Collective. @throws Error, the same on every rank
TrialTimer time_trials(MPI_Comm comm, std::span<const std::unique_ptr<Executor>> trials, const UsersStream& users,
                       Seconds budget) {
  // A sample is long enough for the clock, and short enough to lie within a time slice.
  const TrialBounds bounds{
      .warm_rounds = 2, .rounds_max = 1000, .loss_max_s = budget, .loss = TrialLoss::whole, .sample_s = 100e-6};
  std::optional<TrialTimer> timer;
  all_or_none(comm, [&] { timer.emplace(trials.size(), bounds); });
  while (!timer->is_over())
    if (timer->note(time_some(comm, *trials[timer->next()], users, timer->exchanges())))
      end_round_together(comm, *timer);
  return std::move(*timer);
}

}  // namespace

std::vector<PlannedContender> plan_contenders(const Context& context, const Context::Address& address,
                                              const BuffersAndEdges& given, std::vector<Contender>& contenders,
                                              std::optional<std::size_t> but) {
  std::vector<PlannedContender> planned;
  std::vector<Contender> kept;
  std::vector<Strategy> strategies;
  all_or_none(context.comm.get(), [&] {
    for (const auto& contender : contenders) strategies.push_back(parse_strategy(contender.strategy));
    planned.reserve(contenders.size());
    kept.reserve(contenders.size());
  });
  for (std::size_t i = 0; i < strategies.size(); ++i) {
    if (i == but) {
      planned.emplace_back();
      kept.push_back(std::move(contenders[i]));
      continue;
    }
    try {
      ExchangeDraft draft(context, address, given);
      draft.use(contenders[i].requests);
      auto requests = draft.make(strategies[i]);
      if (strategies[i].path.is_shared != draft.has_landings()) continue;  // the same on every rank
      planned.push_back({std::move(requests), draft.way(), draft.graph(), draft.buffer_bytes()});
      kept.push_back(std::move(contenders[i]));
    } catch (const MpiError&) {
      throw;
    } catch (const Error&) {  // the same on every rank
    }
  }
  contenders = std::move(kept);
  return planned;
}

void choose_by_trials(const Context& context, const Context::Address& address, const BuffersAndEdges& given,
                      Decision& decision) {
  const MPI_Comm comm = context.comm.get();
  std::optional<ScratchReceives> scratch;
  auto tried = given;
  UsersStream users{{}, context.stream};
  all_or_none(comm, [&] {
    if (given.sides.any()) users.device = given.sides.device();
    if (given.sums) return;  // both buffers are ours
    scratch.emplace(given.receives, given.sides.receives);
    tried.receive_buffer = scratch->buffer.get();
    tried.receives = scratch->edges;
    if (given.sides.receives) tried.sides.receive_ends = Ends::reached;  // in one allocation
  });
  const bool shares = may_share_memory() && context.layout.max_ppn() > 1;
  all_or_none(comm, [&] { decision.contenders = trials_for(decision, shares); });
  std::vector<std::unique_ptr<Executor>> trials;
  for (auto& contender : plan_contenders(context, address, tried, decision.contenders))
    trials.push_back(insist([&] { return std::make_unique<Executor>(std::move(contender.requests)); }));
  if (trials.empty()) return;  // planning then reports the error
  auto timer = time_trials(comm, trials, users, decision.how.seconds);
  all_or_none(comm, [&] {
    decision.explanation += fmt::format("Measured for up to {}", format_seconds(decision.how.seconds)) +
                            explain(timer, decision.contenders, fmt::format(" of {} exchanges", timer.exchanges()));
    decision.take_fastest(timer);
  });
}

}  // namespace commpass
