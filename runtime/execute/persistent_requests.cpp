#include "runtime/execute/persistent_requests.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace commpass {

namespace {

/// The largest send within a node that takes less with a new request than with a persistent one, where no calibration
/// has said so. Open MPI 4.1 takes half the time up to 64 bytes, and as long from 256 on (`bench executor`).
#ifdef OPEN_MPI
constexpr Bytes short_send_bytes = 256;
#else
constexpr Bytes short_send_bytes = -1;
#endif

}  // namespace

bool stays_in_pieces(const PlannedMessage& message, const Machine& machine) {
  return message.may_stay_in_pieces() &&
         std::ranges::all_of(message.pieces, [&](const Piece& piece) { return piece.bytes <= largest_mpi_count; }) &&
         is_datatype_cheaper(machine, static_cast<double>(message.bytes), static_cast<double>(message.pieces.size()));
}

struct PersistentRequests::Making {
  int first_tag;
  const Machine& machine;
  Bytes received_max, sent_max;  ///< bytes of the largest messages with immediate requests
  Bytes sent_on_node_max;        ///< and of those to ranks of this node
  const SendLimits& limits;

  bool stays(const PlannedMessage& message) const { return stays_in_pieces(message, machine); }
};

PersistentRequests::PersistentRequests(const Plan& plan, MPI_Comm comm, int tag, const void* send_buffer,
                                       void* receive_buffer, const Machine& machine, Memory& memory, RequestLife life,
                                       const SendLimits& limits)
    : memory_(memory), comm_(comm), buffers_(plan, memory, send_buffer, receive_buffer) {
  buffers_.add_copies(plan.self, copies_);
  ends_.push_back({.pack = copies_.size(), .unpack = copies_.size()});
  std::size_t request_total = 0;
  for (const auto& batch : plan.batches) request_total += batch.receives.size() + batch.sends.size();
  requests_.reserve(request_total);
  constexpr Bytes none = -1, all = std::numeric_limits<Bytes>::max();
  const bool are_immediate = life == RequestLife::immediate,
             is_measured = machine.verdict || machine.operations.new_send_bytes;
  const Making making{tag,
                      machine,
                      are_immediate ? all : none,
                      are_immediate ? all : machine.operations.new_send_bytes.value_or(none),
                      is_measured || &memory != &host_memory() ? none : short_send_bytes,
                      limits};
  for (std::size_t i = 0; i < plan.batches.size(); ++i) {
    add_batch(plan.batches[i], making);
    planned_.resize(batches(), i);
  }
  if (plan.batches.empty()) ends_.push_back(ends_.front());
  planned_.resize(batches());
}

void PersistentRequests::add_batch(const PlannedBatch& batch, const Making& making) {
  for (const auto& message : batch.sends)
    if (!making.stays(message)) buffers_.add_gathering(message, copies_);
  const auto packed = copies_.size(), first = ends_.size();
  std::vector<std::vector<Start>> starts;  // of each group of sends
  std::map<Rank, int> count;
  auto sends = std::span(batch.sends);
  const auto peer_of = [](const PlannedMessage& message) { return message.peer; };
  const auto begin_group = [&] { return making.limits.posted_at_once(sends, peer_of); };
  for (auto group = begin_group(); group < sends.size(); group = begin_group()) {
    starts.push_back(add_requests(sends.first(group), Kind::synchronous_send, count, making));
    sends = sends.subspan(group);
    ends_.push_back({.pack = packed, .unpack = packed, .request = requests_.size()});
  }
  for (const auto& message : batch.receives)
    if (!making.stays(message)) buffers_.add_scattering(message, copies_);
  std::map<Rank, int> received;
  const Range receives{requests_.size(), requests_.size() + batch.receives.size()};
  auto first_starts = add_requests(batch.receives, Kind::receive, received, making);
  starts.push_back(add_requests(sends, Kind::send, count, making));
  ends_.push_back({.pack = packed, .unpack = copies_.size(), .request = requests_.size()});
  // Receives first, so that messages do not arrive unexpectedly.
  starts.front().insert(starts.front().begin(), first_starts.begin(), first_starts.end());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    starts_.insert(starts_.end(), starts[i].begin(), starts[i].end());
    ends_[first + i].start = starts_.size();
    ends_[first + i].receives = receives;
  }
}

void PersistentRequests::begin_request(Kind kind, bool is_immediate, const Arguments& arguments,
                                       MPI_Request* request) const {
  const auto& [at, count, type, peer, tag] = arguments;
  if (kind == Kind::receive) {
    const auto begin = is_immediate ? MPI_Irecv : MPI_Recv_init;
    check_mpi(is_immediate ? "MPI_Irecv" : "MPI_Recv_init", begin(at, count, type, peer, tag, comm_, request));
  } else if (kind == Kind::send) {
    const auto begin = is_immediate ? MPI_Isend : MPI_Send_init;
    check_mpi(is_immediate ? "MPI_Isend" : "MPI_Send_init", begin(at, count, type, peer, tag, comm_, request));
  } else {
    const auto begin = is_immediate ? MPI_Issend : MPI_Ssend_init;
    check_mpi(is_immediate ? "MPI_Issend" : "MPI_Ssend_init", begin(at, count, type, peer, tag, comm_, request));
  }
}

// MPI_Startall may start its requests in any order, and messages of one pair with the same tag match in the order of
// their start. So messages of a pair get one tag after another, and a new call where the first tag is used again.
std::vector<PersistentRequests::Start> PersistentRequests::add_requests(std::span<const PlannedMessage> messages,
                                                                        Kind kind, std::map<Rank, int>& count,
                                                                        const Making& making) {
  std::vector<Start> starts;
  const auto immediate_max = kind == Kind::receive ? making.received_max : making.sent_max;
  for (const auto& message : messages) {
    const int tag_number = count[message.peer]++ % tags_per_exchange;
    const int tag = making.first_tag + tag_number;
    const bool is_in_pieces = making.stays(message);
    const bool is_immediate =
        message.bytes <= immediate_max ||
        (kind == Kind::send && message.bytes <= making.sent_on_node_max && !making.limits.is_off_node(message.peer));
    const bool are_tags_used = tag_number == 0 && count[message.peer] > 1;
    if (starts.empty() || are_tags_used || starts.back().is_immediate != is_immediate)
      starts.push_back({kind, is_immediate, arguments_.size(), {requests_.size(), requests_.size()}});
    auto type = is_in_pieces ? type_of_pieces(message) : MessageType(message.bytes);
    void* const at = is_in_pieces ? MPI_BOTTOM : buffers_.address(message.place);
    const Arguments arguments{at, type.count(), type.type(), message.peer, tag};
    MPI_Request request = MPI_REQUEST_NULL;
    if (is_immediate) {
      arguments_.push_back(arguments);
      types_.push_back(std::move(type));
    } else {
      begin_request(kind, false, arguments, &request);
    }
    requests_.push_back(request);
    starts.back().requests.end = requests_.size();
  }
  return starts;
}

MessageType PersistentRequests::type_of_pieces(const PlannedMessage& message) const {
  std::vector<MemoryPiece> pieces;
  for (const auto& piece : message.pieces)
    pieces.push_back({buffers_.address(piece.place), static_cast<int>(piece.bytes)});
  return MessageType(pieces);
}

void PersistentRequests::copy(std::size_t first, std::size_t last) {
  if (first == last) return;
  memory_.copy(std::span(copies_).subspan(first, last - first));
  memory_.order();
}

std::span<MPI_Request> PersistentRequests::requests() {
  return std::span(requests_).subspan(ends_[current_].request, ends_[current_ + 1].request - ends_[current_].request);
}

void PersistentRequests::start_batch(const Ends& before, const Ends& ends) {
  for (const auto& [kind, is_immediate, first, requests] :
       std::span(starts_).subspan(before.start, ends.start - before.start)) {
    if (!is_immediate)
      COMMPASS_MPI_CALL(MPI_Startall, static_cast<int>(requests.end - requests.begin),
                        requests_.data() + requests.begin);
    for (auto i = requests.begin; is_immediate && i < requests.end; ++i)
      begin_request(kind, true, arguments_[first + i - requests.begin], &requests_[i]);
  }
}

void PersistentRequests::begin(std::size_t batch) {
  current_ = batch;
  const auto &before = ends_[batch], &ends = ends_[batch + 1];
  // Packing precedes the receives, which may use the places in the transit buffer that it frees.
  copy(before.unpack, ends.pack);
  start_batch(before, ends);
  if (batch == 0) copy(0, before.unpack);  // to self, while the first messages travel
}

void PersistentRequests::end(std::size_t batch) { copy(ends_[batch + 1].pack, ends_[batch + 1].unpack); }

void PersistentRequests::abandon() noexcept {
  const auto [first, last] = ends_[current_ + 1].receives;
  cancel_receives(std::span(requests_).subspan(first, last - first));
}

}  // namespace commpass
