// Exchanges of values by their global indices, from C.
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "commpass/commpass.h"
#include "runtime/c_exchange.hpp"
#include "runtime/c_support.hpp"
#include "runtime/choose/info_hints.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/element_type.hpp"
#include "runtime/mpi/message_type.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/planned_exchanges.hpp"

namespace {

using commpass::Bytes;
using commpass::Index;
using commpass::InputError;
using commpass::c::guarded;
using commpass::c::IndexedInC;

IndexedInC& indexed(commpass_exchange exchange) {
  return commpass::c::exchange_of<IndexedInC>(exchange, "commpass_indexed_init or commpass_indexed_range_init");
}

std::span<const Index> list(const std::int64_t* items, std::int64_t size, const char* what) {
  if (size < 0)
    throw InputError("indexed exchange", fmt::format("there are {} {} indices", size, what), "use 0 or more");
  if (size > 0 && !items)
    throw InputError("indexed exchange", fmt::format("the list of {} indices is NULL", what), "give it");
  return {items, static_cast<std::size_t>(size)};
}

/// @param owned  makes what this rank owns; may throw
template <class Owned>
int plan(Owned owned, const std::int64_t* needed, std::int64_t needed_size, int value_bytes, int reverse, MPI_Info info,
         commpass_comm comm, commpass_exchange* exchange) {
  *exchange = nullptr;
  return guarded([&] {
    const auto use = commpass::c::require_communicator(comm);
    commpass::warn_unknown_hints(info, comm->engines.context->comm.rank());
    const MPI_Comm ours = comm->engines.context->comm.get();
    commpass::OwnedBy owns;
    std::span<const Index> needs;
    commpass::IndexedOptions options;
    commpass::all_or_none(ours, [&] {
      owns = owned();
      needs = list(needed, needed_size, "needed");
      options.strategy = commpass::c::value_of(info, "commpass_strategy");
      options.reverse = reverse != 0;
      options.deterministic = commpass::c::value_of(info, "commpass_deterministic") == "true";
    });
    *exchange = commpass::c::make_exchange(IndexedInC{
        commpass::plan_indexed_exchange(*comm->engines.sparse, owns, needs, value_bytes, options), value_bytes, ours});
  });
}

/// Adds by an operation of MPI, element after element.
commpass::Addition addition(const IndexedInC& exchange, MPI_Datatype type, MPI_Op operation) {
  const commpass::ElementType element(type, exchange.comm);
  if (element.size() == 0 || exchange.value_bytes % element.size() != 0)
    throw InputError("indexed exchange",
                     fmt::format("a value of {} bytes is no whole number of elements of {} bytes", exchange.value_bytes,
                                 element.size()),
                     "add elements that values are made of");
  const Bytes elements = exchange.value_bytes / element.size();
  const Bytes value_bytes = exchange.value_bytes, most_values = commpass::largest_mpi_count / elements;
  return [type, operation, elements, value_bytes, most_values](const void* values, void* sums, std::int64_t count) {
    const auto* from = static_cast<const std::byte*>(values);
    auto* to = static_cast<std::byte*>(sums);
    while (count > 0) {
      const auto some = std::min(count, most_values);
      COMMPASS_MPI_CALL(MPI_Reduce_local, from, to, static_cast<int>(some * elements), type, operation);
      from += some * value_bytes;
      to += some * value_bytes;
      count -= some;
    }
  };
}

}  // namespace

int commpass_indexed_init(const int64_t* owned, int64_t owned_size, const int64_t* needed, int64_t needed_size,
                          int value_bytes, int reverse, MPI_Info info, commpass_comm comm,
                          commpass_exchange* exchange) {
  return plan([&] { return list(owned, owned_size, "owned"); }, needed, needed_size, value_bytes, reverse, info, comm,
              exchange);
}

int commpass_indexed_range_init(int64_t begin, int64_t end, const int64_t* needed, int64_t needed_size, int value_bytes,
                                int reverse, MPI_Info info, commpass_comm comm, commpass_exchange* exchange) {
  return plan(
      [&] {
        return commpass::IndexRange{begin, end};
      },
      needed, needed_size, value_bytes, reverse, info, comm, exchange);
}

int commpass_start_forward(const void* owned_values, void* ghost_values, commpass_exchange exchange) {
  return guarded([&] { indexed(exchange).start_forward(owned_values, ghost_values); });
}

int commpass_start_reverse(const void* ghost_values, void* owned_values, MPI_Datatype type, MPI_Op op,
                           commpass_exchange exchange) {
  return guarded([&] {
    auto& held = indexed(exchange);
    int is_commutative = 1;
    if (held.adds_on_the_way()) COMMPASS_MPI_CALL(MPI_Op_commutative, op, &is_commutative);
    if (!is_commutative)
      throw InputError("indexed exchange", "its operation is not commutative, and values are combined where they meet",
                       "plan it with the info commpass_deterministic");
    held.start_reverse_add(ghost_values, owned_values, addition(held, type, op));
  });
}
