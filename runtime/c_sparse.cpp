// Sparse dynamic data exchanges from C.
#include <fmt/core.h>

#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "commpass/commpass.h"
#include "runtime/c_exchange.hpp"
#include "runtime/c_support.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/engines.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/mpi/typed_blocks.hpp"
#include "runtime/sparse/sparse_engine.hpp"

namespace {

using commpass::Bytes;
using commpass::CallSide;
using commpass::ElementType;
using commpass::InputError;
using commpass::ReceivedMessages;
using commpass::TypedBlocks;
using commpass::c::guarded;
using commpass::c::list;
using commpass::c::require_communicator;
using commpass::c::Truncated;

int narrow(Bytes number, const char* what) {
  if (number > std::numeric_limits<int>::max())
    throw InputError(what, fmt::format("{} is more than an int holds", number), "use the C++ interface");
  return static_cast<int>(number);
}

/// What a rank gives to a sparse exchange, and with which type it receives. Whatever is wrong with it is found out in
/// `sends`, so that it becomes the error of all ranks and none of them waits.
struct SparseArguments {
  int messages = 0;
  std::span<const int> destinations;
  CallSide given;  ///< equal: messages of one size, or v
  MPI_Datatype receive_type = MPI_DATATYPE_NULL;
  bool has_room = true;       ///< for the description of received messages
  bool is_allocated = false;  ///< by us

  bool is_constant() const { return given.shape == CallSide::Shape::equal; }

  commpass::SparseSends sends(MPI_Comm comm) const {
    const auto place = fmt::format("sparse exchange, rank {}", commpass::rank_in(comm));
    if (destinations.empty() && messages > 0)
      throw InputError(place, "there are messages and no destinations", "give dest");
    if (!has_room)
      throw InputError(place, "there is no place for received messages", "give pointers that are not null");
    const auto blocks = std::make_shared<TypedBlocks>();
    blocks->assign(place.c_str(), given, messages, comm, {}, "message");
    const ElementType type(given.type, comm), received(receive_type, comm);
    if (!blocks->are_contiguous()) commpass::require_host_memory(blocks->first_byte(given.buffer), place);
    if (is_allocated && received.size() > 0 && (received.begin() < 0 || received.extent() < 0))
      throw InputError("datatype",
                       "the data of an element of the receive type begin before it, or its elements go backwards",
                       "receive with another type, or into memory of your own");
    blocks->lay_out(blocks->are_contiguous() ? TypedBlocks::Places::users : TypedBlocks::Places::packed);
    commpass::SparseSends sends{blocks->buffer(given.buffer), {}, {}, {}};
    blocks->pack(given.buffer);
    if (is_constant()) sends.constant_bytes = given.count * type.size();
    for (std::size_t i = 0; i < blocks->size(); ++i)
      sends.edges.push_back({destinations[i], (*blocks)[i].place, blocks->bytes(i)});
    if (blocks->is_packed()) sends.holder = blocks;
    return sends;
  }
};

MPI_Comm mpi_of(commpass_comm comm) { return comm->engines.context->comm.get(); }

ReceivedMessages exchange(const SparseArguments& arguments, const char* strategy, commpass_comm comm) {
  const auto use = require_communicator(comm);
  const auto given = [&] { return arguments.sends(mpi_of(comm)); };
  return comm->engines.sparse->run(std::cref(given), arguments.is_constant(), {strategy ? strategy : "", {}});
}

Bytes elements_of(const commpass::ReceivedMessage& message, const ElementType& type) {
  const auto bytes = std::ssize(message.bytes);
  if (type.size() == 0 ? bytes > 0 : bytes % type.size() != 0)
    throw InputError("sparse exchange",
                     fmt::format("rank {} sends {} bytes, and an element has {}", message.source, bytes, type.size()),
                     "receive with a type of the sender's size");
  return type.size() == 0 ? 0 : bytes / type.size();
}

Bytes elements_of(const ReceivedMessages& received, const ElementType& type) {
  Bytes total = 0;
  for (const auto& message : received) total += elements_of(message, type);
  return total;
}

/// The places for received messages; null: not wanted.
struct Target {
  int* src;
  int* counts;
  int* displs;
  void* values;
};

void put(const ReceivedMessages& received, const ElementType& type, const Target& target) {
  Bytes begin = 0;
  for (std::size_t i = 0; i < received.size(); ++i) {
    const auto count = elements_of(received[i], type);
    target.src[i] = received[i].source;
    if (target.counts) target.counts[i] = narrow(count, "count of a message");
    if (target.displs) target.displs[i] = narrow(begin, "displacement of a message");
    type.unpack(received[i].bytes.data(), count, static_cast<std::byte*>(target.values) + begin * type.extent());
    begin += count;
  }
}

/// The same where the caller's memory may be that of a device.
void put_anywhere(const ReceivedMessages& received, const ElementType& type, Target target, commpass_comm comm) {
  const auto bytes = elements_of(received, type) * type.size();
  const auto device = bytes > 0 ? commpass::device_of(target.values) : std::nullopt;
  if (!device) return put(received, type, target);
  if (!type.is_contiguous())
    commpass::require_host_memory(target.values, "sparse exchange, receive side, datatype with gaps");
  const auto staged = comm->engines.sparse->staging(*device);
  staged->assign({{{0, bytes, 0}}, 0});
  void* const values = std::exchange(target.values, staged->host());
  put(received, type, target);
  staged->write(values, commpass::Ends::anywhere);
}

template <class Item>
Item* allocate(Bytes count) {
  auto* const memory = static_cast<Item*>(
      std::malloc(static_cast<std::size_t>(std::max<Bytes>(1, count)) * sizeof(Item)));  // NOLINT: for C
  if (!memory) throw std::bad_alloc();
  return memory;
}

/// Fills memory of our own.
void hand_out(const ReceivedMessages& messages, const ElementType& type, commpass_received* result) {
  struct Free {
    void operator()(commpass_received* received) const { commpass_received_free(received); }
  };
  *result = {};
  std::unique_ptr<commpass_received, Free> guard(result);
  const auto elements = elements_of(messages, type);
  result->nnz = narrow(std::ssize(messages), "number of messages");
  result->size = narrow(elements, "number of elements");
  result->src = allocate<int>(result->nnz);
  result->counts = allocate<int>(result->nnz);
  result->displs = allocate<int>(result->nnz);
  result->values = allocate<std::byte>(elements > 0 ? (elements - 1) * type.extent() + type.end() : 0);
  put(messages, type, {result->src, result->counts, result->displs, result->values});
  guard.release();
}

void require_room(const char* what, Bytes room, Bytes needed) {
  if (needed > room)
    throw Truncated("sparse exchange", fmt::format("{} {} have come, and there is room for {}", needed, what, room),
                    "give more room, or use the function that ends in _alloc");
}

/// Begins one. The arguments are read before it returns, values that are packed among them.
int start(const SparseArguments& arguments, const char* strategy, commpass_comm comm, commpass_exchange* exchange) {
  *exchange = nullptr;
  return guarded([&] {
    const auto use = require_communicator(comm);
    const auto given = [&] { return arguments.sends(mpi_of(comm)); };
    commpass::SparseExchange begun(commpass::insist([&] {
      return std::make_unique<commpass::SparseExchange::State>(comm->engines.sparse, std::cref(given),
                                                               arguments.is_constant(),
                                                               commpass::SparseOptions{strategy ? strategy : "", {}});
    }));
    *exchange = commpass::c::make_exchange(
        commpass::c::SparseInFlight{std::move(begun), arguments.receive_type, mpi_of(comm), {}});
  });
}

}  // namespace

void commpass_received_free(commpass_received* received) {
  std::free(received->src);     // NOLINT: from malloc
  std::free(received->counts);  // NOLINT
  std::free(received->displs);  // NOLINT
  std::free(received->values);  // NOLINT
  *received = {};
}

int commpass_alltoall_crs(int send_nnz, const int* dest, int sendcount, MPI_Datatype sendtype, const void* sendvals,
                          int* recv_nnz, int* src, int recvcount, MPI_Datatype recvtype, void* recvvals,
                          const char* strategy, commpass_comm comm) {
  return guarded([&] {
    const auto received = exchange({send_nnz, list(dest, send_nnz), CallSide::equal(sendvals, sendcount, sendtype),
                                    recvtype, recv_nnz != nullptr, false},
                                   strategy, comm);
    const ElementType type(recvtype, mpi_of(comm));
    const Bytes room = *recv_nnz;
    *recv_nnz = narrow(std::ssize(received), "number of messages");
    require_room("messages", room, *recv_nnz);
    require_room("elements", Bytes{recvcount} * *recv_nnz, elements_of(received, type));
    put_anywhere(received, type, {src, nullptr, nullptr, recvvals}, comm);
  });
}

int commpass_alltoall_crs_alloc(int send_nnz, const int* dest, int sendcount, MPI_Datatype sendtype,
                                const void* sendvals, MPI_Datatype recvtype, commpass_received* received,
                                const char* strategy, commpass_comm comm) {
  return guarded([&] {
    if (received) *received = {};
    const auto messages = exchange({send_nnz, list(dest, send_nnz), CallSide::equal(sendvals, sendcount, sendtype),
                                    recvtype, received != nullptr, true},
                                   strategy, comm);
    hand_out(messages, ElementType(recvtype, mpi_of(comm)), received);
  });
}

int commpass_alltoallv_crs(int send_nnz, const int* dest, const int* sendcounts, const int* sdispls,
                           MPI_Datatype sendtype, const void* sendvals, int* recv_nnz, int* recv_size, int* src,
                           int* recvcounts, int* rdispls, MPI_Datatype recvtype, void* recvvals, const char* strategy,
                           commpass_comm comm) {
  return guarded([&] {
    const auto received =
        exchange({send_nnz, list(dest, send_nnz),
                  CallSide::v(sendvals, list(sendcounts, send_nnz), list(sdispls, send_nnz), sendtype), recvtype,
                  recv_nnz != nullptr && recv_size != nullptr, false},
                 strategy, comm);
    const ElementType type(recvtype, mpi_of(comm));
    const Bytes messages = *recv_nnz, elements = *recv_size;
    *recv_nnz = narrow(std::ssize(received), "number of messages");
    *recv_size = narrow(elements_of(received, type), "number of elements");
    require_room("messages", messages, *recv_nnz);
    require_room("elements", elements, *recv_size);
    put_anywhere(received, type, {src, recvcounts, rdispls, recvvals}, comm);
  });
}

int commpass_alltoallv_crs_alloc(int send_nnz, const int* dest, const int* sendcounts, const int* sdispls,
                                 MPI_Datatype sendtype, const void* sendvals, MPI_Datatype recvtype,
                                 commpass_received* received, const char* strategy, commpass_comm comm) {
  return guarded([&] {
    if (received) *received = {};
    const auto messages =
        exchange({send_nnz, list(dest, send_nnz),
                  CallSide::v(sendvals, list(sendcounts, send_nnz), list(sdispls, send_nnz), sendtype), recvtype,
                  received != nullptr, true},
                 strategy, comm);
    hand_out(messages, ElementType(recvtype, mpi_of(comm)), received);
  });
}

int commpass_ialltoall_crs(int send_nnz, const int* dest, int sendcount, MPI_Datatype sendtype, const void* sendvals,
                           MPI_Datatype recvtype, const char* strategy, commpass_comm comm,
                           commpass_exchange* exchange) {
  return start({send_nnz, list(dest, send_nnz), CallSide::equal(sendvals, sendcount, sendtype), recvtype, true, true},
               strategy, comm, exchange);
}

int commpass_ialltoallv_crs(int send_nnz, const int* dest, const int* sendcounts, const int* sdispls,
                            MPI_Datatype sendtype, const void* sendvals, MPI_Datatype recvtype, const char* strategy,
                            commpass_comm comm, commpass_exchange* exchange) {
  return start(
      {send_nnz, list(dest, send_nnz),
       CallSide::v(sendvals, list(sendcounts, send_nnz), list(sdispls, send_nnz), sendtype), recvtype, true, true},
      strategy, comm, exchange);
}

int commpass_exchange_received(commpass_exchange exchange, commpass_received* received) {
  return guarded([&] {
    if (received) *received = {};
    auto& sparse = commpass::c::exchange_of<commpass::c::SparseInFlight>(exchange, "commpass_ialltoallv_crs");
    if (!received)
      throw InputError("sparse exchange", "there is no place for received messages", "give a pointer that is not null");
    sparse.wait();
    hand_out(*sparse.messages, ElementType(sparse.type, sparse.comm), received);
  });
}
