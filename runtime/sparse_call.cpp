#include "runtime/sparse_call.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

#include "runtime/local_copy.hpp"
#include "runtime/probed_mail.hpp"

namespace commpass {

SparseCall::SparseCall(Rank rank, int ranks, const SparseStrategy& strategy, const StagedRoute& staged, const StageContext& context, SparseSends sends, const Tally& tally)
    : rank_(rank), ranks_(ranks), strategy_(strategy), staged_(staged), context_(context), sends_(std::move(sends)), tally_(tally) {
  hold_sends();
  if (staged_.groups.empty()) finish();  // a single rank
  else begin_stage();
}

/// Do parcels hold several blocks, each with a header? A dense stage sends one parcel to a peer, whatever is for him.
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

void SparseCall::begin_stage() {
  const auto& group = staged_.groups[static_cast<std::size_t>(stage_)];
  outgoing_.clear();
  frames_.clear();
  if (is_framed()) {
    frame(group);
  } else {
    for (const auto& held : held_) outgoing_.push_back({group.in_group(held.block.destination), held.bytes});
  }
  auto context = context_;
  context.comm = group.comm;
  context.tag += stage_;
  if (strategy_.discovery == Discovery::dense) context.peers = strategy_.is_direct() ? all_others() : group.peers;
  discovery_ = make_stage(strategy_.discovery, context);
  discovery_->begin(outgoing_, tally_);
}

std::vector<Rank> SparseCall::all_others() const {
  std::vector<Rank> others(static_cast<std::size_t>(ranks_));
  std::iota(others.begin(), others.end(), 0);
  others.erase(others.begin() + rank_);
  return others;
}

/// Puts the blocks that leave in this stage into one parcel for each peer; the others stay.
void SparseCall::frame(const StageGroup& group) {
  const auto next = [&](const Held& held) { return strategy_.is_direct() ? held.block.destination : staged_.route->next(held.block, rank_, stage_); };
  std::map<Rank, std::size_t> sizes;
  for (const auto& held : held_)
    if (const Rank to = next(held); to != rank_) sizes[to] += sizeof(Header) + held.bytes.size();
  std::map<Rank, std::byte*> ends;
  for (const auto& [to, size] : sizes) {
    auto& memory = frames_.emplace_back(memory_for(static_cast<Bytes>(size)));
    outgoing_.push_back({group.in_group(to), {memory.get(), size}});
    ends[to] = memory.get();
  }
  std::vector<LocalCopy> copies;
  std::vector<std::shared_ptr<const std::byte[]>> leaving;  // stays until it is copied
  std::erase_if(held_, [&](const Held& held) {
    const Rank to = next(held);
    if (to == rank_) return false;
    auto*& end = ends[to];
    const Header header{held.block.source, held.block.destination, held.block.bytes};
    std::memcpy(end, &header, sizeof header);
    copies.push_back({held.bytes.data(), end + sizeof header, held.bytes.size()});
    end += sizeof header + held.bytes.size();
    leaving.push_back(held.memory);
    return true;
  });
  local_copy(copies);
}

void SparseCall::unpack(const Parcel& parcel) {
  std::vector<LocalCopy> copies;
  for (auto rest = parcel.bytes; !rest.empty();) {
    Header header;
    std::memcpy(&header, rest.data(), sizeof header);
    const auto bytes = rest.subspan(sizeof header, static_cast<std::size_t>(header.bytes));
    rest = rest.subspan(sizeof header + bytes.size());
    if (header.destination != rank_) {
      held_.push_back({{.source = header.source, .destination = header.destination, .bytes = header.bytes}, bytes, parcel.memory});
      continue;
    }
    // A copy, so that the parcel can go, which may hold much that is for others.
    const auto memory = memory_for(header.bytes);
    copies.push_back({bytes.data(), memory.get(), bytes.size()});
    received_.push_back({header.source, {memory.get(), bytes.size()}, memory});
  }
  local_copy(copies);
}

void SparseCall::end_stage() {
  const auto& group = staged_.groups[static_cast<std::size_t>(stage_)];
  for (const auto& parcel : discovery_->take()) {
    if (is_framed()) unpack(parcel);
    else received_.push_back({group.in_whole(parcel.peer), parcel.bytes, parcel.memory});
  }
  tally_.failures += discovery_->any_failed() && tally_.failures == 0;
  if (strategy_.is_direct()) combined_ = discovery_->combined();
  discovery_.reset();
}

void SparseCall::finish() {
  std::ranges::stable_sort(received_, {}, &ReceivedMessage::source);
  complete_ = true;
}

bool SparseCall::progress(bool may_reduce) {
  while (!complete_) {
    if (!discovery_->progress(may_reduce)) return false;
    end_stage();
    if (last_stage_reached()) {
      finish();
    } else {
      ++stage_;
      begin_stage();
    }
  }
  return true;
}

}  // namespace commpass
