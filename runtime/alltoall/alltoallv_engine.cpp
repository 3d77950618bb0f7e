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

/// @throws InputError, NotApplicable
Strategy without_pattern(const std::string& text) {
  auto strategy = parse_host_strategy(text);
  if (pattern_need(strategy) != PatternNeed::nothing)
    throw NotApplicable(text,
                        "its ways depend on the whole pattern, which an exchange that is run once does not gather");
  return strategy;
}

ExchangeClass class_for_choice(const BlocksClass& blocks) {
  return {blocks.rarity_on_node, blocks.rarity_off_node,
          blocks.sizes == BlockSizes::equal ? finer_sizes * blocks.size_bits + blocks.finer_size : blocks.size_bits};
}

/// Where a rank may follow the blocks of all: then that takes less than a second.
constexpr int most_ranks_followed = 2048;

/// What runs an exchange in place that would be left to the MPI library: libraries are wrong there for types with gaps.
/// Its structure takes no other ranks.
const std::string in_place_of_library = "standard";

}  // namespace

AlltoallvEngine::AlltoallvEngine(std::shared_ptr<const Context> context, std::shared_ptr<const void> freed_later)
    : context_(std::move(context)),
      freed_later_(std::move(freed_later)),
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
  const auto price = [&](std::size_t) -> OneShotChoice {
    std::vector<Strategy> given;
    if (!family.empty()) given.push_back(parse_host_strategy(family));
    const auto best = rank_one_shot(typical_of(blocks, layout.ranks()), layout, machine, CostModel::burst, given,
                                    blocks.sizes, RankingDepth::cheapest)
                          .front();
    return {to_string(best.strategy), best.cost.seconds,
            survey_interval(best.cost.seconds, small_collective_seconds(layout, machine))};
  };
  return chooser_for(blocks).choose(family, class_for_choice(blocks), std::cref(price));
}

const OneShotChoice* AlltoallvEngine::fixed_choice(const std::string& named) {
  if (const auto found = fixed_.find(named); found != fixed_.end()) return found->second ? &*found->second : nullptr;
  std::optional<OneShotChoice> choice;
  if (!named.empty() && !is_automatic(parse_host_strategy(named))) {
    choice = OneShotChoice{named};
  } else if (!context_->unpriced.empty()) {
    warn_unpriced(context_->unpriced, comm_.rank());
    choice = OneShotChoice{named.empty() ? unpriced_alltoallv
                                         : to_string(unpriced_member(parse_strategy(named), context_->layout))};
  }
  const auto& kept = fixed_.emplace(named, std::move(choice)).first->second;
  return kept ? &*kept : nullptr;
}

const std::string& AlltoallvEngine::name_for(const AlltoallvOptions& options) const {
  return options.strategy.empty() ? context_->named.alltoallv : options.strategy;
}

BlocksClass AlltoallvEngine::blocks_for(const AlltoallvOptions& options, std::optional<Bytes> block_bytes) const {
  if (block_bytes) return class_of_equal(*block_bytes);
  if (options.block_bytes) return class_of_full(*options.block_bytes);
  return blocks_ ? *blocks_ : class_of_full(first_block_bytes);
}

const OneShotChoice& AlltoallvEngine::choose(const AlltoallvOptions& options, std::optional<Bytes> block_bytes) {
  if (const auto sums = survey_.complete())
    blocks_ = class_of((*sums)[on_node], (*sums)[off_node], (*sums)[bytes], context_->layout);
  const auto& named = name_for(options);
  if (const auto* const choice = insist([&] { return fixed_choice(named); })) return *choice;
  return cheapest(named, blocks_for(options, block_bytes));
}

/// What an exchange runs that is chosen without the other ranks.
struct AlltoallvEngine::Unwaited {
  std::string strategy;
  std::optional<Seconds> predicted_s;
  const char* reason;
};

/// A survey may be under way, which a later exchange that waits completes: at the same point of the program on all
/// ranks, as what is asked here must be.
AlltoallvEngine::Unwaited AlltoallvEngine::choose_alone(const AlltoallvOptions& options,
                                                        std::optional<Bytes> block_bytes) {
  const auto& named = name_for(options);
  if (const auto* const choice = fixed_choice(named)) {
    const char* const reason = !context_->unpriced.empty() && (named.empty() || choice->strategy != named)
                                   ? "no strategy has a price"
                               : options.strategy.empty() ? "COMMPASS_ALLTOALLV_STRATEGY names it"
                                                          : "it was named by the caller";
    return {choice->strategy, {}, reason};
  }
  const auto blocks = blocks_for(options, block_bytes);
  if (const auto* const near = chooser_for(blocks).nearest(named, class_for_choice(blocks)))
    return {near->strategy, near->predicted_s,
            "it is the cheapest for blocks about like these, as was decided in a call that was waited for"};
  return {named.empty() ? "standard" : to_string(unpriced_member(parse_strategy(named), context_->layout)),
          {},
          "nothing was decided yet in a call that was waited for"};
}

const AlltoallvEngine::Structures::value_type& AlltoallvEngine::structure(const std::string& text) {
  if (const auto found = structures_.find(text); found != structures_.end()) return *found;
  const auto strategy = without_pattern(text);
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

const AlltoallvEngine::Structures::value_type* AlltoallvEngine::structure_alone(const std::string& text) {
  if (const auto found = structures_.find(text); found != structures_.end()) return &*found;
  const auto strategy = without_pattern(text);
  const auto route = make_route(strategy, context_->layout);
  std::optional<AlltoallStructure> made;
  if (!is_run_by_library(*route)) {
    const RouteOfRank own{*route, strategy.window, strategy.coalescing, comm_.rank(), context_->layout.ranks()};
    if (own.ranks > most_ranks_followed && !edges_tell_all(route->stages().size(), strategy.coalescing)) return nullptr;
    made = find_alltoall_structure(own);
  }
  return &*structures_.emplace(text, std::move(made)).first;
}

void AlltoallvEngine::survey(const AlltoallBlocks<const std::byte*>& sends) {
  MessageTotals own;
  const Rank me = comm_.rank();
  for (Rank rank = 0; rank < context_->layout.ranks(); ++rank) own.add(me, rank, sends.bytes(rank), context_->layout);
  const std::array<std::int64_t, surveyed_end> sums{own.on_node, own.off_node, static_cast<std::int64_t>(own.bytes)};
  survey_.begin([&](NonblockingReduction& reduction) { reduction.start_sum(comm_.get(), sums); });
}

void AlltoallvEngine::alltoallv(const void* sendbuf, const Numbers& sendcounts, const Numbers& sdispls,
                                MPI_Datatype sendtype, void* recvbuf, const Numbers& recvcounts, const Numbers& rdispls,
                                MPI_Datatype recvtype, const AlltoallvOptions& options) {
  arguments_.receives.assign(Side::receive, comm_.get(), recvbuf, recvcounts, rdispls, recvtype);
  if (sendbuf != MPI_IN_PLACE) arguments_.sends.assign(Side::send, comm_.get(), sendbuf, sendcounts, sdispls, sendtype);
  const auto [from, to] = mirrored_.begin(sendbuf, recvbuf, arguments_, users_stream());
  const auto by_library = [&, from = from, to = to](MPI_Comm comm) {
    const AlltoallvNumbers numbers{sendcounts, sdispls, recvcounts, rdispls};
    if (!numbers.are_int()) {
      insist([&] { library_numbers_.assign(numbers); });
      return library_numbers_.run(from, sendtype, to, recvtype, comm);
    }
    COMMPASS_MPI_CALL(MPI_Alltoallv, from, sendcounts.ints(), sdispls.ints(), sendtype, to, recvcounts.ints(),
                      rdispls.ints(), recvtype, comm);
  };
  run(from, to, options, std::cref(by_library), {});
  mirrored_.end();
}

void AlltoallvEngine::alltoall(const void* sendbuf, Bytes sendcount, MPI_Datatype sendtype, void* recvbuf,
                               Bytes recvcount, MPI_Datatype recvtype, const AlltoallvOptions& options) {
  arguments_.receives.assign_equal(Side::receive, comm_.get(), recvbuf, recvcount, recvtype);
  if (sendbuf != MPI_IN_PLACE) arguments_.sends.assign_equal(Side::send, comm_.get(), sendbuf, sendcount, sendtype);
  const auto [from, to] = mirrored_.begin(sendbuf, recvbuf, arguments_, users_stream());
  const auto by_library = [&, from = from, to = to](MPI_Comm comm) {
    library_alltoall(from, sendcount, sendtype, to, recvcount, recvtype, comm);
  };
  run(from, to, options, std::cref(by_library), recvcount * arguments_.receives.type->size());
  mirrored_.end();
}

std::string AlltoallvEngine::place() const { return "alltoallv, rank " + std::to_string(comm_.rank()); }

void AlltoallvEngine::require_usable(const AlltoallvOptions& options) const {
  if (has_failed_)
    throw InputError(place(), "an exchange before this one has failed, and others may wait for its messages",
                     "go on with a new Communicator");
  if (options.block_bytes && !(*options.block_bytes >= 0 && std::isfinite(*options.block_bytes)))
    throw InputError(place(), "block_bytes is not a size", "hint at 0 bytes or more");
}

int AlltoallvEngine::next_tag() { return 1 + static_cast<int>(runs_++ % calls_with_own_tags_) * tags_of_call; }

void AlltoallvEngine::fail(const std::exception& error) {
  has_failed_ = true;
  std::string what = sentence_of(error);
  while (what.ends_with('.')) what.pop_back();
  throw InputError(place(), what,
                   "let all ranks send as much as their receivers' counts say, and go on with a new Communicator");
}

void AlltoallvEngine::require_undamaged(const std::optional<AlltoallDamage>& damage) {
  if (!damage) return;
  has_failed_ = has_failed_ || damage->is_mpis;
  throw InputError(
      place(), damage->sentence,
      std::string("let all ranks send as much as their receivers' counts say, and have memory for what they forward") +
          (has_failed_ ? ", and go on with a new Communicator" : ""));
}

AlltoallvEngine::Begun AlltoallvEngine::begin(const AlltoallvOptions& options, std::optional<Bytes> block_bytes,
                                              bool is_in_place) {
  require_usable(options);
  auto chosen = insist([&] { return choose_alone(options, block_bytes); });
  const auto structure_of = [&](const std::string& text) { return insist([&] { return structure_alone(text); }); };
  const auto* run = structure_of(chosen.strategy);
  if (!run && !chosen.predicted_s)
    throw NotApplicable(chosen.strategy, "on so many ranks a call that is waited for has to prepare it first");
  if (!run || (is_in_place && !run->second)) {
    if (!run) chosen.reason = "on so many ranks a call that is waited for has to prepare what is cheaper";
    chosen.predicted_s.reset();
    run = structure_of(in_place_of_library);
  }
  return {&run->first, run->second ? &*run->second : nullptr, chosen.predicted_s, chosen.reason, next_tag()};
}

void AlltoallvEngine::run(const void* send_buffer, void* receive_buffer, const AlltoallvOptions& options,
                          const std::function<void(MPI_Comm)>& by_library, std::optional<Bytes> block_bytes) {
  require_usable(options);
  const bool is_in_place = send_buffer == MPI_IN_PLACE;
  if (!is_in_place) arguments_.require_same_for_oneself(comm_.rank());
  const auto& choice = choose(options, block_bytes);
  const auto structure_of = [&](const std::string& text) { return insist([&] { return &structure(text); }); };
  const auto* run = structure_of(choice.strategy);
  if (is_in_place && !run->second) run = structure_of(in_place_of_library);
  const auto& ours = run->second;
  const int tag = next_tag();
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
    fail(error);
  }
  last_ = &run->first;
  require_undamaged(damage);
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
