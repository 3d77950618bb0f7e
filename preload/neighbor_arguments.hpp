// The arguments of a neighbourhood's collective as those of an all-to-all among all ranks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "preload/taken_communicator.hpp"

namespace commpass {

/// What a rank's arguments say of one neighbour.
struct NeighborPlace {
  Bytes count, displacement;
};

// What they say of a place on one side: as many elements for each, one after another; the same ones for all; or listed.
inline auto equal_places(Bytes count) {
  return [=](std::size_t place) { return NeighborPlace{count, static_cast<Bytes>(place) * count}; };
}
inline auto same_places(Bytes count) {
  return [=](std::size_t) { return NeighborPlace{count, 0}; };
}
template <class Count, class Displacement>
auto listed_places(const Count* counts, const Displacement* displacements) {
  return [=](std::size_t place) { return NeighborPlace{counts[place], displacements[place]}; };
}

/// As an all-to-all in which ranks that are no neighbours have nothing. What was set is cleared again, also when the
/// exchange throws.
class NeighborArguments {
 public:
  template <class Sends, class Receives>
  NeighborArguments(TakenCommunicator& of, Sends sends, Receives receives) : of_(of) {
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

  /// Of a type for each place, with displacements in bytes.
  void run(const void* sendbuf, const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Datatype* recvtypes) {
    const auto& all = of_.neighbors;
    set_types(all.destinations, all.destination_places, sendtypes, of_.send_types);
    set_types(all.sources, all.source_places, recvtypes, of_.receive_types);
    of_.engines->alltoallw.run(*of_.engines->alltoallv, of_.engines->context->comm.get(), sendbuf,
                               {of_.send_counts, of_.send_displacements, of_.send_types}, recvbuf,
                               {of_.receive_counts, of_.receive_displacements, of_.receive_types}, AlltoallvOptions{});
  }

 private:
  template <class Side>
  static void set(const std::vector<int>& ranks, const std::vector<int>& places, Side side, std::vector<Bytes>& counts,
                  std::vector<Bytes>& displacements) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const auto rank = static_cast<std::size_t>(ranks[i]);
      const auto at = side(static_cast<std::size_t>(places[i]));
      counts[rank] = at.count;
      displacements[rank] = at.displacement;
    }
  }

  /// They stay: nobody looks at the type of nothing.
  static void set_types(const std::vector<int>& ranks, const std::vector<int>& places, const MPI_Datatype* listed,
                        std::vector<MPI_Datatype>& types) {
    for (std::size_t i = 0; i < ranks.size(); ++i)
      types[static_cast<std::size_t>(ranks[i])] = listed[static_cast<std::size_t>(places[i])];
  }

  TakenCommunicator& of_;
};

}  // namespace commpass
