// Between this program and MPI: watches what persistent requests of the program send and receive while they are
// active. Buffers being sent must not be written, nor buffers being received be read or written; it would show only
// with unlucky timing. So a receive buffer is overwritten when the request is started, a send buffer is compared
// when it is waited for, and requests that share memory end the program.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using Range = std::pair<std::uintptr_t, std::uintptr_t>;  ///< first byte, and that after the last one

struct Request {
  bool is_send = false, is_active = false;
  int peer = 0, tag = 0;
  std::vector<Range> ranges;
  std::uint64_t digest = 0;  ///< of the send buffer, when it was started
};

std::map<MPI_Request, Request> requests;
std::map<std::uintptr_t, std::map<MPI_Request, std::uintptr_t>> active;  ///< first byte → by request, the end

[[noreturn]] void fail(const char* what, const Request& request) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "rank %d: %s, %s rank %d, tag %d\n", rank, what,
               request.is_send ? "sending to" : "receiving from", request.peer, request.tag);
  PMPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

/// The bytes of one element, told by MPI: it unpacks ones into zeros.
std::vector<Range> ranges_of(std::uintptr_t at, int count, MPI_Datatype type) {
  int size = 0;
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  PMPI_Type_size(type, &size);
  PMPI_Type_get_extent(type, &lower, &extent);
  PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
  std::vector<Range> ranges;
  const auto add = [&](std::uintptr_t first, std::uintptr_t end) {
    if (!ranges.empty() && ranges.back().second == first) ranges.back().second = end;
    else if (first < end) ranges.push_back({first, end});
  };
  if (size == true_extent && size == extent) {
    add(at + static_cast<std::uintptr_t>(true_lower),
        at + static_cast<std::uintptr_t>(true_lower) +
            static_cast<std::uintptr_t>(size) * static_cast<unsigned>(count));
    return ranges;
  }
  std::vector<char> ones(static_cast<std::size_t>(size), 1), image(static_cast<std::size_t>(true_extent), 0);
  int position = 0;
  const auto element_at = reinterpret_cast<std::uintptr_t>(image.data()) - static_cast<std::uintptr_t>(true_lower);
  PMPI_Unpack(ones.data(), size, &position, reinterpret_cast<void*>(element_at), 1, type,  // NOLINT: as MPI_BOTTOM
              MPI_COMM_SELF);
  for (int element = 0; element < count; ++element)
    for (std::size_t i = 0; i < image.size(); ++i) {
      const auto byte = at + static_cast<std::uintptr_t>(element * extent + true_lower) + i;
      if (image[i]) add(byte, byte + 1);
    }
  return ranges;
}

std::uint64_t digest_of(const Request& request) {
  std::uint64_t digest = 14695981039346656037U;  // FNV-1a
  for (const auto& [first, end] : request.ranges)
    for (auto at = first; at < end; ++at)
      digest = (digest ^ *reinterpret_cast<const std::uint8_t*>(at)) * 1099511628211U;  // NOLINT: an address
  return digest;
}

int made(int code, bool is_send, const void* buffer, int count, MPI_Datatype type, int peer, int tag,
         const MPI_Request* request) {
  if (code == MPI_SUCCESS)
    requests[*request] = {is_send, false, peer, tag, ranges_of(reinterpret_cast<std::uintptr_t>(buffer), count, type),
                          0};  // NOLINT
  return code;
}

void forbid_overlap(const Request& request) {
  for (const auto& [first, end] : request.ranges)
    for (auto near = active.lower_bound(end); near != active.begin();) {
      --near;
      bool reaches = false;
      for (const auto& [other, its_end] : near->second) {
        reaches = reaches || its_end > first;
        if (its_end > first && !(request.is_send && requests[other].is_send)) {
          std::fprintf(stderr, "memory of another active request, which is %s rank %d\n",
                       requests[other].is_send ? "sending to" : "receiving from", requests[other].peer);
          fail("two active requests share memory", request);
        }
      }
      if (!reaches && first - near->first > (1U << 24U)) break;  // far below: no request of a test is as long
    }
}

void begin(MPI_Request handle) {
  const auto found = requests.find(handle);
  if (found == requests.end()) return;
  auto& request = found->second;
  forbid_overlap(request);
  request.is_active = true;
  for (const auto& [first, end] : request.ranges) {
    active[first][handle] = end;
    if (!request.is_send) std::memset(reinterpret_cast<void*>(first), 0xA5, end - first);  // NOLINT: an address
  }
  if (request.is_send) request.digest = digest_of(request);
}

void check(MPI_Request handle) {
  const auto found = requests.find(handle);
  if (found == requests.end() || !found->second.is_active || !found->second.is_send) return;
  if (digest_of(found->second) != found->second.digest) fail("a buffer being sent was written to", found->second);
}

void end(MPI_Request handle) {
  const auto found = requests.find(handle);
  if (found == requests.end() || !found->second.is_active) return;
  found->second.is_active = false;
  for (const auto& [first, its_end] : found->second.ranges) {
    const auto at = active.find(first);
    at->second.erase(handle);
    if (at->second.empty()) active.erase(at);
  }
}

}  // namespace

extern "C" {

int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return made(PMPI_Send_init(buffer, count, type, peer, tag, comm, request), true, buffer, count, type, peer, tag,
              request);
}
int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  return made(PMPI_Recv_init(buffer, count, type, peer, tag, comm, request), false, buffer, count, type, peer, tag,
              request);
}
int MPI_Start(MPI_Request* request) {
  begin(*request);
  return PMPI_Start(request);
}
int MPI_Startall(int count, MPI_Request* all) {
  for (int i = 0; i < count; ++i) begin(all[i]);
  return PMPI_Startall(count, all);
}
int MPI_Request_free(MPI_Request* request) {
  end(*request);
  requests.erase(*request);
  return PMPI_Request_free(request);
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const auto handle = *request;
  check(handle);
  const int code = PMPI_Wait(request, status);
  if (code == MPI_SUCCESS) end(handle);
  return code;
}
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  const auto handle = *request;
  check(handle);
  const int code = PMPI_Test(request, done, status);
  if (code == MPI_SUCCESS && *done) end(handle);
  return code;
}
int MPI_Waitall(int count, MPI_Request* all, MPI_Status* statuses) {
  const std::vector<MPI_Request> handles(all, all + count);
  for (const auto handle : handles) check(handle);
  const int code = PMPI_Waitall(count, all, statuses);
  if (code == MPI_SUCCESS)
    for (const auto handle : handles) end(handle);
  return code;
}
int MPI_Testall(int count, MPI_Request* all, int* done, MPI_Status* statuses) {
  const std::vector<MPI_Request> handles(all, all + count);
  for (const auto handle : handles) check(handle);
  const int code = PMPI_Testall(count, all, done, statuses);
  if (code == MPI_SUCCESS && *done)
    for (const auto handle : handles) end(handle);
  return code;
}

}  // extern "C"
