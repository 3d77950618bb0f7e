// Sparse exchanges of C++, waited for at once or started.
#include <fmt/core.h>

#include "runtime/random/sparse_problem.hpp"
#include "runtime/random/strategies.hpp"
#include "runtime/random/trial.hpp"

namespace commpass::random_test {

namespace {

class SparseTrial : public Trial {
 public:
  SparseTrial(Place& its_place, Kind its_kind, std::uint64_t its_key)
      : Trial(its_place, its_kind, is_started(its_kind) ? Manner::started : Manner::blocking, its_key) {}

  void plan() override {
    // Only a blocking exchange takes the memory of nodes that started ones may use.
    if (is_started(kind) && key % 4 != 0) place.communicator->sparse_alltoallv(nullptr, {}, {"direct,shared+nbx"});
    // Only a blocking exchange makes the window that started ones may use.
    if (makes_window()) place.communicator->sparse_alltoall(nullptr, {}, most_slot_bytes, {"direct+rma"});
  }

  void prepare(int repetition) override {
    Draw draw(key_of(key, repetition));
    const bool constant = kind == Kind::sparse_alltoall || kind == Kind::start_sparse_alltoall;
    options_ = {
        draw_sparse_strategy(draw, *place.switches, *place.layout, constant, !is_started(kind) || makes_window())};
    strategy = options_.strategy;
    if (draw.one_in(3)) {
      options_.messages = draw.of({0.0, 1.0, 100.0});  // NOLINT: any numbers will do
      options_.bytes = draw.of({0.0, 8.0, 1e5});       // NOLINT
    }
    problem_.emplace(draw, place, constant, strategy.ends_with("+rma"), false);
  }

  void begin(int repetition) override {
    buffer_ = filled(sent_key(place.rank, repetition), problem_->sent_bytes[static_cast<std::size_t>(place.rank)]);
    sends_.clear();
    destinations_.clear();
    for (const auto& message : problem_->from(place.rank)) {
      sends_.push_back({message.destination, guard_bytes + message.displacement, message.count});
      destinations_.push_back(message.destination);
    }
    repetition_ = repetition;
    const auto* const first = buffer_.data() + guard_bytes;
    const Bytes bytes = problem_->constant_units;
    auto& communicator = *place.communicator;
    switch (kind) {
      case Kind::sparse_alltoallv: check(communicator.sparse_alltoallv(buffer_.data(), sends_, options_)); break;
      case Kind::sparse_alltoall: check(communicator.sparse_alltoall(first, destinations_, bytes, options_)); break;
      case Kind::start_sparse_alltoallv:
        exchange_.emplace(communicator.start_sparse_alltoallv(buffer_.data(), sends_, options_));
        break;
      default: exchange_.emplace(communicator.start_sparse_alltoall(first, destinations_, bytes, options_));
    }
    if (exchange_ && strategy.empty()) strategy = "chosen " + exchange_->strategy();
  }

  bool test() override { return exchange_->test(); }
  void complete() override { check(exchange_->wait()); }
  void drop() override {
    exchange_.reset();
    require_equal("the send buffer", buffer_, filled(sent_key(place.rank, repetition_), std::ssize(buffer_)));
  }
  void move_handle() override { move_over(exchange_); }

 private:
  static constexpr Bytes most_slot_bytes = 80000;

  bool makes_window() const {
    return kind == Kind::start_sparse_alltoall && place.switches->with("rma") && key % 2 == 0;
  }
  static bool is_started(Kind kind) {
    return kind == Kind::start_sparse_alltoallv || kind == Kind::start_sparse_alltoall;
  }

  void check(const ReceivedMessages& received) const {
    const auto expected = problem_->to(place.rank);
    std::string found;
    for (const auto& message : received) found += fmt::format(" {}", message.source);
    if (received.size() != expected.size())
      throw Failure(fmt::format("{} messages have come, and must be {}; they are from{}", received.size(),
                                expected.size(), found));
    for (std::size_t i = 0; i < received.size(); ++i) {
      if (received[i].source != expected[i].source)
        throw Failure(fmt::format("message {} is from rank {}, and must be from {}; they are from{}", i,
                                  received[i].source, expected[i].source, found));
      require_equal(fmt::format("message {}, from rank {},", i, expected[i].source), received[i].bytes,
                    problem_->data(expected[i], sent_key(expected[i].source, repetition_)));
    }
    require_equal("the send buffer", buffer_, filled(sent_key(place.rank, repetition_), std::ssize(buffer_)));
  }

  SparseOptions options_;
  std::optional<SparseProblem> problem_;
  Buffer buffer_;
  std::vector<SendEdge> sends_;
  std::vector<Rank> destinations_;
  int repetition_ = 0;
  std::optional<SparseExchange> exchange_;
};

}  // namespace

std::unique_ptr<Trial> make_sparse_trial(Place& place, Kind kind, std::uint64_t key) {
  return std::make_unique<SparseTrial>(place, kind, key);
}

}  // namespace commpass::random_test
