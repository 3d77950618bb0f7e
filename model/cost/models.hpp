// The two ways in which evaluate() prices a schedule. Private to the model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/cost/cost.hpp"

namespace commpass {

/// Multiplicity of a message in the schedule of a representative node (estimate.cpp).
struct Folded {
  Level level = 0;             ///< of its ends, which the layout of the node cannot tell
  std::uint32_t messages = 1;  ///< how many equal messages of one sender it represents, one right after another
  std::uint32_t batches = 1;   ///< how many equal batches its batch represents; the same for all of a batch
};
using Foldings = std::vector<std::vector<Folded>>;  // by stage and message

/// Multiplicities of the messages of one stage or of a part of it.
struct FoldedOf {
  const Layout& layout;
  std::span<const Message> messages;
  std::span<const Folded> given;  ///< empty: each is what it is, and the layout tells its level

  Folded operator()(const Message& message) const {
    return given.empty() ? Folded{layout.level(message.from, message.to)}
                         : given[static_cast<std::size_t>(&message - messages.data())];
  }
};

/// How many ranks the instance of an outer level has in which a node is.
int ranks_around(const Layout& layout, Level level, int node);

/// A node's part of its machine.
struct NodeParts {
  std::array<double, most_levels> of_level;  ///< its ranks ÷ those of the instance; 1 within nodes, or if not told
  double all_ranks;                          ///< all ranks of the machine ÷ its ranks
};
NodeParts parts_of_node(const Layout& layout, int node);
/// The machine of one node that stands for all: its part of what instances of outer levels share, and the skew of all.
Machine of_a_node(Machine machine, const NodeParts& parts);

/// For data whose copies have no price: headers and numbers.
Machine without_copies(Machine machine);

struct Trace;
struct Staging;

/// Prices a schedule whose layout the machine has parameters for, by the model and on the path that are given.
/// @param foldings  null: each message is what it is
/// @param trace     gets the actions of every rank with their times (trace.hpp), under burst, without foldings; null:
///                  none are recorded
/// @param ends      gets the seconds of each rank; null: not needed
/// @throws InputError if the machine has no copies for a staged path
Cost evaluate_path(const Schedule& schedule, const Layout& layout, const Machine& machine, CostModel model, Usage usage,
                   const DataPath& path, const Foldings* foldings = nullptr, Trace* trace = nullptr,
                   std::vector<Seconds>* ends = nullptr);

/// postal and max-rate: bulk-synchronous, as in the papers.
/// @param staging  copies before and behind; null: none
Cost evaluate_bulk(const Schedule& schedule, const Layout& layout, const Machine& machine, bool max_rate,
                   const Foldings* foldings = nullptr, const Staging* staging = nullptr,
                   std::vector<Seconds>* ends = nullptr);

/// burst: the finish time of the slowest rank.
Cost evaluate_burst(const Schedule& schedule, const Layout& layout, const Machine& machine, Usage usage,
                    const Foldings* foldings = nullptr, Trace* trace = nullptr, const Staging* staging = nullptr,
                    std::vector<Seconds>* ends = nullptr);

/// A StageCost of copies between devices and host memory, without its seconds.
StageCost stage_of(const char* label, Bytes bytes_max);

/// The foldings of a stage; none where there are none.
inline std::span<const Folded> of_stage(const Foldings* foldings, std::size_t stage) {
  return foldings ? std::span<const Folded>((*foldings)[stage]) : std::span<const Folded>();
}

/// A StageCost with its label, messages_max and bytes_max.
StageCost count_messages(const Stage& stage, std::span<const Folded> foldings = {});

}  // namespace commpass
