// The arguments of a neighbourhood's collective as those of an all-to-all among all ranks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "preload/combined_types.hpp"
#include "preload/neighbor_places.hpp"
#include "preload/taken_communicator.hpp"

namespace commpass {

/// As an all-to-all in which ranks that are no neighbours have nothing, and one that is a neighbour several times has
/// one block. The entries that it sets are cleared again, also when the exchange throws.
template <class Sends, class Receives>
class NeighborArguments {
 public:
  NeighborArguments(TakenCommunicator& of, Sends sends, Receives receives)
      : of_(of), all_(*of.neighborhood), sends_(sends), receives_(receives) {}
  ~NeighborArguments() {
    for (const int rank : all_.destinations) all_.send_counts[at(rank)] = 0;
    for (const int rank : all_.sources) all_.receive_counts[at(rank)] = 0;
  }
  NeighborArguments(const NeighborArguments&) = delete;
  NeighborArguments& operator=(const NeighborArguments&) = delete;

  void run(const void* sendbuf, MPI_Datatype sendtype, void* recvbuf, MPI_Datatype recvtype) {
    if (all_.has_twice)
      return run_typed(sendbuf, places_in_bytes(sends_, sendtype), same_types(sendtype), recvbuf,
                       places_in_bytes(receives_, recvtype), same_types(recvtype));
    set(all_.destinations, all_.destination_places, sends_, all_.send_counts, all_.send_displacements);
    set(all_.sources, all_.source_places, receives_, all_.receive_counts, all_.receive_displacements);
    of_.engines->run({CallSide::v(sendbuf, all_.send_counts, all_.send_displacements, sendtype),
                      CallSide::v(recvbuf, all_.receive_counts, all_.receive_displacements, recvtype)},
                     {});
  }

  /// Of a type for each place, with displacements in bytes.
  void run(const void* sendbuf, const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Datatype* recvtypes) {
    run_typed(sendbuf, sends_, listed_types(sendtypes), recvbuf, receives_, listed_types(recvtypes));
  }

 private:
  template <class SendsInBytes, class SendType, class ReceivesInBytes, class ReceiveType>
  void run_typed(const void* sendbuf, SendsInBytes sends, SendType sendtype, void* recvbuf, ReceivesInBytes receives,
                 ReceiveType recvtype) {
    CombinedTypes combined;
    set(all_.destinations, all_.destination_places, sends, all_.send_counts, all_.send_displacements);
    set_types(all_.destinations, all_.destination_places, sends, sendtype,
              {all_.send_counts, all_.send_displacements, all_.send_types}, combined);
    set(all_.sources, all_.source_places, receives, all_.receive_counts, all_.receive_displacements);
    set_types(all_.sources, all_.source_places, receives, recvtype,
              {all_.receive_counts, all_.receive_displacements, all_.receive_types}, combined);
    of_.engines->run({CallSide::w(sendbuf, all_.send_counts, all_.send_displacements, all_.send_types),
                      CallSide::w(recvbuf, all_.receive_counts, all_.receive_displacements, all_.receive_types)},
                     {});
  }

  template <class Side>
  static void set(const std::vector<int>& ranks, const std::vector<int>& places, Side side, std::vector<Bytes>& counts,
                  std::vector<Bytes>& displacements) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const auto here = side(at(places[i]));
      counts[at(ranks[i])] = here.count;
      displacements[at(ranks[i])] = here.displacement;
    }
  }

  struct Arguments {
    std::vector<Bytes>&counts, &displacements;
    std::vector<MPI_Datatype>& types;
  };

  /// Types stay: a count of 0 makes its type irrelevant. Several blocks of a rank become one struct type.
  template <class Side, class Type>
  void set_types(const std::vector<int>& ranks, const std::vector<int>& places, Side side, Type type,
                 const Arguments& arguments, CombinedTypes& combined) {
    for (std::size_t i = 0; i < ranks.size(); ++i) arguments.types[at(ranks[i])] = type(at(places[i]));
    if (!all_.has_twice) return;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const auto here = side(at(places[i]));
      combined.add(ranks[i], here.count, here.displacement, type(at(places[i])));
    }
    combined.for_each_rank_met_twice([&](int rank, MPI_Datatype one) {
      arguments.counts[at(rank)] = 1;
      arguments.displacements[at(rank)] = 0;
      arguments.types[at(rank)] = one;
    });
  }

  TakenCommunicator& of_;
  CallNeighbors& all_;
  Sends sends_;
  Receives receives_;
};

}  // namespace commpass
