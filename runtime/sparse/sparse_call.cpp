#include "runtime/sparse/sparse_call.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "model/base/error.hpp"
#include "runtime/execute/memory.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/sparse/node_mail.hpp"
#include "runtime/sparse/sparse_frame.hpp"

namespace commpass {

std::unique_ptr<DiscoveryStage> make_stage(Discovery discovery, const StageContext& context) {
  if (context.post) return make_shared_stage(discovery, context);
  switch (discovery) {
    case Discovery::nbx: return make_nbx_stage(context);
    case Discovery::reduce: return make_reduce_stage(context);
    case Discovery::allreduce: return make_allreduce_stage(context);
    case Discovery::rma: return make_rma_stage(context);
    case Discovery::dense: return make_alltoall_stage(context);
  }
  throw Error("there is no such discovery.");
}

namespace {

constexpr const char* same_bytes = "give the same number of bytes on every rank, or use sparse_alltoallv";

}  // namespace

void require_same_bytes(const Tally& all) {
  if (!all.has_different_bytes()) return;
  throw InputError("sparse exchange",
                   "messages have " + std::to_string(-all.smallest_bytes_negated) + " bytes on one rank and " +
                       std::to_string(all.largest_bytes) + " on another",
                   same_bytes);
}

SparseCall::SparseCall(Rank rank, int ranks, const SparseStrategy& strategy, const StagedRoute& staged,
                       const StageContext& context, SparseSends&& sends, const Tally& tally)
    : rank_(rank),
      ranks_(ranks),
      strategy_(strategy),
      staged_(staged),
      context_(context),
      sends_(std::move(sends)),
      tally_(tally) {
  try {
    hold_sends();
  } catch (const std::bad_alloc& error) {
    held_.clear();
    received_.clear();
    sends_.error = sentence_of(error);
  }
  if (!sends_.error.empty()) tally_.failures.add(Failures::at_start);
  if (staged_.groups.empty()) finish();  // a single rank
  else guarded([&] { begin_stage(); });
}

/// Do parcels hold several blocks, each with a header? A dense stage sends one parcel to a peer, even an empty one.
bool SparseCall::is_framed() const { return !strategy_.is_direct() || strategy_.discovery == Discovery::dense; }

void SparseCall::hold_sends() {
  for (const auto& edge : sends_.edges) {
    const std::span bytes(sends_.buffer + edge.offset, static_cast<std::size_t>(edge.bytes));
    if (edge.destination != rank_) {
      held_.push_back({{.source = rank_, .destination = edge.destination, .bytes = edge.bytes}, bytes, nullptr});
      continue;
    }
    const auto memory = memory_for(edge.bytes);
    std::ranges::copy(bytes, memory.get());
    received_.push_back({rank_, {memory.get(), bytes.size()}, memory});
  }
}

/// May be called again after std::bad_alloc.
void SparseCall::begin_stage() {
  const auto& group = staged_.groups[static_cast<std::size_t>(stage_)];
  if (!std::exchange(is_packed_, true)) {
    outgoing_.clear();
    frames_.clear();
    if (is_framed()) {
      frame(group);
    } else {
      for (const auto& held : held_) outgoing_.push_back({group.in_group(held.block.destination), held.bytes});
    }
  }
  auto context = context_;
  context.comm = group.comm;
  context.limits = context_.limits.among(group.members);
  context.tag += stage_;
  context.group = &group;
  if (strategy_.discovery == Discovery::dense) context.peers = strategy_.is_direct() ? all_others() : group.peers;
  else if (context.post) context.peers = strategy_.is_direct() ? context.post->rings->reached() : group.peers;
  auto discovery = make_stage(strategy_.discovery, context);
  discovery->begin(outgoing_, tally_);
  discovery_ = std::move(discovery);
}

/// Something that this rank holds, or that has come, is gone. @param for_others  too: they hear of it in the stages
/// that have not begun
void SparseCall::lose(bool for_others) {
  has_lost_ = true;
  if (for_others && !tally_.failures.any_underway()) tally_.failures.add(Failures::underway);
}

std::vector<Rank> SparseCall::all_others() const {
  std::vector<Rank> others(static_cast<std::size_t>(ranks_));
  std::iota(others.begin(), others.end(), 0);
  others.erase(others.begin() + rank_);
  return others;
}

/// Puts the blocks that leave in this stage into one parcel for each peer; the others stay.
void SparseCall::frame(const StageGroup& group) {
  const auto next = [&](const Held& held) {
    return strategy_.is_direct() ? held.block.destination : staged_.route->next(held.block, rank_, stage_);
  };
  std::map<Rank, std::size_t> sizes;
  for (const auto& held : held_)
    if (const Rank to = next(held); to != rank_) sizes[to] += sizeof(FrameHeader) + held.bytes.size();
  std::map<Rank, std::byte*> ends;
  for (const auto& [to, size] : sizes) {
    auto& memory = frames_.emplace_back(memory_for(static_cast<Bytes>(size)));
    outgoing_.push_back({group.in_group(to), {memory.get(), size}});
    ends[to] = memory.get();
  }
  CopyList copies;
  std::vector<std::shared_ptr<const std::byte[]>> leaving;  // stays until it is copied
  std::erase_if(held_, [&](const Held& held) {
    const Rank to = next(held);
    if (to == rank_) return false;
    auto*& end = ends[to];
    end = write_header({held.block.source, held.block.destination, held.block.bytes}, end);
    copies.add(held.bytes.data(), end, std::ssize(held.bytes));
    end += held.bytes.size();
    leaving.push_back(held.memory);
    return true;
  });
  copies.run(host_memory());
}

void SparseCall::unpack(const Parcel& parcel) {
  CopyList copies;
  auto rest = parcel.bytes;
  while (const auto block = next_block(rest, ranks_)) {
    const auto& header = block->header;
    const auto bytes = block->bytes;
    if (header.destination != rank_) {
      held_.push_back(
          {{.source = header.source, .destination = header.destination, .bytes = header.bytes}, bytes, parcel.memory});
      continue;
    }
    // A copy, so that the parcel can go, which may hold much that is for others.
    const auto memory = memory_if_any(header.bytes);
    if (!memory) {
      lose(!last_stage_reached());
      continue;
    }
    copies.add(bytes.data(), memory.get(), std::ssize(bytes));
    received_.push_back({header.source, {memory.get(), bytes.size()}, memory});
  }
  copies.run(host_memory());
}

void SparseCall::end_stage() {
  const auto& group = staged_.groups[static_cast<std::size_t>(stage_)];
  const auto parcels = discovery_->take();
  // From here on nothing is tried again.
  for (const auto& parcel : parcels) {
    try {
      if (!parcel.memory) lose(!last_stage_reached());
      else if (is_framed()) unpack(parcel);
      else received_.push_back({group.in_whole(parcel.peer), parcel.bytes, parcel.memory});
    } catch (const std::bad_alloc&) {
      lose(!last_stage_reached());
    }
  }
  auto failures = discovery_->failures().as_one();
  if (!failures.any_at_start() && tally_.failures.any_at_start()) failures.add(Failures::at_start);
  if (!failures.any_underway() && tally_.failures.any_underway()) failures.add(Failures::underway);
  tally_.failures = failures;
  if (strategy_.is_direct()) combined_ = discovery_->combined();
  discovery_.reset();
}

void SparseCall::finish() {
  std::ranges::stable_sort(received_, {}, &ReceivedMessage::source);
  complete_ = true;
}

void SparseCall::move_on(bool may_reduce) {
  while (!complete_) {
    if (!notice_) {
      if (!discovery_) begin_stage();
      if (!discovery_->progress(may_reduce)) return;
      end_stage();
      if (!last_stage_reached()) {
        ++stage_;
        is_packed_ = false;
        continue;
      }
      if (tally_.failures.any_at_start()) notice_.emplace(context_.comm, *context_.combine, sends_.error);
    }
    if (notice_ && !notice_->progress(may_reduce)) return;
    finish();
  }
}

bool SparseCall::progress(bool may_reduce) noexcept {
  guarded([&] { move_on(may_reduce); });
  return complete_;
}

/// A step that lacked memory is tried again next; but an exchange that has not begun begins with nothing, so that
/// others wait for this rank no longer.
template <class Action>
void SparseCall::guarded(Action action) noexcept {
  try {
    action();
  } catch (const std::bad_alloc& error) {
    if (notice_ || discovery_) return;
    is_packed_ = true;
    outgoing_.clear();
    held_.clear();
    if (stage_ > 0) return lose(true);
    if (sends_.error.empty()) sends_.error = sentence_of(error);
    if (!tally_.failures.any_at_start()) tally_.failures.add(Failures::at_start);
  } catch (...) {
    // Later exchanges would take the rest of this one's messages for theirs.
    if (context_.post) context_.post->rings->abandon();
    broken_ = std::current_exception();
    complete_ = true;
  }
}

ReceivedMessages SparseCall::take() {
  if (broken_) std::rethrow_exception(broken_);
  if (notice_) throw Error(notice_->text());
  if (ranks_ == 1 && !sends_.error.empty()) throw Error("rank 0: " + sends_.error);
  const auto place = [&] { return "sparse exchange, rank " + std::to_string(rank_); };
  if (has_lost_)
    throw InputError(place(), "there is not enough memory for received messages",
                     "free some, or exchange less at once");
  if (tally_.failures.any_underway())
    throw InputError(place(), "a rank on the way had not enough memory for what it forwards",
                     "free some there, or use a direct strategy");
  if (combined_) require_same_bytes(*combined_);
  for (const auto& message : received_)
    if (sends_.constant_bytes && !sends_.edges.empty() && std::ssize(message.bytes) != *sends_.constant_bytes)
      throw InputError(place(),
                       "messages should have " + std::to_string(*sends_.constant_bytes) + " bytes and that from rank " +
                           std::to_string(message.source) + " has " + std::to_string(message.bytes.size()),
                       same_bytes);
  return std::move(received_);
}

}  // namespace commpass
