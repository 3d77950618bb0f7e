#include "runtime/execute/executor.hpp"

#include <map>
#include <span>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

Executor::Executor(const Plan& plan, MPI_Comm comm, int tag, const void* send_buffer, void* receive_buffer,
                   Bytes largest_count, Memory& memory)
    : memory_(memory), buffers_(plan, memory, send_buffer, receive_buffer) {
  buffers_.add_copies(plan.self, copies_);
  self_end_ = copies_.size();
  std::size_t request_total = 0;
  for (const auto& batch : plan.batches) request_total += batch.receives.size() + batch.sends.size();
  requests_.reserve(request_total);
  try {
    for (const auto& batch : plan.batches) {
      Batch ends;
      buffers_.add_copies(batch.pack, copies_);
      ends.pack_end = copies_.size();
      buffers_.add_copies(batch.unpack, copies_);
      ends.unpack_end = copies_.size();
      // Receives first: what arrives then finds its place.
      add_requests(batch.receives, tag, largest_count,
                   [&](const auto& message, const auto& type, int its_tag, MPI_Request* request) {
                     COMMPASS_MPI_CALL(MPI_Recv_init, buffers_.address(message.place), type.count(), type.type(),
                                       message.peer, its_tag, comm, request);
                   });
      ends.receive_end = requests_.size();
      add_requests(batch.sends, tag, largest_count,
                   [&](const auto& message, const auto& type, int its_tag, MPI_Request* request) {
                     COMMPASS_MPI_CALL(MPI_Send_init, buffers_.address(message.place), type.count(), type.type(),
                                       message.peer, its_tag, comm, request);
                   });
      start_ends_.push_back(requests_.size());
      ends.start_end = start_ends_.size();
      ends.request_end = requests_.size();
      batches_.push_back(ends);
    }
  } catch (...) {
    free_requests();
    throw;
  }
}

Executor::~Executor() {
  if (!mpi_is_usable()) return;
  try {
    wait();        // the other ranks have started this exchange too, and complete it
  } catch (...) {  // NOLINT: a destructor has nobody to tell
  }
  const InFlightLock lock;
  leave();
  free_requests();
}

void Executor::free_requests() noexcept {
  for (auto& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  requests_.clear();
}

// MPI_Startall may start its requests in any order, and messages of one pair with the same tag match in the order of
// their start. So those of a batch get one tag after another, and where the first tag comes again, so does a call of
// its own.
template <class Init>
void Executor::add_requests(const std::vector<PlannedMessage>& messages, int first_tag, Bytes largest_count,
                            Init init) {
  std::map<Rank, int> count;
  for (const auto& message : messages) {
    const int tag_number = count[message.peer]++ % tags_per_exchange;
    if (tag_number == 0 && count[message.peer] > 1) start_ends_.push_back(requests_.size());
    const MessageType type(message.bytes, largest_count);
    MPI_Request request = MPI_REQUEST_NULL;
    init(message, type, first_tag + tag_number, &request);
    requests_.push_back(request);
  }
}

void Executor::copy(std::size_t first, std::size_t last) {
  if (first == last) return;
  memory_.copy(std::span(copies_).subspan(first, last - first));
  memory_.order();
}

int Executor::request_count() const { return static_cast<int>(batches_[current_].request_end - done_.request_end); }
MPI_Request* Executor::first_request() { return requests_.data() + done_.request_end; }

void Executor::begin_batch() {
  // Packing first: it frees places in the transit buffer that the receives of this batch may use.
  copy(done_.unpack_end, batches_[current_].pack_end);
  auto begin = done_.request_end;
  for (auto start = done_.start_end; start < batches_[current_].start_end; ++start) {
    COMMPASS_MPI_CALL(MPI_Startall, static_cast<int>(start_ends_[start] - begin), requests_.data() + begin);
    begin = start_ends_[start];
  }
  // While the last batch is under way, the MPI library needs no help.
  if (current_ + 1 < batches_.size()) enter();
  else leave();
}

void Executor::end_batch() {
  copy(batches_[current_].pack_end, batches_[current_].unpack_end);
  done_ = batches_[current_];
  ++current_;
  if (current_ < batches_.size()) begin_batch();
  else in_flight_ = false;
}

void Executor::start() {
  const InFlightLock lock;
  if (is_broken_) throw Error("exchange: MPI has failed in it; plan a new one.");
  if (in_flight_) throw Error("exchange: it was started twice; call wait before the next start.");
  current_ = 0;
  done_ = {};
  done_.unpack_end = self_end_;
  in_flight_ = !batches_.empty();
  guarded([&] {
    if (in_flight_) begin_batch();
  });
  copy(0, self_end_);  // while the first messages travel
}

/// After an error of MPI nothing more comes into the user's buffers, and the other ranks' messages are theirs.
template <class Action>
void Executor::guarded(Action action) {
  try {
    action();
  } catch (...) {
    is_broken_ = true;
    in_flight_ = false;
    leave();
    for (auto i = done_.request_end; i < batches_[current_].receive_end; ++i) {
      MPI_Cancel(&requests_[i]);
      MPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
    }
    throw;
  }
}

void Executor::move_on() {
  guarded([&] {
    while (in_flight_) {
      int complete = 0;
      COMMPASS_MPI_CALL(MPI_Testall, request_count(), first_request(), &complete, MPI_STATUSES_IGNORE);
      if (!complete) return;
      end_batch();
    }
  });
}

bool Executor::is_complete() {
  rethrow_failure();
  move_on();
  return !in_flight_;
}

bool Executor::test() {
  const InFlightLock lock;
  move_on_all();
  return is_complete();
}

void Executor::wait() {
  if (must_look_around(this)) return wait_until([&] { return is_complete(); });
  rethrow_failure();
  guarded([&] {
    while (in_flight_) {
      COMMPASS_MPI_CALL(MPI_Waitall, request_count(), first_request(), MPI_STATUSES_IGNORE);
      end_batch();
    }
  });
}

}  // namespace commpass
