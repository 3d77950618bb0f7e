// Plans of a communicator, for more exchanges of the same patterns. Private to the runtime.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/choose/decision.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"
#include "runtime/neighbor/neighbor_exchange.hpp"
#include "runtime/plan/plan.hpp"

namespace commpass {

/// A plan with its arguments on this rank. Refers to no buffer.
struct KnownPlan {
  ExchangeOptions options;
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  Decision decision;
  std::shared_ptr<const Plan> plan;
  bool is_run_by_library = false;
  DataPath path{};
  bool is_on_device = false;    ///< did any rank have data on a device when it was chosen?
  Bytes added_value_bytes = 0;  ///< see BuffersAndEdges; the plan is that of the edges forwards
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
