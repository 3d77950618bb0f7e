// The calls of MPI that are taken over, for C. Each has MPI's own arguments.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "model/error.hpp"
#include "preload/call_blocks.hpp"
#include "preload/call_site.hpp"
#include "preload/record_file.hpp"
#include "preload/report.hpp"
#include "preload/settings.hpp"
#include "preload/taken_communicator.hpp"
#include "preload/takeover.hpp"

namespace {

using commpass::AlltoallvOptions;
using commpass::CallSite;
using commpass::Counts;
using commpass::InterposedCall;
using commpass::SentBlocks;
using commpass::take_over;
using commpass::TakenCommunicator;
using commpass::TypedCounts;

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
      [&](const TakenCommunicator& of, SentBlocks& sent) { add_neighbors(sent, of.neighbors, sendcount, sendtype); },
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
  const CallSite site(__builtin_return_address(0));
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  return take_over(
      InterposedCall::alltoall, comm, is_in_place,
      [&](const TakenCommunicator&, SentBlocks& sent) { add_equal(sent, recvcount, recvtype); },
      [&] { return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); },
      [&](TakenCommunicator& of) {
        of.engines->alltoallv->alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, {});
      });
}

int MPI_Alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype, void* recvbuf,
                  const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  const CallSite site(__builtin_return_address(0));
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  return take_over(
      InterposedCall::alltoallv, comm, is_in_place,
      [&](const TakenCommunicator&, SentBlocks& sent) {
        const Counts receives{recvcounts, recvtype};
        add_counts(sent, comm, is_in_place ? receives : Counts{sendcounts, sendtype}, receives);
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
  const CallSite site(__builtin_return_address(0));
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  return take_over(
      InterposedCall::alltoallw, comm, is_in_place,
      [&](const TakenCommunicator&, SentBlocks& sent) {
        const TypedCounts receives{recvcounts, recvtypes};
        add_typed(sent, comm, is_in_place ? receives : TypedCounts{sendcounts, sendtypes}, receives);
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
  const CallSite site(__builtin_return_address(0));
  return take_over_equal_blocks(InterposedCall::neighbor_alltoall, PMPI_Neighbor_alltoall, sendbuf, sendcount, sendtype,
                                recvbuf, recvcount, recvtype, comm);
}

int MPI_Neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm) {
  const CallSite site(__builtin_return_address(0));
  return take_over_equal_blocks(InterposedCall::neighbor_allgather, PMPI_Neighbor_allgather, sendbuf, sendcount,
                                sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Neighbor_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                           void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                           MPI_Comm comm) {
  const CallSite site(__builtin_return_address(0));
  return take_over(
      InterposedCall::neighbor_alltoallv, comm, false,
      [&](const TakenCommunicator& of, SentBlocks& sent) {
        add_neighbor_counts(sent, of.neighbors, {sendcounts, sendtype}, recvcounts);
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
  const CallSite site(__builtin_return_address(0));
  return take_over(
      InterposedCall::neighbor_allgatherv, comm, false,
      [&](const TakenCommunicator& of, SentBlocks& sent) { add_neighbors(sent, of.neighbors, sendcount, sendtype); },
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
  const auto asked = commpass::settings();
  commpass::switch_off();
  commpass::release_all();
  if (asked.records()) commpass::write_record_file(MPI_COMM_WORLD, asked.record_file);
  commpass::write_report();
  return PMPI_Finalize();
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
