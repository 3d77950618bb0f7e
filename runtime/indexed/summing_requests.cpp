#include "runtime/indexed/summing_requests.hpp"

#include <functional>

#include "runtime/indexed/value_runs.hpp"

namespace commpass {

SummingRequests::SummingRequests(const TransposedPlan& plan, const PlanBuffers& buffers, Summation& summation)
    : summation_(summation) {
  for (const auto& [before, after] : plan.sums) {
    auto& batch = sums_.emplace_back();
    buffers.add_copies(before.copies, batch.before.copies);
    buffers.add_copies(before.additions, batch.before.additions);
    buffers.add_copies(after.copies, batch.after.copies);
    buffers.add_copies(after.additions, batch.after.additions);
  }
  if (sums_.empty()) sums_.emplace_back();  // requests have a batch
}

void SummingRequests::run(const Sums& sums) const {
  value_memory().copy(sums.copies);
  if (summation_.add) add_pieces(sums.additions, summation_.value_bytes, std::ref(summation_));
  else value_memory().copy(sums.additions);
}

void SummingRequests::begin(std::size_t batch) {
  const auto planned = planned_batch(batch);
  if (batch == 0 || planned_batch(batch - 1) != planned) run(sums_[planned].before);
  RequestsAround::begin(batch);
}

void SummingRequests::end(std::size_t batch) {
  RequestsAround::end(batch);
  const auto planned = planned_batch(batch);
  if (batch + 1 == batches() || planned_batch(batch + 1) != planned) run(sums_[planned].after);
}

}  // namespace commpass
