#include "runtime/execute/library_requests.hpp"

#include "model/base/error.hpp"

namespace commpass {

LibraryRequests::LibraryRequests(const Plan& plan, const void* send_buffer, void* receive_buffer, Memory& memory)
    : memory_(memory), buffers_(plan, memory, send_buffer, receive_buffer) {
  if (plan.batches.size() > 1)
    throw Error("exchange: the MPI library's collective runs one batch of messages, not several.");
  buffers_.add_copies(plan.self, self_);
  std::vector<NeighborMessage> receives, sends;
  const auto neighbor = [&](const PlannedMessage& message) {
    return NeighborMessage{message.peer, buffers_.address(message.place), message.bytes};
  };
  for (const auto& batch : plan.batches) {  // none where a rank has no messages
    for (const auto& message : batch.receives) {
      receives.push_back(neighbor(message));
      buffers_.add_scattering(message, unpack_);
    }
    for (const auto& message : batch.sends) {
      sends.push_back(neighbor(message));
      buffers_.add_gathering(message, pack_);
    }
  }
  collective_ = std::make_unique<NeighborhoodCollective>(receives, sends);
}

void LibraryRequests::copy(const std::vector<LocalCopy>& copies) {
  if (copies.empty()) return;
  memory_.copy(copies);
  memory_.order();
}

void LibraryRequests::begin(std::size_t) {
  copy(pack_);
  collective_->start();
  copy(self_);  // while the messages travel
}

void LibraryRequests::end(std::size_t) { copy(unpack_); }

}  // namespace commpass
