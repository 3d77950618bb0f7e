// Held-out exchanges that are called once: an all-to-all and a sparse exchange.
#include <fmt/format.h>

#include <random>
#include <utility>

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

/// One side of MPI_Alltoallv, in bytes.
struct Side {
  std::vector<int> counts, displacements;

  template <class Edges, class Peer>
  Side(int ranks, const Edges& edges, Peer peer)
      : counts(static_cast<std::size_t>(ranks)), displacements(counts.size()) {
    for (const auto& edge : edges) {
      const auto rank = static_cast<std::size_t>(edge.*peer);
      counts[rank] = static_cast<int>(edge.bytes);
      displacements[rank] = static_cast<int>(edge.offset);
    }
  }
};

}  // namespace

void HeldOutTrials::add_all_to_all() {
  const auto& layout = calibration_.layout;
  constexpr int most_ranks = 512;  // a quarter of a million blocks, which every rank draws
  if (layout.ranks() > most_ranks) {
    calibration_.not_measured(
        fmt::format("held_out 'all-to-all called once': {} ranks are more than {}", layout.ranks(), most_ranks));
    return;
  }
  const auto pattern = draw_all_to_all(layout.ranks());
  const auto blocks = random_pattern(totals_of(pattern, layout), layout);
  std::string strategy;
  all_or_none(calibration_.comm.get(), [&] {
    if (calibration_.comm.rank() == 0)
      strategy = to_string(rank_one_shot(blocks, layout, calibration_.machine).front().strategy);
  });
  strategy = broadcast(calibration_.comm.get(), strategy);
  auto& mine = data_.emplace_back(data_of(pattern, calibration_.comm.rank()));
  const Side sends(layout.ranks(), mine.sends, &SendEdge::destination),
      receives(layout.ranks(), mine.receives, &ReceiveEdge::source);
  const auto price_it = [blocks, strategy, &layout](const Machine& machine) {
    return price_one_shot(parse_strategy(strategy), blocks, layout, machine).cost.seconds;
  };
  add({"all-to-all called once", strategy, 0, 0, {}, {}}, pattern, price_it,
      [this, &mine, sends, receives, options = AlltoallvOptions{.strategy = strategy}] {
        communicator_.alltoallv(mine.send_buffer.data(), sends.counts, sends.displacements, MPI_BYTE,
                                mine.receive_buffer.data(), receives.counts, receives.displacements, MPI_BYTE, options);
      });
}

void HeldOutTrials::add_sparse_exchange() {
  const auto& layout = calibration_.layout;
  const auto pattern = draw_sparse(layout.ranks());
  const auto traffic = traffic_of(pattern, layout);
  std::string strategy;
  all_or_none(calibration_.comm.get(), [&] {
    if (calibration_.comm.rank() == 0)
      strategy = to_string(SparseChoice(layout, calibration_.machine, false).best(traffic).strategy);
  });
  strategy = broadcast(calibration_.comm.get(), strategy);
  auto& mine = data_.emplace_back(data_of(pattern, calibration_.comm.rank()));
  const auto price_it = [traffic, strategy, &layout](const Machine& machine) {
    const auto wanted = parse_sparse_strategy(strategy);
    for (const auto& candidate : SparseChoice(layout, machine, false).rank(traffic))
      if (candidate.strategy == wanted) return candidate.seconds;
    return std::numeric_limits<Seconds>::infinity();  // no longer offered, since a parameter is absent
  };
  add({"sparse", strategy, 0, 0, {}, {}}, pattern, price_it,
      [this, &mine, options = SparseOptions{.strategy = strategy}] {
        communicator_.sparse_alltoallv(mine.send_buffer.data(), mine.sends, options);
      });
}

}  // namespace commpass
