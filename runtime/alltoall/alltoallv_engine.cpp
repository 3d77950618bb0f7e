#include "runtime/alltoall/alltoallv_engine.hpp"

#include <array>
#include <cmath>
#include <exception>
#include <vector>

#include "model/cost/plan_cost.hpp"
#include "model/error.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/choose/unpriced.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/in_flight.hpp"
#include "runtime/mpi/lost_message.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "selector/choose/family.hpp"

namespace commpass {

namespace {

constexpr double first_block_bytes = 1024;

/// For sizes and for data.
constexpr int tags_of_call = 2;

/// What a survey sums up over all ranks.
enum Surveyed : std::size_t { on_node, off_node, bytes, surveyed_end };

/// A block for everybody.
BlocksClass class_of_full(double block_bytes) { return class_of({1, 1, block_bytes}); }

/// What runs an exchange in place that would be left to the MPI library: libraries are wrong there for types with gaps.
const std::string in_place_of_library = "standard";

}  // namespace

AlltoallvEngine::AlltoallvEngine(std::shared_ptr<const Context> context)
    : context_(std::move(context)),
      comm_(context_->comm.get()),
      exchange_(comm_.get()),
      chooser_(comm_.get()),
      chooser_of_equal_(comm_.get()),
      calls_with_own_tags_((context_->largest_tag - 1) / tags_of_call) {
  all_or_none(comm_.get(), [&] { arguments_.make_room(context_->layout.ranks()); });
}

AlltoallvEngine::~AlltoallvEngine() {
  if (has_failed_) comm_.keep();
  else if (mpi_is_usable()) forget_strays();
}

/// Messages that their receiver did not expect at all would reach the next communicator that MPI makes in the place of
/// this one.
void AlltoallvEngine::forget_strays() noexcept {
  try {
    // Reductions may be messages of this communicator, too.
    survey_.complete();
    if (arrival_.started()) arrival_.wait();
    for (int found = 1; found != 0;) {
      MPI_Status status;
      COMMPASS_MPI_CALL(MPI_Iprobe, MPI_ANY_SOURCE, MPI_ANY_TAG, comm_.get(), &found, &status);
      if (found == 0) return;
      int bytes = 0;
      COMMPASS_MPI_CALL(MPI_Get_count, &status, MPI_BYTE, &bytes);
      MPI_Request request = MPI_REQUEST_NULL;
      receive_and_forget(bytes, status.MPI_SOURCE, status.MPI_TAG, comm_.get(), &request);
      COMMPASS_MPI_CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    }
  } catch (...) {  // NOLINT: a destructor has nobody to tell
  }
}

const OneShotChoice& AlltoallvEngine::cheapest(const std::string& family, const BlocksClass& blocks) {
  const auto& layout = context_->layout;
  const auto& machine = context_->machine;
  const bool is_equal = blocks.sizes == BlockSizes::equal;
  const ExchangeClass wanted{blocks.rarity_on_node, blocks.rarity_off_node,
                             is_equal ? finer_sizes * blocks.size_bits + blocks.finer_size : blocks.size_bits};
  const auto price = [&](std::size_t) -> OneShotChoice {
    std::vector<Strategy> given;
    if (!family.empty()) given.push_back(parse_strategy(family));
    const auto best =
        rank_one_shot(typical_of(blocks, layout.ranks()), layout, machine, CostModel::burst, given, blocks.sizes)
            .front();
    return {to_string(best.strategy), best.cost.seconds,
            survey_interval(best.cost.seconds, small_collective_seconds(layout, machine))};
  };
  return (is_equal ? chooser_of_equal_ : chooser_).choose(family, wanted, std::cref(price));
}

const OneShotChoice* AlltoallvEngine::fixed_choice(const std::string& named) {
  if (const auto found = fixed_.find(named); found != fixed_.end()) return found->second ? &*found->second : nullptr;
  std::optional<OneShotChoice> choice;
  if (!named.empty() && !is_automatic(parse_strategy(named))) {
    choice = OneShotChoice{named};
  } else if (!context_->unpriced.empty()) {
    warn_unpriced(context_->unpriced, comm_.rank());
    choice = OneShotChoice{named.empty() ? unpriced_alltoallv
                                         : to_string(unpriced_member(parse_strategy(named), context_->layout))};
  }
  const auto& kept = fixed_.emplace(named, std::move(choice)).first->second;
  return kept ? &*kept : nullptr;
}

const OneShotChoice& AlltoallvEngine::choose(const AlltoallvOptions& options, std::optional<Bytes> block_bytes) {
  if (const auto sums = survey_.complete())
    blocks_ = class_of((*sums)[on_node], (*sums)[off_node], (*sums)[bytes], context_->layout);
  const auto& named = options.strategy.empty() ? context_->named.alltoallv : options.strategy;
  if (const auto* const choice = insist([&] { return fixed_choice(named); })) return *choice;
  if (block_bytes) return cheapest(named, class_of_equal(*block_bytes));
  if (options.block_bytes) return cheapest(named, class_of_full(*options.block_bytes));
  return cheapest(named, blocks_ ? *blocks_ : class_of_full(first_block_bytes));
}

const AlltoallvEngine::Structures::value_type& AlltoallvEngine::structure(const std::string& text) {
  if (const auto found = structures_.find(text); found != structures_.end()) return *found;
  const auto strategy = parse_strategy(text);
  if (pattern_need(strategy) != PatternNeed::nothing)
    throw NotApplicable(text,
                        "its ways depend on the whole pattern, which an exchange that is run once does not gather");
  assemble(comm_.get());
  std::unique_ptr<Route> route;
  all_or_none(comm_.get(), [&] { route = make_route(strategy, context_->layout); });
  std::optional<AlltoallStructure> made;
  if (!is_run_by_library(*route)) {
    made = make_alltoall_structure(comm_.get(), *route, strategy.window, strategy.coalescing);
    all_or_none(comm_.get(), [&] { exchange_.make_room(*made); });
  }
  return insist([&]() -> auto& { return *structures_.emplace(text, std::move(made)).first; });
}

void AlltoallvEngine::survey(const AlltoallBlocks<const std::byte*>& sends) {
  MessageTotals own;
  const Rank me = comm_.rank();
  for (Rank rank = 0; rank < context_->layout.ranks(); ++rank) own.add(me, rank, sends.bytes(rank), context_->layout);
  const std::array<std::int64_t, surveyed_end> sums{own.on_node, own.off_node, static_cast<std::int64_t>(own.bytes)};
  survey_.begin([&](NonblockingReduction& reduction) { reduction.start_sum(comm_.get(), sums); });
}

void AlltoallvEngine::alltoallv(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                                MPI_Datatype sendtype, void* recvbuf, std::span<const int> recvcounts,
                                std::span<const int> rdispls, MPI_Datatype recvtype, const AlltoallvOptions& options) {
  arguments_.receives.assign(Side::receive, comm_.get(), recvbuf, recvcounts, rdispls, recvtype);
  if (sendbuf != MPI_IN_PLACE) arguments_.sends.assign(Side::send, comm_.get(), sendbuf, sendcounts, sdispls, sendtype);
  const auto by_library = [&](MPI_Comm comm) {
    COMMPASS_MPI_CALL(MPI_Alltoallv, sendbuf, sendcounts.data(), sdispls.data(), sendtype, recvbuf, recvcounts.data(),
                      rdispls.data(), recvtype, comm);
  };
  run(sendbuf, recvbuf, options, std::cref(by_library), {});
}

void AlltoallvEngine::alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                               MPI_Datatype recvtype, const AlltoallvOptions& options) {
  arguments_.receives.assign_equal(Side::receive, comm_.get(), recvbuf, recvcount, recvtype);
  if (sendbuf != MPI_IN_PLACE) arguments_.sends.assign_equal(Side::send, comm_.get(), sendbuf, sendcount, sendtype);
  const auto by_library = [&](MPI_Comm comm) {
    COMMPASS_MPI_CALL(MPI_Alltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  };
  run(sendbuf, recvbuf, options, std::cref(by_library), recvcount * arguments_.receives.type->size());
}

void AlltoallvEngine::run(const void* send_buffer, void* receive_buffer, const AlltoallvOptions& options,
                          const std::function<void(MPI_Comm)>& by_library, std::optional<Bytes> block_bytes) {
  const auto place = [&] { return "alltoallv, rank " + std::to_string(comm_.rank()); };
  if (has_failed_)
    throw InputError(place(), "an exchange before this one has failed, and others may wait for its messages",
                     "go on with a new Communicator");
  if (options.block_bytes && !(*options.block_bytes >= 0 && std::isfinite(*options.block_bytes)))
    throw InputError(place(), "block_bytes is not a size", "hint at 0 bytes or more");
  const bool is_in_place = send_buffer == MPI_IN_PLACE;
  if (!is_in_place) arguments_.require_same_for_oneself(comm_.rank());
  const auto& choice = choose(options, block_bytes);
  const auto structure_of = [&](const std::string& text) { return insist([&] { return &structure(text); }); };
  const auto* run = structure_of(choice.strategy);
  if (is_in_place && !run->second) run = structure_of(in_place_of_library);
  const auto& ours = run->second;
  const int tag = 1 + static_cast<int>(runs_++ % calls_with_own_tags_) * tags_of_call;
  std::optional<AlltoallDamage> damage;
  try {
    if (is_in_place) arguments_.send_in_place(comm_.get(), receive_buffer);
    const auto sends =
        is_in_place ? arguments_.in_place() : arguments_.sends.blocks(static_cast<const std::byte*>(send_buffer));
    if (!block_bytes && survey_.is_due(choice.survey_interval) && context_->layout.ranks() > 1) survey(sends);
    if (ours)
      damage = exchange_.run(*ours, sends, arguments_.receives.blocks(static_cast<std::byte*>(receive_buffer)),
                             block_bytes ? BlockSizes::equal : BlockSizes::told, tag);
    else leave_to_library(by_library);
  } catch (const std::exception& error) {
    has_failed_ = true;
    std::string what = sentence_of(error);
    while (what.ends_with('.')) what.pop_back();
    throw InputError(place(), what,
                     "let all ranks send as much as their receivers' counts say, and go on with a new Communicator");
  }
  last_ = &run->first;
  if (!damage) return;
  has_failed_ = damage->is_mpis;
  throw InputError(
      place(), damage->sentence,
      std::string("let all ranks send as much as their receivers' counts say, and have memory for what they forward") +
          (has_failed_ ? ", and go on with a new Communicator" : ""));
}

/// The MPI library's call moves on nothing of ours, and other ranks may come to it only when they have what is in
/// flight here. So a rank where something is waits, before it calls, until all others are in the call: they say so by a
/// reduction that they start and need not wait for.
void AlltoallvEngine::leave_to_library(const std::function<void(MPI_Comm)>& by_library) {
  if (context_->layout.ranks() > 1) {
    if (arrival_.started()) arrival_.wait();  // of the call before
    insist([&] { arrival_.start_sum(comm_.get(), std::array<std::int64_t, 1>{}); });
    if (anything_is_in_flight()) arrival_.wait();
  }
  by_library(comm_.get());
}

}  // namespace commpass
