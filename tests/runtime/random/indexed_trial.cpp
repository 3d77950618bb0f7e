// Exchanges of values by their global indices, forward and back.
#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "runtime/random/strategies.hpp"
#include "runtime/random/trial.hpp"

namespace commpass::random_test {

namespace {

using Number = std::uint32_t;
constexpr Bytes number_bytes = sizeof(Number);

/// Who owns and needs what: known to all ranks here.
struct Problem {
  std::vector<std::vector<Index>> owned, needed;  ///< by rank
  std::vector<char> owns_range;                   ///< by rank
  struct Owner {
    Rank rank = 0;
    std::int64_t position = 0;
  };
  std::map<Index, Owner> owners;

  // NOLINTBEGIN: any numbers will do
  Problem(Draw& draw, int ranks) : owned(static_cast<std::size_t>(ranks)), needed(owned.size()) {
    const int kind = draw.small(3);  // ranges, lists, or both
    Index next = draw.one_in(2) ? 0 : Index{1} << 40;
    const int most_owned = draw.of({3, 60, 60, 400});
    std::vector<Index> of_lists;
    for (const int rank : draw.order(ranks)) {
      auto& its = owned[static_cast<std::size_t>(rank)];
      for (int count = draw.one_in(4) ? 0 : draw.small(most_owned); count > 0; --count) its.push_back(next++);
      next += draw.small(3);
    }
    for (Rank rank = 0; rank < ranks; ++rank) {
      owns_range.push_back(kind == 0 || (kind == 2 && draw.one_in(2)));
      const auto& its = owned[static_cast<std::size_t>(rank)];
      if (!owns_range.back()) of_lists.insert(of_lists.end(), its.begin(), its.end());
    }
    draw.shuffle(of_lists);  // among those that own lists
    for (Rank rank = 0; rank < ranks; ++rank)
      if (auto& its = owned[static_cast<std::size_t>(rank)]; !owns_range[static_cast<std::size_t>(rank)])
        for (auto& index : its) {
          index = of_lists.back();
          of_lists.pop_back();
        }
    std::vector<Index> all;
    for (Rank rank = 0; rank < ranks; ++rank)
      for (std::size_t i = 0; i < owned[static_cast<std::size_t>(rank)].size(); ++i) {
        const auto index = owned[static_cast<std::size_t>(rank)][i];
        owners[index] = {rank, static_cast<std::int64_t>(i)};
        all.push_back(index);
      }
    const bool repeats = draw.one_in(2);
    for (auto& its : needed) {
      if (all.empty() || draw.one_in(5)) continue;
      its = all;
      draw.shuffle(its);
      its.resize(static_cast<std::size_t>(draw.below(std::ssize(all) + 1)));
      for (int count = repeats ? draw.small(20) : 0; count > 0; --count) its.push_back(draw.pick(all));
    }
  }
  // NOLINTEND

  Bytes owned_bytes(Rank rank, Bytes value_bytes) const {
    return std::ssize(owned[static_cast<std::size_t>(rank)]) * value_bytes;
  }
};

class IndexedTrial : public Trial {
 public:
  IndexedTrial(Place& its_place, std::uint64_t its_key, Draw draw)
      : Trial(its_place, Kind::indexed, Manner::persistent, its_key), problem_(draw, place.ranks) {
    const auto r = static_cast<std::size_t>(place.rank);
    options_.strategy = draw_strategy(draw, *place.switches, *place.layout, Use::planned);
    strategy = options_.strategy;
    options_.discovery.strategy = draw_sparse_strategy(draw, *place.switches, *place.layout, false, false);
    options_.reverse = draw.one_in(2);
    if (draw.one_in(2)) options_.share = draw.one_in(2);
    options_.deterministic = draw.one_in(4);
    value_bytes_ = options_.reverse ? draw.of({Bytes{4}, Bytes{8}, Bytes{20}})
                                    : draw.of({Bytes{1}, Bytes{3}, Bytes{8}, Bytes{24}});
    owned_.resize(static_cast<std::size_t>(2 * guard_bytes + problem_.owned_bytes(place.rank, value_bytes_)));
    ghosts_.resize(static_cast<std::size_t>(2 * guard_bytes + std::ssize(problem_.needed[r]) * value_bytes_));
    if (draw.one_in(2)) options_.ghost_values = ghosts_.data() + guard_bytes;
  }

  void plan() override {
    const auto r = static_cast<std::size_t>(place.rank);
    const auto& its = problem_.owned[r];
    OwnedBy owned = std::span<const Index>(its);
    if (problem_.owns_range[r]) owned = its.empty() ? IndexRange{} : IndexRange{its.front(), its.back() + 1};
    exchange_.emplace(place.communicator->indexed_exchange(owned, problem_.needed[r], value_bytes_, options_));
    if (options_.strategy.empty()) strategy = "chosen " + exchange_->strategy();
  }

  void begin(int repetition) override {
    Draw draw(key_of(key, repetition));
    is_back_ = options_.reverse && draw.one_in(2);
    auto& from = is_back_ ? ghosts_ : owned_;
    auto& to = is_back_ ? owned_ : ghosts_;
    fill(from, sent_key(place.rank, repetition));
    fill(to, received_key(place.rank, repetition));
    expected_ = to;
    if (is_back_) expect_sums(repetition);
    else expect_values(repetition);
    auto* const owned = owned_.data() + guard_bytes;
    auto* const ghosts = ghosts_.data() + guard_bytes;
    if (is_back_)
      exchange_->start_reverse_add(reinterpret_cast<const Number*>(ghosts),
                                   reinterpret_cast<Number*>(owned));  // NOLINT: aligned by the guard
    else exchange_->start_forward(owned, ghosts);
    // Send buffers may change at once.
    fill(from, key);
  }

  bool test() override { return exchange_->test(); }
  void complete() override {
    exchange_->wait();
    require_equal(is_back_ ? "the sums" : "the ghost values", is_back_ ? owned_ : ghosts_, expected_);
    check_sent();
  }
  void drop() override {  // without handing it out
    exchange_.reset();
    check_sent();
    const std::span found(is_back_ ? owned_ : ghosts_), expected(expected_);
    require_equal("the bytes before the values", found.first(guard_bytes), expected.first(guard_bytes));
    require_equal("the bytes after the values", found.last(guard_bytes), expected.last(guard_bytes));
  }
  void move_handle() override { move_over(exchange_); }

 private:
  void check_sent() const {
    const auto& from = is_back_ ? ghosts_ : owned_;
    require_equal("the sent values", from, filled(key, std::ssize(from)));
  }

  void expect_values(int repetition) {
    auto at = static_cast<std::size_t>(guard_bytes);
    for (const auto index : problem_.needed[static_cast<std::size_t>(place.rank)]) {
      const auto owner = problem_.owners.at(index);
      const auto owner_key = sent_key(owner.rank, repetition);
      for (Bytes i = 0; i < value_bytes_; ++i)
        expected_[at++] = byte_at(owner_key, guard_bytes + owner.position * value_bytes_ + i);
    }
  }

  void expect_sums(int repetition) {
    for (Rank rank = 0; rank < place.ranks; ++rank) {
      const auto& needed = problem_.needed[static_cast<std::size_t>(rank)];
      const auto ghosts = filled(sent_key(rank, repetition), 2 * guard_bytes + std::ssize(needed) * value_bytes_);
      for (std::size_t i = 0; i < needed.size(); ++i) {
        const auto owner = problem_.owners.at(needed[i]);
        if (owner.rank != place.rank) continue;
        for (Bytes number = 0; number < value_bytes_ / number_bytes; ++number) {
          Number value = 0, sum = 0;
          std::memcpy(&value,
                      &ghosts[static_cast<std::size_t>(guard_bytes + static_cast<Bytes>(i) * value_bytes_ +
                                                       number * number_bytes)],
                      sizeof value);
          auto* const place_of_sum =
              &expected_[static_cast<std::size_t>(guard_bytes + owner.position * value_bytes_ + number * number_bytes)];
          std::memcpy(&sum, place_of_sum, sizeof sum);
          sum += value;
          std::memcpy(place_of_sum, &sum, sizeof sum);
        }
      }
    }
  }

  Problem problem_;
  IndexedOptions options_;
  Bytes value_bytes_ = 0;
  Buffer owned_, ghosts_, expected_;
  bool is_back_ = false;
  std::optional<IndexedExchange> exchange_;
};

}  // namespace

std::unique_ptr<Trial> make_indexed_trial(Place& place, std::uint64_t key) {
  return std::make_unique<IndexedTrial>(place, key, Draw(key));
}

}  // namespace commpass::random_test
