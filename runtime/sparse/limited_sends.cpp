#include "runtime/sparse/limited_sends.hpp"

#include <span>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

template <class Send>
Rank peer_of(const Send& send) {
  return send.peer;
}

}  // namespace

void LimitedSends::reserve(std::size_t messages) {
  queue_.reserve(queue_.size() + messages);
  requests_.reserve(queue_.size() + messages);
  completed_.resize(queue_.size() + messages);
}

void LimitedSends::begin(Mode mode) {
  mode_ = limits_.posted_at_once(queue_, peer_of<Send>) < queue_.size() ? Mode::synchronous : mode;
  post();
}

void LimitedSends::post() {
  const auto waiting = std::span(queue_).subspan(requests_.size());
  for (const auto& [at, count, peer] :
       waiting.first(limits_.posted_at_once(waiting, peer_of<Send>, off_node_, in_flight_))) {
    const auto begin_send = mode_ == Mode::synchronous ? MPI_Issend : MPI_Isend;
    check_mpi("MPI_Isend",
              begin_send(at, count, MPI_BYTE, peer, tag_, comm_, &requests_.emplace_back(MPI_REQUEST_NULL)));
    ++in_flight_;
    off_node_ += limits_.is_off_node(peer) ? 1 : 0;
  }
}

bool LimitedSends::progress() {
  if (in_flight_ == 0) return true;
  int count = 0;
  COMMPASS_MPI_CALL(MPI_Testsome, static_cast<int>(requests_.size()), requests_.data(), &count, completed_.data(),
                    MPI_STATUSES_IGNORE);
  if (count == MPI_UNDEFINED) count = in_flight_ = off_node_ = 0;
  for (int i = 0; i < count; ++i) {
    --in_flight_;
    off_node_ -= limits_.is_off_node(queue_[static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)])].peer);
  }
  if (requests_.size() < queue_.size()) post();
  return in_flight_ == 0;
}

}  // namespace commpass
