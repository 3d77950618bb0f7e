#include "preload/call_blocks.hpp"

#include <algorithm>
#include <cstddef>

namespace commpass {

namespace {

Bytes size_of(MPI_Datatype type) {
  MPI_Count size = 0;
  if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS) return 0;
  return std::max(static_cast<Bytes>(size), Bytes{0});
}

/// Negative counts are errors, as in CountList.
Bytes bytes_of(Bytes count, Bytes element) { return std::max(count, Bytes{0}) * element; }

bool any(const CountList& counts, int peers) {
  for (int peer = 0; counts && peer < peers; ++peer)
    if (counts[peer] > 0) return true;
  return false;
}

bool any(const CountList& counts, const std::vector<int>& places) {
  return std::ranges::any_of(places, [&](int place) { return counts[place] > 0; });
}

/// Types are looked at only where there is something.
Bytes bytes_at(const TypedCounts& side, int place) {
  return side.counts[place] > 0 ? bytes_of(side.counts[place], size_of(side.types[place])) : 0;
}

template <class Side>
const Side& in_place_or(const void* sendbuf, const Side& sends, const Side& receives) {
  return sendbuf == MPI_IN_PLACE ? receives : sends;
}

const CallNeighbors& neighbors_of(const TakenCommunicator& of) {
  static const CallNeighbors none;
  return of.neighborhood ? *of.neighborhood : none;
}

/// @param bytes  for a place in the arguments
template <class BytesFor>
void add_destinations(SentBlocks& sent, const CallNeighbors& neighbors, BytesFor bytes) {
  for (std::size_t i = 0; i < neighbors.destinations.size(); ++i)
    sent.add(neighbors.destinations[i], bytes(neighbors.destination_places[i]));
}

}  // namespace

void EqualSends::operator()(const TakenCommunicator&, SentBlocks& sent) const {
  sent.is_equal = true;
  sent.each = bytes_of(count, size_of(type));
}

void CountedSends::operator()(const TakenCommunicator&, SentBlocks& sent) const {
  const auto& side = in_place_or(sendbuf, sends, receives);
  const int peers = peers_in(comm);
  const auto element = size_of(side.type);
  for (Rank to = 0; side.counts && to < peers; ++to) sent.add(to, bytes_of(side.counts[to], element));
  sent.receives = any(receives.counts, peers);
}

void TypedSends::operator()(const TakenCommunicator&, SentBlocks& sent) const {
  const auto& side = in_place_or(sendbuf, sends, receives);
  const int peers = peers_in(comm);
  for (Rank to = 0; side.counts && to < peers; ++to) sent.add(to, bytes_at(side, to));
  sent.receives = any(receives.counts, peers);
}

void NeighborSends::operator()(const TakenCommunicator& of, SentBlocks& sent) const {
  const auto bytes = bytes_of(count, size_of(type));
  add_destinations(sent, neighbors_of(of), [&](int) { return bytes; });
  sent.receives = !neighbors_of(of).sources.empty();
}

void NeighborCountedSends::operator()(const TakenCommunicator& of, SentBlocks& sent) const {
  const auto element = size_of(sends.type);
  add_destinations(sent, neighbors_of(of), [&](int place) { return bytes_of(sends.counts[place], element); });
  sent.receives = any(receive_counts, neighbors_of(of).source_places);
}

void NeighborTypedSends::operator()(const TakenCommunicator& of, SentBlocks& sent) const {
  add_destinations(sent, neighbors_of(of), [&](int place) { return bytes_at(sends, place); });
  sent.receives = any(receive_counts, neighbors_of(of).source_places);
}

}  // namespace commpass
