#include "model/cost/cost.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/base/error.hpp"
#include "model/cost/models.hpp"
#include "model/cost/staging.hpp"

namespace commpass {

const char* name_of(CostModel model) {
  switch (model) {
    case CostModel::postal: return "postal";
    case CostModel::max_rate: return "max-rate";
    case CostModel::burst: return "burst";
  }
  return "?";
}

CostModel parse_cost_model(const std::string& text) {
  for (const auto model : {CostModel::postal, CostModel::max_rate, CostModel::burst})
    if (text == name_of(model)) return model;
  throw InputError("model " + text, "there is none of that name", "use burst, max-rate or postal");
}

const char* describe(CostPart part) {
  switch (part) {
    case CostPart::latency: return "latency of its messages (alpha)";
    case CostPart::transfer: return "bytes of its messages (beta)";
    case CostPart::sharing: return "sharing the node's rates with other ranks";
    case CostPart::receiving: return "taking in messages at the receiver";
    case CostPart::copying: return "packing and unpacking";
    case CostPart::library: return "calls, and what the MPI library's collective adds";
    case CostPart::staging: return "copies between devices and host memory";
  }
  return "?";
}

CostPart StageCost::dominant() const { return static_cast<CostPart>(std::ranges::max_element(parts) - parts.begin()); }

std::optional<MissingParameters> missing_parameters(const Layout& layout, const Machine& machine,
                                                    const DataPath& path) {
  const bool is_on_device = path.kind == DataPath::Kind::device;
  const auto& channels = is_on_device ? machine.device : machine.host;
  const auto placed = layout.on(machine);
  for (int level = placed.outermost(); level >= 0; --level) {
    if (!placed.has_pairs(static_cast<Level>(level)) || channels.find(static_cast<Level>(level))) continue;
    int inner = level - 1;
    while (inner > placed.node_level() && !placed.instance_of(static_cast<Level>(inner))) --inner;
    const auto& name = machine.levels[static_cast<std::size_t>(level)].name;
    const auto within = inner < 0 ? "rank" : machine.levels[static_cast<std::size_t>(inner)].name;
    const bool is_outermost = level == placed.outermost();
    return MissingParameters{
        fmt::format("it has no {}parameters for '{}', but the layout has {}", is_on_device ? "device " : "", name,
                    is_outermost ? fmt::format("{} {}s", placed.instances(static_cast<Level>(inner)), within)
                                 : fmt::format("several {}s on a {}", within, name)),
        "calibrate on ranks " + (inner < 0      ? "that share a " + name
                                 : is_outermost ? fmt::format("of two {}s", within)
                                                : fmt::format("of two {}s of a {}", within, name))};
  }
  return std::nullopt;
}

void require_parameters(const Layout& layout, const Machine& machine, const DataPath& path) {
  if (const auto missing = missing_parameters(layout, machine, path))
    throw InputError("profile " + machine.name, missing->what, missing->remedy + ", or use another profile");
}

Cost evaluate(const Schedule& schedule, const Layout& layout, const Machine& machine, CostModel model, Usage usage,
              const DataPath& path) {
  if (schedule.ranks != layout.ranks())
    throw InputError("layout", fmt::format("it has {} ranks but the pattern has {}", layout.ranks(), schedule.ranks),
                     "use a layout for the pattern's ranks");
  require_parameters(layout, machine, path);
  return evaluate_path(schedule, layout, machine, model, usage, path);
}

namespace {

/// Does MPI send any message if those within nodes are pushed?
bool has_posted_messages(const Schedule& schedule, const Layout& layout, Usage usage, const Foldings* foldings) {
  const bool are_all_pushed = usage == Usage::once;
  for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
    const auto& messages = schedule.stages[s].messages;
    const FoldedOf folded{layout, messages, of_stage(foldings, s)};
    for (const auto& message : messages)
      if ((message.bytes > shared_bytes_max && !are_all_pushed) || folded(message).level > layout.node_level())
        return true;
  }
  return false;
}

}  // namespace

Cost evaluate_path(const Schedule& schedule, const Layout& given, const Machine& machine, CostModel model, Usage usage,
                   const DataPath& path, const Foldings* foldings, Trace* trace, std::vector<Seconds>* ends) {
  if (path.kind == DataPath::Kind::device)
    return evaluate_path(schedule, given, on_device(machine), model, usage, {}, foldings, trace, ends);
  if (path.is_shared) {
    auto shared = with_node_memory(machine, usage);
    // What a batch of a planned exchange takes beyond messages that are pushed is part of their alpha, and a call whose
    // messages go straight to their destinations takes 0.07 us more (runtime/alltoall/direct_alltoall.hpp).
    if (!has_posted_messages(schedule, given.on(machine), usage, foldings)) {
      auto& operations = shared.operations;
      const Seconds in_alpha = operations.batch_s.value_or(0);
      operations.batch_s.reset();
      if (operations.batch_once_s)
        operations.batch_once_s = schedule.stages.size() == 1 ? 0 : std::max(0.0, *operations.batch_once_s - in_alpha);
    }
    return evaluate_path(schedule, given, shared, model, usage, {path.kind, path.copies}, foldings, trace, ends);
  }
  const auto layout = given.on(machine);
  std::optional<Staging> staging;
  if (path.kind == DataPath::Kind::staged) staging = stage_through_host(schedule, path, layout, machine);
  const auto* const copies = staging ? &*staging : nullptr;
  return model == CostModel::burst
             ? evaluate_burst(schedule, layout, machine, usage, foldings, trace, copies, ends)
             : evaluate_bulk(schedule, layout, machine, model == CostModel::max_rate, foldings, copies, ends);
}

StageCost stage_of(const char* label, Bytes bytes_max) {
  StageCost stage;
  stage.label = label;
  stage.is_staging = true;
  stage.bytes_max = bytes_max;
  return stage;
}

Machine without_copies(Machine machine) {
  machine.copy_rate_bytes_per_s = std::numeric_limits<double>::infinity();
  machine.copy_block_s = 0;
  machine.reduction_rate_bytes_per_s.reset();
  return machine;
}

StageCost count_messages(const Stage& stage, std::span<const Folded> foldings) {
  StageCost cost;
  cost.label = stage.info.label;
  // Messages are sorted by sender.
  std::int64_t messages = 0;
  Bytes bytes = 0;
  for (std::size_t i = 0; i < stage.messages.size(); ++i) {
    const auto& message = stage.messages[i];
    if (i > 0 && stage.messages[i - 1].from != message.from) messages = bytes = 0;
    const std::int64_t like = foldings.empty() ? 1 : std::int64_t{foldings[i].messages} * foldings[i].batches;
    cost.messages_max = std::max(cost.messages_max, messages += like);
    cost.bytes_max = std::max(cost.bytes_max, bytes += like * message.bytes);
  }
  return cost;
}

}  // namespace commpass
