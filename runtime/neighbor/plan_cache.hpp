// Plans that a communicator has made, for more exchanges of the same patterns. Private to the runtime.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/choose/selection.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"
#include "runtime/neighbor/neighbor_exchange.hpp"
#include "runtime/plan/plan.hpp"

namespace commpass {

/// A plan with what it was made of on this rank. It refers to no buffer.
struct KnownPlan {
  ExchangeOptions options;
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  Decision decision;
  std::shared_ptr<const Plan> plan;
  bool is_run_by_library = false;
  DataPath path{};
  bool is_on_device = false;  ///< did data of any rank lie on a device when it was chosen?
};

/// The last plans of a communicator. All ranks keep() and use() in the same order, so a plan has the same number on all
/// of them; one that had no memory for it has it not. So only ranks that agree on a number have found the same.
class PlanCache {
 public:
  static constexpr std::size_t most_plans = 16;
  /// Of one rank; what was not used for longest is dropped.
  static constexpr Bytes most_bytes = Bytes{64} << 20;

  struct Entry {
    std::uint64_t number = 0;     ///< 0: nothing was kept here
    std::uint64_t last_used = 0;  ///< by the count of keep() and use()
    std::optional<KnownPlan> known{};
    Bytes bytes = 0;                         ///< that `known` takes
    std::shared_ptr<NeighborGraph> graph{};  ///< of the first exchange that the MPI library runs by this plan

    /// Is the graph there, and used by no exchange of this rank?
    bool has_free_graph() const { return graph && graph.use_count() == 1 && !graph->has_failed; }
  };

  /// The plan of this pattern with these options; null: there is none. Not collective.
  Entry* find(const ExchangeOptions& options, std::span<const SendEdge> sends, std::span<const ReceiveEdge> receives);
  /// An exchange is planned by what find() gave. Collective.
  void use(Entry& entry) { entry.last_used = ++count_; }
  /// Keeps what `make` returns, unless there is no memory for that. Collective.
  void keep(const std::function<KnownPlan()>& make, std::shared_ptr<NeighborGraph> graph);

 private:
  void stay_within_memory();

  std::array<Entry, most_plans> entries_;
  std::uint64_t count_ = 0;
};

}  // namespace commpass
