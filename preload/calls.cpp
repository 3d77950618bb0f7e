// The calls of MPI that are taken over, for C. Each has MPI's own arguments.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "model/error.hpp"
#include "preload/report.hpp"
#include "preload/settings.hpp"
#include "preload/taken_communicator.hpp"
#include "preload/takeover.hpp"

namespace {

using commpass::AlltoallvOptions;
using commpass::InterposedCall;
using commpass::take_over;
using commpass::TakenCommunicator;

std::int64_t bytes_of(MPI_Datatype type, std::int64_t elements) {
  int size = 0;
  if (elements == 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &size) != MPI_SUCCESS) return 0;
  return size * elements;
}

std::int64_t sum_of(const int* counts, int ranks) {
  std::int64_t sum = 0;
  for (int i = 0; counts && i < ranks; ++i) sum += counts[i];
  return sum;
}

template <class Item>
std::span<const Item> of_ranks(const TakenCommunicator& of, const Item* items) {
  return items ? std::span(items, static_cast<std::size_t>(of.ranks)) : std::span<const Item>();
}

/// What a rank's arguments say of the neighbours on one side, by place.
struct Places {
  const int *counts, *displacements;
};

/// As an alltoallv among all ranks. What was set is cleared again, also when the exchange throws.
class NeighborArguments {
 public:
  NeighborArguments(TakenCommunicator& of, const Places& sends, const Places& receives) : of_(of) {
    const auto& all = of.neighbors;
    set(all.destinations, all.destination_places, sends, of.send_counts, of.send_displacements);
    set(all.sources, all.source_places, receives, of.receive_counts, of.receive_displacements);
  }
  ~NeighborArguments() {
    for (const int rank : of_.neighbors.destinations) of_.send_counts[static_cast<std::size_t>(rank)] = 0;
    for (const int rank : of_.neighbors.sources) of_.receive_counts[static_cast<std::size_t>(rank)] = 0;
  }
  NeighborArguments(const NeighborArguments&) = delete;
  NeighborArguments& operator=(const NeighborArguments&) = delete;

  void run(const void* sendbuf, MPI_Datatype sendtype, void* recvbuf, MPI_Datatype recvtype) {
    of_.engines->alltoallv->alltoallv(sendbuf, of_.send_counts, of_.send_displacements, sendtype, recvbuf,
                                      of_.receive_counts, of_.receive_displacements, recvtype, AlltoallvOptions{});
  }

 private:
  static void set(const std::vector<int>& ranks, const std::vector<int>& places, const Places& side,
                  std::vector<int>& counts, std::vector<int>& displacements) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const auto rank = static_cast<std::size_t>(ranks[i]), place = static_cast<std::size_t>(places[i]);
      counts[rank] = side.counts[place];
      displacements[rank] = side.displacements[place];
    }
  }

  TakenCommunicator& of_;
};

/// As many elements for each place, one after another, or the same ones for all.
class EqualPlaces {
 public:
  EqualPlaces(const std::vector<int>& places, int count, bool is_shared) {
    const int most = places.empty() ? 0 : places.back() + 1;
    for (int place = 0; place < most; ++place) {
      counts_.push_back(count);
      const std::int64_t begin = is_shared ? 0 : std::int64_t{place} * count;
      if (begin > std::numeric_limits<int>::max())
        throw commpass::InputError("a neighbourhood's collective", "there are 2^31 elements or more in all",
                                   "leave such calls to MPI by COMMPASS_MPI_CALLS");
      displacements_.push_back(static_cast<int>(begin));
    }
  }
  Places places() const { return {counts_.data(), displacements_.data()}; }

 private:
  std::vector<int> counts_, displacements_;
};

/// MPI_Neighbor_alltoall and MPI_Neighbor_allgather, whose arguments are alike.
int take_over_equal_blocks(InterposedCall kind, decltype(&PMPI_Neighbor_alltoall) library, const void* sendbuf,
                           int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                           MPI_Comm comm) {
  return take_over(
      kind, comm, false,
      [&](const TakenCommunicator& of) {
        return bytes_of(sendtype, std::ssize(of.neighbors.destinations) * sendcount);
      },
      [&] { return library(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); },
      [&](TakenCommunicator& of) {
        const bool is_shared = kind == InterposedCall::neighbor_allgather;
        const EqualPlaces sends(of.neighbors.destination_places, sendcount, is_shared),
            receives(of.neighbors.source_places, recvcount, false);
        NeighborArguments(of, sends.places(), receives.places()).run(sendbuf, sendtype, recvbuf, recvtype);
      });
}

}  // namespace

// MPI's own names, and MPI's own parameters.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm) {
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  return take_over(
      InterposedCall::alltoall, comm, is_in_place,
      [&](const TakenCommunicator&) { return bytes_of(recvtype, std::int64_t{recvcount} * commpass::peers_in(comm)); },
      [&] { return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); },
      [&](TakenCommunicator& of) {
        of.engines->alltoallv->alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, {});
      });
}

int MPI_Alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype, void* recvbuf,
                  const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  return take_over(
      InterposedCall::alltoallv, comm, is_in_place,
      [&](const TakenCommunicator&) {
        return is_in_place ? bytes_of(recvtype, sum_of(recvcounts, commpass::peers_in(comm)))
                           : bytes_of(sendtype, sum_of(sendcounts, commpass::peers_in(comm)));
      },
      [&] {
        return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
      },
      [&](TakenCommunicator& of) {
        of.engines->alltoallv->alltoallv(sendbuf, of_ranks(of, sendcounts), of_ranks(of, sdispls), sendtype, recvbuf,
                                         of_ranks(of, recvcounts), of_ranks(of, rdispls), recvtype, {});
      });
}

int MPI_Alltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                  void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                  MPI_Comm comm) {
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  return take_over(
      InterposedCall::alltoallw, comm, is_in_place,
      [&](const TakenCommunicator&) {
        const auto* const counts = is_in_place ? recvcounts : sendcounts;
        const auto* const types = is_in_place ? recvtypes : sendtypes;
        std::int64_t sum = 0;
        for (int i = 0, ranks = commpass::peers_in(comm); i < ranks; ++i) sum += bytes_of(types[i], counts[i]);
        return sum;
      },
      [&] {
        return PMPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
      },
      [&](TakenCommunicator& of) {
        of.engines->alltoallw.run(*of.engines->alltoallv, of.engines->context->comm.get(), sendbuf,
                                  {of_ranks(of, sendcounts), of_ranks(of, sdispls), of_ranks(of, sendtypes)}, recvbuf,
                                  {of_ranks(of, recvcounts), of_ranks(of, rdispls), of_ranks(of, recvtypes)}, {});
      });
}

int MPI_Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                          MPI_Datatype recvtype, MPI_Comm comm) {
  return take_over_equal_blocks(InterposedCall::neighbor_alltoall, PMPI_Neighbor_alltoall, sendbuf, sendcount, sendtype,
                                recvbuf, recvcount, recvtype, comm);
}

int MPI_Neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm) {
  return take_over_equal_blocks(InterposedCall::neighbor_allgather, PMPI_Neighbor_allgather, sendbuf, sendcount,
                                sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Neighbor_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                           void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                           MPI_Comm comm) {
  return take_over(
      InterposedCall::neighbor_alltoallv, comm, false,
      [&](const TakenCommunicator& of) {
        std::int64_t elements = 0;
        for (const int place : of.neighbors.destination_places) elements += sendcounts[place];
        return bytes_of(sendtype, elements);
      },
      [&] {
        return PMPI_Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                                       comm);
      },
      [&](TakenCommunicator& of) {
        NeighborArguments(of, {sendcounts, sdispls}, {recvcounts, rdispls}).run(sendbuf, sendtype, recvbuf, recvtype);
      });
}

int MPI_Neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  return take_over(
      InterposedCall::neighbor_allgatherv, comm, false,
      [&](const TakenCommunicator& of) {
        return bytes_of(sendtype, std::ssize(of.neighbors.destinations) * sendcount);
      },
      [&] {
        return PMPI_Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
      },
      [&](TakenCommunicator& of) {
        const EqualPlaces sends(of.neighbors.destination_places, sendcount, true);
        NeighborArguments(of, sends.places(), {recvcounts, displs}).run(sendbuf, sendtype, recvbuf, recvtype);
      });
}

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) commpass::agree_on_settings();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) commpass::agree_on_settings();
  return code;
}

int MPI_Comm_free(MPI_Comm* comm) {
  if (comm && !commpass::is_inside()) commpass::release(*comm);
  return PMPI_Comm_free(comm);
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
  if (comm && !commpass::is_inside()) commpass::release(*comm);
  return PMPI_Comm_disconnect(comm);
}

int MPI_Finalize() {
  // MPI runs callbacks of the program while it ends, which may call it and free communicators.
  commpass::switch_off();
  commpass::release_all();
  commpass::write_report();
  return PMPI_Finalize();
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
