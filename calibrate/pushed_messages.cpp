// Tests replace this file at link time.
#include "calibrate/pushed_messages.hpp"

#include <utility>
#include <vector>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/timed_start.hpp"

namespace commpass {

PushedMessages::Times PushedMessages::pairs(Level level, std::size_t count, Bytes bytes, int repetitions) {
  return time(of_pairs(level, count, bytes), repetitions);
}

PushedMessages::Times PushedMessages::among_partners(Level level, Bytes bytes, int messages, int repetitions) {
  return time(of_partners(level, bytes, messages), repetitions);
}

bool PushedMessages::are_pushed(Level level, Bytes bytes, int messages) {
  const auto& kept = of_partners(level, bytes, messages);
  int is_pushed = kept.data.receives.empty() || kept.exchange.buffer_bytes() > 0;
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &is_pushed, 1, MPI_INT, MPI_LAND, comm_);
  return is_pushed != 0;
}

PushedMessages::Kept& PushedMessages::of_pairs(Level level, std::size_t count, Bytes bytes) {
  if (auto* const known = find(level, count, bytes, 0)) return *known;
  Pattern pattern{calibration_.layout.ranks(), {}};
  for (const auto& [first, second] : std::span(calibration_.pairs(level)).first(count)) {
    pattern.edges.push_back({first, second, bytes});
    pattern.edges.push_back({second, first, bytes});
  }
  return keep(level, count, bytes, 0, pattern);
}

PushedMessages::Kept& PushedMessages::of_partners(Level level, Bytes bytes, int messages) {
  if (auto* const known = find(level, 0, bytes, messages)) return *known;
  const auto& layout = calibration_.layout;
  const Rank first = calibration_.pairs(level).front().first;
  std::vector<Rank> ranks;  // of the instance
  for (const Rank rank : layout.ranks_of(layout.node(first)))
    if (rank == first || layout.channel_level(first, rank) <= level) ranks.push_back(rank);
  Pattern pattern{layout.ranks(), {}};
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::vector<Rank> to;
    for (const Rank rank : ranks)
      if (rank != ranks[r] && layout.channel_level(rank, ranks[r]) == level) to.push_back(rank);
    if (to.empty()) continue;
    // Each begins with another one, so that all receive as much.
    for (std::size_t i = 0; i < at(messages); ++i) pattern.edges.push_back({ranks[r], to[(r + i) % to.size()], bytes});
  }
  return keep(level, 0, bytes, messages, pattern);
}

PushedMessages::Kept* PushedMessages::find(Level level, std::size_t count, Bytes bytes, int messages) {
  const auto found = kept_.find({level, count, bytes, messages});
  return found == kept_.end() ? nullptr : &found->second;
}

/// Plans an exchange, whose messages stay apart.
PushedMessages::Kept& PushedMessages::keep(Level level, std::size_t count, Bytes bytes, int messages,
                                           const Pattern& pattern) {
  auto data = data_of(pattern, calibration_.comm.rank());
  if (!communicator_)
    communicator_.emplace(comm_, calibration_.machine, CommunicatorOptions{.layout = calibration_.layout});
  auto exchange = communicator_->neighbor_exchange(data.send_buffer.data(), data.sends, data.receive_buffer.data(),
                                                   data.receives, {"standard,staggered,shared"});
  return kept_.try_emplace({level, count, bytes, messages}, Kept{std::move(data), std::move(exchange)}).first->second;
}

PushedMessages::Times PushedMessages::time(Kept& kept, int repetitions) {
  Times sum;
  for (int i = 0; i < repetitions; ++i) {
    std::optional<Seconds> posting;
    const auto run = [&] {
      const double begin = MPI_Wtime();
      kept.exchange.start();
      if (!kept.data.sends.empty()) posting = MPI_Wtime() - begin;
      kept.exchange.wait();
    };
    sum.all += time_exchange(comm_, run, kept.data.send_buffer);
    sum.posting += median_over_ranks(comm_, posting);
  }
  return {sum.posting / repetitions, sum.all / repetitions};
}

}  // namespace commpass
