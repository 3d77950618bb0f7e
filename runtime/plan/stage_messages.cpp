#include "runtime/plan/stage_messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <tuple>

#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/lost_message.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

constexpr int header_tag = 0;  // exchanges use 1 and up

/// As an element of messages, so that a message may have as many as an int counts.
class HeaderType {
 public:
  HeaderType() {
    COMMPASS_MPI_CALL(MPI_Type_contiguous, static_cast<int>(sizeof(Block)), MPI_BYTE, &type_);
    const int code = MPI_Type_commit(&type_);
    if (code != MPI_SUCCESS) MPI_Type_free(&type_);
    check_mpi("MPI_Type_commit", code);
  }
  ~HeaderType() {
    if (mpi_is_usable()) MPI_Type_free(&type_);
  }
  HeaderType(const HeaderType&) = delete;
  HeaderType& operator=(const HeaderType&) = delete;
  operator MPI_Datatype() const { return type_; }  // NOLINT: it is one

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// What a rank sends in a stage, before anything is sent.
struct Announcements {
  std::vector<int> messages_to;             ///< by rank
  std::vector<std::vector<Block>> headers;  ///< by message
  std::vector<MPI_Request> requests;

  Announcements(const Departures& departures, std::span<const Block> blocks, int ranks)
      : messages_to(static_cast<std::size_t>(ranks), 0) {
    constexpr std::uint32_t most = std::numeric_limits<int>::max();
    for (const auto& message : departures.messages) {
      if (message.blocks > most)
        throw Error(fmt::format("planning: {} blocks are too many for one message; use staggered, or more ranks.",
                                message.blocks));
      ++messages_to[static_cast<std::size_t>(message.to)];
      auto& header = headers.emplace_back();
      for (std::uint32_t i = 0; i < message.blocks; ++i)
        header.push_back(blocks[departures.order[message.first_block + i]]);
    }
    requests.resize(headers.size(), MPI_REQUEST_NULL);
  }
};

/// Sends the headers of this rank's messages and gives those of the messages that it will get. Collective.
/// @throws nothing but MpiError where others would wait: what there is no memory for is taken in and lost, and
/// `failure` says so
std::vector<Incoming> announce(MPI_Comm comm, const Departures& departures, Announcements& announcements,
                               std::string& failure) {
  const HeaderType type;
  int expected = 0;
  COMMPASS_MPI_CALL(MPI_Reduce_scatter_block, announcements.messages_to.data(), &expected, 1, MPI_INT, MPI_SUM, comm);
  for (std::size_t i = 0; i < announcements.headers.size(); ++i) {
    const auto& header = announcements.headers[i];
    COMMPASS_MPI_CALL(MPI_Isend, header.data(), static_cast<int>(header.size()), type, departures.messages[i].to,
                      header_tag, comm, &announcements.requests[i]);
  }
  std::vector<Incoming> incoming;
  for (int i = 0; i < expected; ++i) {
    MPI_Status status;
    int blocks = 0;
    COMMPASS_MPI_CALL(MPI_Probe, MPI_ANY_SOURCE, header_tag, comm, &status);
    COMMPASS_MPI_CALL(MPI_Get_count, &status, type, &blocks);
    Incoming message;
    message.from = status.MPI_SOURCE;
    try {
      message.blocks.resize(static_cast<std::size_t>(blocks));
      incoming.reserve(static_cast<std::size_t>(expected));
    } catch (const std::bad_alloc& error) {
      failure = sentence_of(error);
      MPI_Request request = MPI_REQUEST_NULL;
      receive_and_forget(static_cast<Bytes>(blocks) * static_cast<Bytes>(sizeof(Block)), message.from, header_tag, comm,
                         &request);
      COMMPASS_MPI_CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
      continue;
    }
    COMMPASS_MPI_CALL(MPI_Recv, message.blocks.data(), blocks, type, message.from, header_tag, comm, MPI_STATUS_IGNORE);
    incoming.push_back(std::move(message));
  }
  COMMPASS_MPI_CALL(MPI_Waitall, static_cast<int>(announcements.requests.size()), announcements.requests.data(),
                    MPI_STATUSES_IGNORE);
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

StageMessages exchange_headers(MPI_Comm comm, const Route& route, int stage, Window window, Coalescing coalescing,
                               std::span<const Block> held) {
  const Rank rank = rank_in(comm);
  const int ranks = ranks_in(comm);
  const auto& info = route.stages()[static_cast<std::size_t>(stage)];
  window = window_of(info, window);
  StageMessages result;
  std::optional<Announcements> announcements;
  all_or_none(comm, [&] {
    result.departures = depart(route, stage, window, held, std::vector(held.size(), rank), ranks);
    announcements.emplace(result.departures, held, ranks);
  });
  std::string failure;
  result.incoming = announce(comm, result.departures, *announcements, failure);
  const auto most = is_staggered(info, coalescing) ? largest(comm, most_blocks(result.departures.messages)) : 0;
  all_or_none(comm, [&] {
    if (!failure.empty()) throw Error(failure);
    for (auto& message : result.incoming) message.round = route.round(message.from, rank, stage);
    if (is_staggered(info, coalescing)) {
      stagger(result.departures, window, held, most);
      result.incoming = staggered(result.incoming, most);
    }
    for (auto& message : result.incoming) message.batch = window.batch(message.round);
    std::ranges::stable_sort(result.incoming, {},
                             [](const Incoming& m) { return std::tuple(m.batch, m.round, m.from); });
  });
  return result;
}

}  // namespace commpass
