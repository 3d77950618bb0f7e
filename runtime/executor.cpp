#include "runtime/executor.hpp"

#include <span>

#include "runtime/message_type.hpp"
#include "runtime/mpi_error.hpp"

namespace commpass {

namespace {

std::unique_ptr<std::byte[]> uninitialised(Bytes bytes) {
  return bytes > 0 ? std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes)) : nullptr;
}

}  // namespace

Executor::Executor(const Plan& plan, MPI_Comm comm, int tag, const void* send_buffer, void* receive_buffer, Bytes largest_count)
    : send_buffer_(static_cast<const std::byte*>(send_buffer)),
      receive_buffer_(static_cast<std::byte*>(receive_buffer)),
      transit_(uninitialised(plan.transit_bytes)),
      packing_(uninitialised(plan.packing_bytes)) {
  add_copies(plan.self);
  self_end_ = copies_.size();
  std::size_t request_total = 0;
  for (const auto& batch : plan.batches) request_total += batch.receives.size() + batch.sends.size();
  requests_.reserve(request_total);
  try {
    for (const auto& batch : plan.batches) {
      Batch ends;
      add_copies(batch.pack);
      ends.pack_end = copies_.size();
      add_copies(batch.unpack);
      ends.unpack_end = copies_.size();
      // Receives first: what arrives then finds its place.
      for (const auto& message : batch.receives) {
        const MessageType type(message.bytes, largest_count);
        MPI_Request request = MPI_REQUEST_NULL;
        COMMPASS_MPI_CALL(MPI_Recv_init, address(message.place), type.count(), type.type(), message.peer, tag, comm, &request);
        requests_.push_back(request);
      }
      for (const auto& message : batch.sends) {
        const MessageType type(message.bytes, largest_count);
        MPI_Request request = MPI_REQUEST_NULL;
        COMMPASS_MPI_CALL(MPI_Send_init, address(message.place), type.count(), type.type(), message.peer, tag, comm, &request);
        requests_.push_back(request);
      }
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
    wait();  // the other ranks have started this exchange too, and complete it
  } catch (...) {  // NOLINT: a destructor has nobody to tell
  }
  free_requests();
}

void Executor::free_requests() noexcept {
  for (auto& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  requests_.clear();
}

std::byte* Executor::address(const Place& place) const {
  switch (place.buffer) {
    case Place::Buffer::send: return const_cast<std::byte*>(send_buffer_) + place.offset;  // NOLINT: only read
    case Place::Buffer::receive: return receive_buffer_ + place.offset;
    case Place::Buffer::transit: return transit_.get() + place.offset;
    case Place::Buffer::packing: return packing_.get() + place.offset;
  }
  return nullptr;
}

void Executor::add_copies(const std::vector<PlannedCopy>& copies) {
  for (const auto& copy : copies) copies_.push_back({address(copy.from), address(copy.to), static_cast<std::size_t>(copy.bytes)});
}

void Executor::copy(std::size_t first, std::size_t last) const {
  local_copy(std::span(copies_).subspan(first, last - first));
}

int Executor::request_count() const { return static_cast<int>(batches_[current_].request_end - done_.request_end); }
MPI_Request* Executor::first_request() { return requests_.data() + done_.request_end; }

void Executor::begin_batch() {
  // Packing first: it frees places in the transit buffer that the receives of this batch may use.
  copy(done_.unpack_end, batches_[current_].pack_end);
  // One by one: MPI_Startall may start them in any order, but several messages of one pair match in the order of their start.
  for (int i = 0; i < request_count(); ++i) COMMPASS_MPI_CALL(MPI_Start, first_request() + i);
}

void Executor::end_batch() {
  copy(batches_[current_].pack_end, batches_[current_].unpack_end);
  done_ = batches_[current_];
  ++current_;
  if (current_ < batches_.size()) begin_batch();
  else in_flight_ = false;
}

void Executor::start() {
  if (in_flight_) throw Error("exchange: it was started twice; call wait before the next start.");
  in_flight_ = true;
  current_ = 0;
  done_ = {};
  done_.unpack_end = self_end_;
  if (batches_.empty()) in_flight_ = false;
  else begin_batch();
  copy(0, self_end_);  // while the first messages travel
}

bool Executor::test() {
  while (in_flight_) {
    int complete = 0;
    COMMPASS_MPI_CALL(MPI_Testall, request_count(), first_request(), &complete, MPI_STATUSES_IGNORE);
    if (!complete) return false;
    end_batch();
  }
  return true;
}

void Executor::wait() {
  while (in_flight_) {
    COMMPASS_MPI_CALL(MPI_Waitall, request_count(), first_request(), MPI_STATUSES_IGNORE);
    end_batch();
  }
}

}  // namespace commpass
