#include "runtime/mpi/rank_data.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace commpass {

namespace {

/// Which bytes each edge has: the number of the first edge with the same ones.
std::vector<std::size_t> contents_of(const Pattern& pattern) {
  std::map<std::pair<Rank, Payload>, std::size_t> first;
  std::vector<std::size_t> contents;
  for (const auto& edge : pattern.edges) {
    const auto own = contents.size();
    contents.push_back(edge.payload == no_payload ? own
                                                  : first.try_emplace({edge.source, edge.payload}, own).first->second);
  }
  return contents;
}

}  // namespace

RankData data_of(const Pattern& pattern, Rank rank) {
  const auto contents = contents_of(pattern);
  std::vector<std::size_t> sent, received;  // edges
  for (std::size_t i = 0; i < pattern.edges.size(); ++i) {
    if (pattern.edges[i].source == rank) sent.push_back(i);
    if (pattern.edges[i].destination == rank) received.push_back(i);
  }
  std::ranges::stable_sort(sent, {}, [&](std::size_t i) { return pattern.edges[i].destination; });
  std::ranges::stable_sort(received, {}, [&](std::size_t i) { return pattern.edges[i].source; });

  RankData data;
  Bytes end = 0;
  std::map<std::size_t, Bytes> offsets;
  for (const auto i : sent) {
    const auto& edge = pattern.edges[i];
    const auto [offset, is_new] = offsets.try_emplace(contents[i], end);
    if (is_new) end += edge.bytes;
    data.sends.push_back({edge.destination, offset->second, edge.bytes});
    data.sent.push_back(contents[i]);
  }
  data.send_buffer.resize(static_cast<std::size_t>(end));
  end = 0;
  for (const auto i : received) {
    const auto& edge = pattern.edges[i];
    data.receives.push_back({edge.source, end, edge.bytes});
    data.received.push_back(contents[i]);
    end += edge.bytes;
  }
  data.receive_buffer.resize(static_cast<std::size_t>(end));
  return data;
}

}  // namespace commpass
