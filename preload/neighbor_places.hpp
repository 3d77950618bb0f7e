// The arguments of a neighbourhood's collective, place by place, whatever its form.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "preload/combined_types.hpp"

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

/// A side of one type, with displacements in bytes.
template <class Side>
auto places_in_bytes(Side side, MPI_Datatype type) {
  return [=, extent = extent_of(type)](std::size_t place) {
    const auto here = side(place);
    return NeighborPlace{here.count, here.displacement * extent};
  };
}

// The type of a place: the same for all, or listed.
inline auto same_types(MPI_Datatype type) {
  return [=](std::size_t) { return type; };
}
inline auto listed_types(const MPI_Datatype* types) {
  return [=](std::size_t place) { return types[place]; };
}

}  // namespace commpass
