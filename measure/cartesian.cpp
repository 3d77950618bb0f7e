// Measures Cartesian collectives, beside what MPI libraries do.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "measure/time_exchanges.hpp"
#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/median.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/oversubscription.hpp"
#include "runtime/mpi/ranks.hpp"
#include "selector/choose/grid_mapping.hpp"
#include "selector/choose/grid_strategies.hpp"
#include "selector/choose/neighborhood_choice.hpp"
#include "selector/choose/offer.hpp"

namespace commpass {

namespace {

/// The blocks of one rank, in the order of neighbours.
class Blocks {
 public:
  Blocks(const CartesianPattern& pattern, Rank rank)
      : neighborhood_(pattern.neighborhood),
        is_same_(pattern.sizes.is_same),
        rank_(rank),
        bytes_(std::ranges::max(pattern.sizes.bytes)) {
    const auto t = at(neighborhood_.size()), size = at(bytes_);
    send_.resize((is_same_ ? 1 : t) * size);
    receive_.resize(t * size);
    for (std::size_t i = 0; i < send_.size(); ++i)
      send_[i] = byte_of(rank, bytes_ > 0 ? static_cast<int>(i / size) : 0, i % size);
    for (int i = 0; i < neighborhood_.size(); ++i) {
      if (const auto source = neighborhood_.source(rank, i)) receives_.push_back({*source, received(i), bytes_});
      if (const auto target = neighborhood_.target(rank, i))
        sends_.push_back({*target, send_.data() + (is_same_ ? 0 : i * bytes_), bytes_});
    }
  }

  CartExchange init(CartNeighborhood& cart) {
    const int count = static_cast<int>(bytes_);
    return is_same_ ? cart.allgather_init(send_.data(), count, MPI_BYTE, receive_.data(), count, MPI_BYTE)
                    : cart.alltoall_init(send_.data(), count, MPI_BYTE, receive_.data(), count, MPI_BYTE);
  }

  void run_loop() { run_plain_loop(receives_, sends_); }

  /// Collective.
  std::unique_ptr<NeighborhoodCollective> library() {
    std::unique_ptr<NeighborhoodCollective> collective;
    all_or_none(MPI_COMM_WORLD, [&] { collective = std::make_unique<NeighborhoodCollective>(receives_, sends_); });
    collective->connect(MPI_COMM_WORLD);
    return collective;
  }

  std::span<std::byte> sent() { return send_; }

  /// Runs an exchange and checks its receive buffer. Collective. @throws Error, the same on every rank, if a byte is
  /// wrong
  void check(const std::function<void()>& exchange, const std::string& name) {
    std::ranges::fill(receive_, std::byte{0});
    exchange();
    std::string wrong;
    for (int i = 0; i < neighborhood_.size() && wrong.empty(); ++i)
      for (std::size_t k = 0; k < at(bytes_); ++k) {
        const auto from = neighborhood_.source(rank_, i);
        if (received(i)[k] == (from ? byte_of(*from, i, k) : std::byte{0})) continue;
        wrong = fmt::format("{}: rank {} has a wrong byte {} from neighbour {}.", name, rank_, k, i);
        break;
      }
    agree(MPI_COMM_WORLD, wrong);
  }

 private:
  std::byte byte_of(Rank from, int neighbor, std::size_t k) const {
    constexpr int by_rank = 37, by_neighbor = 11;
    return static_cast<std::byte>(
        1 + (from * by_rank + (is_same_ ? 0 : neighbor * by_neighbor) + static_cast<int>(k % 251)) %
                255);  // NOLINT: primes and a byte
  }
  std::byte* received(int i) { return receive_.data() + i * bytes_; }

  const Neighborhood& neighborhood_;
  bool is_same_;
  Rank rank_;
  Bytes bytes_;
  std::vector<std::byte> send_, receive_;
  std::vector<NeighborMessage> receives_, sends_;
};

/// The prediction by the sample of a node, or by all edges if these are few; else nothing.
std::optional<Seconds> predict(const Measurement& measurement, const CartesianPattern& pattern, const Layout& layout,
                               const std::string& name) {
  const auto strategy = parse_strategy(name);
  const auto unit = NeighborBytes::equal(pattern.neighborhood, 1, pattern.sizes.is_same);
  const auto bytes = std::ranges::max(pattern.sizes.bytes);
  try {
    const NeighborhoodPricer pricer(pattern.neighborhood, unit, layout, measurement.machine, measurement.model);
    if (is_way_on_grid(strategy)) return pricer.price(strategy, bytes).cost.seconds;
    if (has_few_edges(pattern.neighborhood))
      return pricer.by_edges(std::span(&strategy, 1), bytes).front().cost.seconds;
  } catch (const Error&) {  // it has no price
  }
  return std::nullopt;
}

/// The median time in which this rank plans an exchange, without other ranks.
Seconds time_planning(Blocks& blocks, CartNeighborhood& cart) {
  constexpr int repetitions = 7;
  std::vector<Seconds> times;
  for (int i = 0; i < repetitions; ++i) {
    const Seconds begin = MPI_Wtime();
    const auto exchange = blocks.init(cart);
    times.push_back(MPI_Wtime() - begin);
  }
  return median(std::move(times));
}

void require_sizes(const CartesianPattern& pattern, int ranks) {
  const auto& [neighborhood, sizes] = pattern;
  if (neighborhood.grid.ranks() != ranks)
    throw InputError("--generate",
                     fmt::format("its grid has {} ranks, but there are {}", neighborhood.grid.ranks(), ranks),
                     "start as many");
  if (sizes.bytes.empty()) throw InputError("--generate", "there are no neighbours", "give offsets");
  if (sizes.bytes.front() * neighborhood.size() > std::numeric_limits<int>::max())
    throw InputError("--generate", "a rank sends 2^31 bytes or more", "use smaller blocks");
}

/// Planned exchanges in the order of the report.
struct Planned {
  std::vector<CartNeighborhood> neighborhoods;
  std::vector<CartExchange> exchanges;

  const CartExchange& add(Blocks& blocks, CartNeighborhood neighborhood) {
    neighborhoods.push_back(std::move(neighborhood));
    return exchanges.emplace_back(blocks.init(neighborhoods.back()));
  }
};

std::string describe_gain(const GridMapping& mapping, const CallReportRow& without, const CallReportRow& with) {
  const auto predicted = [](const CallReportRow& row) {
    return row.predicted_s ? format_seconds(*row.predicted_s) : std::string("nothing");
  };
  return fmt::format("{}; {} in place of {}: predicted {} in place of {}, measured {} in place of {}",
                     describe(mapping), with.name, without.name, predicted(with), predicted(without),
                     format_seconds(with.measured_s), format_seconds(without.measured_s));
}

}  // namespace

CallReport measure_cartesian(const Measurement& measurement, const CartesianPattern& pattern) {
  const Rank rank = rank_in(MPI_COMM_WORLD);
  const int ranks = ranks_in(MPI_COMM_WORLD);
  all_or_none(MPI_COMM_WORLD, [&] { require_sizes(pattern, ranks); });
  Communicator communicator(MPI_COMM_WORLD, measurement.machine, {measurement.layout});
  const auto& layout = communicator.layout();
  Blocks blocks(pattern, rank);
  CallReport report;
  auto strategies = measurement.strategy_names();
  if (strategies.empty()) {
    strategies = {"trivial", "cartesian"};
    if (may_share_memory() && layout.max_ppn() > 1)
      strategies.insert(strategies.end(), {"trivial,shared", "cartesian,shared"});
  }
  Planned planned;
  const auto neighborhood_with = [&](const std::string& strategy, bool reorder) {
    return communicator.cart_neighborhood(pattern.neighborhood, {strategy, reorder, measurement.model});
  };
  const auto row_of = [&](const CartExchange& exchange, const Layout& its_layout) {
    const auto& name = exchange.strategy();
    return CallReportRow{name, rank == 0 ? predict(measurement, pattern, its_layout, name) : std::nullopt, 0};
  };
  for (const auto& strategy : strategies)
    report.rows.push_back(row_of(planned.add(blocks, neighborhood_with(strategy, false)), layout));
  auto chosen = row_of(planned.add(blocks, neighborhood_with("", false)), layout);
  const auto planning_s = time_planning(blocks, planned.neighborhoods.back());
  std::optional<GridMapping> mapping;
  const bool reorders = measurement.arguments.reorder;
  if (reorders) mapping = map_blocks_to_nodes(pattern.neighborhood, layout);
  std::vector<TimedExchange> runs;
  const auto add = [&](Blocks& its_blocks, const std::string& name, TimedExchange exchange) {
    its_blocks.check(exchange.run, name);
    runs.push_back(std::move(exchange));
  };
  for (auto& exchange : planned.exchanges) add(blocks, exchange.strategy(), timed(exchange, blocks.sent()));
  std::optional<Blocks> moved_blocks;  // of the rank's new place
  Planned reordered;
  CallReportRow chosen_there;
  if (mapping) {
    auto neighborhood = neighborhood_with("", true);
    moved_blocks.emplace(pattern, neighborhood.rank());
    chosen_there = row_of(reordered.add(*moved_blocks, std::move(neighborhood)), moved(layout, *mapping));
    add(*moved_blocks, chosen_there.name, timed(reordered.exchanges.back(), moved_blocks->sent()));
  }
  add(blocks, "the plain loop", {[&] { blocks.run_loop(); }, blocks.sent()});
  std::unique_ptr<NeighborhoodCollective> library;
  // Libraries differ in how they match several blocks of one pair of ranks.
  const auto indices = indices_of(pattern.neighborhood, pattern.sizes.bytes);
  const bool is_repeated = std::ranges::any_of(indices, [](int index) { return index > 0; });
  if (NeighborhoodCollective::is_available() && !is_repeated) {
    library = blocks.library();
    add(blocks, "MPI's neighbourhood collective",
        {[&] {
           library->start();
           COMMPASS_MPI_CALL(MPI_Wait, library->request(), MPI_STATUS_IGNORE);
         },
         blocks.sent()});
  }
  const auto times = time_exchanges(runs, WarmUp::none, measurement);
  report.chosen = chosen.name;
  if (rank != 0) return report;
  auto time = times.begin();
  for (auto& row : report.rows) row.measured_s = (time++)->median;
  report.chosen_s = chosen.measured_s = (time++)->median;
  if (mapping) chosen_there.measured_s = (time++)->median;
  report.baseline_kind = "Without Commpass";
  report.baselines.push_back({"the plain loop over all neighbours", {}, (time++)->median});
  if (library) report.baselines.push_back({"MPI's neighbourhood collective", {}, time->median});
  report.context = {{"profile", measurement.machine.name},
                    {"layout", layout.describe()},
                    {"ranks", std::to_string(ranks)},
                    {"model", name_of(measurement.model)},
                    {parse_strategy(chosen.name).path.is_shared ? "planning" : "planning, on a rank alone",
                     format_seconds(planning_s)}};
  if (reorders)
    report.context.emplace_back("reordered", mapping ? describe_gain(*mapping, chosen, chosen_there)
                                                     : "no block for each node is better than what ranks have");
  return report;
}

}  // namespace commpass
