// The two ways in which evaluate() prices a schedule. Private to the model.
#pragma once

#include <cstddef>
#include <vector>

#include "model/cost.hpp"

namespace commpass {

/// The localities of all messages, by stage, in a schedule of one node that stands for all (estimate.cpp): there the
/// layout cannot tell.
using Localities = std::vector<std::vector<Locality>>;

/// Tells the locality of the messages of one stage.
struct LocalityOf {
  const Layout& layout;
  const Stage& stage;
  const std::vector<Locality>* given;  ///< null: the layout tells

  LocalityOf(const Layout& l, const Schedule& schedule, const Localities* localities, std::size_t number)
      : layout(l), stage(schedule.stages[number]), given(localities ? &(*localities)[number] : nullptr) {}
  Locality operator()(const Message& message) const {
    return given ? (*given)[static_cast<std::size_t>(&message - stage.messages.data())] : layout.locality(message.from, message.to);
  }
};

/// postal and max-rate: bulk-synchronous, as in the papers.
Cost evaluate_bulk(const Schedule& schedule, const Layout& layout, const Machine& machine, bool max_rate,
                   const Localities* localities = nullptr);

/// burst: the finish time of the slowest rank.
Cost evaluate_burst(const Schedule& schedule, const Layout& layout, const Machine& machine, const Localities* localities = nullptr);

/// A StageCost with its label, messages_max and bytes_max.
StageCost count_messages(const Stage& stage);

}  // namespace commpass
