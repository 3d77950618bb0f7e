#include "runtime/cartesian/halo_exchange.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <set>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "runtime/choose/decision.hpp"
#include "runtime/choose/selection.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/execute/landings.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/neighbor/exchange_state.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/planned_exchanges.hpp"
#include "selector/choose/halo_choice.hpp"

namespace commpass {

namespace {

constexpr const char* place_of_call = "halo_exchange";

/// Makes the plan of one rank. The array is both the send and the receive buffer: the sent regions of a stage do not
/// overlap its received ones. Once around a dimension of one rank a message goes to the rank itself, since it may hold
/// values received in the stage before.
class HaloPlanner {
 public:
  HaloPlanner(const Grid& grid, Rank rank, const HaloArray& array) : grid_(grid), rank_(rank), array_(array) {}

  /// @param stages  by dimension, from 0 up
  Plan make(const std::vector<int>& stages) {
    const int count = *std::ranges::max_element(stages) + 1;
    for (int stage = 0; stage < count; ++stage) {
      plan_.batches.emplace_back().stage = stage;
      packed_ = landed_ = 0;
      // In the order of directions at both ends, by which several messages of two ranks find each other.
      for (const auto& message : halo_messages(grid_, rank_, array_, stages, stage)) add(message);
      plan_.packing_bytes = std::max(plan_.packing_bytes, packed_);
      plan_.transit_bytes = std::max(plan_.transit_bytes, landed_);
      if (plan_.batches.back().sends.empty() && plan_.batches.back().receives.empty()) plan_.batches.pop_back();
    }
    return std::move(plan_);
  }

 private:
  void add(const HaloMessage& message) {
    auto& batch = plan_.batches.back();
    auto back = message.direction;
    for (auto& step : back) step = -step;
    if (const auto target = grid_.relative(rank_, message.direction))
      batch.sends.push_back(planned(*target, message.sent, Place::Buffer::send, {Place::Buffer::packing, packed_}));
    if (const auto source = grid_.relative(rank_, back))
      batch.receives.push_back(
          planned(*source, message.received, Place::Buffer::receive, {Place::Buffer::transit, landed_}));
  }

  /// @param together  where the pieces are brought together, if there are several; moved on then
  PlannedMessage planned(Rank peer, const HaloRegion& region, Place::Buffer buffer, const Place& together) {
    PlannedMessage message{peer, together, region.bytes(array_)};
    Bytes offset = 0;
    region.for_each_piece(array_, [&](Bytes at, Bytes bytes) {
      message.pieces.push_back({offset, {buffer, at}, bytes});
      offset += bytes;
    });
    if (message.pieces.size() == 1) {
      message.place = message.pieces.front().place;
      message.pieces.clear();
    } else {
      (buffer == Place::Buffer::send ? packed_ : landed_) += message.bytes;
    }
    return message;
  }

  const Grid& grid_;
  Rank rank_;
  const HaloArray& array_;
  Plan plan_;
  Bytes packed_ = 0, landed_ = 0;  // of the batch
};

void require(const Grid& grid, const HaloArray& array, const void* cells, const HaloOptions& options, int ranks) {
  grid.validate(place_of_call);
  if (grid.ranks() != ranks)
    throw InputError(place_of_call, fmt::format("the grid has {} ranks and the communicator {}", grid.ranks(), ranks),
                     "use a grid of all its ranks");
  array.validate(grid, place_of_call);
  if (!cells) throw InputError(place_of_call, "the array is null", "give the cells");
  require_host_memory(cells, place_of_call);
  if (options.stages.empty()) return;
  const std::set<int> numbers(options.stages.begin(), options.stages.end());
  if (options.stages.size() != grid.dimensions() || *numbers.begin() != 1 || *numbers.rbegin() != std::ssize(numbers))
    throw InputError(place_of_call, "the stages are no numbers 1, 2, … without gaps, one for each dimension",
                     "give such numbers, or none");
}

/// Are the grid, the depth, the size of a cell and the options those of rank 0? Extents may differ.
void require_the_same(MPI_Comm comm, const Grid& grid, const HaloArray& array, const HaloOptions& options) {
  std::string own = describe(grid) +
                    fmt::format(" {} {} {} {}", join(array.depth, "x"), array.cell_bytes, join(options.stages, "x"),
                                static_cast<int>(options.model)) +
                    (options.shared ? (*options.shared ? " shared" : " by messages") : "");
  const auto first = broadcast(comm, own);
  all_or_none(comm, [&] {
    if (own != first)
      throw InputError(place_of_call, "the grid, the depth, the cells or the options are not those of rank 0",
                       "give the same on every rank");
  });
}

/// Of the ranks next to each other in one dimension the extents of all others must be the same.
void require_fitting(const Context& context, const Grid& grid, const HaloArray& array) {
  const MPI_Comm comm = context.comm.get();
  const auto d = grid.dimensions();
  const Rank rank = context.comm.rank();
  constexpr int tag = 0;  // below those of exchanges
  bool fits = true;
  for (std::size_t k = 0; k < d; ++k) {
    std::vector<int> step(d, 0), other(array.extent);
    step[k] = 1;
    const Rank next = grid.relative(rank, step).value_or(MPI_PROC_NULL);
    step[k] = -1;
    const Rank before = grid.relative(rank, step).value_or(MPI_PROC_NULL);
    COMMPASS_MPI_CALL(MPI_Sendrecv, array.extent.data(), static_cast<int>(d), MPI_INT, next, tag, other.data(),
                      static_cast<int>(d), MPI_INT, before, tag, comm, MPI_STATUS_IGNORE);
    other[k] = array.extent[k];
    fits = fits && other == array.extent;
  }
  all_or_none(comm, [&] {
    if (!fits)
      throw InputError(place_of_call, "neighbours have other extents across their common face",
                       "give ranks with the same coordinate in a dimension the same extent there");
  });
}

/// The paths that a caller leaves to choose from.
std::vector<DataPath> paths_of(const Context& context, std::optional<bool> shared) {
  auto paths = paths_of_host_data(context.layout, context.machine);
  if (shared) std::erase_if(paths, [&](const DataPath& path) { return path.is_shared != *shared; });
  return paths;
}

/// What the caller names runs; a path that is not named goes by MPI.
HaloCandidate named(const HaloArray& array, const HaloOptions& options) {
  HaloCandidate candidate{.stages = options.stages, .path = {.is_shared = options.shared.value_or(false)}};
  for (auto& stage : candidate.stages) --stage;
  if (candidate.stages.empty()) candidate.stages = stages_of_faces(array);
  return candidate;
}

/// Rank 0 chooses what the caller does not name. Collective.
HaloCandidate choose(const Context& context, const Grid& grid, const HaloArray& array, const HaloOptions& options,
                     Decision& decision) {
  auto choice = named(array, options);
  const auto decide = [&] {
    Decision made;
    std::vector<HaloCandidate> ranking;
    if (context.unpriced.empty()) {
      if (const auto paths = paths_of(context, options.shared); !paths.empty())
        ranking = rank_halos(grid, array, context.layout, context.machine, options.model, paths);
    } else {
      warn_unpriced(context.unpriced, 0);
    }
    for (const auto& candidate : ranking)
      made.explanation += fmt::format("{}, {} messages: {}\n", candidate.name(), candidate.messages,
                                      format_seconds(candidate.predicted_s));
    if (ranking.empty()) ranking.push_back(choice);
    else made.predicted_s = ranking.front().predicted_s;
    made.strategy = ranking.front().name();
    return std::vector{std::move(made)};
  };
  decision = std::move(decided_by_rank_0(context.comm.get(), decide).front());
  const auto parts = split(decision.strategy.substr(std::string_view("stages=").size()), ',');
  choice.stages.clear();
  for (const auto& stage : split(parts.front(), 'x')) choice.stages.push_back(*parse_number<int>(stage) - 1);
  choice.path.is_shared = parts.size() > 1;
  return choice;
}

}  // namespace

HaloExchange plan_halo_exchange(const std::shared_ptr<Context>& context, const Grid& grid, const HaloArray& array,
                                void* cells, const HaloOptions& options) {
  const MPI_Comm comm = context->comm.get();
  assemble(comm);
  auto address = context->next_address();
  all_or_none(comm, [&] { require(grid, array, cells, options, context->layout.ranks()); });
  require_the_same(comm, grid, array, options);
  require_fitting(*context, grid, array);
  Decision decision;
  auto choice = named(array, options);
  if (options.stages.empty()) {
    choice = choose(*context, grid, array, options, decision);
  } else {
    decision.strategy = choice.name();
    decision.explanation = "The stages were named by the caller.\n";
  }
  Plan plan;
  all_or_none(comm, [&] { plan = HaloPlanner(grid, context->comm.rank(), array).make(choice.stages); });
  auto landings = choice.path.is_shared ? Landings::share(*context, plan) : nullptr;
  std::optional<HaloExchange> result;
  all_or_none(comm, [&] {
    int messages = 0;
    const auto is_to_other = [&](const PlannedMessage& message) { return message.peer != context->comm.rank(); };
    for (const auto& batch : plan.batches)
      messages += static_cast<int>(std::ranges::count_if(batch.sends, is_to_other));
    for (auto& stage : choice.stages) ++stage;
    result.emplace(exchange_of_plan(context, address, plan, cells, cells, std::move(decision), std::move(landings)),
                   choice.stages, messages);
  });
  return std::move(*result);
}

}  // namespace commpass
