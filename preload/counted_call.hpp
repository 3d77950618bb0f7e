// One call of messages: the MPI library runs it, and it is counted where that is asked for.
#pragma once

#include <mpi.h>

#include <exception>

#include "preload/message_log.hpp"
#include "preload/world_rank.hpp"

namespace commpass {

/// @param count  elements of the type
template <class Count>
Bytes bytes_of(Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (count <= 0 || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return 0;
  return static_cast<Bytes>(count) * static_cast<Bytes>(size);
}

/// How many requests there are. @param requests  null: none
inline int active_requests(int count, const MPI_Request* requests) {
  int active = 0;
  for (int i = 0; requests && i < count; ++i) active += requests[i] != MPI_REQUEST_NULL ? 1 : 0;
  return active;
}

/// @param site     the address to which the program's call returns
/// @param library  runs it, and returns MPI's code
/// @param add      counts it, where it has succeeded: add(log, call)
template <CountedCall call, class Library, class Add>
int count_call(const void* site, const Library& library, const Add& add) {
  auto* const log = message_log.load(std::memory_order_acquire);
  if (!log) return library();
  constexpr bool is_timed_call = is_timed(call);
  const auto begin = is_timed_call ? read_ticks() : 0;
  const int code = library();
  const auto end = is_timed_call ? read_ticks() : 0;
  if (code != MPI_SUCCESS) return code;
  try {
    add(*log, MessageCall{call, site, begin, end});
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): without memory, less is known of the program
  }
  return code;
}

}  // namespace commpass
