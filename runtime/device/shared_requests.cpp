#include "runtime/device/shared_requests.hpp"

#include <utility>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

SharedRequests::SharedRequests(std::shared_ptr<SharedCopies> copies, const Context::Address& address,
                               std::unique_ptr<BatchRequests> on_host)
    : copies_(std::move(copies)), on_host_(std::move(on_host)) {
  const auto add_send = [&](OwnRequests& to, Rank peer) {
    auto* const request = &to.emplace_back(MPI_REQUEST_NULL);
    COMMPASS_MPI_CALL(MPI_Send_init, nullptr, 0, MPI_BYTE, peer, address.tag, address.comm, request);
  };
  const auto add_receive = [&](OwnRequests& to, Rank peer) {
    auto* const request = &to.emplace_back(MPI_REQUEST_NULL);
    COMMPASS_MPI_CALL(MPI_Recv_init, nullptr, 0, MPI_BYTE, peer, address.tag, address.comm, request);
  };
  for (const Rank helper : copies_->helpers()) {
    add_send(ready_, helper);
    add_receive(done_, helper);
  }
  if (const Rank helped = copies_->helped(); helped != copies_->rank()) {
    add_receive(ready_, helped);
    add_send(done_, helped);
  }
}

void SharedRequests::begin(std::size_t batch) {
  current_ = batch;
  if (!is_signal()) {
    on_host_->begin(batch - 1);
    if (batch == 1) copies_->copy_self();  // while the first messages travel
    return;
  }
  if (batch == 0) copies_->wait_for_user();
  if (auto& all = signals(); !all.empty()) COMMPASS_MPI_CALL(MPI_Startall, static_cast<int>(all.size()), all.data());
}

std::span<MPI_Request> SharedRequests::requests() {
  if (is_signal()) return signals();
  return on_host_->requests();
}

bool SharedRequests::are_complete(const char* call, int code) {
  return is_signal() ? BatchRequests::are_complete(call, code) : on_host_->are_complete(call, code);
}

void SharedRequests::end(std::size_t batch) {
  if (batch == 0) return copies_->copy_out();
  if (is_signal()) return;
  on_host_->end(batch - 1);
  if (batch + 2 == batches()) copies_->copy_in();
}

void SharedRequests::abandon() noexcept {
  if (!is_signal()) return on_host_->abandon();
  const bool helps = copies_->helped() != copies_->rank();
  if (helps == (current_ == 0)) cancel_receives(signals());  // else they are sends
}

}  // namespace commpass
