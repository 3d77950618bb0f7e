// A route: the rule by which a block travels from its source to its destination.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "model/machine/layout.hpp"

namespace commpass {

/// Bytes that `source` owes `destination`, or a fragment of them. Several blocks of one pair are told apart by `index`.
struct Block {
  static constexpr std::int32_t no_chunk = -1;

  Rank source = 0;
  Rank destination = 0;
  std::int32_t index = 0;
  std::int32_t chunk = no_chunk;  ///< which of the route's chunks it belongs to; set by Route::cut
  Bytes bytes = 0;
  Bytes offset = 0;              ///< of a fragment in its block
  Payload payload = no_payload;  ///< blocks of one source, payload, offset and size have the same bytes
  bool operator==(const Block&) const = default;
};

/// From which rank to which one a block goes: a fifth of a block to read.
struct BlockEnds {
  Rank source = 0, destination = 0;
};

/// What one stage of a route is called, and how many cyclic rounds it has.
struct StageInfo {
  std::string label;        ///< for people: "node digit", "dimension 2 of 3"
  int rounds = 0;           ///< messages of the stage have a round in 1 … rounds; 0: the stage has no rounds
  bool one_by_one = false;  ///< whatever the strategy says, rounds run one after another and messages are coalesced
  std::int64_t messages_max = 0;  ///< the coalesced messages of all ranks are no more; 0: rounds tell
  bool by_library = false;  ///< the MPI library's neighbourhood collective sends its messages, all of them at once
};

/// One message of an all-to-all with one block for every pair: its blocks, and the copies for it when
/// send and receive buffers hold their blocks in rank order (see Message in schedule.hpp).
struct UniformMessage {
  Rank to = 0;
  std::int64_t blocks = 0;
  std::int64_t pieces = 1;        ///< contiguous pieces at the sender; more than 1: packed
  std::int64_t final_blocks = 0;  ///< blocks that are at their destination now and are copied to the receive buffer
  std::int64_t final_pieces = 0;  ///< in this many pieces; 0: the message lands where it belongs
};

/// Some of the ranks `base` … `base` + `length` − 1, each `stride` after the one before, around.
struct Ring {
  Rank base = 0;
  int length = 1, stride = 1;

  static Ring of_one(Rank rank) { return {rank, 1, 1}; }

  /// The rank `steps` after `rank`, less than once around.
  Rank after(Rank rank, int steps) const {
    const int distance = rank - base + steps * stride;
    return base + (distance < length ? distance : distance - length);
  }
  /// After how many steps from `from` comes `to`? Less than once around; none: −1.
  int steps(Rank from, Rank to) const {
    if (to < base || to >= base + length) return -1;
    const int distance = to >= from ? to - from : to - from + length;
    return distance % stride == 0 ? distance / stride : -1;
  }
};

/// Messages of consecutive rounds that differ in nothing but their receivers, which lie on a ring.
struct UniformRun {
  UniformMessage first;
  int messages = 1;
  Ring ring;

  UniformRun(const UniformMessage& message)
      : first(message), ring(Ring::of_one(message.to)) {}  // NOLINT: a message is a run of one
  UniformRun(const UniformMessage& first_one, int count, const Ring& around)
      : first(first_one), messages(count), ring(around) {}

  UniformMessage message(int i) const {
    auto result = first;
    result.to = ring.after(first.to, i);
    return result;
  }
};

/// See Route::turn.
inline std::int64_t far_first_turn(const Layout& layout, Rank from, Rank to) {
  const auto around = [](int steps, int length) { return steps < 0 ? steps + length : steps; };
  const int nodes = layout.nodes(), most = layout.max_ppn();
  const int node = around(layout.node(to) - layout.node(from), nodes);
  return std::int64_t{node == 0 ? nodes : node} * most + around(layout.local(to) - layout.local(from), most);
}

/// Where blocks go in each stage. The rule is the same on every rank and depends on nothing but its arguments and
/// the tables that the route was made with.
///
/// After the last stage every block is at its destination, and a block that is there stays there.
class Route {
 public:
  virtual ~Route() = default;

  virtual const std::vector<StageInfo>& stages() const = 0;

  /// Cuts blocks into fragments and assigns these to chunks, before the first stage. Most routes do neither.
  /// @param blocks  all blocks of one or more sources, none to the source itself, sorted as sort_blocks does; stays
  /// sorted
  /// @throws Error if the route was made for another pattern
  virtual void cut([[maybe_unused]] std::vector<Block>& blocks) const {}
  /// Does cut() do anything?
  virtual bool cuts() const { return false; }

  /// The rank that holds `block` after stage `stage`, given that `at` holds it before. `at` itself: the block stays.
  virtual Rank next(const Block& block, Rank at, int stage) const = 0;

  /// next() of many blocks: to[i] becomes next(blocks[i], at[i], stage). Schedules of large patterns ask this way;
  /// routes that are asked often answer without a virtual call for each block.
  virtual void next_of_each(std::span<const Block> blocks, std::span<const Rank> at, int stage,
                            std::span<Rank> to) const {
    for (std::size_t i = 0; i < blocks.size(); ++i) to[i] = next(blocks[i], at[i], stage);
  }

  /// The same where the way of a block depends on nothing but its ends.
  /// @return false: not supported; the caller falls back to next_of_each
  virtual bool next_of_ends([[maybe_unused]] std::span<const BlockEnds> ends, [[maybe_unused]] std::span<const Rank> at,
                            [[maybe_unused]] int stage, [[maybe_unused]] std::span<Rank> to) const {
    return false;
  }

  /// Where a block of `source` for `destination` is after each stage. For callers with very many blocks.
  /// @param after  as many as there are stages
  virtual void way(Rank source, Rank destination, std::span<Rank> after) const;

  /// The round of a message of stage `stage`, in 1 … stages()[stage].rounds; 0 where the stage has no rounds.
  /// Sender and receiver compute the same, so they agree on the batch of a window.
  virtual int round(Rank from, Rank to, int stage) const = 0;

  /// The order in which a rank sends messages in flight at once, and expects those of others. Far first: messages to
  /// other nodes take longest to arrive. They go to the next node first, and there to the same local rank first, so
  /// that ranks which all send to all never meet at a receiver. The same for all of a route without a layout. Not for
  /// the batches of a window, which are of consecutive rounds, in whose order ranks do not meet either.
  std::int64_t turn(Rank from, Rank to) const { return seats_ ? far_first_turn(*seats_, from, to) : 0; }
  /// Tells where ranks sit; the same on every rank. make_route does.
  void seat(const Layout& layout) { seats_ = layout; }

  /// Do large messages leave before smaller ones, whatever their turns? (size_class, model/schedule/schedule.hpp)
  bool sends_large_first() const { return sends_large_first_; }
  void send_large_first() { sends_large_first_ = true; }

  /// The ranks with which `rank` may exchange messages in stage `stage`, whatever the blocks, ascending. Both ways:
  /// each of them has `rank` among its own. For exchanges whose receivers do not know their senders.
  /// @throws NotApplicable if the route cannot tell
  virtual std::vector<Rank> peers(Rank rank, int stage) const;
  /// The ranks that exchange messages with `rank` in stage `stage`, directly or through others, and `rank`, ascending.
  /// @throws NotApplicable if the route cannot tell
  virtual std::vector<Rank> group(Rank rank, int stage) const;

  /// The messages that `rank` sends in stage `stage` of an all-to-all with equal blocks, for closed forms: few runs
  /// where they are alike, so that very many ranks take no longer than a few. Exact where the address is full and the
  /// layout even; elsewhere an estimate.
  /// @throws NotApplicable if the route has no closed form
  virtual std::vector<UniformRun> uniform_runs(Rank rank, int stage) const = 0;
  /// The same, message by message.
  std::vector<UniformMessage> uniform_messages(Rank rank, int stage) const;

 protected:
  Route() = default;
  Route(const Route&) = default;
  Route& operator=(const Route&) = default;

 private:
  std::optional<Layout> seats_;
  bool sends_large_first_ = false;
};

/// Is the exchange left to the MPI library?
inline bool is_run_by_library(const Route& route) {
  return std::ranges::any_of(route.stages(), &StageInfo::by_library);
}

}  // namespace commpass
