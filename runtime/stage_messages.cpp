#include "runtime/stage_messages.hpp"

#include <algorithm>
#include <tuple>

#include "runtime/agreement.hpp"
#include "runtime/mpi_error.hpp"
#include "runtime/ranks.hpp"

namespace commpass {

namespace {

constexpr int header_tag = 0;  // exchanges use 1 and up

/// Sends the headers of this rank's messages and gives those of the messages that it will get. Collective.
std::vector<Incoming> announce(MPI_Comm comm, const Departures& departures, std::span<const Block> blocks, int ranks) {
  std::vector<int> messages_to(static_cast<std::size_t>(ranks), 0);
  for (const auto& message : departures.messages) ++messages_to[static_cast<std::size_t>(message.to)];
  int expected = 0;
  COMMPASS_MPI_CALL(MPI_Reduce_scatter_block, messages_to.data(), &expected, 1, MPI_INT, MPI_SUM, comm);

  std::vector<std::vector<Block>> headers;
  std::vector<MPI_Request> requests;
  headers.reserve(departures.messages.size());
  for (const auto& message : departures.messages) {
    auto& header = headers.emplace_back();
    for (std::uint32_t i = 0; i < message.blocks; ++i) header.push_back(blocks[departures.order[message.first_block + i]]);
    COMMPASS_MPI_CALL(MPI_Isend, header.data(), static_cast<int>(header.size() * sizeof(Block)), MPI_BYTE, message.to, header_tag, comm,
                 &requests.emplace_back());
  }
  std::vector<Incoming> incoming;
  for (int i = 0; i < expected; ++i) {
    MPI_Status status;
    int bytes = 0;
    COMMPASS_MPI_CALL(MPI_Probe, MPI_ANY_SOURCE, header_tag, comm, &status);
    COMMPASS_MPI_CALL(MPI_Get_count, &status, MPI_BYTE, &bytes);
    auto& message = incoming.emplace_back();
    message.from = status.MPI_SOURCE;
    message.blocks.resize(static_cast<std::size_t>(bytes) / sizeof(Block));
    COMMPASS_MPI_CALL(MPI_Recv, message.blocks.data(), bytes, MPI_BYTE, message.from, header_tag, comm, MPI_STATUS_IGNORE);
  }
  COMMPASS_MPI_CALL(MPI_Waitall, static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return incoming;
}

/// Makes one message of each block, as stagger() does at the sender.
std::vector<Incoming> staggered(const std::vector<Incoming>& coalesced, std::uint32_t most_blocks) {
  std::vector<Incoming> result;
  for (const auto& message : coalesced)
    for (std::uint32_t i = 0; i < message.blocks.size(); ++i)
      result.push_back({message.from, staggered_round(message.round, i, most_blocks), 0, {message.blocks[i]}});
  return result;
}

/// The largest value of all ranks. Collective.
std::uint32_t largest(MPI_Comm comm, std::uint32_t mine) {
  std::uint32_t result = 0;
  COMMPASS_MPI_CALL(MPI_Allreduce, &mine, &result, 1, MPI_UINT32_T, MPI_MAX, comm);
  return result;
}

}  // namespace

StageMessages exchange_headers(MPI_Comm comm, const Route& route, int stage, Window window, Coalescing coalescing, std::span<const Block> held) {
  const Rank rank = rank_in(comm);
  const int ranks = ranks_in(comm);
  const auto& info = route.stages()[static_cast<std::size_t>(stage)];
  window = window_of(info, window);
  StageMessages result;
  together(comm, [&] { result.departures = depart(route, stage, window, held, std::vector(held.size(), rank), ranks); });
  result.incoming = announce(comm, result.departures, held, ranks);
  const auto most = is_staggered(info, coalescing) ? largest(comm, most_blocks(result.departures.messages)) : 0;
  together(comm, [&] {
    for (auto& message : result.incoming) message.round = route.round(message.from, rank, stage);
    if (is_staggered(info, coalescing)) {
      stagger(result.departures, window, held, most);
      result.incoming = staggered(result.incoming, most);
    }
    for (auto& message : result.incoming) message.batch = window.batch(message.round);
    std::ranges::stable_sort(result.incoming, {}, [](const Incoming& m) { return std::tuple(m.batch, m.round, m.from); });
  });
  return result;
}

}  // namespace commpass
