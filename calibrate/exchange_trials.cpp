#include "calibrate/exchange_trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "model/pattern/sparse_traffic.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/timed_start.hpp"
#include "selector/choose/select.hpp"
#include "selector/choose/sparse_choice.hpp"

namespace commpass {

ExchangeTrials::ExchangeTrials(Calibration& calibration)
    : calibration_(calibration), communicator_(calibration.comm.get(), calibration.machine, {calibration.layout}) {}

void ExchangeTrials::add(const std::string& name, const std::string& strategy, const std::string& part_of,
                         const Pattern& pattern, std::span<std::byte> sent, Price price, std::function<void()> run) {
  calibration_.sampler.check_time();
  auto& trial =
      trials_.emplace_back(Trial{{name, strategy, 0, 0, {}, part_of}, std::move(price), std::move(run), sent});
  for (const auto& edge : pattern.edges) {
    if (edge.source == edge.destination) continue;
    const auto level = calibration_.layout.channel_level(edge.source, edge.destination);
    trial.seconds_of[level] +=
        host_channel(calibration_.machine, level).protocol(edge.bytes).next_seconds(static_cast<double>(edge.bytes));
  }
}

ExchangeTrials::Price ExchangeTrials::price_of_plan(const Pattern& pattern, const std::string& strategy) const {
  return [this, pattern, strategy](const Machine& machine) {
    return price(parse_strategy(strategy), pattern, calibration_.layout, machine).cost.seconds;
  };
}

void ExchangeTrials::add_planned(const std::string& name, const Pattern& pattern,
                                 const std::vector<std::string>& strategies, const std::string& part_of) {
  auto& mine = data_.emplace_back(data_of(pattern, calibration_.comm.rank()));
  for (const auto& strategy : strategies) {
    auto& exchange = exchanges_.emplace_back(communicator_.neighbor_exchange(
        mine.send_buffer.data(), mine.sends, mine.receive_buffer.data(), mine.receives, {strategy}));
    add(name, strategy, part_of, pattern, mine.send_buffer, price_of_plan(pattern, strategy), [&exchange] {
      exchange.start();
      exchange.wait();
    });
  }
}

ExchangeTrials::OnDevice::OnDevice(const Device& its, const RankData& data)
    : device(its),
      send(device_buffer(its, static_cast<Bytes>(data.send_buffer.size()))),
      receive(device_buffer(its, static_cast<Bytes>(data.receive_buffer.size()))),
      stream(its.backend->make_stream(its.number)) {}

void ExchangeTrials::add_on_device(const std::string& name, const Pattern& pattern, const std::string& strategy,
                                   const Device& device) {
  auto& mine = data_.emplace_back(data_of(pattern, calibration_.comm.rank()));
  all_or_none(calibration_.comm.get(), [&] { on_devices_.emplace_back(device, mine); });
  auto& own = on_devices_.back();
  communicator_.use_stream(own.stream);
  auto& exchange = exchanges_.emplace_back(
      communicator_.neighbor_exchange(own.send.get(), mine.sends, own.receive.get(), mine.receives, {strategy}));
  add(name, strategy, {}, pattern, {}, price_of_plan(pattern, strategy), [&exchange, &own] {
    exchange.start();
    exchange.wait();
    own.device.backend->synchronize(own.device.number, own.stream);
  });
}

void ExchangeTrials::add_called_once(const std::string& name, const Pattern& pattern, const std::string& strategy,
                                     Price price) {
  auto& mine = data_.emplace_back(data_of(pattern, calibration_.comm.rank()));
  const AlltoallvSide sends(pattern.ranks, mine.sends, &SendEdge::destination),
      receives(pattern.ranks, mine.receives, &ReceiveEdge::source);
  add(name, strategy, {}, pattern, mine.send_buffer, std::move(price),
      [this, &mine, sends, receives, options = AlltoallvOptions{.strategy = strategy}] {
        communicator_.alltoallv(mine.send_buffer.data(), sends.counts, sends.displacements, MPI_BYTE,
                                mine.receive_buffer.data(), receives.counts, receives.displacements, MPI_BYTE, options);
      });
}

void ExchangeTrials::add_sparse(const std::string& name, const Pattern& pattern, const std::string& strategy) {
  auto& mine = data_.emplace_back(data_of(pattern, calibration_.comm.rank()));
  const auto price_it = [this, strategy, traffic = traffic_of(pattern, calibration_.layout)](const Machine& machine) {
    const auto wanted = parse_sparse_strategy(strategy);
    for (const auto& candidate : SparseChoice(calibration_.layout, machine, false).rank(traffic))
      if (candidate.strategy == wanted) return candidate.seconds;
    return std::numeric_limits<Seconds>::infinity();  // no longer offered without the parameter
  };
  add(name, strategy, {}, pattern, mine.send_buffer, price_it,
      [this, &mine, options = SparseOptions{.strategy = strategy}] {
        communicator_.sparse_alltoallv(mine.send_buffer.data(), mine.sends, options);
      });
}

// Equal times, as on a simulated cluster, end the repetitions.
Seconds ExchangeTrials::time_one(const Trial& trial, int repetitions) {
  constexpr double rounding = 1e-9;
  Seconds first = 0, sum = 0;
  for (int i = 0; i < repetitions; ++i) {
    const auto seconds = time_exchange(calibration_.comm.get(), trial.run, trial.sent);
    if (i == 0) first = seconds;
    else if (std::abs(seconds - first) <= rounding * first) return first;
    sum += seconds;
  }
  return sum / repetitions;
}

void ExchangeTrials::time(double share) {
  constexpr int rounds_max = 40;  // times of sparse exchanges vary, even on a simulated cluster
  std::map<std::size_t, Series> times;
  for (std::size_t i = 0; i < trials_.size(); ++i) times[i];
  calibration_.sampler.sample_all(
      times, share, [&](std::size_t i, int, int repetitions) { return time_one(trials_[i], repetitions); }, rounds_max);
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    trials_[i].result.measured_s = times[i].time();
    trials_[i].result.measured_interval_s = lower_quartile_interval(times[i].samples);
  }
}

void ExchangeTrials::price_again() {
  const MPI_Comm comm = calibration_.comm.get();
  std::vector<Seconds> prices(trials_.size());
  all_or_none(comm, [&] {
    if (calibration_.comm.rank() != 0) return;
    auto machine = calibration_.machine;
    machine.verdict.emplace();  // what the calibration will end with: its parameters are measured
    std::ranges::transform(trials_, prices.begin(), [&](const Trial& trial) { return trial.price(machine); });
  });
  COMMPASS_MPI_CALL(MPI_Bcast, prices.data(), static_cast<int>(prices.size()), MPI_DOUBLE, 0, comm);
  for (std::size_t i = 0; i < trials_.size(); ++i) trials_[i].result.predicted_s = prices[i];
}

std::vector<HeldOut> ExchangeTrials::results() const {
  std::vector<HeldOut> results;
  std::ranges::transform(trials_, std::back_inserter(results), &Trial::result);
  return results;
}

Level ExchangeTrials::where_most_is_missed() const {
  std::array<double, most_levels> missed{};
  for (const auto& trial : trials_) {
    const auto all = std::accumulate(trial.seconds_of.begin(), trial.seconds_of.end(), Seconds{0});
    if (!(all > 0)) continue;
    const double off = std::abs(std::log(trial.result.predicted_s / trial.result.measured_s));
    for (std::size_t i = 0; i < most_levels; ++i) missed[i] += off * trial.seconds_of[i] / all;
  }
  return static_cast<Level>(std::ranges::max_element(missed) - missed.begin());
}

}  // namespace commpass
