// Halos of arrays on a grid of ranks: planned once, exchanged many times.
#pragma once

#include <memory>
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
  /// Do messages within a node go through memory that its ranks share? Nothing: where that is predicted to be faster,
  /// and by MPI where stages are named.
  std::optional<bool> shared{};
};

/// Fills the halo of an array with the cells of the neighbours, corners among them, each once. Move-only. May outlive
/// its Communicator; destroying it completes an exchange in flight. While one is in flight, the array must not change
/// but for the cells that are in no halo of others.
class HaloExchange : public Exchange {
 public:
  HaloExchange(Exchange exchange, std::vector<int> stages, int messages)
      : Exchange(std::move(exchange)), stages_(std::move(stages)), messages_(messages) {}

  /// By dimension, the stage of its halo, 1 or more.
  const std::vector<int>& stages() const { return stages_; }
  /// Messages that this rank sends in one exchange.
  int messages() const { return messages_; }

 private:
  std::vector<int> stages_;
  int messages_ = 0;
};

}  // namespace commpass
