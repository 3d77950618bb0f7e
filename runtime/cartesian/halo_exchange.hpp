// Halos of arrays on a grid of ranks: planned once, exchanged many times.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/cost/cost_model.hpp"
#include "model/pattern/halo_array.hpp"
#include "runtime/neighbor/neighbor_exchange.hpp"

namespace commpass {

/// The same on every rank.
struct HaloOptions {
  /// For each dimension the stage, 1 or more, in which its halo moves; a later one takes the earlier halos along.
  /// Empty: the stages that are predicted to be the fastest.
  std::vector<int> stages{};
  CostModel model = CostModel::burst;
};

/// Fills the halo of an array with the cells of the neighbours, corners among them, each once. Move-only. May outlive
/// its Communicator; destroying it completes an exchange in flight.
class HaloExchange {
 public:
  HaloExchange(Exchange exchange, std::vector<int> stages, int messages)
      : exchange_(std::move(exchange)), stages_(std::move(stages)), messages_(messages) {}

  /// As those of Exchange. In between, the array must not change but for the cells that are in no halo of others.
  void start() { exchange_.start(); }
  bool test() { return exchange_.test(); }
  void wait() { exchange_.wait(); }

  /// By dimension, the stage of its halo, 1 or more.
  const std::vector<int>& stages() const { return stages_; }
  /// Messages that this rank sends in one exchange.
  int messages() const { return messages_; }
  std::optional<Seconds> predicted_seconds() const { return exchange_.predicted_seconds(); }
  /// The choice, and the times of the others: for people, the same on every rank.
  const std::string& explanation() const { return exchange_.explanation(); }
  /// Bytes of the buffers that this rank holds besides the array.
  Bytes buffer_bytes() const { return exchange_.buffer_bytes(); }

 private:
  Exchange exchange_;
  std::vector<int> stages_;
  int messages_ = 0;
};

}  // namespace commpass
