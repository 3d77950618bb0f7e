#include "runtime/alltoall/alltoallv.hpp"

#include <fmt/core.h>

#include <iterator>

#include "model/base/error.hpp"
#include "runtime/alltoall/alltoallv_arguments.hpp"
#include "runtime/context.hpp"
#include "runtime/mpi/agreement.hpp"

namespace commpass {

namespace {

void refuse_in_place(const void* sendbuf, const char* name) {
  if (sendbuf == MPI_IN_PLACE) throw InputError(name, "MPI_IN_PLACE is given", "give a send buffer");
}

/// The block of every rank.
std::vector<TypedBlock> typed_blocks(const BlocksArgument& argument, MPI_Datatype type) {
  std::vector<TypedBlock> blocks;
  for (std::size_t rank = 0; rank < argument.counts.size(); ++rank)
    blocks.push_back(
        {static_cast<Rank>(rank), argument.offsets[rank] * argument.type->extent(), argument.counts[rank], type});
  return blocks;
}

}  // namespace

PersistentAlltoallv plan_alltoallv(const std::shared_ptr<Context>& context, const void* sendbuf,
                                   std::span<const int> sendcounts, std::span<const int> sdispls, MPI_Datatype sendtype,
                                   void* recvbuf, std::span<const int> recvcounts, std::span<const int> rdispls,
                                   MPI_Datatype recvtype, const ExchangeOptions& options) {
  const MPI_Comm comm = context->comm.get();
  std::vector<TypedBlock> sends, receives;
  Failure failure;
  attempt(failure, [&] {
    refuse_in_place(sendbuf, "alltoallv_init");
    BlocksArgument argument;
    argument.assign(Side::send, comm, {sendbuf, sendcounts, sdispls, sendtype});
    sends = typed_blocks(argument, sendtype);
    argument.assign(Side::receive, comm, {recvbuf, recvcounts, rdispls, recvtype});
    receives = typed_blocks(argument, recvtype);
  });
  return plan_typed_exchange(context, {sendbuf, sends}, {recvbuf, receives}, options, failure);
}

std::vector<TypedBlock> blocks_of_all(std::span<const int> counts, std::span<const int> displacements,
                                      std::span<const MPI_Datatype> types, int ranks) {
  if (std::ssize(counts) != ranks || std::ssize(displacements) != ranks || std::ssize(types) != ranks)
    throw InputError("alltoallw",
                     fmt::format("there are {} counts, {} displacements and {} types for {} ranks", counts.size(),
                                 displacements.size(), types.size(), ranks),
                     "give one of each for every rank");
  std::vector<TypedBlock> blocks;
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    if (counts[rank] != 0)  // MPI allows any type, also none, where there is nothing
      blocks.push_back({static_cast<Rank>(rank), displacements[rank], counts[rank], types[rank]});
  return blocks;
}

PersistentAlltoallv plan_alltoallw(const std::shared_ptr<Context>& context, const void* sendbuf,
                                   std::span<const int> sendcounts, std::span<const int> sdispls,
                                   std::span<const MPI_Datatype> sendtypes, void* recvbuf,
                                   std::span<const int> recvcounts, std::span<const int> rdispls,
                                   std::span<const MPI_Datatype> recvtypes, const ExchangeOptions& options) {
  std::vector<TypedBlock> sends, receives;
  Failure failure;
  attempt(failure, [&] {
    refuse_in_place(sendbuf, "alltoallw_init");
    sends = blocks_of_all(sendcounts, sdispls, sendtypes, context->layout.ranks());
    receives = blocks_of_all(recvcounts, rdispls, recvtypes, context->layout.ranks());
  });
  return plan_typed_exchange(context, {sendbuf, sends}, {recvbuf, receives}, options, failure);
}

}  // namespace commpass
