// What all trials of exchanges that are planned from a buffer into another have in common.
#pragma once

#include <optional>

#include "runtime/random/trial.hpp"

namespace commpass::random_test {

/// @tparam Handle  of the exchange, made by plan()
template <class Handle>
class PersistentTrial : public Trial {
 public:
  void begin(int repetition) override {
    fill(sent_, sent_key(place.rank, repetition));
    fill(received_, received_key(place.rank, repetition));
    expected_ = expected(repetition);
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

 protected:
  PersistentTrial(Place& its_place, Kind its_kind, std::uint64_t its_key)
      : Trial(its_place, its_kind, Manner::persistent, its_key) {}

  /// The expected contents of the receive buffer, which are not there yet.
  virtual Buffer expected(int repetition) const = 0;

  ExchangeOptions options_;
  Buffer sent_, received_;
  std::optional<Handle> exchange_;

 private:
  void check() const {
    require_equal("the receive buffer", received_, expected_);
    require_equal("the send buffer", sent_, filled(sent_key(place.rank, repetition_), std::ssize(sent_)));
  }

  Buffer expected_;
  int repetition_ = 0;
};

}  // namespace commpass::random_test
