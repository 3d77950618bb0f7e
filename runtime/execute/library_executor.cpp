#include "runtime/execute/library_executor.hpp"

#include "model/error.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/in_flight.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

LibraryExecutor::LibraryExecutor(const Plan& plan, MPI_Comm comm, const void* send_buffer, void* receive_buffer,
                                 Bytes largest_count) {
  std::vector<NeighborMessage> receives, sends;
  all_or_none(comm, [&] {
    if (plan.batches.size() > 1)
      throw Error("exchange: the MPI library's collective runs one batch of messages, not several.");
    buffers_ = std::make_unique<PlanBuffers>(plan, host_memory(), send_buffer, receive_buffer);
    buffers_->add_copies(plan.self, self_);
    const auto neighbor = [&](const PlannedMessage& message) {
      return NeighborMessage{message.peer, buffers_->address(message.place), message.bytes};
    };
    for (const auto& batch : plan.batches) {  // none where a rank has no messages
      buffers_->add_copies(batch.pack, pack_);
      buffers_->add_copies(batch.unpack, unpack_);
      for (const auto& message : batch.receives) receives.push_back(neighbor(message));
      for (const auto& message : batch.sends) sends.push_back(neighbor(message));
    }
  });
  collective_ = std::make_unique<NeighborhoodCollective>(comm, receives, sends, largest_count);
}

LibraryExecutor::~LibraryExecutor() {
  if (!mpi_is_usable()) return;
  try {
    wait();        // the other ranks have started this exchange too, and complete it
  } catch (...) {  // NOLINT: a destructor has nobody to tell
  }
}

void LibraryExecutor::start() {
  if (in_flight_) throw Error("exchange: it was started twice; call wait before the next start.");
  local_copy(pack_);
  collective_->start();
  in_flight_ = true;
  local_copy(self_);  // while the messages travel
}

bool LibraryExecutor::test() {
  const InFlightLock lock;
  move_on_all();
  if (in_flight_ && collective_->test()) finish();
  return !in_flight_;
}

void LibraryExecutor::wait() {
  if (!in_flight_) return;
  if (must_look_around()) return wait_until([&] { return test(); });
  collective_->wait();
  finish();
}

void LibraryExecutor::finish() {
  local_copy(unpack_);
  in_flight_ = false;
}

}  // namespace commpass
