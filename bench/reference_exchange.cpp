// commpass-reference: runs fixed schedules on simulated ranks, with the costs that all programs have there. For
// comparisons with other libraries' algorithms.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <sstream>

#include "measure/mpi_program.hpp"
#include "model/base/file.hpp"
#include "model/base/json.hpp"
#include "runtime/execute/memory.hpp"
#include "runtime/indexed/value_runs.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/mpi/timed_start.hpp"

namespace commpass {
namespace {

/// A function that copies the pieces of a message: as blocks, or as values of an indexed exchange.
enum class PieceKind { blocks, values };

/// A message at one of its ends, or what a rank copies for itself.
struct End {
  int stage = 0;
  Rank peer = 0;
  Bytes bytes = 0;
  int pieces = 0;  ///< copied here
};

/// What this rank sends and gets, stage by stage; see PeerMessage (bench/peer_schedules.hpp).
class ReferenceExchange {
 public:
  ReferenceExchange(const std::string& text, PieceKind kind) : kind_(kind) {
    const Rank rank = rank_in(MPI_COMM_WORLD);
    std::istringstream lines(text);
    Rank from = 0, to = 0;
    int packed = 0, unpacked = 0, stage = 0;
    for (Bytes bytes = 0; lines >> stage >> from >> to >> bytes >> packed >> unpacked;) {
      if (from == rank) sends_.push_back({stage, to, bytes, packed});
      if (to == rank) receives_.push_back({stage, from, bytes, unpacked});
      stages_ = std::max(stages_, stage + 1);
      largest_ = std::max(largest_, bytes);
    }
    requests_.reserve(sends_.size() + receives_.size());
    out_.resize(static_cast<std::size_t>(largest_));
    in_.resize(out_.size());
  }

  void run() {
    for (int stage = 0; stage < stages_; ++stage) run(stage);
  }

 private:
  // All messages of a rank share two buffers, since the received bytes are not read.
  void run(int stage) {
    constexpr int tag = 1;
    requests_.clear();
    for (const auto& end : sends_)
      if (end.stage == stage) copy(end);
    const Rank rank = rank_in(MPI_COMM_WORLD);
    for (const auto& end : receives_)
      if (end.stage == stage && end.peer != rank)
        COMMPASS_MPI_CALL(MPI_Irecv, in_.data(), static_cast<int>(end.bytes), MPI_BYTE, end.peer, tag, MPI_COMM_WORLD,
                          &requests_.emplace_back());
    for (const auto& end : sends_)
      if (end.stage == stage && end.peer != rank)
        COMMPASS_MPI_CALL(MPI_Isend, out_.data(), static_cast<int>(end.bytes), MPI_BYTE, end.peer, tag, MPI_COMM_WORLD,
                          &requests_.emplace_back());
    COMMPASS_MPI_CALL(MPI_Waitall, static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    for (const auto& end : receives_)
      if (end.stage == stage) copy(end);
  }

  /// Pays for the copies of a message.
  void copy(const End& end) {
    if (end.pieces == 0) return;
    const Bytes piece = end.bytes / end.pieces, last = end.bytes - (end.pieces - 1) * piece;
    if (kind_ == PieceKind::values) {
      ValueRuns runs;
      for (std::int64_t i = 0; i < end.pieces; ++i)
        runs.push_back({i * piece, i * piece, i + 1 < end.pieces ? piece : last});
      return copy_values(runs, 1, in_.data(), out_.data());
    }
    std::vector<LocalCopy> copies;
    for (int i = 0; i < end.pieces; ++i) {
      const Bytes offset = i * piece, bytes = i + 1 < end.pieces ? piece : last;
      copies.push_back({in_.data() + offset, out_.data() + offset, static_cast<std::size_t>(bytes)});
    }
    host_memory().copy(copies);
  }

  PieceKind kind_;
  std::vector<End> sends_, receives_;
  int stages_ = 0;
  Bytes largest_ = 0;
  std::vector<std::byte> out_, in_;
  std::vector<MPI_Request> requests_;
};

void run(const std::vector<std::string>& files, PieceKind kind) {
  Json seconds;
  for (const auto& file : files) {
    ReferenceExchange exchange(read_file(file), kind);
    time_exchange(MPI_COMM_WORLD, [&] { exchange.run(); });  // warm
    seconds.push_back(time_exchange(MPI_COMM_WORLD, [&] { exchange.run(); }));
  }
  if (rank_in(MPI_COMM_WORLD) == 0) fmt::print("{}\n", seconds.dump());
}

}  // namespace
}  // namespace commpass

int main(int argc, char** argv) {
  commpass::Command command{"commpass-reference",
                            "Runs fixed schedules and prints their seconds: smpirun … commpass-reference FILE…"};
  std::vector<std::string> files;
  bool are_values = false;
  command.add({{"files",
                &files,
                "a line a message: stage, sender, receiver, bytes, pieces copied before and after",
                {.required = true}},
               {"--values", &are_values, "pieces are copied as runs of values of an indexed exchange are"}});
  command.run = [&] { commpass::run(files, are_values ? commpass::PieceKind::values : commpass::PieceKind::blocks); };
  return commpass::run_mpi_command(command, argc, argv);
}
