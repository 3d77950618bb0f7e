#include "measure/two_sided.hpp"

#include <cstdint>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

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

}  // namespace

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

}  // namespace commpass
