// commpass-recorded: MPI programs whose exchanges 'commpass record' writes down, on simulated ranks. They are written
// with MPI's own all-to-alls, which libcommpass-mpi takes over, or, as a changed source, plan them once.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "model/mixed.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/ranks.hpp"
#include "simulation/work.hpp"

namespace {

using namespace commpass;  // NOLINT(google-build-using-namespace): a program

/// Draws a number for two ranks and a call.
std::uint64_t draw(int call, Rank from, Rank to) {
  return mixed({static_cast<std::uint64_t>(call), static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to)});
}

/// The rank at a distance, modulo the number of ranks.
bool is_at_distance(int ranks, Rank from, Rank to, int distance) { return (to - from + ranks) % ranks == distance; }

Bytes ring(int ranks, int, Rank from, Rank to) {
  constexpr Bytes halo = 16 * 1024;
  return is_at_distance(ranks, from, to, 1) || is_at_distance(ranks, to, from, 1) ? halo : 0;
}

/// A periodic grid of ranks, as square as possible, which shares a square of cells.
Bytes heat(int ranks, int, Rank from, Rank to) {
  constexpr Bytes row_bytes = 4096 * sizeof(double);
  int dims[2] = {0, 0};
  MPI_Dims_create(ranks, 2, dims);
  const int rows = dims[0], columns = dims[1];
  const auto is_next = [](int a, int b, int length) {
    return (b - a + length) % length == 1 || (a - b + length) % length == 1;
  };
  const bool is_same_row = from / columns == to / columns, is_same_column = from % columns == to % columns;
  if (is_same_row && is_next(from % columns, to % columns, columns)) return row_bytes / rows;
  if (is_same_column && is_next(from / columns, to / columns, rows)) return row_bytes / columns;
  return 0;
}

/// Values of a vector that rows of a banded matrix, and some rows far away, need.
Bytes sparse_product(int ranks, int, Rank from, Rank to) {
  constexpr int band = 3;
  constexpr Bytes vector_bytes = 200'000 * sizeof(double);
  const auto distance = std::abs(from - to);
  const auto share = vector_bytes / ranks / 8;
  if (distance == 0) return 0;
  if (distance <= band) return share / distance / 8 * 8;
  constexpr std::uint64_t rare = 16;
  return draw(0, std::min(from, to), std::max(from, to)) % rare == 0 ? share / 64 * 8 : 0;
}

Bytes transpose(int ranks, int, Rank, Rank) {
  constexpr Bytes all = (Bytes{1} << 20) * 16;
  return all / ranks / ranks;
}

Bytes integer_sort(int ranks, int call, Rank from, Rank to) {
  constexpr Bytes all_keys = Bytes{1} << 22, key_bytes = 4;
  const auto mean = all_keys / ranks / ranks;
  return key_bytes * (mean / 2 + static_cast<Bytes>(draw(call, from, to) % static_cast<std::uint64_t>(mean + 1)));
}

/// On average six partners, whatever the number of ranks.
Bytes random_sparse(int ranks, int, Rank from, Rank to) {
  constexpr std::uint64_t partners = 6;
  return from != to && draw(1, from, to) % static_cast<std::uint64_t>(ranks) < partners ? 1024 : 0;
}

struct Program {
  const char* name;
  bool is_equal;
  double work_s;  ///< of one rank alone, in each step
  Bytes (*block)(int ranks, int call, Rank from, Rank to);
  bool is_changing = false;
};

constexpr Program programs[] = {
    {"ring", false, 20e-3, ring},
    {"heat", false, 17e-3, heat},
    {"sparse-product", false, 4e-3, sparse_product},
    {"fft", true, 52e-3, transpose},
    {"integer-sort", false, 21e-3, integer_sort, true},
    {"random-sparse", false, 5e-3, random_sparse},
};

struct Side {
  std::vector<int> counts, displacements;
  std::vector<char> buffer;

  explicit Side(int ranks) : counts(static_cast<std::size_t>(ranks)), displacements(counts.size()) {}
  void place() {
    std::exclusive_scan(counts.begin(), counts.end(), displacements.begin(), 0);
    buffer.resize(static_cast<std::size_t>(counts.back() + displacements.back()) + 1);
  }
};

void set_blocks(const Program& program, int call, Side& sent, Side& received) {
  const int ranks = static_cast<int>(sent.counts.size());
  const Rank rank = rank_in(MPI_COMM_WORLD);
  for (Rank other = 0; other < ranks; ++other) {
    sent.counts[static_cast<std::size_t>(other)] = static_cast<int>(program.block(ranks, call, rank, other));
    received.counts[static_cast<std::size_t>(other)] = static_cast<int>(program.block(ranks, call, other, rank));
  }
  sent.place();
  received.place();
}

double latest_of_ranks(double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}
/// Waits until all ranks begin, by the simulated clock. @return the time
double begin_together() {
  constexpr double until_all_know_s = 1e-3;
  const double begin_s = latest_of_ranks(MPI_Wtime()) + until_all_know_s;
  simgrid::s4u::this_actor::sleep_until(begin_s);
  return begin_s;
}
/// Until the last rank is here.
double seconds_since(double begin_s) { return latest_of_ranks(MPI_Wtime()) - begin_s; }

/// @param is_planned  by Commpass; else by MPI's calls
void run(const Program& program, int calls, bool is_planned) {
  const int ranks = ranks_in(MPI_COMM_WORLD);
  Side sent(ranks), received(ranks);
  std::optional<Communicator> communicator;
  std::optional<PersistentAlltoallv> planned;
  const auto exchange = [&] {
    if (planned) {
      planned->start();
      planned->wait();
    } else if (program.is_equal) {
      MPI_Alltoall(sent.buffer.data(), sent.counts[0], MPI_BYTE, received.buffer.data(), sent.counts[0], MPI_BYTE,
                   MPI_COMM_WORLD);
    } else {
      MPI_Alltoallv(sent.buffer.data(), sent.counts.data(), sent.displacements.data(), MPI_BYTE, received.buffer.data(),
                    received.counts.data(), received.displacements.data(), MPI_BYTE, MPI_COMM_WORLD);
    }
  };
  set_blocks(program, 0, sent, received);
  const double begin_s = begin_together();
  if (is_planned) {
    communicator.emplace(MPI_COMM_WORLD);
    planned = communicator->alltoallv_init(sent.buffer.data(), sent.counts, sent.displacements, MPI_BYTE,
                                           received.buffer.data(), received.counts, received.displacements, MPI_BYTE);
  }
  const double plan_s = seconds_since(begin_s);
  const double work_s = program.work_s / ranks;
  constexpr int first_calls = 4;  // in which engines open, and the choice learns the sizes
  double steady_begin_s = 0;
  for (int call = 0; call < calls; ++call) {
    if (call == first_calls) steady_begin_s = begin_together();
    if (program.is_changing && !planned && call > 0) set_blocks(program, call, sent, received);
    simulation::work(work_s);
    exchange();
  }
  const double call_s = seconds_since(steady_begin_s) / (calls - first_calls) - work_s;
  if (rank_in(MPI_COMM_WORLD) == 0)
    fmt::print("{{\"plan_s\": {}, \"call_s\": {}, \"work_s\": {}, \"is_changing\": {}}}\n", plan_s, call_s, work_s,
               program.is_changing);
}

/// Sets the variables of the environment by which libcommpass-mpi runs or records calls.
void set_environment(const std::string& by, const char* layout, const char* file) {
  const auto mode = by == "record" || by == "always" ? by : "off";
  setenv("COMMPASS_MPI", mode.c_str(), 1);
  setenv("COMMPASS_LAYOUT", layout, 1);
  setenv(by == "record" ? "COMMPASS_MPI_RECORD" : "COMMPASS_PROFILE", file, 1);
}

}  // namespace

// commpass-recorded PROGRAM mpi|record|always|planned LAYOUT FILE CALLS: FILE is the record that is written, or the
// profile.
int main(int argc, char** argv) {
  constexpr int arguments = 6;
  simulation::link_collectives();
  const bool has_all = argc == arguments;
  if (has_all) set_environment(argv[2], argv[3], argv[4]);
  MPI_Init(&argc, &argv);
  const auto* const program = std::ranges::find(programs, std::string(has_all ? argv[1] : ""), &Program::name);
  if (program == std::end(programs)) MPI_Abort(MPI_COMM_WORLD, 2);
  run(*program, std::atoi(argv[5]), std::string(argv[2]) == "planned");
  MPI_Finalize();
}
