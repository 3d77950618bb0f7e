// Neighbourhood collectives that the MPI library gets wrong, as calls that it gets right: of MPI_Neighbor_alltoallw, on
// the program's communicator, with the places of received blocks in another order. The request is the library's own, so
// it makes progress wherever any other does.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <new>
#include <vector>

#include "preload/kept_types.hpp"
#include "preload/matching_order.hpp"
#include "preload/neighbor_places.hpp"
#include "preload/taken_communicator.hpp"

namespace commpass {

/// The calls of a kind on a communicator. @return null: the library's own call is right, or nothing else is
inline const Mending* mending_of(InterposedCall kind, MPI_Comm comm) {
  const auto& found = place_of_found(kind, comm);
  return is_valid(found, kind, comm) ? found.mending : nullptr;
}

class MendedCall {
 public:
  MendedCall(const Mending& mending, MPI_Comm comm) : mending_(mending), comm_(comm), way_(CallWay::blocking) {}
  MendedCall(const Mending& mending, MPI_Comm comm, MPI_Request* request)
      : mending_(mending), comm_(comm), way_(CallWay::nonblocking), request_(request) {}
  MendedCall(const Mending& mending, MPI_Comm comm, MPI_Info info, MPI_Request* request)
      : mending_(mending), comm_(comm), way_(CallWay::persistent), info_(info), request_(request) {}

  /// @param sends, receives  places with displacements in elements. @return a code of MPI
  template <class Sends, class Receives>
  int run(const void* sendbuf, Sends sends, MPI_Datatype sendtype, void* recvbuf, Receives receives,
          MPI_Datatype recvtype) const {
    return run_typed(sendbuf, places_in_bytes(sends, sendtype), same_types(sendtype), recvbuf,
                     places_in_bytes(receives, recvtype), same_types(recvtype));
  }

  /// Of a type for each place, with displacements in bytes.
  template <class Sends, class SendType, class Receives, class ReceiveType>
  int run_typed(const void* sendbuf, Sends sends, SendType sendtype, void* recvbuf, Receives receives,
                ReceiveType recvtype) const {
    try {
      // Libraries that need this copy counts and displacements at once.
      thread_local Side send, receive;
      send.list(mending_.send_places, sends, sendtype);
      receive.list(mending_.receive_places, receives, recvtype);
      const bool is_done_at_once = way_ == CallWay::blocking;
      const auto* const sendtypes = is_done_at_once ? send.types.data() : keep_types(send.types);
      const auto* const recvtypes = is_done_at_once ? receive.types.data() : keep_types(receive.types);
      return library_alltoallw(way_,
                               {sendbuf, send.counts.data(), send.displacements.data(), sendtypes, recvbuf,
                                receive.counts.data(), receive.displacements.data(), recvtypes},
                               comm_, info_, request_);
    } catch (const std::bad_alloc&) {
      PMPI_Comm_call_errhandler(comm_, MPI_ERR_NO_MEM);
      return MPI_ERR_NO_MEM;
    }
  }

 private:
  struct Side {
    std::vector<LibraryCount> counts = {};
    std::vector<MPI_Aint> displacements = {};
    std::vector<MPI_Datatype> types = {};

    template <class Places, class Type>
    void list(const std::vector<int>& order, Places places, Type type) {
      counts.clear();
      displacements.clear();
      types.clear();
      for (const int number : order) {
        const auto place = static_cast<std::size_t>(number);
        const NeighborPlace here = places(place);
        counts.push_back(static_cast<LibraryCount>(here.count));
        displacements.push_back(static_cast<MPI_Aint>(here.displacement));
        types.push_back(type(place));
      }
    }
  };

  const Mending& mending_;
  MPI_Comm comm_;
  CallWay way_;
  MPI_Info info_ = MPI_INFO_NULL;
  MPI_Request* request_ = nullptr;
};

}  // namespace commpass
