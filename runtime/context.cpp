#include "runtime/context.hpp"

#include <fmt/core.h>

#include <atomic>
#include <cstdio>

#include "model/machine/named_parameters.hpp"
#include "runtime/choose/decision.hpp"
#include "runtime/choose/find_machine.hpp"
#include "runtime/choose/info_hints.hpp"
#include "runtime/choose/known_wisdom.hpp"
#include "runtime/choose/warn_once.hpp"
#include "runtime/execute/persistent_requests.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/cartesian_topology.hpp"
#include "runtime/mpi/detect_layout.hpp"
#include "runtime/mpi/in_flight.hpp"
#include "runtime/mpi/launcher.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/node_memory.hpp"
#include "runtime/mpi/oversubscription.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/neighbor/plan_cache.hpp"
#include "selector/choose/profile_note.hpp"
#include "selector/environment/environment.hpp"

namespace commpass {

namespace {

/// The layout that rank 0 is given or its environment names, else the detected one.
Layout choose_layout(MPI_Comm comm, const std::optional<std::string>& given) {
  const int ranks = ranks_in(comm);
  // As text, so that every rank has the same.
  std::string text;
  all_or_none(comm, [&] {
    if (!given) return;
    const auto layout = parse_layout(*given, ranks);
    if (rank_in(comm) == 0) text = places_text(layout);
  });
  text = broadcast(comm, text);
  return text.empty() ? detect_layout(comm) : parse_layout(text, ranks);
}

/// Once in a process. The ranks of a launcher of another library do not know each other, and its first one speaks.
void warn_of_launcher() {
  static std::atomic<bool> told = false;
  if (told.exchange(true)) return;
  if (const auto warning = launcher_warning(); !warning.empty() && launcher_of(1).rank == 0)
    std::fputs(("commpass: " + warning + "\n").c_str(), stderr);
}

/// The environment, with hints before it.
Environment agreed_environment(MPI_Comm comm, MPI_Comm user, MPI_Info info) {
  Environment environment;
  all_or_none(comm, [&] {
    environment = read_environment();
    apply_hints_of(environment, user);
    apply_hints(environment, info);
  });
  return environment;
}

/// Ours beside a user's; when all ranks are here, since duplicating blocks.
OwnCommunicator duplicate(MPI_Comm comm) {
  OwnCommunicator::require_intracommunicator(comm);
  assemble(comm);
  return OwnCommunicator(comm);
}

/// How many threads this rank may start; and waits let other ranks run if these outnumber the cores.
unsigned settle_on_node(MPI_Comm comm) {
  const auto node = OwnCommunicator::split_by_node(comm);
  if (is_oversubscribed(node.get())) yield_in_waits();
  return threads_of_rank(node.get());
}

std::optional<PlannerMode> planner_of(MPI_Comm comm, const Environment& environment) {
  constexpr int unnamed = -1;
  int mode = environment.planner ? static_cast<int>(*environment.planner) : unnamed;
  COMMPASS_MPI_CALL(MPI_Bcast, &mode, 1, MPI_INT, 0, comm);
  return mode == unnamed ? std::nullopt : std::optional(static_cast<PlannerMode>(mode));
}

/// Those of rank 0: of the profile, of its environment in the place of these, and what the program gives before both.
Limits agreed_limits(MPI_Comm comm, const Limits& of_profile, const Environment& environment, const Limits& given) {
  Limits limits;
  all_or_none(comm, [&] { limits = merged(parse_limits(environment.limits.value_or(""), of_profile), given); });
  static_assert(std::is_trivially_copyable_v<Limits>);
  COMMPASS_MPI_CALL(MPI_Bcast, &limits, sizeof(limits), MPI_BYTE, 0, comm);
  return limits;
}

int largest_tag_of(MPI_Comm comm) {
  constexpr int guaranteed = 32767;  // MPI 3.1, §8.1.2
  void* value = nullptr;
  int found = 0;
  COMMPASS_MPI_CALL(MPI_Comm_get_attr, comm, MPI_TAG_UB, &value, &found);
  return found ? *static_cast<int*>(value) : guaranteed;
}

}  // namespace

std::shared_ptr<Context> make_context(MPI_Comm user, const std::string& profile, const Machine* machine,
                                      const std::string& layout, MPI_Info info, const Limits& limits) {
  OwnCommunicator own = duplicate(user);
  const MPI_Comm comm = own.get();
  auto environment = agreed_environment(comm, user, info);
  if (!layout.empty()) environment.layout = layout;
  if (own.rank() == 0) warn_unknown(environment);
  warn_unknown_hints(info, own.rank());
  warn_of_launcher();
  auto known_layout = choose_layout(comm, environment.layout);
  auto known_machine = machine ? *machine : find_machine(comm, profile, known_layout, environment);
  known_machine.limits = agreed_limits(comm, known_machine.limits, environment, limits);
  if (const auto note = level_order_note(known_machine, known_layout); !note.empty()) warn_once(note + ".", own.rank());
  auto context = std::make_shared<Context>(Context{std::move(own), std::move(known_layout), std::move(known_machine)});
  context->named = fitting_names(comm, context->layout, environment);
  context->unpriced = broadcast(comm, why_unpriced(context->layout, context->machine));
  context->grid = grid_of(user);
  context->planner = planner_of(comm, environment);
  context->wisdom = std::make_shared<KnownWisdom>(
      know_wisdom(comm, environment.wisdom.value_or(""), context->layout, context->machine));
  context->verbose = environment.verbose;
  context->threads = settle_on_node(comm);
  context->largest_tag = largest_tag_of(comm);
  context->plans = std::make_shared<PlanCache>();
  context->node_memory = std::make_shared<NodeMemory>();
  return context;
}

void use_wisdom(Context& context, const std::string& file) {
  assemble(context.comm.get());
  *context.wisdom = know_wisdom(context.comm.get(), file, context.layout, context.machine);
}

std::shared_ptr<Context> context_like(const Context& other, OwnCommunicator comm, Layout layout) {
  auto context = std::make_shared<Context>(Context{std::move(comm), std::move(layout), other.machine});
  context->named = other.named;
  context->unpriced = other.unpriced;
  context->planner = other.planner;
  context->wisdom = std::make_shared<KnownWisdom>();
  context->verbose = other.verbose;
  context->threads = other.threads;
  context->largest_tag = other.largest_tag;
  context->plans = std::make_shared<PlanCache>();
  context->node_memory = std::make_shared<NodeMemory>();
  return context;
}

Context::Address Context::next_address() {
  if (next_exchange == (largest_tag - 1) / tags_per_exchange) {
    assemble(comm.get());
    further = std::make_shared<const OwnCommunicator>(comm.get());
    next_exchange = 0;
  }
  const int tag = 1 + next_exchange++ * tags_per_exchange;  // those below 1 stand for headers
  return {further, further ? further->get() : comm.get(), tag};
}

}  // namespace commpass
