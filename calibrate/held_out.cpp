// Does the profile predict exchanges that no parameter was fitted to?
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "calibrate/calibration.hpp"
#include "model/text.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/rank_data.hpp"
#include "runtime/time_exchange.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

namespace {

struct Kind {
  const char* name;
  int messages;  ///< of each rank
  Bytes least, most;
  std::size_t least_stages = 1;
};

/// Everyone sends to ranks drawn at random, some of them perhaps twice. Sizes are log-uniform.
Pattern draw_pattern(const Kind& kind, int ranks, std::mt19937_64& random) {
  Pattern pattern{ranks, {}};
  const double ratio = static_cast<double>(kind.most) / static_cast<double>(kind.least);
  for (Rank source = 0; source < ranks; ++source)
    for (int i = 0; i < kind.messages; ++i) {
      const auto ahead = 1 + static_cast<int>(uniform(random) * (ranks - 1));
      const auto bytes = std::llround(static_cast<double>(kind.least) * std::pow(ratio, uniform(random)));
      pattern.edges.push_back({source, (source + ahead) % ranks, bytes});
    }
  return pattern;
}

/// The strategy that would be chosen, or the cheapest in several stages, priced on rank 0 for all. Of the latter there
/// may be none.
HeldOut predict(const Calibration& calibration, const Kind& kind, const Pattern& pattern) {
  const MPI_Comm comm = calibration.comm.get();
  HeldOut result;
  all_or_none(comm, [&] {
    if (calibration.comm.rank() != 0) return;
    const auto ranking = rank_strategies(pattern, calibration.layout, calibration.machine);
    const auto chosen = std::ranges::find_if(
        ranking, [&](const Candidate& candidate) { return candidate.cost.stages.size() >= kind.least_stages; });
    if (chosen == ranking.end()) return;
    result.strategy = to_string(chosen->strategy);
    result.predicted_s = chosen->cost.seconds;
  });
  result.strategy = broadcast(comm, result.strategy);
  COMMPASS_MPI_CALL(MPI_Bcast, &result.predicted_s, 1, MPI_DOUBLE, 0, comm);
  return result;
}

}  // namespace

void check_held_out(Calibration& calibration) {
  calibration.progress("held-out exchanges");
  if (!calibration.provenance.warning.empty()) {
    calibration.not_measured("held_out: " + calibration.provenance.warning);
    return;
  }
  constexpr Bytes kibi = 1 << 10;
  constexpr Kind kinds[] = {{"few large", 2, 256 * kibi, 1024 * kibi},
                            {"many small", 32, 8, 512},
                            {"mixed", 8, 8, 256 * kibi},
                            {"one small", 1, 800, 800},
                            {"few small", 3, 8, 2 * kibi},
                            {"some middling", 6, 2 * kibi, 32 * kibi},
                            {"small in stages", 16, 8, 1 * kibi, 2}};
  Communicator communicator(calibration.comm.get(), calibration.machine, {calibration.layout});
  std::mt19937_64 random(2);
  std::vector<RankData> data;  // moving a vector leaves its buffer where it is
  std::vector<Exchange> exchanges;
  auto& results = calibration.provenance.held_out;
  for (const auto& kind : kinds) {
    const auto pattern = draw_pattern(kind, calibration.layout.ranks(), random);
    auto predicted = predict(calibration, kind, pattern);
    if (predicted.strategy.empty()) {
      calibration.not_measured(fmt::format("held_out '{}': no strategy has several stages here", kind.name));
      continue;
    }
    predicted.exchange = kind.name;
    results.push_back(std::move(predicted));
    auto& mine = data.emplace_back(data_of(pattern, calibration.comm.rank()));
    exchanges.push_back(communicator.neighbor_exchange(mine.send_buffer.data(), mine.sends, mine.receive_buffer.data(),
                                                       mine.receives, {results.back().strategy}));
  }
  std::map<std::size_t, Series> times;
  for (std::size_t i = 0; i < exchanges.size(); ++i) times[i];
  calibration.sampler.sample_all(times, held_out_share.end, [&](std::size_t i, int, int repetitions) {
    Seconds sum = 0;
    for (int k = 0; k < repetitions; ++k)
      sum += time_exchange(calibration.comm.get(), [&] {
        exchanges[i].start();
        exchanges[i].wait();
      });
    return sum / repetitions;
  });
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].measured_s = times[i].time();
    results[i].measured_interval_s = lower_quartile_interval(times[i].samples);
  }
}

}  // namespace commpass
