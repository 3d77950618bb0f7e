// Batches of which some ranks are in the next while others are not: against a clock that goes on in small steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <random>
#include <vector>

#include "model/cost/cost.hpp"
#include "model/cost/event_queue.hpp"
#include "model/support.hpp"

namespace commpass::overlap_test {
namespace {

using test::no_limit;

constexpr Seconds alpha = 1, alpha_next = 0.1, alpha_receive = 0.05;
constexpr double beta = 0.01, rate_out = 130, rate_in = 110;

Machine machine_with(std::optional<Bytes> rendezvous_from) {
  Machine machine;
  machine.name = "test";
  Protocol protocol{"all", no_limit, alpha, beta, alpha_next};
  protocol.beta_next_s_per_byte = 0;
  protocol.alpha_receive_s = alpha_receive;
  protocol.beta_receive_s_per_byte = 0;
  Channel channel{{protocol}};
  channel.rendezvous_from_bytes = rendezvous_from;
  test::set_channel(machine, standard_level::network, channel);
  machine.levels[standard_level::node].up_rate_bytes_per_s = rate_out;
  machine.levels[standard_level::node].down_rate_bytes_per_s = rate_in;
  return machine;
}

/// Every message is one of the network: the ranks of a node do not talk to each other.
Schedule random_schedule(const Layout& layout, int stages, std::mt19937& random) {
  Schedule schedule;
  schedule.ranks = layout.ranks();
  schedule.self_bytes.resize(static_cast<std::size_t>(layout.ranks()));
  for (int s = 0; s < stages; ++s) {
    auto& stage = schedule.stages.emplace_back();
    for (Rank from = 0; from < layout.ranks(); ++from)
      for (Rank to = 0; to < layout.ranks(); ++to) {
        if (layout.node(from) == layout.node(to) || random() % 3 != 0) continue;
        Message message;
        message.from = from;
        message.to = to;
        message.bytes = 1 + static_cast<Bytes>(random() % 200);
        message.blocks = 1;
        message.batch = static_cast<int>(random() % 2);
        message.round = message.batch + 1;
        stage.messages.push_back(message);
      }
    std::ranges::stable_sort(stage.messages, {}, [](const Message& m) { return std::pair(m.from, m.batch); });
  }
  return schedule;
}

/// What the model says, done by hand: at every tick each message that is there gets its part.
class TickingClock {
 public:
  /// @param wait  before each second batch of a stage
  TickingClock(const Schedule& schedule, const Layout& layout, bool awaits, Seconds wait)
      : layout_(layout), awaits_(awaits), wait_(wait), ranks_(static_cast<std::size_t>(schedule.ranks)) {
    for (const auto& stage : schedule.stages)
      for (int batch = 0; batch < 2; ++batch) {
        auto& moving = batches_.emplace_back();
        for (const auto& message : stage.messages)
          if (message.batch == batch) moving.push_back({message.from, message.to, static_cast<double>(message.bytes)});
      }
  }

  Seconds run() {
    for (long step = 0; !all_done(); ++step) {
      now_ = static_cast<double>(step) * tick;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) enter(rank);
      for (auto& batch : batches_) begin_moving(batch);
      move();
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) leave(rank);
    }
    Seconds latest = 0;
    for (const auto& rank : ranks_) latest = std::max(latest, rank.clock);
    return latest;
  }

 private:
  static constexpr Seconds tick = 1e-3, unknown = std::numeric_limits<double>::infinity();

  struct Moving {
    Rank from, to;
    double bytes;
    Seconds launched = unknown, moves_from = unknown, out_done = unknown, in_done = unknown;
    double left_out = bytes, left_in = bytes;

    bool is_there(Seconds now) const { return moves_from <= now; }
    Seconds arrival() const { return std::max({moves_from + beta * bytes, out_done, in_done}) + alpha_receive; }
    bool has_arrived() const { return out_done < unknown && in_done < unknown; }
  };
  struct State {
    std::size_t batch = 0;
    bool is_in = false;
    Seconds clock = 0, launched = 0;
  };

  bool all_done() const {
    return std::ranges::all_of(ranks_, [&](const State& s) { return s.batch == batches_.size(); });
  }

  void enter(std::size_t number) {
    auto& rank = ranks_[number];
    if (rank.is_in || rank.batch == batches_.size() || rank.clock > now_) return;
    rank.is_in = true;
    rank.launched = rank.clock;
    for (auto& message : batches_[rank.batch])
      if (message.from == static_cast<Rank>(number)) message.launched = rank.launched += alpha_next;
  }

  void begin_moving(std::vector<Moving>& batch) {
    for (auto& message : batch) {
      if (message.launched == unknown || message.moves_from < unknown) continue;
      Seconds begin = message.launched;
      if (awaits_) {
        const auto& receiver = ranks_[static_cast<std::size_t>(message.to)];
        if (&batches_[std::min(receiver.batch, batches_.size() - 1)] != &batch || !receiver.is_in) continue;
        begin = std::max(begin, receiver.clock);
      }
      message.moves_from = begin + alpha - alpha_next - alpha_receive;
    }
  }

  void move() {
    std::vector<double> out(static_cast<std::size_t>(layout_.nodes()), 0), in(out);
    const auto node = [&](Rank rank) { return static_cast<std::size_t>(layout_.node(rank)); };
    const auto each_moving = [&](auto with) {
      for (auto& batch : batches_)
        for (auto& message : batch)
          if (message.is_there(now_)) with(message);
    };
    each_moving([&](const Moving& m) {
      out[node(m.from)] += m.left_out > 0;
      in[node(m.to)] += m.left_in > 0;
    });
    const auto serve = [&](double& left, Seconds& done, double rate, double sharing) {
      if (left <= 0) return;
      left -= tick * std::min(rate / sharing, 1 / beta);
      if (left <= 0) done = now_ + tick;
    };
    each_moving([&](Moving& m) {
      serve(m.left_out, m.out_done, rate_out, out[node(m.from)]);
      serve(m.left_in, m.in_done, rate_in, in[node(m.to)]);
    });
  }

  void leave(std::size_t number) {
    auto& rank = ranks_[number];
    if (!rank.is_in) return;
    Seconds end = rank.clock;
    std::vector<Seconds> arrivals;
    for (const auto& message : batches_[rank.batch]) {
      const bool sends = message.from == static_cast<Rank>(number), receives = message.to == static_cast<Rank>(number);
      if (!sends && !receives) continue;
      if (!message.has_arrived()) return;
      if (sends) end = std::max(end, message.arrival() - alpha_receive);
      if (receives) arrivals.push_back(message.arrival());
    }
    std::ranges::sort(arrivals);
    Seconds taken = rank.launched;
    for (const auto arrival : arrivals) taken = std::max(taken, arrival - alpha_receive) + alpha_receive;
    rank.clock = arrivals.empty() ? end : std::max(end, taken);
    rank.is_in = false;
    ++rank.batch;
    if (rank.batch % 2 == 1 && !batches_[rank.batch].empty()) rank.clock += wait_;
  }

  const Layout& layout_;
  bool awaits_;
  Seconds wait_;
  std::vector<State> ranks_;
  std::vector<std::vector<Moving>> batches_;
  Seconds now_ = 0;
};

// Events come in clusters, at one time, far behind all others, and while others are taken.
TEST(EventQueue, GivesEventsInOrderOfTime) {
  struct Event {
    Seconds when;
    int number;
  };
  std::mt19937 random(1);  // NOLINT: the same every time
  std::uniform_real_distribution<double> later(0, 1);
  EventQueue<Event> queue;
  std::priority_queue<Seconds, std::vector<Seconds>, std::greater<>> expected;
  int number = 0;
  const auto push = [&](Seconds when) {
    queue.push({when, number++});
    expected.push(when);
  };
  for (int i = 0; i < 20'000; ++i) push(i % 3 == 0 ? 5 : later(random));
  for (int taken = 0; !queue.empty(); ++taken) {
    const auto now = queue.pop().when;
    ASSERT_EQ(now, expected.top()) << taken;
    expected.pop();
    if (taken >= 30'000) continue;
    push(now);
    if (taken % 2 == 0) push(now + later(random) * (taken % 7 == 0 ? 1000 : 0.001));
  }
  EXPECT_TRUE(expected.empty());
  EXPECT_EQ(number, 65'000);
}

TEST(OverlappingBatches, ShareRatesAsInAClockOfSmallSteps) {
  std::mt19937 random(1);  // NOLINT: the same every time
  const auto layout = Layout::with_ppn(6, 2);
  for (int i = 0; i < 20; ++i)
    for (const bool awaits : {false, true}) {
      const auto schedule = random_schedule(layout, 3, random);
      auto machine = machine_with(awaits ? std::optional<Bytes>(0) : std::nullopt);
      machine.operations.skew_s = i % 2 == 0 ? 0 : 0.15;
      const auto expected = TickingClock(schedule, layout, awaits, *machine.operations.skew_s * std::sqrt(6)).run();
      EXPECT_NEAR(evaluate(schedule, layout, machine).seconds, expected, 0.003 * expected) << i << ' ' << awaits;
    }
}

// Rank 0 sends 100 bytes, which move from 0.95 s on; rank 1 gets 10 from rank 3, then sends 50, and is done with these
// before.
TEST(OverlappingBatches, LetALateMessageSlowDownAnEarlierOne) {
  const auto layout = Layout::with_ppn(6, 2);
  Schedule schedule;
  schedule.ranks = 6;
  schedule.self_bytes.resize(6);
  const auto add = [&](Rank from, Rank to, Bytes bytes) {
    Message message;
    message.from = from;
    message.to = to;
    message.bytes = bytes;
    message.blocks = 1;
    schedule.stages.back().messages.push_back(message);
  };
  auto machine = machine_with(std::nullopt);
  machine.levels[standard_level::node].down_rate_bytes_per_s = std::numeric_limits<double>::infinity();
  machine.levels[standard_level::node].up_rate_bytes_per_s = 20;
  schedule.stages.resize(1);
  add(0, 2, 100);
  add(3, 1, 10);
  const auto alone = evaluate(schedule, layout, machine).seconds;
  EXPECT_NEAR(alone, 0.95 + 100 / 20.0 + alpha_receive, 1e-9);
  schedule.stages.resize(2);
  add(1, 4, 50);
  const auto cost = evaluate(schedule, layout, machine);
  EXPECT_NEAR(cost.seconds, 0.95 + 150 / 20.0 + alpha_receive, 1e-9);
  EXPECT_NEAR(cost.stages[0].seconds, cost.seconds, 1e-9) << "the message that is last is of the first stage";
}

}  // namespace
}  // namespace commpass::overlap_test
