// Requests of a plan whose messages within a node are pushed into memory that its ranks share.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/execute/landings.hpp"
#include "runtime/execute/persistent_requests.hpp"
#include "runtime/mpi/in_flight.hpp"

namespace commpass {

/// The sender copies a message's pieces into its slot when its batch begins, without waiting. The receiver finds it
/// when it asks whether the batch is complete, and copies it to its places. Allocates nothing after construction.
class PushedRequests final : public BatchRequests {
 public:
  /// @param inner  of the rest of the plan, in whose buffers all messages are
  /// @throws Error, std::bad_alloc
  PushedRequests(const Plan& plan, std::unique_ptr<Landings> landings, std::unique_ptr<PersistentRequests> inner,
                 MPI_Comm comm, Memory& memory);

  std::size_t batches() const override { return inner_->batches(); }
  std::size_t planned_batch(std::size_t batch) const override { return inner_->planned_batch(batch); }
  void begin(std::size_t batch) override;
  std::span<MPI_Request> requests() override;
  /// Takes in messages that have landed, while MPI's are under way.
  bool move_on() override;
  bool are_complete(const char* call, int code) override;
  void end(std::size_t batch) override;
  void abandon() noexcept override;

 private:
  /// A message, its slots in both sets, and the begins of its copies for each.
  struct Pushed {
    Landings::Slot slot;
    std::size_t first_copy = 0, copies = 0;

    SharedNumber flag(std::size_t set) const {
      return LandingSlot{slot.first.begin + (set ? slot.second : 0), slot.first.bytes}.flag();
    }
  };
  /// The numbers of the messages of a batch of the plan.
  struct Batch {
    std::size_t sends = 0, receives = 0, end = 0;
    bool forwards = false;  ///< are any of the sends read where receives of the batch may land?
  };

  void add(const PlannedMessage& message, const Landings::Slot& slot, bool is_sent);
  void copy(const Pushed& message);
  void push(const Batch& batch);
  bool has_landed(const Pushed& message);
  void take_landed() {
    std::erase_if(expected_, [&](std::size_t i) { return has_landed(messages_[i]); });
  }
  std::size_t set() const { return number_ % 2; }
  bool is_last() const { return current_ + 1 == batches(); }
  bool are_all_taken();

  std::unique_ptr<Landings> landings_;
  std::unique_ptr<PersistentRequests> inner_;
  MPI_Comm comm_;
  Memory& memory_;
  std::vector<LocalCopy> copies_;
  std::vector<Pushed> messages_;
  std::vector<Batch> batches_;         ///< of the plan
  std::vector<std::size_t> expected_;  ///< messages of the batch that have not landed
  std::uint64_t number_ = 0;           ///< of the exchange, from 1
  std::size_t current_ = 0, heard_ = 0;
  bool is_inner_complete_ = true;
  RareProbe probe_;
};

/// Requests of a plan in which messages with landings are pushed.
/// @param landings     null: there are none
/// @param by_messages  makes PersistentRequests of a plan: of what is not pushed
/// @return these, and the buffers that they use
template <class ByMessages>
std::pair<std::unique_ptr<BatchRequests>, const PlanBuffers&> push_where_shared(const Plan& plan,
                                                                                std::unique_ptr<Landings> landings,
                                                                                MPI_Comm comm, Memory& memory,
                                                                                ByMessages by_messages) {
  std::unique_ptr<PersistentRequests> rest = by_messages(landings ? landings->rest_of(plan) : plan);
  const auto& buffers = rest->buffers();
  if (!landings) return {std::move(rest), buffers};
  return {std::make_unique<PushedRequests>(plan, std::move(landings), std::move(rest), comm, memory), buffers};
}

}  // namespace commpass
