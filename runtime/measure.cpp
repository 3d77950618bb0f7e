// commpass measure: runs strategies on real ranks, checks every byte, and compares with the prediction.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <random>

#include "model/error.hpp"
#include "model/profile.hpp"
#include "model/text.hpp"
#include "runtime/agreement.hpp"
#include "runtime/common_start.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi_error.hpp"
#include "runtime/mpi_library.hpp"
#include "runtime/mpi_program.hpp"
#include "selector/arguments.hpp"
#include "selector/provenance.hpp"
#include "selector/report.hpp"

namespace commpass {
namespace {

struct Arguments {
  PatternArguments pattern;
  SelectionArguments selection;
  int repetitions = 0;
  bool verify = false;
  bool baseline = false;
  std::string progress;
};

/// The edges of one rank and their buffers, in rank order without gaps. Edges of one payload share their place in the send buffer.
struct Data {
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  std::vector<std::size_t> sent, received;  ///< by edge, which bytes it has; equal numbers of a rank: the same bytes
  std::vector<std::byte> send_buffer, receive_buffer;
};

/// Which bytes each edge has: the number of the first edge with the same ones.
std::vector<std::size_t> contents_of(const Pattern& pattern) {
  std::map<std::pair<Rank, Payload>, std::size_t> first;
  std::vector<std::size_t> contents;
  for (const auto& edge : pattern.edges) {
    const auto own = contents.size();
    contents.push_back(edge.payload == no_payload ? own : first.try_emplace({edge.source, edge.payload}, own).first->second);
  }
  return contents;
}

Data data_of(const Pattern& pattern, Rank rank) {
  const auto contents = contents_of(pattern);
  std::vector<std::size_t> sent, received;  // edges
  for (std::size_t i = 0; i < pattern.edges.size(); ++i) {
    if (pattern.edges[i].source == rank) sent.push_back(i);
    if (pattern.edges[i].destination == rank) received.push_back(i);
  }
  std::ranges::stable_sort(sent, {}, [&](std::size_t i) { return pattern.edges[i].destination; });
  std::ranges::stable_sort(received, {}, [&](std::size_t i) { return pattern.edges[i].source; });

  Data data;
  Bytes end = 0;
  std::map<std::size_t, Bytes> offsets;
  for (const auto i : sent) {
    const auto& edge = pattern.edges[i];
    const auto [offset, is_new] = offsets.try_emplace(contents[i], end);
    if (is_new) end += edge.bytes;
    data.sends.push_back({edge.destination, offset->second, edge.bytes});
    data.sent.push_back(contents[i]);
  }
  data.send_buffer.resize(static_cast<std::size_t>(end));
  end = 0;
  for (const auto i : received) {
    const auto& edge = pattern.edges[i];
    data.receives.push_back({edge.source, end, edge.bytes});
    data.received.push_back(contents[i]);
    end += edge.bytes;
  }
  data.receive_buffer.resize(static_cast<std::size_t>(end));
  return data;
}

/// A byte that no edge with other bytes has at this place: a counter, scrambled with what tells the bytes apart.
std::byte byte_of(std::size_t content, std::size_t position) {
  constexpr std::uint64_t a = 0x9E3779B97F4A7C15U, b = 0xBF58476D1CE4E5B9U;  // SplitMix64
  std::uint64_t mixed = (content * b + position) * a;
  mixed = (mixed ^ mixed >> 30) * b;
  return static_cast<std::byte>(mixed >> 56);
}

void fill(Data& data) {
  for (std::size_t e = 0; e < data.sends.size(); ++e)
    for (std::size_t i = 0; i < static_cast<std::size_t>(data.sends[e].bytes); ++i)
      data.send_buffer[static_cast<std::size_t>(data.sends[e].offset) + i] = byte_of(data.sent[e], i);
}

/// @return a sentence about the first wrong byte, or nothing
std::string verify(const Data& data, Rank rank, const std::string& strategy) {
  for (std::size_t e = 0; e < data.receives.size(); ++e) {
    const auto& edge = data.receives[e];
    for (std::size_t i = 0; i < static_cast<std::size_t>(edge.bytes); ++i)
      if (data.receive_buffer[static_cast<std::size_t>(edge.offset) + i] != byte_of(data.received[e], i))
        return fmt::format("strategy {}: byte {} of the {} that rank {} sends to rank {} is wrong; please report this.", strategy, i, edge.bytes, edge.source, rank);
  }
  return {};
}

/// The pattern that rank 0 reads, on every rank.
Pattern share_pattern(const PatternArguments& arguments, Rank rank, int ranks) {
  Pattern pattern;
  together(MPI_COMM_WORLD, [&] {
    if (rank != 0) return;
    pattern = arguments.load(ranks);
    if (pattern.ranks != ranks)
      throw InputError("pattern", fmt::format("it has {} ranks but mpirun started {}", pattern.ranks, ranks), fmt::format("run 'mpirun -n {} commpass measure …'", pattern.ranks));
    if (std::ssize(pattern.edges) > std::numeric_limits<int>::max() / 2)
      throw InputError("pattern", "it has more than 2^30 edges", "use a sparser one");
  });
  std::vector<int> ends;
  std::vector<std::int64_t> sizes;
  std::vector<Payload> payloads;
  for (const auto& edge : pattern.edges) {
    ends.push_back(edge.source);
    ends.push_back(edge.destination);
    sizes.push_back(edge.bytes);
    payloads.push_back(edge.payload);
  }
  int count = static_cast<int>(sizes.size());
  COMMPASS_MPI_CALL(MPI_Bcast, &count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  ends.resize(2 * static_cast<std::size_t>(count));
  sizes.resize(static_cast<std::size_t>(count));
  payloads.resize(static_cast<std::size_t>(count));
  COMMPASS_MPI_CALL(MPI_Bcast, ends.data(), 2 * count, MPI_INT, 0, MPI_COMM_WORLD);
  COMMPASS_MPI_CALL(MPI_Bcast, sizes.data(), count, MPI_INT64_T, 0, MPI_COMM_WORLD);
  COMMPASS_MPI_CALL(MPI_Bcast, payloads.data(), count, MPI_INT32_T, 0, MPI_COMM_WORLD);
  pattern = {ranks, {}};
  for (std::size_t i = 0; i < sizes.size(); ++i) pattern.edges.push_back({ends[2 * i], ends[2 * i + 1], sizes[i], payloads[i]});
  return pattern;
}

/// The plain loop takes no edge beyond what one MPI count stands for.
int count_of(Bytes bytes) {
  if (bytes > std::numeric_limits<int>::max()) throw InputError("--baseline", fmt::format("an edge has {} bytes", bytes), "leave it out for edges of 2^31 bytes and more");
  return static_cast<int>(bytes);
}

/// What MPI libraries do for a neighbourhood collective: receive from all and send to all, without blocking, in order.
void linear_exchange(Data& data) {
  constexpr int tag = 1;
  std::vector<MPI_Request> requests;
  requests.reserve(data.sends.size() + data.receives.size());
  for (const auto& edge : data.receives)
    COMMPASS_MPI_CALL(MPI_Irecv, data.receive_buffer.data() + edge.offset, count_of(edge.bytes), MPI_BYTE, edge.source, tag, MPI_COMM_WORLD, &requests.emplace_back());
  for (const auto& edge : data.sends)
    COMMPASS_MPI_CALL(MPI_Isend, data.send_buffer.data() + edge.offset, count_of(edge.bytes), MPI_BYTE, edge.destination, tag, MPI_COMM_WORLD, &requests.emplace_back());
  COMMPASS_MPI_CALL(MPI_Waitall, static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

/// One exchange of all ranks, from a common start to the last finish.
Seconds time_once(const std::function<void()>& exchange) {
  common_start(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  exchange();
  const double elapsed = MPI_Wtime() - begin;
  double slowest = 0;
  COMMPASS_MPI_CALL(MPI_Allreduce, &elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

Seconds median_of(std::vector<Seconds> times) {
  std::ranges::sort(times);
  const auto n = times.size();
  return n % 2 == 1 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
}

/// Times all candidates in turn, each round in another order, so that a disturbance hits all alike.
std::vector<Seconds> time_all(const std::vector<std::function<void()>>& exchanges, int repetitions, bool shown) {
  std::vector<std::vector<Seconds>> times(exchanges.size());
  std::vector<std::size_t> order(exchanges.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937 random(1);  // the same on every rank
  for (const auto& exchange : exchanges) time_once(exchange);  // warm-up
  const double begin = MPI_Wtime();
  // Unless told: enough to see a median, but not for ever.
  constexpr int least = 7, most = 201;
  constexpr Seconds long_enough_s = 5;
  for (int round = 0; repetitions > 0 ? round < repetitions : round < most; ++round) {
    std::ranges::shuffle(order, random);
    for (const auto i : order) times[i].push_back(time_once(exchanges[i]));
    int over = MPI_Wtime() - begin > long_enough_s;
    COMMPASS_MPI_CALL(MPI_Bcast, &over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (shown && round % 50 == 0) fmt::print(stderr, "round {} …\n", round + 1);
    if (repetitions == 0 && round + 1 >= least && over) break;
  }
  std::vector<Seconds> result;
  for (auto& series : times) result.push_back(median_of(std::move(series)));
  return result;
}

void measure(const Arguments& arguments) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto& selection = arguments.selection;
  Environment environment;
  CostModel model{};
  std::vector<Strategy> strategies;
  std::optional<Layout> layout;
  std::string profile, warning;
  bool shown = false;
  together(MPI_COMM_WORLD, [&] {
    environment = read_environment();
    model = selection.cost_model();
    strategies = selection.named_strategies();
    layout = selection.layout.find(ranks, environment);
    shown = rank == 0 && show_progress(arguments.progress.empty() ? environment.progress : parse_progress(arguments.progress));
    if (rank == 0) {
      profile = selection.find_profile(environment);
      warning = provenance_warning(read_profile(profile), mpi_library());
    }
    if (arguments.repetitions < 0) throw InputError("--repetitions", "it is negative", "use 1 or more");
  });
  const auto pattern = share_pattern(arguments.pattern, rank, ranks);
  Communicator communicator(MPI_COMM_WORLD, profile, {layout});

  // Rank 0 decides what is run, in which order.
  std::vector<Candidate> ranking;
  std::string names;
  together(MPI_COMM_WORLD, [&] {
    if (rank != 0) return;
    ranking = rank_strategies(pattern, communicator.layout(), communicator.machine(), model, strategies);
    for (const auto& candidate : ranking) names += (names.empty() ? "" : ";") + to_string(candidate.strategy);
  });
  names = broadcast(MPI_COMM_WORLD, names);

  auto data = data_of(pattern, rank);
  fill(data);
  std::vector<Exchange> exchanges;
  for (const auto& name : split(names, ';')) {
    exchanges.push_back(communicator.neighbor_exchange(data.send_buffer.data(), data.sends, data.receive_buffer.data(), data.receives, {name, model}));
    if (!arguments.verify) continue;
    std::ranges::fill(data.receive_buffer, std::byte{0});
    exchanges.back().start();
    exchanges.back().wait();
    agree(MPI_COMM_WORLD, verify(data, rank, name));
  }
  std::vector<std::function<void()>> runs;
  for (auto& exchange : exchanges)
    runs.emplace_back([&exchange] {
      exchange.start();
      exchange.wait();
    });
  if (arguments.baseline) runs.emplace_back([&data] { linear_exchange(data); });
  auto times = time_all(runs, arguments.repetitions, shown);
  if (rank != 0) return;

  if (!warning.empty()) fmt::print(stderr, "commpass: {}\n", warning);
  Report report;
  report.context = {{"profile", communicator.machine().name},
                    {"layout", communicator.layout().describe()},
                    {"ranks", std::to_string(ranks)},
                    {"pattern", arguments.pattern.describe()},
                    {"model", name_of(model)},
                    {"memory", selection.memory},
                    {"verified", arguments.verify ? "every byte of every strategy" : "no (add --verify)"}};
  report.chosen = to_string(ranking.front().strategy);
  if (arguments.baseline) {
    report.baseline_s = times.back();
    times.pop_back();
  }
  const auto fastest = std::ranges::min(times);
  report.regret = fastest > 0 ? times.front() / fastest : 1;
  std::string explanation;
  if (!selection.explain.empty()) {
    const auto found = std::ranges::find(ranking, parse_strategy(selection.explain), &Candidate::strategy);
    if (found != ranking.end()) explanation = explain(ranking, static_cast<std::size_t>(found - ranking.begin()));
  }
  for (std::size_t i = 0; i < ranking.size(); ++i) report.rows.push_back({std::move(ranking[i]), times[i]});
  selection.print(report, explanation);
}

}  // namespace
}  // namespace commpass

int main(int argc, char** argv) {
  commpass::Arguments arguments;
  CLI::App app{"Runs strategies on real ranks and compares with the prediction: mpirun -n N commpass measure …"};
  app.name("commpass measure");
  arguments.pattern.add_to(app);
  arguments.selection.add_to(app);
  app.add_option("--repetitions", arguments.repetitions, "exchanges to time, each strategy (default: 5 seconds for all, at least 7)")->check(CLI::PositiveNumber);
  app.add_flag("--verify", arguments.verify, "check every byte of every strategy first");
  app.add_flag("--baseline", arguments.baseline, "also time the plain loop over all neighbours that MPI libraries run");
  app.add_option("--progress", arguments.progress, "auto, always or never");
  app.footer(commpass::catalogue_help());
  return commpass::run_mpi_command(app, argc, argv, [&] { commpass::measure(arguments); });
}
