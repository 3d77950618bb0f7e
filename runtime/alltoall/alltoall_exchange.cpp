#include "runtime/alltoall/alltoall_exchange.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "runtime/mpi/message_type.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

/// The messages of a part, of which the next one follows.
/// @param parts  batches or stages
/// @param ends   where the messages of a part end
template <class Part>
std::span<const AlltoallStructure::Message> messages_of(const std::vector<AlltoallStructure::Message>& all,
                                                        const std::vector<Part>& parts, std::size_t part,
                                                        std::size_t Part::*ends) {
  const auto begin = part == 0 ? 0 : parts[part - 1].*ends;
  return std::span(all).subspan(begin, parts[part].*ends - begin);
}

}  // namespace

AlltoallRequests::AlltoallRequests(MPI_Comm comm, SendLimits limits)
    : comm_(comm), limits_(std::move(limits)), places_(rank_in(comm), ranks_in(comm)) {}

void AlltoallRequests::make_room(const AlltoallStructure& structure, NodeStreams* streams) {
  std::size_t most = 0, receives = 0, sends = 0;
  for (const auto& stage : structure.stages) {  // in which all sizes go at once, and more than in any batch
    most = std::max(most, stage.receives_end - receives + stage.sends_end - sends);
    receives = stage.receives_end;
    sends = stage.sends_end;
  }
  requests_.reserve(most);
  places_.make_room(structure, most);
  got_.reserve(most);
  if (streams) streams->make_room(most);
}

void AlltoallRequests::assign(const AlltoallStructure& structure, AlltoallData& data, int tag, NodeStreams* streams) {
  streams_ = streams;
  make_room(structure, streams);
  if (streams_) streams_->begin_exchange();
  structure_ = &structure;
  tag_ = tag;
  const auto sizes = data.block_bytes() ? BlockSizes::equal : BlockSizes::told;
  told_stages_ = sizes == BlockSizes::told && !structure.stages.empty() ? structure.stages.size() - 1 : 0;
  wrong_ = {};
  places_.assign(structure, data.sends(), data.receives(), sizes, data.space(), streams_);
}

std::size_t AlltoallRequests::batches() const {
  return told_stages_ + std::max<std::size_t>(1, structure_->batches.size());
}

void AlltoallRequests::begin(std::size_t batch) {
  requests_.clear();
  are_requests_complete_ = are_streams_complete_ = false;
  if (batch < told_stages_) return tell_sizes(batch);
  const bool is_first = batch == told_stages_;
  if (is_first) places_.lay_out();
  if (!structure_->batches.empty()) start_data(batch - told_stages_);
  if (is_first) places_.copy_self();  // while the first messages travel
}

void AlltoallRequests::tell_sizes(std::size_t stage) {
  const auto outgoing = messages_of(structure_->sends, structure_->stages, stage, &AlltoallStructure::Stage::sends_end);
  const auto incoming =
      messages_of(structure_->receives, structure_->stages, stage, &AlltoallStructure::Stage::receives_end);
  const auto bytes_of = [](const Message& message) {
    return static_cast<Bytes>(message.announced * sizeof(std::int64_t));
  };
  got_.assign(incoming.size(), 0);
  for (const auto& message : outgoing)
    if (message.announced > 0 && is_streamed(message)) {
      const auto* const sizes = reinterpret_cast<const std::byte*>(places_.sizes_to_tell(message));
      streams_->send(message.peer, sizes, bytes_of(message));
    }
  for (std::size_t i = 0; i < incoming.size(); ++i) {
    const auto& message = incoming[i];
    if (message.announced == 0) continue;
    auto* const sizes = places_.sizes_told_by(message);
    if (is_streamed(message))
      streams_->receive(message.peer, reinterpret_cast<std::byte*>(sizes), bytes_of(message), got_[i]);
    else
      COMMPASS_MPI_CALL(MPI_Irecv, sizes, static_cast<int>(message.announced), MPI_INT64_T, message.peer, tag_, comm_,
                        requests_.add_receive());
  }
  is_telling_ = true;
  send_next(outgoing);
}

void AlltoallRequests::start_data(std::size_t batch) {
  const auto outgoing =
      messages_of(structure_->sends, structure_->batches, batch, &AlltoallStructure::Batch::sends_end);
  leaving_ = places_.gather(outgoing);
  if (streams_) stream(outgoing);
  got_.clear();
  for (const auto& message :
       messages_of(structure_->receives, structure_->batches, batch, &AlltoallStructure::Batch::receives_end))
    if (const auto& incoming = places_.incoming(message); !places_.is_omitted(incoming.bytes))
      receive(message, incoming);
  is_telling_ = false;
  send_next(outgoing);
}

/// Where they lie together, or were packed.
void AlltoallRequests::stream(std::span<const Message> outgoing) {
  using Form = AlltoallPlaces::Outgoing::Form;
  for (std::size_t i = 0; i < outgoing.size(); ++i)
    if (const auto& leaving = leaving_[i]; leaving.form != Form::none && is_streamed(outgoing[i]))
      streams_->send(outgoing[i].peer, leaving.place, leaving.form == Form::lost ? 0 : leaving.bytes);
}

void AlltoallRequests::send_next(std::span<const Message> messages) {
  waiting_ = messages;
  post_sends();
}

/// All that wait, or those that may be in flight; these are complete when they have arrived.
void AlltoallRequests::post_sends() {
  const auto is_there = [&](const Message& message) { return is_sent(message); };
  const auto count = limits_.posted_at_once(
      waiting_, [&](const Message& message) { return is_sent(message) ? message.peer : MPI_PROC_NULL; });
  const auto posted = waiting_.first(count);
  const bool are_synchronous = std::ranges::any_of(waiting_.subspan(count), is_there);
  for (const auto& message : posted)
    if (is_sent(message)) send(message, are_synchronous);
  waiting_ = are_synchronous ? waiting_.subspan(count) : std::span<const Message>();
}

std::span<MPI_Request> AlltoallRequests::requests() {
  if (are_requests_complete_) return {};
  return waiting_.empty() ? requests_.all() : requests_.sends();
}

bool AlltoallRequests::move_on() {
  if (streams_) are_streams_complete_ = streams_->move_on();
  return streams_ && !are_streams_complete_;
}

bool AlltoallRequests::are_complete(const char* call, int code) {
  if (!are_requests_complete_ && !waiting_.empty()) {
    check_mpi(call, code);
    post_sends();
    return false;
  }
  are_requests_complete_ = are_requests_complete_ || requests_.are_complete(call, code);
  if (!are_requests_complete_ || !streams_ || are_streams_complete_) return are_requests_complete_;
  probe_.poll(comm_);
  return false;
}

void AlltoallRequests::receive(const Message& message, const AlltoallPlaces::Incoming& incoming) {
  if (is_streamed(message)) {
    auto* const place = places_.has_room_for(incoming) ? incoming.place : nullptr;
    return streams_->receive(message.peer, place, incoming.bytes, got_.emplace_back(0));
  }
  auto* const request = requests_.add_receive();
  if (places_.has_room_for(incoming))
    receive_bytes(incoming.place, incoming.bytes, message.peer, tag_ + 1, comm_, request);
  else receive_and_discard(incoming.bytes, message.peer, tag_ + 1, comm_, request);
}

/// By a request.
bool AlltoallRequests::is_sent(const Message& message) const {
  if (is_streamed(message)) return false;
  if (is_telling_) return message.announced > 0;
  return outgoing_of(message).form != AlltoallPlaces::Outgoing::Form::none;
}

const AlltoallPlaces::Outgoing& AlltoallRequests::outgoing_of(const Message& message) const {
  const auto end = waiting_.data() + waiting_.size();
  return leaving_[leaving_.size() - static_cast<std::size_t>(end - &message)];
}

void AlltoallRequests::send(const Message& message, bool is_synchronous) {
  using Form = AlltoallPlaces::Outgoing::Form;
  auto* const request = requests_.add_send();
  if (is_telling_) {
    const auto begin_send = is_synchronous ? MPI_Issend : MPI_Isend;
    check_mpi("MPI_Isend", begin_send(places_.sizes_to_tell(message), static_cast<int>(message.announced), MPI_INT64_T,
                                      message.peer, tag_, comm_, request));
    return;
  }
  const auto& outgoing = outgoing_of(message);
  if (outgoing.form == Form::elements)
    return places_.send_elements(outgoing.to, message.peer, tag_ + 1, comm_, request, is_synchronous);
  send_bytes(outgoing.place, outgoing.form == Form::lost ? 0 : outgoing.bytes, message.peer, tag_ + 1, comm_, request,
             is_synchronous);
}

void AlltoallRequests::abandon() noexcept {
  requests_.abandon();
  if (streams_) streams_->abandon();
}

void AlltoallRequests::end(std::size_t batch) {
  if (batch < told_stages_) return;
  if (!structure_->batches.empty()) take_in(batch - told_stages_);
  if (batch + 1 == batches()) places_.order();
}

void AlltoallRequests::take_in(std::size_t batch) {
  std::size_t request = 0, streamed = 0;
  for (const auto& message :
       messages_of(structure_->receives, structure_->batches, batch, &AlltoallStructure::Batch::receives_end)) {
    const auto expected = places_.incoming(message).bytes;
    if (places_.is_omitted(expected)) continue;
    const auto got = is_streamed(message) ? got_[streamed++] : requests_.got(request++);
    if (got != expected && wrong_.count++ == 0) wrong_ = {&message, expected, got, 1};
    places_.take_in(message, got);
  }
  places_.copy_all();
}

std::optional<AlltoallDamage> AlltoallRequests::damage() const {
  if (places_.has_no_memory()) return AlltoallDamage{"there is not enough memory on this rank", MPI_ERR_NO_MEM};
  if (const auto sent = places_.sent_to_self(), expected = places_.expected_from_self();
      wrong_.count == 0 && sent != expected)
    return AlltoallDamage::of_self(sent, expected);
  if (wrong_.count == 0) return {};
  const auto& [message, expected, got, count] = wrong_;
  return AlltoallDamage::of_message(message->peer, places_.describe(*message), expected, got, count - 1);
}

AlltoallDamage AlltoallDamage::of_message(Rank from, const std::string& what, Bytes expected, Bytes got, int others) {
  const auto length = got == ImmediateRequests::truncated ? std::string("more") : fmt::format("{} bytes", got);
  return {fmt::format("a message from rank {} with {} should have {} bytes and has {}{}", from, what, expected, length,
                      others > 0 ? fmt::format(", and {} more are wrong", others) : ""),
          MPI_ERR_TRUNCATE};
}

AlltoallDamage AlltoallDamage::of_self(Bytes sent, Bytes expected) {
  return {fmt::format("this rank sends {} bytes to itself and receives {} bytes", sent, expected), MPI_ERR_TRUNCATE};
}

}  // namespace commpass
