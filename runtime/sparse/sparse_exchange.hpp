// A sparse dynamic data exchange: every rank knows only what it sends.
//
//   auto received = communicator.sparse_alltoallv(buffer, sends);
//   for (const auto& message : received) use(message.source, message.bytes);
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "runtime/state_pointer.hpp"
#include "selector/choose/planner_mode.hpp"

namespace commpass {

/// A message that has come, with its memory, which is shared and freed with the last message in it.
struct ReceivedMessage {
  Rank source = 0;
  std::span<const std::byte> bytes;
  std::shared_ptr<const std::byte[]> memory;
};

/// All messages for this rank: by source, those of one source in the order in which it gave them.
using ReceivedMessages = std::vector<ReceivedMessage>;

/// The same on every rank.
struct SparseOptions {
  std::string strategy;  ///< "ROUTE+DISCOVERY": use this one; empty: COMMPASS_SPARSE_STRATEGY, else the cheapest
  std::optional<double>
      messages{};     ///< a hint: how many a rank sends, on average. Absent: what the calls before have sent
  double bytes = 64;  ///< a hint: of how many bytes each. Matters only with `messages`
  /// Time the few that have the best prices (measure) or all (patient) in these calls themselves, and
  /// keep the one that is the fastest beyond doubt (docs/cpp.md); or time those that prices cannot tell apart, for at
  /// most 1 % of the time of the calls (adaptive). Nothing: COMMPASS_PLANNER, else adaptive; estimate: by prices
  /// alone. Not where a strategy is named.
  std::optional<PlannerMode> planner{};
  std::optional<Seconds>
      planner_seconds{};  ///< that timing may lose, unless adaptive; nothing: 0.1 s, or 1 s if patient
};

/// A sparse exchange in flight. Move-only. Destroying it completes it, so the send buffer must outlive it; it may
/// outlive its Communicator.
class SparseExchange {
 public:
  /// Moves on all sparse exchanges of the communicator. @return true when this one is complete. @throws MpiError
  bool test();
  /// Completes it and hands out the received messages, once.
  /// @throws Error, the same on every rank, if any rank gave bad arguments; MpiError
  ReceivedMessages wait();

  /// The strategy that runs, in text form.
  std::string strategy() const;
  /// Its predicted seconds, for an exchange about like this one; nothing if it was named, or nothing has a price.
  std::optional<Seconds> predicted_seconds() const;
  /// Why it was chosen, for people, the same on every rank.
  std::string explanation() const;

  struct State;
  /// Communicator::start_sparse_alltoallv makes one.
  explicit SparseExchange(std::unique_ptr<State> state);

 private:
  StatePointer<State> state_;
};

}  // namespace commpass
