// The one cost function: what a schedule costs on a machine (design §4, docs/model.md).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "model/layout.hpp"
#include "model/machine.hpp"
#include "model/schedule.hpp"

namespace commpass {

/// How much of a machine the prediction knows.
enum class CostModel {
  postal,    ///< Σ over stages of the maximum over ranks of Σ (α + β·s) of the messages sent
  max_rate,  ///< as postal, but a rank's bytes take at least as long as its node needs to inject: Gropp, Olson, Samfass 2016
  burst      ///< bursts, sharing, receivers, copies, and ranks that wait for each other: the default
};

/// "postal", "max-rate", "burst".
const char* name_of(CostModel model);
/// @throws InputError
CostModel parse_cost_model(const std::string& text);

/// What the way to the last finish of a stage is made of.
enum class CostPart { latency, transfer, sharing, receiving, copying, library };
inline constexpr int cost_part_count = 6;
/// For people: "latency (α)", "bytes (β)", …
const char* describe(CostPart part);

struct StageCost {
  std::string label;
  std::int64_t messages_max = 0;  ///< messages that a rank sends, the most over ranks
  Bytes bytes_max = 0;            ///< bytes that a rank sends, the most over ranks
  Seconds seconds = 0;            ///< by which the stage moves the finish of the slowest rank
  std::array<Seconds, cost_part_count> parts{};  ///< may sum to more than `seconds`: a way may begin before the last rank enters the stage

  CostPart dominant() const;
};

struct Cost {
  Seconds seconds = 0;
  std::vector<StageCost> stages;
};

/// Predicts the seconds of one exchange.
/// @param layout  of as many ranks as the schedule has
/// @throws InputError if the machine has no parameters for a locality that the layout has, or, under burst, no price for what
/// the MPI library runs
Cost evaluate(const Schedule& schedule, const Layout& layout, const Machine& machine, CostModel model = CostModel::burst);

/// @throws InputError if the machine has no parameters for a locality that the layout has
void require_parameters(const Layout& layout, const Machine& machine);

/// Predicts an all-to-all in which every rank sends `bytes` to every other rank, in closed form: without blocks, from
/// the (coalesced) messages that one node sends. Equal to evaluate() where the address is full, the layout even and in rank order,
/// all nodes alike in their digits, and no more than 64 rounds in flight at once. Of more, like ones are taken together,
/// which is an estimate for burst; so is the result elsewhere, and for the copies of routes whose lowest digit has two
/// values and of distance routes (tests/model/estimate_test.cpp says how good).
/// @throws InputError as evaluate, NotApplicable if the route has no closed form
Cost estimate_alltoall(Bytes bytes, const Route& route, Window window, const Layout& layout, const Machine& machine,
                       CostModel model = CostModel::burst);

}  // namespace commpass
