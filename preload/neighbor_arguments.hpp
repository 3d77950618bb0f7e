// The arguments of a neighbourhood's collective as those of an alltoallv among all ranks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "model/error.hpp"
#include "preload/taken_communicator.hpp"

namespace commpass {

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
        throw InputError("a neighbourhood's collective", "there are 2^31 elements or more in all",
                         "leave such calls to MPI by COMMPASS_MPI_CALLS");
      displacements_.push_back(static_cast<int>(begin));
    }
  }
  Places places() const { return {counts_.data(), displacements_.data()}; }

 private:
  std::vector<int> counts_, displacements_;
};

}  // namespace commpass
