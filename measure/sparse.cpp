// Measures sparse dynamic data exchanges, beside PETSc's algorithms.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>

#include "measure/pattern_data.hpp"
#include "measure/time_exchanges.hpp"
#include "model/base/error.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/sparse/sparse_tally.hpp"
#include "selector/choose/sparse_choice.hpp"
#include "selector/commands/switches.hpp"

namespace commpass {

namespace {

// PETSc's BuildTwoSided algorithms, as applications write them by hand. Receives of probed messages do not block. PETSc
// blocks in some of them, which slows rendezvous messages down.

/// Source and bytes of every message for this rank, in order of arrival.
using TwoSidedMessages = std::vector<std::pair<Rank, std::vector<std::byte>>>;

std::vector<MPI_Request> begin_sends(decltype(&MPI_Isend) begin_send, MPI_Comm comm, int tag, const std::byte* buffer,
                                     std::span<const SendEdge> sends) {
  std::vector<MPI_Request> requests;
  for (const auto& edge : sends)
    check_mpi("MPI_Isend", begin_send(buffer + edge.offset, static_cast<int>(edge.bytes), MPI_BYTE, edge.destination,
                                      tag, comm, &requests.emplace_back(MPI_REQUEST_NULL)));
  return requests;
}

/// Posts the receive of a probed message; its bytes are there when `requests` complete.
void post_receive(const MPI_Status& found, MPI_Comm comm, int tag, TwoSidedMessages& messages,
                  std::vector<MPI_Request>& requests) {
  int bytes = 0;
  COMMPASS_MPI_CALL(MPI_Get_count, &found, MPI_BYTE, &bytes);
  auto& [source, data] = messages.emplace_back(found.MPI_SOURCE, std::vector<std::byte>(at(bytes)));
  COMMPASS_MPI_CALL(MPI_Irecv, data.data(), bytes, MPI_BYTE, source, tag, comm,
                    &requests.emplace_back(MPI_REQUEST_NULL));
}

void wait_for(std::vector<MPI_Request>& requests) {
  COMMPASS_MPI_CALL(MPI_Waitall, static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

/// `-build_twosided redscatter`: a reduce-scatter of one count for each rank, then plain sends and blocking probes. It
/// moves half of the bytes of the discovery `allreduce`.
/// @param tag  a new one in each call
TwoSidedMessages build_two_sided_by_reduction(MPI_Comm comm, int tag, const std::byte* buffer,
                                              std::span<const SendEdge> sends) {
  const int ranks = ranks_in(comm);
  std::vector<std::int64_t> counts(at(ranks));
  for (const auto& edge : sends) ++counts[at(edge.destination)];
  std::int64_t coming = 0;
  COMMPASS_MPI_CALL(MPI_Reduce_scatter_block, counts.data(), &coming, 1, MPI_INT64_T, MPI_SUM, comm);
  auto requests = begin_sends(MPI_Isend, comm, tag, buffer, sends);
  TwoSidedMessages messages;
  for (; coming > 0; --coming) {
    MPI_Status found;
    COMMPASS_MPI_CALL(MPI_Probe, MPI_ANY_SOURCE, tag, comm, &found);
    post_receive(found, comm, tag, messages, requests);
  }
  wait_for(requests);
  return messages;
}

/// `-build_twosided ibarrier`: synchronous sends, and a non-blocking barrier that a rank enters when its sends
/// complete.
/// @param tag  a new one in each call
TwoSidedMessages build_two_sided_by_barrier(MPI_Comm comm, int tag, const std::byte* buffer,
                                            std::span<const SendEdge> sends) {
  auto requests = begin_sends(MPI_Issend, comm, tag, buffer, sends);
  std::vector<MPI_Request> receives;
  TwoSidedMessages messages;
  NonblockingReduction barrier;
  for (int found = 0, sent = 0; !barrier.started() || !barrier.test();) {
    MPI_Status status;
    COMMPASS_MPI_CALL(MPI_Iprobe, MPI_ANY_SOURCE, tag, comm, &found, &status);
    if (found) post_receive(status, comm, tag, messages, receives);
    if (barrier.started()) continue;
    COMMPASS_MPI_CALL(MPI_Testall, static_cast<int>(requests.size()), requests.data(), &sent, MPI_STATUSES_IGNORE);
    if (sent) barrier.start_barrier(comm);
  }
  wait_for(receives);
  return messages;
}

/// Calls until the choice knows the sends and receives of all ranks, and has made its communicators and windows.
constexpr int sparse_calls_to_know = 4;

/// Runs sparse exchanges on the data of a rank, and checks them.
class SparseRunner {
 public:
  SparseRunner(bool is_constant, const Pattern& pattern, Rank rank)
      : is_constant_(is_constant), rank_(rank), data_(data_of(pattern, rank)) {
    fill(data_);
    for (const auto& edge : data_.sends) destinations_.push_back(edge.destination);
    bytes_ = pattern.edges.empty() ? 0 : pattern.edges.front().bytes;
  }

  ReceivedMessages run(Communicator& communicator, const SparseOptions& options) const {
    return is_constant_ ? communicator.sparse_alltoall(data_.send_buffer.data(), destinations_, bytes_, options)
                        : communicator.sparse_alltoallv(data_.send_buffer.data(), data_.sends, options);
  }
  TwoSidedMessages run_by_reduction() {
    return build_two_sided_by_reduction(MPI_COMM_WORLD, ++tag_, data_.send_buffer.data(), data_.sends);
  }
  TwoSidedMessages run_by_barrier() {
    return build_two_sided_by_barrier(MPI_COMM_WORLD, ++tag_, data_.send_buffer.data(), data_.sends);
  }

  std::span<std::byte> sent() { return data_.send_buffer; }

  void check(const ReceivedMessages& received, const std::string& name) {
    TwoSidedMessages messages;
    for (const auto& message : received)
      messages.emplace_back(message.source, std::vector(message.bytes.begin(), message.bytes.end()));
    check(std::move(messages), name);
  }
  /// Collective. @throws Error, the same on every rank, if anything is missing or wrong
  void check(TwoSidedMessages received, const std::string& name) {
    std::ranges::stable_sort(received, {}, [](const auto& message) { return message.first; });
    std::ranges::fill(data_.receive_buffer, std::byte{0});
    std::string problem;
    for (std::size_t i = 0; i < data_.receives.size() && problem.empty(); ++i) {
      const auto& edge = data_.receives[i];
      if (i < received.size() && received[i].first == edge.source && std::ssize(received[i].second) == edge.bytes)
        std::ranges::copy(received[i].second, data_.receive_buffer.begin() + edge.offset);
      else
        problem =
            fmt::format("{}: rank {} did not get what rank {} sent; please report this.", name, rank_, edge.source);
    }
    if (problem.empty() && received.size() > data_.receives.size())
      problem = fmt::format("{}: rank {} got more than was sent; please report this.", name, rank_);
    agree(MPI_COMM_WORLD, problem.empty() ? verify(data_, rank_, name) : problem);
  }

 private:
  bool is_constant_;  ///< all messages have one size, and every rank knows it
  Rank rank_;
  RankData data_;
  std::vector<Rank> destinations_;
  Bytes bytes_ = 0;
  int tag_ = 0;  ///< of PETSc's algorithms
};

}  // namespace

CallReport measure_sparse(const Measurement& measurement, const Pattern& pattern) {
  const bool is_constant = measurement.arguments.sparse == "constant";
  require_plain_messages(pattern, is_constant);
  // The choice has its own communicator, so that it learns from its own calls only.
  Communicator communicator(MPI_COMM_WORLD, measurement.machine, {measurement.layout}),
      choosing(MPI_COMM_WORLD, measurement.machine, {measurement.layout});
  const auto& layout = communicator.layout();
  const Rank rank = rank_in(MPI_COMM_WORLD);
  SparseRunner runner(is_constant, pattern, rank);

  CallReport report;
  const auto named = measurement.strategy_names();
  const auto ranking = SparseChoice(layout, communicator.machine(), is_constant).rank(traffic_of(pattern, layout));
  for (const auto& candidate : ranking) {
    const auto name = to_string(candidate.strategy);
    const auto is_named = [&](const std::string& text) { return parse_sparse_strategy(text) == candidate.strategy; };
    if (named.empty() || std::ranges::any_of(named, is_named)) report.rows.push_back({name, candidate.seconds, {}});
  }
  for (const auto& text : named) {
    const auto name = to_string(parse_sparse_strategy(text));
    if (std::ranges::find(report.rows, name, &CallReportRow::name) == report.rows.end())
      report.rows.push_back({name, {}, {}});
  }

  std::vector<TimedExchange> runs;
  const auto add = [&](std::function<void()> run) { runs.push_back({std::move(run), runner.sent()}); };
  for (const auto& row : report.rows) {
    const SparseOptions options{.strategy = row.name};
    runner.check(runner.run(communicator, options), row.name);
    add([&runner, &communicator, options] { runner.run(communicator, options); });
  }
  const SparseOptions choice{.strategy = "", .planner = measurement.planner};
  for (int call = calls_to_settle(sparse_calls_to_know, measurement.planner); call > 0; --call)
    runner.check(runner.run(choosing, choice), "the choice");
  add([&] { runner.run(choosing, choice); });
  runner.check(runner.run_by_reduction(), "redscatter");
  add([&] { runner.run_by_reduction(); });
  runner.check(runner.run_by_barrier(), "ibarrier");
  add([&] { runner.run_by_barrier(); });
  const TallyOperation combine;
  const auto ends = [&](auto start) {
    add([start] {
      NonblockingReduction reduction;
      start(reduction);
      while (!reduction.test()) continue;
    });
  };
  ends([](NonblockingReduction& barrier) { barrier.start_barrier(MPI_COMM_WORLD); });
  ends([&combine](NonblockingReduction& reduction) {
    reduction.start_tally(MPI_COMM_WORLD, Tally{}.numbers(), combine);
  });
  // A cache keeps the communicators of the last few routes. WarmUp::each_time leaves making them out of the times.
  const auto times = time_exchanges(runs, WarmUp::each_time, measurement);

  runner.check(runner.run(choosing, choice), "the choice");
  report.chosen = choosing.last_sparse_strategy();
  auto time = times.begin();
  for (auto& row : report.rows) row.measured_s = (time++)->median;
  report.chosen_s = (time++)->median;
  report.baseline_kind = "By hand as PETSc does";
  for (const char* name : {"redscatter", "ibarrier"}) report.baselines.push_back({name, {}, (time++)->median});
  report.barrier_s = (time++)->median;
  report.tally_s = time->median;
  report.context = {{"profile", communicator.machine().name},
                    {"layout", layout.describe()},
                    {"ranks", std::to_string(pattern.ranks)},
                    {"sizes", is_constant ? "constant" : "variable"}};
  return report;
}

}  // namespace commpass
