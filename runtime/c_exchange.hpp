// What a handle of the C interface holds. Private to the runtime.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "commpass/commpass.h"
#include "model/base/error.hpp"
#include "runtime/alltoall/started_alltoallv.hpp"
#include "runtime/indexed/sparse_allreduce.hpp"
#include "runtime/neighbor/typed_exchange.hpp"
#include "runtime/sparse/sparse_exchange.hpp"

namespace commpass::c {

/// A sparse exchange, and its received messages once it is complete.
struct SparseInFlight : SparseExchange {
  MPI_Datatype type = MPI_DATATYPE_NULL;  ///< of received messages
  MPI_Comm comm = MPI_COMM_NULL;          ///< ours
  std::optional<ReceivedMessages> messages;

  bool test() { return messages || SparseExchange::test(); }
  void wait() {
    if (!messages) messages = SparseExchange::wait();
  }
};

/// An exchange of values, and their size.
template <class Handle>
struct OfValues : Handle {
  Bytes value_bytes = 0;
  MPI_Comm comm = MPI_COMM_NULL;  ///< ours
};
using IndexedInC = OfValues<IndexedExchange>;
using AllreduceInC = OfValues<SparseAllreduce>;

using AnyExchange = std::variant<TypedExchange, IndexedInC, AllreduceInC, SparseInFlight, StartedAlltoallv>;

/// A handle that owns it.
commpass_exchange make_exchange(AnyExchange exchange);
/// What a handle holds. @throws InputError for NULL
AnyExchange& held_by(commpass_exchange exchange);

/// @throws InputError for NULL, and for a handle of another kind
/// @param maker  the function that makes handles of this kind
template <class Kind>
Kind& exchange_of(commpass_exchange exchange, const char* maker) {
  auto* found = std::get_if<Kind>(&held_by(exchange));
  if (!found)
    throw InputError("commpass_exchange", "it is of another kind", std::string("give one that was made by ") + maker);
  return *found;
}

}  // namespace commpass::c
