// Requests of a transposed plan, between which contributions to the same values are added. Private to the runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "runtime/execute/batch_requests.hpp"
#include "runtime/execute/memory.hpp"
#include "runtime/execute/plan_buffers.hpp"
#include "runtime/indexed/indexed_exchange.hpp"
#include "runtime/plan/transposed_plan.hpp"

namespace commpass {

/// How values are added; the addition may differ from one exchange to the next.
struct Summation {
  Bytes value_bytes = 0;
  Addition add{};                ///< none, as while strategies are tried: values are copied
  std::exception_ptr failure{};  ///< thrown first by the addition in this exchange

  /// An exception is kept: other ranks wait for the messages that follow.
  void operator()(const void* values, void* sums, std::int64_t count) {
    try {
      add(values, sums, count);
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  }
};

/// Requests around those of a TransposedPlan::plan, in host memory.
class SummingRequests final : public RequestsAround {
 public:
  /// @param buffers    of the requests inside
  /// @param summation  must outlive this
  SummingRequests(const TransposedPlan& plan, const PlanBuffers& buffers, Summation& summation);

  void begin(std::size_t batch) override;
  void end(std::size_t batch) override;

 private:
  struct Sums {
    std::vector<LocalCopy> copies, additions;
  };
  struct BatchSums {
    Sums before, after;
  };
  void run(const Sums& sums) const;

  std::vector<BatchSums> sums_;  ///< by batch of the plan
  Summation& summation_;
};

}  // namespace commpass
