#include "runtime/rank_data.hpp"

#include <algorithm>

namespace commpass {

RankData data_of(const Pattern& pattern, Rank rank) {
  RankData data;
  for (const auto& edge : pattern.edges) {
    if (edge.source == rank) data.sends.push_back({edge.destination, 0, edge.bytes});
    if (edge.destination == rank) data.receives.push_back({edge.source, 0, edge.bytes});
  }
  std::ranges::stable_sort(data.sends, {}, &SendEdge::destination);
  std::ranges::stable_sort(data.receives, {}, &ReceiveEdge::source);
  const auto place = [](auto& edges) {
    Bytes end = 0;
    for (auto& edge : edges) {
      edge.offset = end;
      end += edge.bytes;
    }
    return static_cast<std::size_t>(end);
  };
  data.send_buffer.resize(place(data.sends));
  data.receive_buffer.resize(place(data.receives));
  return data;
}

}  // namespace commpass
