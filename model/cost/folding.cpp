#include "model/cost/folding.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace commpass {

namespace {

/// In a stage of no more rounds none are taken together; of more, as many at least are left of a batch, and of like
/// batches.
constexpr int enough_rounds = 64;

/// A batch, and those after it that are like it at every rank.
struct Batch {
  int first_round = 0, last_round = 0;
  std::uint32_t batches = 1;
};

/// The batches of a stage. Of many, those that are like the one before are taken together with it.
std::vector<Batch> batches_of(std::span<const AlikeRun> sent, const StageInfo& stage, Window window) {
  const int rounds = std::max(stage.rounds, 1), in_flight = rounds_in_flight(stage, window);
  const int count = (rounds + in_flight - 1) / in_flight;
  std::vector<bool> differs(static_cast<std::size_t>(count), rounds <= enough_rounds);  // from the batch before
  // Messages that begin with the round after `round` are new to its batch, unless this is the first of a batch; and to
  // the next one.
  const auto changes_after = [&](int round) {
    const auto batch = static_cast<std::size_t>(round / in_flight);
    for (auto b = batch; b < std::min(differs.size(), batch + (round % in_flight == 0 ? 1 : 2)); ++b) differs[b] = true;
  };
  if (rounds > enough_rounds) {
    differs.front() = true;
    if (rounds % in_flight != 0) differs.back() = true;
    for (const auto& alike_run : sent) {
      changes_after(std::max(alike_run.first.round - 1, 0));
      changes_after(alike_run.last_round());
    }
  }
  // The first like ones stay: ranks that come to them at different times wait for each other, and leave them at the
  // same time.
  const int settling = (enough_rounds + in_flight - 1) / in_flight;
  std::vector<Batch> batches;
  int last_change = 0;
  for (int b = 0; b < count; ++b) {
    if (differs[static_cast<std::size_t>(b)]) last_change = b;
    if (b < last_change + settling) batches.push_back({b * in_flight + 1, std::min((b + 1) * in_flight, rounds), 1});
    else ++batches.back().batches;
  }
  batches.front().first_round = 0;  // of two ranks that stand in for others, the digits may be equal
  return batches;
}

/// Adds the messages of a node to a stage, and takes like ones together.
class Folding {
 public:
  /// @param has_turns  is all in flight at once?
  Folding(const Layout& layout, std::vector<Batch> batches, int rounds_in_flight, bool has_turns, Stage& stage,
          std::vector<Folded>& folded)
      : layout_(layout),
        has_turns_(has_turns),
        batches_(std::move(batches)),
        together_((rounds_in_flight + enough_rounds - 1) / enough_rounds),
        stage_(stage),
        folded_(folded) {}

  /// Adds all messages of a rank.
  void add(std::span<const AlikeRun> sent) {
    const auto before = folded_.size();
    turns_.clear();
    append(sent);
    if (has_turns_) sort_by_turn(before);
  }

 private:
  void append(std::span<const AlikeRun> sent) {
    std::size_t b = 0;
    last_group_ = none;
    for (auto alike_run : sent) {
      sender_ = alike_run.first.from;
      alike_run.first.from = layout_.local(alike_run.first.from);
      while (b + 1 < batches_.size() && batches_[b + 1].first_round <= alike_run.first.round) ++b;
      for (auto own = b; own < batches_.size() && batches_[own].first_round <= alike_run.last_round(); ++own) {
        const int begin = std::max(alike_run.first.round, batches_[own].first_round),
                  end = std::min(alike_run.last_round(), batches_[own].last_round);
        alike_run.first.batch = static_cast<int>(own);
        for (int group = (begin - 1) / together_, round = begin; round <= end; ++group) {
          const int last = std::min(end, (group + 1) * together_);
          add(alike_run, group, round, last, batches_[own].batches);
          round = last + 1;
        }
      }
    }
  }

  /// As schedules do.
  void sort_by_turn(std::size_t begin) {
    const auto key = [&](std::size_t i) { return turns_[i - begin]; };
    order_.resize(folded_.size() - begin);
    std::iota(order_.begin(), order_.end(), begin);
    if (std::ranges::is_sorted(order_, {}, key)) return;
    std::ranges::stable_sort(order_, {}, key);
    const std::vector<Message> messages(stage_.messages.begin() + static_cast<std::ptrdiff_t>(begin),
                                        stage_.messages.end());
    const std::vector<Folded> folded(folded_.begin() + static_cast<std::ptrdiff_t>(begin), folded_.end());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      stage_.messages[begin + i] = messages[order_[i] - begin];
      folded_[begin + i] = folded[order_[i] - begin];
    }
  }

  /// Adds those in some rounds of a group, which are taken together.
  void add(const AlikeRun& alike_run, int group, int first_round, int last_round, std::uint32_t batches) {
    const auto messages = messages_in(alike_run, first_round, last_round);
    if (messages == 0) return;
    const int middle = group * together_ + together_ / 2 + 1;
    const bool has_middle = first_round <= middle && middle <= last_round;
    const bool joins = std::exchange(last_group_, group) == group && folded_.back().level == alike_run.level &&
                       alike(stage_.messages.back(), alike_run.first);
    if (joins) {
      folded_.back().messages += messages;
    } else {
      stage_.messages.push_back(alike_run.first);
      folded_.push_back({alike_run.level, messages, batches});
      turns_.push_back(0);
    }
    if (joins && !has_middle) return;
    auto& message = stage_.messages.back();
    message.round = has_middle ? middle : first_round;
    const Rank receiver = alike_run.ring.after(alike_run.first.to, message.round - alike_run.first.round);
    message.to = layout_.local(receiver);
    turns_.back() = far_first_turn(layout_, sender_, receiver);
  }

  static std::uint32_t messages_in(const AlikeRun& alike_run, int first_round, int last_round) {
    if (alike_run.share == 1) return static_cast<std::uint32_t>(last_round - first_round + 1);
    const auto until = [&](int round) { return static_cast<std::int64_t>(alike_run.share * round); };
    return static_cast<std::uint32_t>(until(last_round) - until(first_round - 1));
  }

  const Layout& layout_;
  bool has_turns_;
  std::vector<Batch> batches_;
  int together_;  // each has 1/64 of the time of its batch at most
  Stage& stage_;
  std::vector<Folded>& folded_;
  Rank sender_ = 0;
  std::vector<std::int64_t> turns_;  // of a rank's messages
  std::vector<std::size_t> order_;
  static constexpr int none = -2;  // round 0 may be in group −1
  int last_group_ = none;          // of the rank
};

}  // namespace

bool alike(const Message& a, const Message& b) {
  return a.batch == b.batch && a.bytes == b.bytes && a.packed_pieces == b.packed_pieces &&
         a.unpacked_pieces == b.unpacked_pieces && a.unpacked_bytes == b.unpacked_bytes &&
         a.is_all_from_sender == b.is_all_from_sender && a.is_all_for_receiver == b.is_all_for_receiver;
}

int rounds_in_flight(const StageInfo& stage, Window window) {
  const int rounds = std::max(stage.rounds, 1);
  return window.unlimited() ? rounds : std::min(rounds, window.rounds);
}

// On-node messages are few, so their places are looked up, unless the run is even shorter.
void append_run(const UniformRun& run, const Message& first, const Layout& layout, std::vector<AlikeRun>& result) {
  struct OnNode {
    int place;
    Level level;
  };
  if (run.messages == 1) {
    result.push_back({first, 1, run.ring, layout.level(first.from, first.to)});
    return;
  }
  std::vector<OnNode> on_node;
  const auto add = [&](int place, Rank to) {
    if (layout.node(to) == layout.node(first.from)) on_node.push_back({place, layout.level(first.from, to)});
  };
  const auto mates = layout.ranks_of(layout.node(first.from));
  if (run.messages <= std::ssize(mates)) {
    for (int i = 0; i < run.messages; ++i) add(i, run.ring.after(run.first.to, i));
  } else {
    on_node.reserve(mates.size());
    for (const Rank mate : mates)
      if (const int place = run.ring.steps(run.first.to, mate); place >= 0 && place < run.messages) add(place, mate);
    if (!std::ranges::is_sorted(on_node, {}, &OnNode::place)) std::ranges::sort(on_node, {}, &OnNode::place);
  }
  const auto append = [&](int begin, int end, Level level) {
    if (begin == end) return;
    auto& alike_run = result.emplace_back(AlikeRun{first, end - begin, run.ring, level});
    alike_run.first.to = run.ring.after(run.first.to, begin);
    alike_run.first.round += begin;
  };
  const bool is_one_level = layout.told().back().name == node_level_name;  // beyond nodes
  const auto append_far = [&](int begin, int end) {
    for (int next = begin; begin < end; begin = next) {
      const auto level = [&](int place) { return layout.level(first.from, run.ring.after(run.first.to, place)); };
      next = is_one_level ? end : begin + 1;
      while (next < end && level(next) == level(begin)) ++next;
      append(begin, next, level(begin));
    }
  };
  int begin = 0;
  for (std::size_t i = 0; i < on_node.size();) {
    std::size_t end = i + 1;
    while (end < on_node.size() && on_node[end].place == on_node[end - 1].place + 1 &&
           on_node[end].level == on_node[i].level)
      ++end;
    append_far(begin, on_node[i].place);
    begin = on_node[end - 1].place + 1;
    append(on_node[i].place, begin, on_node[i].level);
    i = end;
  }
  append_far(begin, run.messages);
}

std::vector<Folded> fold(std::span<const AlikeRun> sent, const Layout& layout, Window window, Stage& stage) {
  std::vector<Folded> folded;
  Folding folding(layout, batches_of(sent, stage.info, window), rounds_in_flight(stage.info, window),
                  window.unlimited(), stage, folded);
  while (!sent.empty()) {
    const auto end = std::ranges::find_if(
        sent, [&](const AlikeRun& alike_run) { return alike_run.first.from != sent.front().first.from; });
    const auto count = static_cast<std::size_t>(end - sent.begin());
    folding.add(sent.first(count));
    sent = sent.subspan(count);
  }
  return folded;
}

}  // namespace commpass
