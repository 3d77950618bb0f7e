// Persistent neighbour exchanges: edges to oneself, of nothing, several of a pair, of the same bytes, of bytes that
// overlap.
#include <algorithm>
#include <vector>

#include "runtime/random/persistent_trial.hpp"
#include "runtime/random/strategies.hpp"

namespace commpass::random_test {

namespace {

/// Bytes of a rank's send buffer that go to a place in another's receive buffer.
struct Moved {
  Rank source = 0, destination = 0;
  Bytes from = 0, to = 0, bytes = 0;
};

/// What all ranks move: known to each, and so what it must get.
struct NeighborProblem {
  std::vector<Moved> edges;
  std::vector<Bytes> sent_bytes, received_bytes;  ///< sizes of the buffers

  NeighborProblem(Draw& draw, int ranks)
      : sent_bytes(static_cast<std::size_t>(ranks), guard_bytes), received_bytes(sent_bytes) {
    const int most_of_pair = draw.of({1, 1, 2, 4, 20}), density = draw.small(4);
    const bool shares = draw.one_in(2), overlaps = draw.one_in(4);
    for (Rank source = 0; source < ranks; ++source)
      for (Rank destination = 0; destination < ranks; ++destination) {
        if (draw.small(3) >= density) continue;
        for (int count = 1 + draw.small(most_of_pair); count > 0; --count)
          add_edge(draw, source, destination, shares, overlaps);
      }
    draw.shuffle(edges);
    std::vector<std::size_t> landing;
    for (std::size_t i = 0; i < edges.size(); ++i) landing.push_back(i);
    draw.shuffle(landing);
    for (const auto i : landing) {
      auto& end = received_bytes[static_cast<std::size_t>(edges[i].destination)];
      end += draw.of({0, 0, 1, 5});
      edges[i].to = end;
      end += edges[i].bytes;
    }
    for (auto* sizes : {&sent_bytes, &received_bytes})
      for (auto& bytes : *sizes) bytes += guard_bytes;
  }

 private:
  void add_edge(Draw& draw, Rank source, Rank destination, bool shares, bool overlaps) {
    auto& end = sent_bytes[static_cast<std::size_t>(source)];
    Moved edge{source, destination, end + draw.of({0, 0, 3}), 0, draw_bytes(draw)};
    std::vector<Moved> others;
    for (const auto& other : edges)
      if (other.source == source) others.push_back(other);
    if (!others.empty() && shares && draw.one_in(2)) {
      const auto& other = draw.pick(others);
      edge.from = other.from;
      edge.bytes = other.bytes;
    } else if (overlaps && draw.one_in(2)) {
      edge.from = guard_bytes + draw.below(std::max<Bytes>(1, end - guard_bytes));
    }
    end = std::max(end, edge.from + edge.bytes);
    edges.push_back(edge);
  }
};

class NeighborTrial : public PersistentTrial<Exchange> {
 public:
  NeighborTrial(Place& its_place, std::uint64_t its_key, Draw draw)
      : PersistentTrial(its_place, Kind::neighbor, its_key), problem_(draw, place.ranks) {
    options_ = draw_options(draw);
    strategy = options_.strategy;
    const auto r = static_cast<std::size_t>(place.rank);
    sent_.resize(static_cast<std::size_t>(problem_.sent_bytes[r]));
    received_.resize(static_cast<std::size_t>(problem_.received_bytes[r]));
  }

  void plan() override {
    std::vector<SendEdge> sends;
    std::vector<ReceiveEdge> receives;
    for (const auto& edge : problem_.edges) {
      if (edge.source == place.rank) sends.push_back({edge.destination, edge.from, edge.bytes});
      if (edge.destination == place.rank) receives.push_back({edge.source, edge.to, edge.bytes});
    }
    if (key % 2 == 0)
      std::ranges::stable_sort(receives, {}, &ReceiveEdge::source);  // only the order of those of a pair matters
    constexpr int again = 3;  // one in three is planned twice: the second time the pattern is known
    for (int plans = key % again == 0 ? 2 : 1; plans > 0; --plans)
      exchange_.emplace(
          place.communicator->neighbor_exchange(sent_.data(), sends, received_.data(), receives, options_));
    if (options_.strategy.empty()) strategy = "chosen " + exchange_->strategy();
  }

 private:
  Buffer expected(int repetition) const override {
    auto result = received_;
    for (const auto& edge : problem_.edges) {
      if (edge.destination != place.rank) continue;
      const auto source_key = sent_key(edge.source, repetition);
      for (Bytes i = 0; i < edge.bytes; ++i)
        result[static_cast<std::size_t>(edge.to + i)] = byte_at(source_key, edge.from + i);
    }
    return result;
  }
  ExchangeOptions draw_options(Draw& draw) const {
    ExchangeOptions options;
    options.strategy = draw_strategy(draw, *place.switches, *place.layout, Use::planned);
    options.model = draw.of({CostModel::burst, CostModel::burst, CostModel::postal, CostModel::max_rate});
    if (draw.one_in(3)) options.calls = draw.of({1.0, 10.0, 1e6});  // NOLINT: any numbers will do
    const bool has_closed_form = options.strategy.find("staggered") == std::string::npos;
    if (has_closed_form && draw.one_in(4)) options.most_edges_gathered = draw.below(4);  // NOLINT
    return options;
  }

  NeighborProblem problem_;
};

}  // namespace

std::unique_ptr<Trial> make_neighbor_trial(Place& place, std::uint64_t key) {
  return std::make_unique<NeighborTrial>(place, key, Draw(key));
}

}  // namespace commpass::random_test
