// The two ways in which evaluate() prices a schedule. Private to the model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/cost/cost.hpp"
#include "model/cost/sample.hpp"

namespace commpass {

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
