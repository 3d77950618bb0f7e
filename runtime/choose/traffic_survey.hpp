// What all ranks have sent in an exchange, summed up while they go on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "model/cost/survey_interval.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"

namespace commpass {

/// A non-blocking reduction that all ranks start after some exchanges, and complete before the next choice: no exchange
/// waits for an agreement.
class TrafficSurvey {
 public:
  /// Counts an exchange. @return is it surveyed? The same on every rank (SurveyTurns).
  bool is_due(int interval = longest_survey_interval) { return turns_.is_due(interval); }
  bool pass_undue(int interval) { return turns_.pass_undue(interval); }
  bool is_under_way() const { return is_under_way_; }
  /// Did the last survey find something new?
  void note(bool is_news) { turns_.note(is_news); }

  /// Collective. @param start  starts the reduction that it is given; tried again where there is no memory
  template <class Start>
  void begin(Start start) {
    insist([&] { start(reduction_); });
    is_under_way_ = true;
  }

  /// Completes a survey that is under way. @return what it has found, once; nothing if there was none
  std::optional<std::span<const std::int64_t>> complete() {
    if (!is_under_way_) return {};
    reduction_.wait();
    is_under_way_ = false;
    return reduction_.result();
  }

 private:
  NonblockingReduction reduction_;
  bool is_under_way_ = false;
  SurveyTurns turns_;
};

}  // namespace commpass
