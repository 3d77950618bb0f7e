#include "runtime/plan/sent_headers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/message_type.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

constexpr int header_tag = 0;  // exchanges use 1 and up

/// An MPI_Op on pairs of ints (MPI_2INT): the sum of the first, the maximum of the second.
void add_and_find_max(void* in, void* in_and_out, int* pairs, MPI_Datatype*) {
  const auto* from = static_cast<const int*>(in);
  auto* to = static_cast<int*>(in_and_out);
  for (int i = 0; i < 2 * *pairs; i += 2) {
    to[i] += from[i];
    to[i + 1] = std::max(to[i + 1], from[i + 1]);
  }
}

void require_int_counts(const Departures& departures) {
  constexpr std::uint32_t blocks_max = std::numeric_limits<int>::max();
  for (const auto& message : departures.messages)
    if (message.blocks > blocks_max)
      throw Error(fmt::format("planning: {} blocks are too many for one message; use staggered, or more ranks.",
                              message.blocks));
}

}  // namespace

SentHeaders::SentHeaders(MPI_Comm comm, Coalescing coalescing)
    : comm_(comm),
      ints_each_(coalescing == Coalescing::staggered ? 2 : 1),
      counts_(static_cast<std::size_t>(ints_each_) * static_cast<std::size_t>(ranks_in(comm))) {
  // One element for each header, so that a message may have as many as an int counts.
  COMMPASS_MPI_CALL(MPI_Type_contiguous, static_cast<int>(sizeof(Block)), MPI_BYTE, &header_type_);
  int code = MPI_Type_commit(&header_type_);
  if (code == MPI_SUCCESS && ints_each_ == 2) code = MPI_Op_create(add_and_find_max, 1, &sum_and_max_);
  if (code != MPI_SUCCESS) MPI_Type_free(&header_type_);
  check_mpi("MPI_Type_commit or MPI_Op_create", code);
}

SentHeaders::~SentHeaders() {
  if (!mpi_is_usable()) return;
  MPI_Type_free(&header_type_);
  if (sum_and_max_ != MPI_OP_NULL) MPI_Op_free(&sum_and_max_);
}

/// The headers of this rank's messages while they are under way.
struct SentHeaders::Outgoing {
  std::vector<std::vector<Block>> headers;  ///< by message
  std::vector<MPI_Request> requests;

  Outgoing() = default;
  Outgoing(const Departures& departures, std::span<const Block> held) : requests(departures.messages.size()) {
    require_int_counts(departures);
    std::ranges::fill(requests, MPI_REQUEST_NULL);
    for (const auto& message : departures.messages) {
      auto& header = headers.emplace_back();
      header.reserve(message.blocks);
      for (const auto number : std::span(departures.order).subspan(message.first_block, message.blocks))
        header.push_back(held[number]);
    }
  }
};

SentHeaders::Count SentHeaders::count(const Departures& departures) {
  std::ranges::fill(counts_, 0);
  for (const auto& message : departures.messages) ++counts_[static_cast<std::size_t>(message.to * ints_each_)];
  Count result;
  if (ints_each_ == 1) {
    COMMPASS_MPI_CALL(MPI_Reduce_scatter_block, counts_.data(), &result.messages, 1, MPI_INT, MPI_SUM, comm_);
    return result;
  }
  const auto most = static_cast<int>(most_blocks(departures.messages));
  for (std::size_t i = 1; i < counts_.size(); i += 2) counts_[i] = most;
  COMMPASS_MPI_CALL(MPI_Reduce_scatter_block, counts_.data(), &result, 1, MPI_2INT, sum_and_max_, comm_);
  return result;
}

Headers SentHeaders::operator()(int, const Departures& departures, std::span<const Block> held) {
  Failure failure;
  Outgoing outgoing;
  attempt(failure, [&] { outgoing = Outgoing(departures, held); });
  const Departures nothing;
  const auto [expected, most] = count(failure ? nothing : departures);
  for (std::size_t i = 0; i < outgoing.headers.size(); ++i) {
    const auto& header = outgoing.headers[i];
    COMMPASS_MPI_CALL(MPI_Isend, header.data(), static_cast<int>(header.size()), header_type_,
                      departures.messages[i].to, header_tag, comm_, &outgoing.requests[i]);
  }
  Headers result{{}, static_cast<std::uint32_t>(most)};
  const auto messages = static_cast<std::size_t>(expected);  // clang 14 captures no structured bindings
  attempt(failure, [&] { result.incoming.reserve(messages); });
  for (int i = 0; i < expected; ++i) {
    MPI_Status status;
    int blocks = 0;
    COMMPASS_MPI_CALL(MPI_Probe, MPI_ANY_SOURCE, header_tag, comm_, &status);
    COMMPASS_MPI_CALL(MPI_Get_count, &status, header_type_, &blocks);
    Incoming message;
    message.from = status.MPI_SOURCE;
    attempt(failure, [&] { message.blocks.resize(static_cast<std::size_t>(blocks)); });
    if (failure) {
      MPI_Request request = MPI_REQUEST_NULL;
      receive_and_discard(static_cast<Bytes>(blocks) * static_cast<Bytes>(sizeof(Block)), message.from, header_tag,
                          comm_, &request);
      COMMPASS_MPI_CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
      continue;
    }
    COMMPASS_MPI_CALL(MPI_Recv, message.blocks.data(), blocks, header_type_, message.from, header_tag, comm_,
                      MPI_STATUS_IGNORE);
    result.incoming.push_back(std::move(message));
  }
  COMMPASS_MPI_CALL(MPI_Waitall, static_cast<int>(outgoing.requests.size()), outgoing.requests.data(),
                    MPI_STATUSES_IGNORE);
  if (failure) throw Error(failure.sentence);
  return result;
}

}  // namespace commpass
