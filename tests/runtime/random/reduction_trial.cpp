// Reductions among neighbours and of sparse vectors: planned once, run many times.
#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "runtime/random/strategies.hpp"
#include "runtime/random/trial.hpp"

namespace commpass::random_test {

namespace {

using Addend = std::uint32_t;
constexpr Bytes addend_bytes = sizeof(Addend);

/// Which values of each rank add up to which results: known to all ranks here. A place stands for an index of a sparse
/// vector, or for a value of the result of a rank.
struct Addends {
  bool are_of_neighbors = false;
  std::vector<std::vector<Contribution>> contributions;  ///< by rank, of neighbours
  std::vector<std::int64_t> result_values;               ///< likewise
  std::vector<std::vector<Index>> given, got;            ///< places of the values, by rank

  // NOLINTBEGIN: any numbers will do
  Addends(Draw& draw, int ranks) : are_of_neighbors(draw.one_in(2)) {
    contributions.resize(static_cast<std::size_t>(ranks));
    given.resize(contributions.size());
    got.resize(contributions.size());
    const int values_max = draw.of({3, 60, 60, 300});
    for (Rank rank = 0; rank < ranks; ++rank) result_values.push_back(draw.one_in(4) ? 0 : draw.small(values_max));
    const Index stride = draw.one_in(2) ? values_max : Index{1} << 40;
    for (Rank rank = 0; rank < ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      if (!draw.one_in(4)) {
        for (int count = draw.small(are_of_neighbors ? 2 * ranks + 1 : 2 * values_max); count > 0; --count) {
          const auto place = draw.small(are_of_neighbors ? ranks : values_max);
          if (are_of_neighbors) contribute(r, place, stride);
          else given[r].push_back(stride + place);
        }
      }
      if (are_of_neighbors) append(got[r], rank, stride);
      else got[r] = given[r];
    }
  }
  // NOLINTEND

 private:
  void contribute(std::size_t r, Rank destination, Index stride) {
    contributions[r].push_back({destination, result_values[static_cast<std::size_t>(destination)]});
    append(given[r], destination, stride);
  }
  void append(std::vector<Index>& places, Rank rank, Index stride) const {
    for (std::int64_t i = 0; i < result_values[static_cast<std::size_t>(rank)]; ++i)
      places.push_back(stride * rank + i);
  }
};

class ReductionTrial : public Trial {
 public:
  ReductionTrial(Place& its_place, std::uint64_t its_key, Draw draw)
      : Trial(its_place, Kind::reduction, Manner::persistent, its_key), addends_(draw, place.ranks) {
    options_.strategy = draw_strategy(draw, *place.switches, *place.layout, Use::planned);
    strategy = options_.strategy;
    options_.discovery.strategy = draw_sparse_strategy(draw, *place.switches, *place.layout, false, false);
    if (draw.one_in(2)) options_.share = draw.one_in(2);
    options_.deterministic = draw.one_in(4);
    value_bytes_ = draw.of({Bytes{4}, Bytes{8}, Bytes{20}});
    const auto r = static_cast<std::size_t>(place.rank);
    values_.resize(static_cast<std::size_t>(bytes_of(std::ssize(addends_.given[r]))));
    sums_.resize(static_cast<std::size_t>(bytes_of(std::ssize(addends_.got[r]))));
  }

  void plan() override {
    const auto r = static_cast<std::size_t>(place.rank);
    auto& communicator = *place.communicator;
    if (addends_.are_of_neighbors)
      of_neighbors_.emplace(communicator.neighbor_reduce_scatter(addends_.contributions[r], addends_.result_values[r],
                                                                 value_bytes_, options_));
    else sparse_.emplace(communicator.sparse_allreduce(addends_.given[r], value_bytes_, options_));
    if (options_.strategy.empty())
      strategy = "chosen " + (of_neighbors_ ? of_neighbors_->strategy() : sparse_->strategy());
  }

  void begin(int repetition) override {
    fill(values_, sent_key(place.rank, repetition));
    fill(sums_, received_key(place.rank, repetition));
    expected_ = sums_;
    expect_sums(repetition);
    const auto* const values = reinterpret_cast<const Addend*>(values_.data() + guard_bytes);  // NOLINT: aligned
    auto* const sums = reinterpret_cast<Addend*>(sums_.data() + guard_bytes);                  // NOLINT
    if (of_neighbors_) of_neighbors_->start_reverse_add(values, sums);
    else sparse_->start(values, sums);
    fill(values_, key);  // they may change at once
  }

  bool test() override { return of_neighbors_ ? of_neighbors_->test() : sparse_->test(); }
  void complete() override {
    if (of_neighbors_) of_neighbors_->wait();
    else sparse_->wait();
    require_equal("the sums", sums_, expected_);
    require_equal("the values", values_, filled(key, std::ssize(values_)));
  }
  void drop() override {
    of_neighbors_.reset();
    sparse_.reset();
    const std::span found(sums_), expected(expected_);
    require_equal("the bytes before the sums", found.first(guard_bytes), expected.first(guard_bytes));
    require_equal("the bytes after the sums", found.last(guard_bytes), expected.last(guard_bytes));
  }
  void move_handle() override {
    move_over(of_neighbors_);
    move_over(sparse_);
  }

 private:
  Bytes bytes_of(std::int64_t values) const { return 2 * guard_bytes + values * value_bytes_; }
  Bytes at(std::size_t value) const { return guard_bytes + static_cast<Bytes>(value) * value_bytes_; }

  void expect_sums(int repetition) {
    const auto& got = addends_.got[static_cast<std::size_t>(place.rank)];
    std::vector<bool> has_addend(got.size());
    for (Rank rank = 0; rank < place.ranks; ++rank) {
      const auto& given = addends_.given[static_cast<std::size_t>(rank)];
      const auto values = filled(sent_key(rank, repetition), bytes_of(std::ssize(given)));
      for (std::size_t i = 0; i < given.size(); ++i)
        for (std::size_t j = 0; j < got.size(); ++j) {
          if (given[i] != got[j]) continue;
          add(&values[static_cast<std::size_t>(at(i))], &expected_[static_cast<std::size_t>(at(j))], has_addend[j]);
          has_addend[j] = true;
        }
    }
  }

  void add(const std::byte* value, std::byte* sum, bool has_addend) const {
    for (Bytes byte = 0; byte < value_bytes_; byte += addend_bytes) {
      Addend more = 0, so_far = 0;
      std::memcpy(&more, value + byte, sizeof more);
      if (has_addend) std::memcpy(&so_far, sum + byte, sizeof so_far);
      so_far += more;
      std::memcpy(sum + byte, &so_far, sizeof so_far);
    }
  }

  Addends addends_;
  IndexedOptions options_;
  Bytes value_bytes_ = 0;
  Buffer values_, sums_, expected_;
  std::optional<IndexedExchange> of_neighbors_;
  std::optional<SparseAllreduce> sparse_;
};

}  // namespace

std::unique_ptr<Trial> make_reduction_trial(Place& place, std::uint64_t key) {
  return std::make_unique<ReductionTrial>(place, key, Draw(key));
}

}  // namespace commpass::random_test
