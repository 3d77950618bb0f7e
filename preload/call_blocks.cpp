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

/// Negative counts are errors, which the program may have asked MPI to return.
Bytes bytes_of(int count, Bytes element) { return Bytes{std::max(count, 0)} * element; }

bool any(const int* counts, int peers) {
  return counts && std::any_of(counts, counts + peers, [](int count) { return count > 0; });
}

bool any(const int* counts, const std::vector<int>& places) {
  return std::ranges::any_of(places, [&](int place) { return counts[place] > 0; });
}

/// @param bytes  for a place in the arguments
template <class BytesFor>
void add_destinations(SentBlocks& sent, const Neighbors& neighbors, BytesFor bytes) {
  for (std::size_t i = 0; i < neighbors.destinations.size(); ++i)
    sent.add(neighbors.destinations[i], bytes(neighbors.destination_places[i]));
}

}  // namespace

void add_equal(SentBlocks& sent, int count, MPI_Datatype type) {
  sent.is_equal = true;
  sent.each = bytes_of(count, size_of(type));
}

void add_counts(SentBlocks& sent, MPI_Comm comm, Counts sends, Counts receives) {
  const int peers = peers_in(comm);
  const auto element = size_of(sends.type);
  for (Rank to = 0; sends.counts && to < peers; ++to) sent.add(to, bytes_of(sends.counts[to], element));
  sent.receives = any(receives.counts, peers);
}

void add_typed(SentBlocks& sent, MPI_Comm comm, TypedCounts sends, TypedCounts receives) {
  const int peers = peers_in(comm);
  for (Rank to = 0; sends.counts && to < peers; ++to)
    if (sends.counts[to] > 0) sent.add(to, bytes_of(sends.counts[to], size_of(sends.types[to])));
  sent.receives = any(receives.counts, peers);
}

void add_neighbors(SentBlocks& sent, const Neighbors& neighbors, int count, MPI_Datatype type) {
  const auto bytes = bytes_of(count, size_of(type));
  add_destinations(sent, neighbors, [&](int) { return bytes; });
  sent.receives = !neighbors.sources.empty();
}

void add_neighbor_counts(SentBlocks& sent, const Neighbors& neighbors, Counts sends, const int* receive_counts) {
  const auto element = size_of(sends.type);
  add_destinations(sent, neighbors, [&](int place) { return bytes_of(sends.counts[place], element); });
  sent.receives = any(receive_counts, neighbors.source_places);
}

void add_neighbor_typed(SentBlocks& sent, const Neighbors& neighbors, TypedCounts sends, const int* receive_counts) {
  add_destinations(sent, neighbors, [&](int place) {
    return sends.counts[place] > 0 ? bytes_of(sends.counts[place], size_of(sends.types[place])) : 0;
  });
  sent.receives = any(receive_counts, neighbors.source_places);
}

}  // namespace commpass
