// Held-out exchanges that are called once: an all-to-all and a sparse exchange.
#include <fmt/core.h>

#include <random>

#include "calibrate/held_out.hpp"
#include "model/pattern/sparse_traffic.hpp"
#include "runtime/mpi/agreement.hpp"
#include "selector/choose/alltoall_choice.hpp"
#include "selector/choose/sparse_choice.hpp"

namespace commpass {

namespace {

/// A block for every other rank, of 1 to 256 bytes.
Pattern draw_all_to_all(int ranks) {
  std::mt19937_64 random(4);
  constexpr double most = 256;
  Pattern pattern{ranks, {}};
  for (Rank source = 0; source < ranks; ++source)
    for (Rank destination = 0; destination < ranks; ++destination)
      if (source != destination)
        pattern.edges.push_back({source, destination, 1 + static_cast<Bytes>(most * uniform(random))});
  return pattern;
}

/// A few equal messages to different ranks, of which the receivers know nothing.
Pattern draw_sparse(int ranks) {
  std::mt19937_64 random(5);
  constexpr int most_messages = 4;
  constexpr Bytes bytes = 256;
  Pattern pattern{ranks, {}};
  const int messages = std::min(most_messages, ranks - 1);
  for (Rank source = 0; source < ranks; ++source) {
    const auto first = static_cast<int>(uniform(random) * (ranks - 1));
    for (int i = 0; i < messages; ++i)
      pattern.edges.push_back({source, (source + 1 + (first + i) % (ranks - 1)) % ranks, bytes});
  }
  return pattern;
}

void add_all_to_all(Calibration& calibration, ExchangeTrials& trials) {
  const auto& layout = calibration.layout;
  constexpr const char* name = "all-to-all called once";
  constexpr int most_ranks = 512;  // a quarter of a million blocks, which every rank draws
  if (layout.ranks() > most_ranks) {
    calibration.not_measured(fmt::format("held_out '{}': {} ranks are more than {}", name, layout.ranks(), most_ranks));
    return;
  }
  const auto pattern = draw_all_to_all(layout.ranks());
  const auto blocks = random_pattern(totals_of(pattern, layout), layout);
  const auto strategy = found_by_rank_0(calibration.comm.get(), [&] {
    return to_string(as_run(rank_one_shot(blocks, layout, calibration.machine).front()));
  });
  trials.add_called_once(name, pattern, strategy, [blocks, strategy, &layout](const Machine& machine) {
    return price_one_shot(parse_strategy(strategy), blocks, layout, machine).cost.seconds;
  });
}

void add_sparse_exchange(Calibration& calibration, ExchangeTrials& trials) {
  const auto pattern = draw_sparse(calibration.layout.ranks());
  const auto strategy = found_by_rank_0(calibration.comm.get(), [&] {
    const auto traffic = traffic_of(pattern, calibration.layout);
    return to_string(SparseChoice(calibration.layout, calibration.machine, false).best(traffic).strategy);
  });
  trials.add_sparse("sparse", pattern, strategy);
}

}  // namespace

void add_held_out_calls(Calibration& calibration, ExchangeTrials& trials) {
  add_all_to_all(calibration, trials);
  add_sparse_exchange(calibration, trials);
}

}  // namespace commpass
