// Exchanges of values by their global indices, and reductions of values, from C.
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
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
using commpass::IndexedOptions;
using commpass::InputError;
using commpass::c::AllreduceInC;
using commpass::c::guarded;
using commpass::c::IndexedInC;

IndexedInC& indexed(commpass_exchange exchange) {
  return commpass::c::exchange_of<IndexedInC>(
      exchange, "commpass_indexed_init, commpass_indexed_range_init or commpass_neighbor_reduce_scatter_init");
}

std::span<const Index> list(const std::int64_t* items, std::int64_t size, const char* what) {
  if (size < 0)
    throw InputError("indexed exchange", fmt::format("there are {} {} indices", size, what), "use 0 or more");
  if (size > 0 && !items)
    throw InputError("indexed exchange", fmt::format("the list of {} indices is NULL", what), "give it");
  return {items, static_cast<std::size_t>(size)};
}

/// @param make  plans the exchange, with the engine and our communicator
template <class Handle, class Make>
int plan_values(int value_bytes, MPI_Info info, commpass_comm comm, commpass_exchange* exchange, Make make) {
  *exchange = nullptr;
  return guarded([&] {
    const auto use = commpass::c::require_communicator(comm);
    commpass::warn_unknown_hints(info, comm->engines.context->comm.rank());
    const MPI_Comm ours = comm->engines.context->comm.get();
    *exchange = commpass::c::make_exchange(Handle{make(*comm->engines.sparse, ours), value_bytes, ours});
  });
}

IndexedOptions options_of_values(MPI_Info info) {
  const auto is_set = [&](const char* key) { return commpass::c::value_of(info, key) == "true"; };
  IndexedOptions options;
  options.strategy = commpass::c::value_of(info, "commpass_strategy");
  options.deterministic = is_set("commpass_deterministic");
  options.overwrite = is_set("commpass_overwrite");
  return options;
}

/// @param owned  makes what this rank owns; may throw
template <class Owned>
int plan_indexed(Owned owned, const std::int64_t* needed, std::int64_t needed_size, int value_bytes, int reverse,
                 MPI_Info info, commpass_comm comm, commpass_exchange* exchange) {
  return plan_values<IndexedInC>(value_bytes, info, comm, exchange, [&](commpass::SparseEngine& engine, MPI_Comm ours) {
    commpass::OwnedBy owns;
    std::span<const Index> needs;
    IndexedOptions options;
    commpass::all_or_none(ours, [&] {
      owns = owned();
      needs = list(needed, needed_size, "needed");
      options = options_of_values(info);
      options.reverse = reverse != 0;
    });
    return commpass::plan_indexed_exchange(engine, owns, needs, value_bytes, options);
  });
}

/// The numbers that a kernel adds as the operation does: others, if it is no sum, or of other types.
commpass::NumberType numbers_of(MPI_Datatype type, Bytes bytes, MPI_Op operation) {
  using commpass::NumberType;
  const auto is_one_of = [&](std::initializer_list<MPI_Datatype> types) {
    return std::ranges::find(types, type) != types.end();
  };
  if (operation != MPI_SUM) return NumberType::others;
  const bool is_complex = is_one_of({MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX});
  if (is_complex || is_one_of({MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION})) {
    const auto of_a_number = static_cast<std::size_t>(is_complex ? bytes / 2 : bytes);
    if (of_a_number == sizeof(float)) return NumberType::floats;
    return of_a_number == sizeof(double) ? NumberType::doubles : NumberType::others;
  }
  if (!is_one_of({MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG,
                  MPI_INTEGER, MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T, MPI_UINT64_T}))
    return NumberType::others;
  return bytes == sizeof(std::int32_t) ? NumberType::integers_of_4_bytes : NumberType::integers_of_8_bytes;
}

/// Adds by an operation of MPI, element after element.
/// @throws InputError if values are added where they meet, and the operation is not commutative
template <class Handle>
commpass::Addition addition(const Handle& exchange, MPI_Datatype type, MPI_Op operation) {
  int is_commutative = 1;
  if (exchange.adds_on_the_way()) COMMPASS_MPI_CALL(MPI_Op_commutative, operation, &is_commutative);
  if (!is_commutative)
    throw InputError("indexed exchange", "its operation is not commutative, and values are combined where they meet",
                     "plan it with the info commpass_deterministic");
  const commpass::ElementType element(type, exchange.comm);
  if (element.size() == 0 || exchange.value_bytes % element.size() != 0)
    throw InputError("indexed exchange",
                     fmt::format("a value of {} bytes is no whole number of elements of {} bytes", exchange.value_bytes,
                                 element.size()),
                     "add elements that values are made of");
  const Bytes elements = exchange.value_bytes / element.size();
  const Bytes value_bytes = exchange.value_bytes, most_values = commpass::largest_mpi_count / elements;
  const auto add = [type, operation, elements, value_bytes, most_values](const void* values, void* sums,
                                                                         std::int64_t count) {
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
  return {add, numbers_of(type, element.size(), operation)};
}

}  // namespace

int commpass_indexed_init(const int64_t* owned, int64_t owned_size, const int64_t* needed, int64_t needed_size,
                          int value_bytes, int reverse, MPI_Info info, commpass_comm comm,
                          commpass_exchange* exchange) {
  return plan_indexed([&] { return list(owned, owned_size, "owned"); }, needed, needed_size, value_bytes, reverse, info,
                      comm, exchange);
}

int commpass_indexed_range_init(int64_t begin, int64_t end, const int64_t* needed, int64_t needed_size, int value_bytes,
                                int reverse, MPI_Info info, commpass_comm comm, commpass_exchange* exchange) {
  return plan_indexed(
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
    held.start_reverse_add(ghost_values, owned_values, addition(held, type, op));
  });
}

int commpass_neighbor_reduce_scatter_init(int outdegree, const int* dest, const int* sendcounts, int recvcount,
                                          int value_bytes, MPI_Info info, commpass_comm comm,
                                          commpass_exchange* exchange) {
  return plan_values<IndexedInC>(value_bytes, info, comm, exchange, [&](commpass::SparseEngine& engine, MPI_Comm ours) {
    std::vector<commpass::Contribution> contributions;
    IndexedOptions options;
    commpass::all_or_none(ours, [&] {
      commpass::c::require_list("neighbor_reduce_scatter", dest, outdegree, "destinations");
      commpass::c::require_list("neighbor_reduce_scatter", sendcounts, outdegree, "counts");
      for (int i = 0; i < outdegree; ++i) contributions.push_back({dest[i], sendcounts[i]});
      options = options_of_values(info);
    });
    return commpass::plan_neighbor_reduce_scatter(engine, contributions, recvcount, value_bytes, options);
  });
}

int commpass_sparse_allreduce_init(const int64_t* indices, int64_t indices_size, int value_bytes, MPI_Info info,
                                   commpass_comm comm, commpass_exchange* exchange) {
  return plan_values<AllreduceInC>(value_bytes, info, comm, exchange,
                                   [&](commpass::SparseEngine& engine, MPI_Comm ours) {
                                     std::span<const Index> named;
                                     IndexedOptions options;
                                     commpass::all_or_none(ours, [&] {
                                       named = list(indices, indices_size, "named");
                                       options = options_of_values(info);
                                     });
                                     return commpass::plan_sparse_allreduce(engine, named, value_bytes, options);
                                   });
}

int commpass_start_allreduce(const void* values, void* sums, MPI_Datatype type, MPI_Op op, commpass_exchange exchange) {
  return guarded([&] {
    auto& held = commpass::c::exchange_of<AllreduceInC>(exchange, "commpass_sparse_allreduce_init");
    held.start(values, sums, addition(held, type, op));
  });
}
