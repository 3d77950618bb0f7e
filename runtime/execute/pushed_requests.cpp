#include "runtime/execute/pushed_requests.hpp"

#include <algorithm>
#include <utility>

namespace commpass {

namespace {

/// Is all of a message in the user's send buffer, where no receive lands?
bool is_from_send_buffer(const PlannedMessage& message) {
  const auto is_there = [](const Place& place) { return place.buffer == Place::Buffer::send; };
  if (message.pieces.empty()) return is_there(message.place);
  return std::ranges::all_of(message.pieces, [&](const Piece& piece) { return is_there(piece.place); });
}

}  // namespace

PushedRequests::PushedRequests(const Plan& plan, std::unique_ptr<Landings> landings,
                               std::unique_ptr<PersistentRequests> inner, MPI_Comm comm, Memory& memory)
    : landings_(std::move(landings)), inner_(std::move(inner)), comm_(comm), memory_(memory) {
  landings_->place(plan);
  auto sent = landings_->sends().begin(), received = landings_->receives().begin();
  std::size_t most_received = 0;
  for (const auto& batch : plan.batches) {
    const auto first = messages_.size();
    bool forwards = false;
    for (const auto& message : batch.sends) {
      if (!landings_->is_pushed(message)) continue;
      forwards = forwards || !is_from_send_buffer(message);
      add(message, *sent++, true);
    }
    const auto middle = messages_.size();
    for (const auto& message : batch.receives)
      if (landings_->is_pushed(message)) add(message, *received++, false);
    batches_.push_back({first, middle, messages_.size(), forwards});
    most_received = std::max(most_received, messages_.size() - middle);
  }
  if (batches_.empty()) batches_.emplace_back();
  expected_.reserve(most_received);
}

void PushedRequests::add(const PlannedMessage& message, const Landings::Slot& slot, bool is_sent) {
  const auto& buffers = inner_->buffers();
  auto& added = messages_.emplace_back(Pushed{slot, copies_.size()});
  for (auto* landing : {slot.first.begin, slot.first.begin + slot.second}) {
    const auto add_copy = [&](const Place& place, Bytes offset, Bytes bytes) {
      auto *const ours = buffers.address(place), *const its = landing + offset;
      copies_.push_back({is_sent ? ours : its, is_sent ? its : ours, static_cast<std::size_t>(bytes)});
    };
    if (message.pieces.empty() || message.is_forwarded) add_copy(message.place, 0, message.bytes);
    for (const auto& [offset, place, bytes] : message.pieces) add_copy(place, offset, bytes);
  }
  added.copies = (copies_.size() - added.first_copy) / 2;
}

void PushedRequests::copy(const Pushed& message) {
  memory_.push(std::span(copies_).subspan(message.first_copy + set() * message.copies, message.copies));
}

void PushedRequests::begin(std::size_t batch) {
  current_ = batch;
  const auto planned = inner_->planned_batch(batch);
  const auto& its = batches_[planned];
  if (batch == 0) {
    ++number_;
    heard_ = 0;
  }
  const bool pushes = batch == 0 || inner_->planned_batch(batch - 1) != planned;
  // MPI's messages take longest, so they leave first; but receives may use the places in the transit buffer that sends
  // free.
  if (pushes && its.forwards) push(its);
  inner_->begin(batch);
  if (pushes && !its.forwards) push(its);
  // As MPI's receives, they belong to the last of several batches of one of the plan.
  expected_.clear();
  if (is_last() || inner_->planned_batch(batch + 1) != planned)
    for (auto i = its.receives; i < its.end; ++i) expected_.push_back(i);
  is_inner_complete_ = inner_->requests().empty();
}

void PushedRequests::push(const Batch& batch) {
  for (auto i = batch.sends; i < batch.receives; ++i) {
    copy(messages_[i]);
    messages_[i].flag(set()).raise(number_);
  }
}

bool PushedRequests::move_on() {
  if (is_inner_complete_) return false;
  take_landed();
  return !expected_.empty();
}

std::span<MPI_Request> PushedRequests::requests() {
  return is_inner_complete_ ? std::span<MPI_Request>() : inner_->requests();
}

bool PushedRequests::has_landed(const Pushed& message) {
  if (!message.flag(set()).has_reached(number_)) return false;
  copy(message);
  return true;
}

/// Have all receivers taken in the exchange before, so that the next one may use its slots? Those that send have said
/// so by that. So start() never waits: it waits no longer here than synchronous sends would.
bool PushedRequests::are_all_taken() {
  const auto& receivers = landings_->silent_receivers();
  while (heard_ < receivers.size() && receivers[heard_].has_reached(number_ - 1)) ++heard_;
  return heard_ == receivers.size();
}

bool PushedRequests::are_complete(const char* call, int code) {
  if (!is_inner_complete_ && !inner_->are_complete(call, code)) return false;
  is_inner_complete_ = true;
  take_landed();
  if (expected_.empty() && (!is_last() || are_all_taken())) return true;
  probe_.poll(comm_);
  return false;
}

void PushedRequests::end(std::size_t batch) {
  inner_->end(batch);
  if (is_last()) landings_->taken().raise(number_);
}

void PushedRequests::abandon() noexcept {
  landings_->keep();
  inner_->abandon();
}

}  // namespace commpass
