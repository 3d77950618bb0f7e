// Plans of a communicator, for more exchanges of the same patterns. Private to the runtime.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/route/strategy.hpp"
#include "runtime/choose/decision.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"
#include "runtime/neighbor/neighbor_exchange.hpp"
#include "runtime/plan/plan.hpp"
#include "selector/choose/wisdom.hpp"

namespace commpass {

/// How the edges of an exchange are run on this rank. Refers to no buffer.
struct KnownWay {
  std::shared_ptr<const Plan> plan;  ///< of the edges forwards
  bool is_run_by_library = false;
  DataPath path{};
};

/// The result of trials in exchanges of a pattern (TriedRequests), which the handles of this rank share. They may
/// belong to different threads.
class TrialResult {
 public:
  struct Found {
    std::size_t contender = 0;
    Seconds measured_s = 0;
  };
  std::optional<Found> found() const {
    return is_found_.load(std::memory_order_acquire) ? std::optional(found_) : std::nullopt;
  }
  /// Only the first result counts.
  void keep(const Found& found) {
    if (is_taken_.exchange(true)) return;
    found_ = found;
    is_found_.store(true, std::memory_order_release);
  }

 private:
  Found found_;
  std::atomic<bool> is_taken_ = false, is_found_ = false;
};

/// A plan with its arguments on this rank.
struct KnownPlan {
  ExchangeOptions options;
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  Decision decision;
  std::vector<KnownWay> ways;             ///< of the decision's contenders; without these, that of the decision
  std::shared_ptr<TrialResult> trials{};  ///< of contenders
  std::optional<WisdomKey> key{};         ///< see decide_planned
  bool is_on_device = false;              ///< did any rank have data on a device when it was chosen?
  Bytes added_value_bytes = 0;            ///< see BuffersAndEdges
};

/// The last plans of a communicator. All ranks keep() and use() in the same order, so a plan has the same number on all
/// ranks, unless one has no memory for it. Ranks that agree on a number have found the same plan.
class PlanCache {
 public:
  static constexpr std::size_t plans_max = 16;
  /// Of one rank; the least recently used plan is dropped.
  static constexpr Bytes bytes_max = Bytes{64} << 20;

  struct Entry {
    std::uint64_t number = 0;     ///< 0: empty
    std::uint64_t last_used = 0;  ///< by the count of keep() and use()
    std::optional<KnownPlan> known{};
    Bytes bytes = 0;                         ///< that `known` takes
    std::shared_ptr<NeighborGraph> graph{};  ///< of the first exchange of this plan that the MPI library runs

    /// Is there a graph that no exchange of this rank uses?
    bool has_free_graph() const { return graph && graph.use_count() == 1 && !graph->has_failed; }
    /// That, if the MPI library runs this.
    std::shared_ptr<NeighborGraph> free_graph(const KnownWay& way) const {
      return way.is_run_by_library && has_free_graph() ? graph : nullptr;
    }
  };

  /// The plan of this pattern with these options; null: there is none. Local.
  /// @param added_value_bytes  see KnownPlan
  Entry* find(const ExchangeOptions& options, std::span<const SendEdge> sends, std::span<const ReceiveEdge> receives,
              Bytes added_value_bytes = 0);
  /// Marks a found entry as used by an exchange. Collective.
  void use(Entry& entry) { entry.last_used = ++count_; }
  /// Keeps the plan that `make` returns, unless there is no memory for it. Collective.
  void keep(const std::function<KnownPlan()>& make, std::shared_ptr<NeighborGraph> graph);

 private:
  void stay_within_memory();

  std::array<Entry, plans_max> entries_;
  std::uint64_t count_ = 0;
};

}  // namespace commpass
