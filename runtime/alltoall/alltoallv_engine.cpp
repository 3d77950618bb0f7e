#include "runtime/alltoall/alltoallv_engine.hpp"

#include <array>
#include <cmath>
#include <exception>
#include <vector>

#include "model/cost/plan_cost.hpp"
#include "model/error.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/choose/telling.hpp"
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

/// What is told: sums over all ranks.
enum Told : std::size_t { on_node, off_node, bytes, told_end };

/// A block for everybody.
BlocksClass class_of_full(double block_bytes) { return class_of({1, 1, block_bytes}); }

/// What runs an exchange in place that would be left to the MPI library: libraries are wrong there for types with gaps.
const std::string in_place_of_library = "standard";

}  // namespace

AlltoallvEngine::AlltoallvEngine(MPI_Comm comm, const Layout& layout, const Machine& machine, std::string named,
                                 int largest_tag)
    : comm_(comm),
      layout_(layout),
      machine_(machine),
      named_(std::move(named)),
      exchange_(comm_.get()),
      calls_with_own_tags_((largest_tag - 1) / tags_of_call) {
  together(comm_.get(), [&] { arguments_.make_room(layout_.ranks()); });
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
    if (is_telling_) wait_until([&] { return telling_.test(); });
    if (arrival_.started()) wait_until([&] { return arrival_.test(); });
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

const AlltoallvEngine::Choice& AlltoallvEngine::cheapest(const std::string& named, const BlocksClass& blocks) {
  auto& choices = insist([&]() -> auto& { return cheapest_[named]; });
  auto [entry, is_new] = insist([&] { return choices.try_emplace(blocks); });
  if (!is_new) return entry->second;
  try {
    if (const auto why = why_unpriced(layout_, machine_); !why.empty()) {
      warn_unpriced(why, comm_.rank());
      const auto strategy =
          named.empty() ? unpriced_alltoallv : to_string(unpriced_member(parse_strategy(named), layout_));
      return entry->second = Choice{strategy, most_exchanges_a_telling};
    }
    assemble(comm_.get());
    Choice found;
    together(comm_.get(), [&] {
      if (comm_.rank() != 0) return;
      std::vector<Strategy> given;
      if (!named.empty()) given.push_back(parse_strategy(named));
      const auto best =
          rank_one_shot(typical_of(blocks, layout_.ranks()), layout_, machine_, CostModel::burst, given, blocks.sizes)
              .front();
      found = {to_string(best.strategy),
               exchanges_a_telling(best.cost.seconds, small_collective_seconds(layout_, machine_))};
    });
    found.strategy = broadcast(comm_.get(), found.strategy);
    COMMPASS_MPI_CALL(MPI_Bcast, &found.exchanges_a_telling, 1, MPI_INT, 0, comm_.get());
    return entry->second = std::move(found);
  } catch (...) {
    choices.erase(entry);
    throw;
  }
}

const AlltoallvEngine::Choice& AlltoallvEngine::choose(const AlltoallvOptions& options,
                                                       std::optional<Bytes> block_bytes) {
  if (is_telling_) {
    wait_until([&] { return telling_.test(); });
    const auto told = telling_.result();
    blocks_ = class_of(random_pattern({told[on_node], told[off_node], static_cast<double>(told[bytes])}, layout_));
    is_telling_ = false;
  }
  const auto& named = options.strategy.empty() ? named_ : options.strategy;
  if (!named.empty()) {
    auto entry = named_choices_.find(named);
    if (entry == named_choices_.end()) {
      const auto choice =
          is_automatic(parse_strategy(named)) ? std::nullopt : std::optional(Choice{named, most_exchanges_a_telling});
      entry = insist([&] { return named_choices_.emplace(named, choice).first; });
    }
    if (entry->second) return *entry->second;
  }
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
  together(comm_.get(), [&] { route = make_route(strategy, layout_); });
  std::optional<AlltoallStructure> made;
  if (!is_run_by_library(*route)) {
    made = make_alltoall_structure(comm_.get(), *route, strategy.window, strategy.coalescing);
    together(comm_.get(), [&] { exchange_.make_room(*made); });
  }
  return insist([&]() -> auto& { return *structures_.emplace(text, std::move(made)).first; });
}

void AlltoallvEngine::tell(const AlltoallBlocks<const std::byte*>& sends) {
  MessageTotals own;
  const Rank me = comm_.rank();
  for (Rank rank = 0; rank < layout_.ranks(); ++rank) own.add(me, rank, sends.bytes(rank), layout_);
  const std::array<std::int64_t, told_end> sums{own.on_node, own.off_node, static_cast<std::int64_t>(own.bytes)};
  insist([&] { telling_.start_sum(comm_.get(), sums); });
  is_telling_ = true;
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
  const auto& [strategy, one_in] = insist([&]() -> auto& { return choose(options, block_bytes); });
  const auto structure_of = [&](const std::string& text) { return insist([&] { return &structure(text); }); };
  const auto* run = structure_of(strategy);
  if (is_in_place && !run->second) run = structure_of(in_place_of_library);
  const auto& ours = run->second;
  const int tag = 1 + static_cast<int>(runs_++ % calls_with_own_tags_) * tags_of_call;
  std::optional<AlltoallDamage> damage;
  try {
    if (is_in_place) arguments_.send_in_place(comm_.get(), receive_buffer);
    const auto sends =
        is_in_place ? arguments_.in_place() : arguments_.sends.blocks(static_cast<const std::byte*>(send_buffer));
    if (!block_bytes && tells_after(++exchanges_, one_in) && layout_.ranks() > 1) tell(sends);
    if (ours)
      damage = exchange_.run(*ours, sends, arguments_.receives.blocks(static_cast<std::byte*>(receive_buffer)),
                             block_bytes ? BlockSizes::equal : BlockSizes::told, tag);
    else leave_to_library(by_library);
  } catch (const std::exception& error) {
    has_failed_ = true;
    exchange_.abandon();
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
  if (layout_.ranks() > 1) {
    if (arrival_.started()) wait_until([&] { return arrival_.test(); });  // of the call before
    insist([&] { arrival_.start_sum(comm_.get(), std::array<std::int64_t, 1>{}); });
    if (anything_is_in_flight()) wait_until([&] { return arrival_.test(); });
  }
  by_library(comm_.get());
}

}  // namespace commpass
