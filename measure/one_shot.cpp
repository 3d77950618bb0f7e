// Measures all-to-alls that are called once, beside MPI_Alltoallv or MPI_Alltoall.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "measure/pattern_data.hpp"
#include "measure/time_exchanges.hpp"
#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "runtime/choose/selection.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"
#include "selector/choose/alltoall_choice.hpp"

namespace commpass {

namespace {

/// The second call is chosen by the sizes of the first. The third finds all that it needs.
constexpr int one_shot_calls_to_know = 3;

/// Runs all-to-alls on the data of a rank, and checks them.
class AlltoallRunner {
 public:
  AlltoallRunner(const Pattern& pattern, Rank rank, BlockSizes sizes)
      : rank_(rank),
        sizes_(sizes),
        data_(data_of(pattern, rank)),
        sends_(pattern.ranks, data_.sends, &SendEdge::destination),
        receives_(pattern.ranks, data_.receives, &ReceiveEdge::source) {
    fill(data_);
  }

  void run(Communicator& communicator, const AlltoallvOptions& options) {
    if (sizes_ == BlockSizes::equal)
      return communicator.alltoall(data_.send_buffer.data(), sends_.counts.front(), MPI_BYTE,
                                   data_.receive_buffer.data(), sends_.counts.front(), MPI_BYTE, options);
    communicator.alltoallv(data_.send_buffer.data(), sends_.counts, sends_.displacements, MPI_BYTE,
                           data_.receive_buffer.data(), receives_.counts, receives_.displacements, MPI_BYTE, options);
  }
  void run_by_mpi() {
    if (sizes_ == BlockSizes::equal)
      COMMPASS_MPI_CALL(MPI_Alltoall, data_.send_buffer.data(), sends_.counts.front(), MPI_BYTE,
                        data_.receive_buffer.data(), sends_.counts.front(), MPI_BYTE, MPI_COMM_WORLD);
    else
      COMMPASS_MPI_CALL(MPI_Alltoallv, data_.send_buffer.data(), sends_.counts.data(), sends_.displacements.data(),
                        MPI_BYTE, data_.receive_buffer.data(), receives_.counts.data(), receives_.displacements.data(),
                        MPI_BYTE, MPI_COMM_WORLD);
  }

  std::span<std::byte> sent() { return data_.send_buffer; }

  /// Runs an exchange and checks its receive buffer. Collective. @throws Error, the same on every rank, if a byte is
  /// wrong
  void check(const std::function<void()>& exchange, const std::string& name) {
    std::ranges::fill(data_.receive_buffer, std::byte{0});
    exchange();
    agree(MPI_COMM_WORLD, verify(data_, rank_, name));
  }

 private:
  Rank rank_;
  BlockSizes sizes_;
  RankData data_;
  AlltoallvSide sends_, receives_;
};

void require_one_block_each(const Pattern& pattern) {
  std::set<std::pair<Rank, Rank>> pairs;
  std::vector<Bytes> sent(at(pattern.ranks)), received(sent.size());
  for (const auto& edge : pattern.edges) {
    if (!pairs.emplace(edge.source, edge.destination).second)
      throw InputError("--one-shot",
                       fmt::format("there are two edges from rank {} to rank {}", edge.source, edge.destination),
                       "use a pattern with one for each pair of ranks");
    for (const auto total : {sent[at(edge.source)] += edge.bytes, received[at(edge.destination)] += edge.bytes})
      if (total > std::numeric_limits<int>::max())
        throw InputError("--one-shot",
                         "a rank sends or gets 2^31 bytes or more, which displacements of MPI_Alltoallv do not reach",
                         "use smaller blocks");
  }
}

/// Adds the blocks that ranks send to themselves in MPI_Alltoall.
Pattern with_own_blocks(Pattern pattern) {
  const auto pairs = std::int64_t{pattern.ranks} * (pattern.ranks - 1);
  const auto is_like_first = [&](const Edge& edge) {
    return edge.bytes == pattern.edges.front().bytes && edge.source != edge.destination;
  };
  if (pattern.edges.empty() || std::ssize(pattern.edges) != pairs || !std::ranges::all_of(pattern.edges, is_like_first))
    throw InputError("--alltoall", "not every rank sends as many bytes to every other rank",
                     "use --generate alltoall:… with two ranks or more, or leave it out");
  for (Rank rank = 0; rank < pattern.ranks; ++rank) pattern.edges.push_back({rank, rank, pattern.edges.front().bytes});
  return pattern;
}

/// Prices rows and sorts them as the ranking does; without rows, takes the whole ranking.
void set_prices(std::vector<CallReportRow>& rows, const std::vector<Candidate>& ranking) {
  std::vector<CallReportRow> priced;
  for (const auto& candidate : ranking) {
    const auto name = to_string(candidate.strategy);
    if (rows.empty() || std::ranges::find(rows, name, &CallReportRow::name) != rows.end())
      priced.push_back({name, candidate.cost.seconds, {}});
  }
  for (const auto& row : rows)
    if (std::ranges::find(priced, row.name, &CallReportRow::name) == priced.end()) priced.push_back(row);
  rows = std::move(priced);
}

}  // namespace

CallReport measure_one_shot(const Measurement& measurement, const Pattern& pattern) {
  require_one_block_each(pattern);
  const Rank rank = rank_in(MPI_COMM_WORLD);
  // The choice has its own communicator, so that it learns from its own calls only.
  Communicator communicator(MPI_COMM_WORLD, measurement.machine, {measurement.layout}),
      choosing(MPI_COMM_WORLD, measurement.machine, {measurement.layout});
  const auto& layout = communicator.layout();
  const auto sizes = measurement.arguments.alltoall ? BlockSizes::equal : BlockSizes::told;
  AlltoallRunner runner(sizes == BlockSizes::equal ? with_own_blocks(pattern) : pattern, rank, sizes);

  CallReport report;
  const auto totals = totals_of(pattern, layout);
  const auto blocks = random_pattern(totals, layout);
  std::string names;  // rank 0 prices; all ranks need the names
  all_or_none(MPI_COMM_WORLD, [&] {
    for (const auto& text : measurement.strategy_names()) {
      auto strategy = parse_strategy(text);
      if (rank == 0 && is_automatic(strategy))
        strategy = price_one_shot(strategy, blocks, layout, communicator.machine(), CostModel::burst, sizes).strategy;
      const auto name = to_string(strategy);
      if (std::ranges::find(report.rows, name, &CallReportRow::name) == report.rows.end())
        report.rows.push_back({name, {}, {}});
    }
    if (rank == 0)
      set_prices(report.rows, rank_one_shot(blocks, layout, communicator.machine(), CostModel::burst, {}, sizes,
                                            RankingDepth::all, paths_of_host_data(layout, communicator.machine())));
    for (const auto& row : report.rows) names += (names.empty() ? "" : ";") + row.name;
  });
  names = broadcast(MPI_COMM_WORLD, names);

  std::vector<TimedExchange> runs;
  const auto add = [&](const std::string& name, std::function<void()> run) {
    runner.check(run, name);
    runs.push_back({std::move(run), runner.sent()});
  };
  for (const auto& name : split(names, ';'))
    add(name, [&runner, &communicator, name] { runner.run(communicator, {.strategy = name}); });
  const auto choose = [&] { runner.run(choosing, {.strategy = "", .planner = measurement.planner}); };
  for (int call = calls_to_settle(one_shot_calls_to_know, measurement.planner); call > 0; --call)
    runner.check(choose, "the choice");
  add("the choice", choose);
  const auto* library_name = sizes == BlockSizes::equal ? "MPI_Alltoall" : "MPI_Alltoallv";
  add(library_name, [&] { runner.run_by_mpi(); });
  const auto times = time_exchanges(runs, WarmUp::none, measurement);

  report.chosen = choosing.last_alltoallv_strategy();
  if (rank != 0) return report;
  auto time = times.begin();
  for (auto& row : report.rows) row.measured_s = (time++)->median;
  report.chosen_s = (time++)->median;
  report.baseline_kind = "By the MPI library";
  report.baselines.push_back({library_name, {}, time->median});
  report.context = {{"profile", communicator.machine().name},
                    {"layout", layout.describe()},
                    {"ranks", std::to_string(pattern.ranks)},
                    {"blocks", std::to_string(totals.on_node + totals.off_node)},
                    {"mean block", fmt::format("{:.0f} B", blocks.block_bytes)}};
  return report;
}

}  // namespace commpass
