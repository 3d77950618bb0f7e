// A plan run backwards: values that were sent several times come back as several contributions, which are added.
#pragma once

#include <vector>

#include "runtime/plan/plan.hpp"

namespace commpass {

/// Pieces that are copied where no contribution is yet, then those that are added, in their order.
struct PlannedSums {
  std::vector<PlannedCopy> copies, additions;
};

struct TransposedPlan {
  Plan plan;  ///< messages have no pieces
  /// Of a batch: before its messages leave, and when they have come.
  struct BatchSums {
    PlannedSums before, after;
  };
  std::vector<BatchSums> sums;  ///< by batch of the plan
};

/// Runs batches, messages and copies of a plan backwards. Its receive buffer is sent, and its send buffer receives. In
/// each place all contributions are added up before they are sent on, in an order that the plan alone determines.
/// @param plan  of edges to other ranks, cut at whole values alone
/// @throws Error if there is an edge from the rank to itself
TransposedPlan transposed(const Plan& plan);

}  // namespace commpass
