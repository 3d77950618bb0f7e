// Headers that no rank has to be told: with one stage, every block comes from its source, as the receive edges say.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/plan/headers.hpp"
#include "runtime/plan/plan.hpp"

namespace commpass {

/// A HeaderSource for coalesced messages of a route with one stage. It needs no MPI, and believes the receive edges:
/// mismatch() tells all ranks together whether that was right.
class ExpectedHeaders {
 public:
  /// @param receives  in range; must outlive this
  ExpectedHeaders(Rank rank, std::span<const ReceiveEdge> receives) : rank_(rank), receives_(receives) {}

  Headers operator()(int stage, const Departures& departures, std::span<const Block> held);

  /// What this rank sends less what it expects, as a number: its sum over all ranks, modulo 2^64, is 0 if every header
  /// that would be sent is the one that is expected. If not, it is another one but for one case in 2^64. (Blocks with
  /// the same bytes in one message count as not expected: their receiver cannot know.)
  std::uint64_t mismatch() const { return mismatch_; }

 private:
  Rank rank_;
  std::span<const ReceiveEdge> receives_;
  std::uint64_t mismatch_ = 0;
};

}  // namespace commpass
