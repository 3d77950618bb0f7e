#include "runtime/alltoall/alltoallv.hpp"

#include <fmt/core.h>

#include <iterator>

#include "model/base/error.hpp"
#include "runtime/alltoall/alltoallv_arguments.hpp"
#include "runtime/context.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/planned_exchanges.hpp"

namespace commpass {

namespace {

/// The blocks of one side of an MPI_Alltoallw; of one without elements MPI allows any type, also none.
std::vector<TypedBlock> blocks_of_types(const AlltoallCall::Side& side, int ranks) {
  const auto& [buffer, counts, displacements, type, types, count] = side;
  if (std::ssize(types) != ranks || static_cast<int>(counts.size()) != ranks ||
      static_cast<int>(displacements.size()) != ranks)
    throw InputError("alltoallw",
                     fmt::format("there are {} counts, {} displacements and {} types for {} ranks", counts.size(),
                                 displacements.size(), types.size(), ranks),
                     "give one of each for every rank");
  std::vector<TypedBlock> blocks;
  for (std::size_t rank = 0; rank < types.size(); ++rank)
    if (counts[rank] != 0) blocks.push_back({static_cast<Rank>(rank), displacements[rank], counts[rank], types[rank]});
  return blocks;
}

/// The block of every rank.
std::vector<TypedBlock> blocks_of(Side side, const AlltoallCall& call, const Context& context) {
  const auto& given = side == Side::send ? call.sends : call.receives;
  if (call.kind == AlltoallCall::Kind::w) return blocks_of_types(given, context.layout.ranks());
  BlocksArgument argument;
  argument.assign(side, context.comm.get(), given);
  std::vector<TypedBlock> blocks;
  for (std::size_t rank = 0; rank < argument.counts.size(); ++rank)
    blocks.push_back(
        {static_cast<Rank>(rank), argument.offsets[rank] * argument.type->extent(), argument.counts[rank], given.type});
  return blocks;
}

}  // namespace

PersistentAlltoallv plan_alltoall(const std::shared_ptr<Context>& context, const AlltoallCall& call,
                                  const ExchangeOptions& options) {
  std::vector<TypedBlock> sends, receives;
  Failure failure;
  attempt(failure, [&] {
    if (call.is_in_place())
      throw InputError(call.kind == AlltoallCall::Kind::w ? "alltoallw_init" : "alltoallv_init",
                       "MPI_IN_PLACE is given", "give a send buffer");
    sends = blocks_of(Side::send, call, *context);
    receives = blocks_of(Side::receive, call, *context);
  });
  return plan_typed_exchange(context, {call.sends.buffer, sends}, {call.receives.buffer, receives}, options, failure);
}

}  // namespace commpass
