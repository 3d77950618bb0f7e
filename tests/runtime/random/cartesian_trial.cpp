// Cartesian neighbourhoods: all six operations, blocking and planned, of any types, with sizes that may differ from
// rank to rank, on grids of any shape.
#include <algorithm>
#include <vector>

#include "model/cartesian/draw_neighborhood.hpp"
#include "runtime/random/element.hpp"
#include "runtime/random/strategies.hpp"
#include "runtime/random/trial.hpp"

namespace commpass::random_test {

namespace {

enum class Shape { one, regular, v, w };

/// The blocks of one side of a rank, and where each of their bytes lies in the buffer.
struct Side {
  Shape shape = Shape::regular;
  std::vector<Element> elements;  ///< by slot; all the same unless the shape is w
  std::vector<int> counts, displacements;
  std::vector<MPI_Aint> byte_displacements;
  std::vector<MPI_Datatype> types;
  Bytes origin = 0, buffer_bytes = 0;

  // NOLINTBEGIN: any numbers will do
  /// @param units  by slot; of one and regular all the same
  Side(Draw& draw, Shape its_shape, const std::vector<int>& units, Family family, Freedom freedom) : shape(its_shape) {
    const auto common = draw_element(draw, family, freedom);
    const auto slots = units.size();
    for (std::size_t i = 0; i < slots; ++i)
      elements.push_back(shape == Shape::w ? draw_element(draw, family, freedom) : common);
    displacements.resize(slots);
    byte_displacements.resize(slots);
    Bytes before = 0, after = 0, end = 0;
    for (const auto& element : elements) {
      before = std::max(before, -element.least_offset());
      after = std::max(after, element.end_offset());
    }
    auto order = draw.order(static_cast<int>(slots));
    if (shape == Shape::regular) std::ranges::sort(order);
    for (std::size_t i = 0; i < slots; ++i) counts.push_back(units[i] * elements[i].in_unit);
    for (const int slot : order) {
      const auto i = static_cast<std::size_t>(slot);
      const Bytes step = shape == Shape::w ? 8 : elements[i].extent;
      if (shape == Shape::v) end += draw.of({0, 0, 1, 4}) * step;
      if (shape == Shape::w) end = (end + before + 7) / 8 * 8;
      displacements[i] = static_cast<int>(end / step);
      byte_displacements[i] = static_cast<MPI_Aint>(end);
      end += counts[i] * elements[i].extent + (shape == Shape::w ? after + 8 : 0);
    }
    for (const auto& element : elements) types.push_back(*element.type);
    origin = guard_bytes + (before + guard_bytes - 1) / guard_bytes * guard_bytes;
    buffer_bytes = origin + end + after + guard_bytes;
  }
  // NOLINTEND

  /// Calls `action` with the position of each byte of a block in the buffer, in order.
  template <class Action>
  void for_each_byte(std::size_t slot, Action action) const {
    const auto& element = elements[slot];
    const Bytes at =
        shape == Shape::w ? static_cast<Bytes>(byte_displacements[slot]) : displacements[slot] * element.extent;
    for (Bytes i = 0; i < counts[slot]; ++i)
      for (const auto offset : element.offsets) action(origin + at + i * element.extent + offset);
  }
};

/// What all ranks of a grid send and receive, in one operation.
struct CartesianProblem {
  bool is_gather = false, counts_differ = false;
  std::vector<Side> sends, receives;  ///< by rank

  // NOLINTBEGIN: any numbers will do
  CartesianProblem(Draw& draw, const Switches& switches, const Neighborhood& neighborhood) : is_gather(draw.one_in(2)) {
    const auto t = static_cast<std::size_t>(neighborhood.size());
    const auto shape = draw.of({Shape::regular, Shape::v, Shape::w});
    counts_differ = shape != Shape::regular && draw.one_in(4);
    const int most = draw.of({1, 2, 20, 300}), ranks = neighborhood.grid.ranks();
    const auto family =
        draw.of({Family::bytes, Family::doubles, Family::three_ints, Family::three_ints, Family::mixed});
    const auto freedom = draw_freedom(draw, switches);
    // By rank and neighbour; of a gather and a regular operation the same for all neighbours.
    std::vector<std::vector<int>> units;
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank > 0 && !counts_differ) {
        units.push_back(units.front());
        continue;
      }
      auto& own = units.emplace_back(t, draw.small(most + 1));
      if (shape != Shape::regular && !is_gather)
        for (auto& count : own) count = draw.one_in(4) ? 0 : draw.small(most + 1);
    }
    for (int rank = 0; rank < ranks; ++rank) {
      const auto& own = units[static_cast<std::size_t>(rank)];
      std::vector<int> received;
      for (std::size_t i = 0; i < t; ++i) {
        const auto source = neighborhood.source(rank, static_cast<int>(i));
        received.push_back(source ? units[static_cast<std::size_t>(*source)][i] : own[i]);
      }
      if (is_gather) sends.emplace_back(draw, Shape::one, std::vector{t > 0 ? own[0] : 0}, family, freedom);
      else sends.emplace_back(draw, shape, own, family, freedom);
      receives.emplace_back(draw, shape, received, family, freedom);
    }
  }
  // NOLINTEND

  template <class KeyOf>
  Buffer expected(const Neighborhood& neighborhood, Rank rank, const Buffer& received, KeyOf key_of_sender) const {
    auto result = received;
    for (int i = 0; i < neighborhood.size(); ++i) {
      const auto source = neighborhood.source(rank, i);
      if (!source) continue;
      const auto slot = static_cast<std::size_t>(i);
      std::vector<Bytes> places;
      receives[static_cast<std::size_t>(rank)].for_each_byte(slot, [&](Bytes at) { places.push_back(at); });
      std::size_t next = 0;
      const auto key = key_of_sender(*source);
      sends[static_cast<std::size_t>(*source)].for_each_byte(is_gather ? 0 : slot, [&](Bytes from) {
        result[static_cast<std::size_t>(places.at(next++))] = byte_at(key, from);
      });
    }
    return result;
  }
};

std::string draw_cartesian_strategy(Draw& draw, const Place& place, const test::DrawnNeighborhood& drawn) {
  const auto named = [&] {
    switch (draw.small(4)) {
      case 0: return std::string("trivial");
      case 1: return std::string("cartesian");
      default: return to_string(strategy_of(drawn.way));
    }
  };
  if (draw.one_in(2)) return draw_strategy(draw, *place.switches, *place.layout, Use::on_grid);
  auto strategy = named();
  if (draw.one_in(4)) strategy += ",window=" + std::to_string(1 + draw.small(4));
  if (draw.one_in(6)) strategy += ",staggered";
  if (draw.one_in(3)) strategy += ",shared";
  return strategy;
}

/// The arguments of a call. Of no neighbours there are neither types nor counts.
struct Arguments {
  const Side &s, &d;
  const void* out;
  void* in;
  CartInitOptions options;
  MPI_Datatype s_type = MPI_BYTE, d_type = MPI_BYTE;
  int s_count = 0, d_count = 0;

  Arguments(const CartesianProblem& problem, Rank rank, const Buffer& sent, Buffer& received)
      : s(problem.sends[static_cast<std::size_t>(rank)]),
        d(problem.receives[static_cast<std::size_t>(rank)]),
        out(sent.data() + s.origin),
        in(received.data() + d.origin),
        options{problem.counts_differ} {
    if (!s.types.empty()) s_type = s.types[0], s_count = s.counts[0];
    if (!d.types.empty()) d_type = d.types[0], d_count = d.counts[0];
  }
};

void run(CartNeighborhood& cart, bool is_gather, const Arguments& a) {
  if (is_gather) {
    if (a.d.shape == Shape::regular) cart.allgather(a.out, a.s_count, a.s_type, a.in, a.d_count, a.d_type);
    else if (a.d.shape == Shape::v)
      cart.allgatherv(a.out, a.s_count, a.s_type, a.in, a.d.counts, a.d.displacements, a.d_type, a.options);
    else cart.allgatherw(a.out, a.s_count, a.s_type, a.in, a.d.counts, a.d.byte_displacements, a.d.types, a.options);
  } else if (a.d.shape == Shape::regular) {
    cart.alltoall(a.out, a.s_count, a.s_type, a.in, a.d_count, a.d_type);
  } else if (a.d.shape == Shape::v) {
    cart.alltoallv(a.out, a.s.counts, a.s.displacements, a.s_type, a.in, a.d.counts, a.d.displacements, a.d_type,
                   a.options);
  } else {
    cart.alltoallw(a.out, a.s.counts, a.s.byte_displacements, a.s.types, a.in, a.d.counts, a.d.byte_displacements,
                   a.d.types, a.options);
  }
}

CartExchange init(CartNeighborhood& cart, bool is_gather, const Arguments& a) {
  if (is_gather) {
    if (a.d.shape == Shape::regular) return cart.allgather_init(a.out, a.s_count, a.s_type, a.in, a.d_count, a.d_type);
    if (a.d.shape == Shape::v)
      return cart.allgatherv_init(a.out, a.s_count, a.s_type, a.in, a.d.counts, a.d.displacements, a.d_type, a.options);
    return cart.allgatherw_init(a.out, a.s_count, a.s_type, a.in, a.d.counts, a.d.byte_displacements, a.d.types,
                                a.options);
  }
  if (a.d.shape == Shape::regular) return cart.alltoall_init(a.out, a.s_count, a.s_type, a.in, a.d_count, a.d_type);
  if (a.d.shape == Shape::v)
    return cart.alltoallv_init(a.out, a.s.counts, a.s.displacements, a.s_type, a.in, a.d.counts, a.d.displacements,
                               a.d_type, a.options);
  return cart.alltoallw_init(a.out, a.s.counts, a.s.byte_displacements, a.s.types, a.in, a.d.counts,
                             a.d.byte_displacements, a.d.types, a.options);
}

/// What both trials have: a neighbourhood, and its buffers.
class CartesianTrial : public Trial {
 protected:
  CartesianTrial(Place& its_place, Kind its_kind, Manner its_manner, std::uint64_t its_key, Draw draw)
      : Trial(its_place, its_kind, its_manner, its_key),
        drawn_(draw.small(1 << 30), place.ranks, true) {  // NOLINT: a seed
    options_.reorder = draw.one_in(3);                    // NOLINT: sometimes
    options_.strategy = draw_cartesian_strategy(draw, place, drawn_);
    strategy = options_.strategy;
  }

  const Neighborhood& neighborhood() const { return drawn_.neighborhood; }
  void make_neighborhood() { cart_.emplace(place.communicator->cart_neighborhood(neighborhood(), options_)); }

  /// The buffers of a repetition.
  void fill_buffers(const CartesianProblem& problem, int repetition, Buffer& sent, Buffer& received) const {
    const auto r = static_cast<std::size_t>(cart_->rank());
    sent.resize(static_cast<std::size_t>(problem.sends[r].buffer_bytes));
    received.resize(static_cast<std::size_t>(problem.receives[r].buffer_bytes));
    fill(sent, sent_key(cart_->rank(), repetition));
    fill(received, received_key(cart_->rank(), repetition));
  }
  Buffer expected(const CartesianProblem& problem, int repetition, const Buffer& received) const {
    return problem.expected(neighborhood(), cart_->rank(), received,
                            [&](Rank source) { return sent_key(source, repetition); });
  }

  test::DrawnNeighborhood drawn_;
  CartOptions options_;
  std::optional<CartNeighborhood> cart_;
};

class BlockingCartesianTrial : public CartesianTrial {
 public:
  BlockingCartesianTrial(Place& its_place, std::uint64_t its_key, Draw draw)
      : CartesianTrial(its_place, Kind::cartesian, Manner::blocking, its_key, draw) {}

  void plan() override {
    make_neighborhood();
    for (int i = 0; i < 2; ++i) {  // so that a call may find a plan that was kept, and another one may not
      Draw draw(key_of(key, i));
      problems_.emplace_back(draw, *place.switches, neighborhood());
    }
  }

  void begin(int repetition) override {
    const auto number = static_cast<std::size_t>(repetition % 2);
    const auto& problem = problems_[number];
    auto &sent = sent_[number], &received = received_[number];
    fill_buffers(problem, repetition, sent, received);
    const auto wanted = expected(problem, repetition, received);
    run(*cart_, problem.is_gather, {problem, cart_->rank(), sent, received});
    require_equal("the receive buffer", received, wanted);
    require_equal("the send buffer", sent, filled(sent_key(cart_->rank(), repetition), std::ssize(sent)));
  }

 private:
  std::vector<CartesianProblem> problems_;
  Buffer sent_[2], received_[2];
};

class PlannedCartesianTrial : public CartesianTrial {
 public:
  PlannedCartesianTrial(Place& its_place, std::uint64_t its_key, Draw draw)
      : CartesianTrial(its_place, Kind::cartesian_init, Manner::persistent, its_key, draw),
        problem_(draw, *place.switches, neighborhood()) {}

  void plan() override {
    make_neighborhood();
    fill_buffers(problem_, 0, sent_, received_);
    exchange_.emplace(init(*cart_, problem_.is_gather, {problem_, cart_->rank(), sent_, received_}));
    if (options_.strategy.empty()) strategy = "chosen " + exchange_->strategy();
  }
  void begin(int repetition) override {
    fill_buffers(problem_, repetition, sent_, received_);
    expected_ = expected(problem_, repetition, received_);
    repetition_ = repetition;
    exchange_->start();
  }
  bool test() override { return exchange_->test(); }
  void complete() override {
    exchange_->wait();
    check();
  }
  void drop() override {
    exchange_.reset();
    check();
  }
  void move_handle() override { move_over(exchange_); }

 private:
  void check() const {
    require_equal("the receive buffer", received_, expected_);
    require_equal("the send buffer", sent_, filled(sent_key(cart_->rank(), repetition_), std::ssize(sent_)));
  }

  CartesianProblem problem_;
  Buffer sent_, received_, expected_;
  std::optional<CartExchange> exchange_;
  int repetition_ = 0;
};

}  // namespace

std::unique_ptr<Trial> make_cartesian_trial(Place& place, Kind kind, std::uint64_t key) {
  if (kind == Kind::cartesian) return std::make_unique<BlockingCartesianTrial>(place, key, Draw(key));
  return std::make_unique<PlannedCartesianTrial>(place, key, Draw(key));
}

}  // namespace commpass::random_test
