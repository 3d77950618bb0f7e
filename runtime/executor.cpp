#include "runtime/executor.hpp"

#include <array>
#include <map>
#include <span>

#include "runtime/mpi_error.hpp"

namespace commpass {

namespace {

/// A buffer as MPI wants it: a count of a datatype.
class MessageType {
 public:
  MessageType(Bytes bytes, Bytes largest_count) {
    if (bytes <= largest_count) {
      count_ = static_cast<int>(bytes);
      return;
    }
    // As many whole chunks as fit, and the rest.
    MPI_Datatype chunk = MPI_DATATYPE_NULL;
    COMMPASS_MPI_CALL(MPI_Type_contiguous, static_cast<int>(largest_count), MPI_BYTE, &chunk);
    const std::array<int, 2> counts{static_cast<int>(bytes / largest_count), static_cast<int>(bytes % largest_count)};
    const std::array<MPI_Aint, 2> offsets{0, static_cast<MPI_Aint>(bytes - bytes % largest_count)};
    const std::array<MPI_Datatype, 2> types{chunk, MPI_BYTE};
    const int code = MPI_Type_create_struct(2, counts.data(), offsets.data(), types.data(), &own_);
    MPI_Type_free(&chunk);
    check_mpi("MPI_Type_create_struct", code);
    count_ = 1;
    COMMPASS_MPI_CALL(MPI_Type_commit, &own_);
  }
  ~MessageType() {
    if (own_ != MPI_DATATYPE_NULL) MPI_Type_free(&own_);  // requests that use it keep it alive
  }
  MessageType(const MessageType&) = delete;
  MessageType& operator=(const MessageType&) = delete;

  int count() const { return count_; }
  MPI_Datatype type() const { return own_ == MPI_DATATYPE_NULL ? MPI_BYTE : own_; }

 private:
  int count_ = 0;
  MPI_Datatype own_ = MPI_DATATYPE_NULL;
};

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
      add_requests(batch.receives, tag, largest_count, [&](const auto& message, const auto& type, int its_tag, MPI_Request* request) {
        COMMPASS_MPI_CALL(MPI_Recv_init, address(message.place), type.count(), type.type(), message.peer, its_tag, comm, request);
      });
      add_requests(batch.sends, tag, largest_count, [&](const auto& message, const auto& type, int its_tag, MPI_Request* request) {
        COMMPASS_MPI_CALL(MPI_Send_init, address(message.place), type.count(), type.type(), message.peer, its_tag, comm, request);
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

// MPI_Startall may start its requests in any order, and messages of one pair with the same tag match in the order of their
// start. So those of a batch get one tag after another, and where the first tag comes again, so does a call of its own.
template <class Init>
void Executor::add_requests(const std::vector<PlannedMessage>& messages, int first_tag, Bytes largest_count, Init init) {
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

void Executor::copy(std::size_t first, std::size_t last) const {
  if (first < last) local_copy(std::span(copies_).subspan(first, last - first));
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
