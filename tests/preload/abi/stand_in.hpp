// Arguments of the MPI standard's ABI as those of MPICH, and back. Handles of MPICH are numbers, which fit into the
// ABI's pointers and lie above those of predefined objects; so only predefined handles change.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "abi_names.hpp"

namespace stand_in {

void* find_in_mpich(const char* name);
template <class Function>
Function find_mpich(const char* name) {
  return reinterpret_cast<Function>(find_in_mpich(name));
}

int handle_to_mpich(const void* handle);
void* handle_to_abi(int handle);
template <class Handle>
int to_mpich(Handle* handle) {
  return handle_to_mpich(handle);
}

/// Numbers of the ABI and of MPICH that stand for the same.
using Numbers = std::span<const std::pair<int, int>>;
Numbers numbers_of_error();
Numbers numbers_of_rank();
Numbers numbers_of_tag();
Numbers numbers_of_thread();
Numbers numbers_of_combiner();
Numbers numbers_of_topology();
Numbers numbers_of_split();
Numbers numbers_of_attribute();
int to_mpich(Numbers all, int number);
int to_abi(Numbers all, int number);

/// An error's class stands for all its codes.
int to_abi_code(int code);

inline const void* buffer_of(const void* buffer) { return buffer == ABI_IN_PLACE ? MPI_IN_PLACE : buffer; }
inline void* buffer_of(void* buffer) { return buffer == ABI_IN_PLACE ? MPI_IN_PLACE : buffer; }
template <class Weights>
Weights* weights_of(Weights* weights) {
  return weights == ABI_UNWEIGHTED ? *static_cast<int**>(find_in_mpich("MPI_UNWEIGHTED")) : weights;
}

/// The number of ranks that MPI_Alltoallw exchanges with.
int peers_of(ABI_Comm comm);
/// The number of neighbours that MPI_Neighbor_alltoallw sends to, or receives from.
int neighbors_of(ABI_Comm comm, bool is_sent);

/// Handles that a call reads, until it returns or, where it starts an exchange, until the process ends.
class Handles {
 public:
  template <class Handle>
  Handles(const Handle* handles, std::int64_t count, bool is_kept) : is_kept_(is_kept || !handles) {
    if (!handles) return;
    numbers_ = new std::vector<int>;
    for (std::int64_t i = 0; i < count; ++i) numbers_->push_back(to_mpich(handles[i]));
  }
  ~Handles() {
    if (!is_kept_) delete numbers_;
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  const int* get() const { return numbers_ ? numbers_->data() : nullptr; }

 private:
  std::vector<int>* numbers_ = nullptr;
  bool is_kept_;
};

/// Handles that a call may change.
template <class Handle>
class ChangedHandles {
 public:
  ChangedHandles(Handle* handles, int count) : handles_(handles) {
    for (int i = 0; handles && i < count; ++i) numbers_.push_back(to_mpich(handles[i]));
  }
  ~ChangedHandles() {
    for (std::size_t i = 0; i < numbers_.size(); ++i) handles_[i] = static_cast<Handle>(handle_to_abi(numbers_[i]));
  }
  ChangedHandles(const ChangedHandles&) = delete;
  ChangedHandles& operator=(const ChangedHandles&) = delete;
  int* get() { return handles_ ? numbers_.data() : nullptr; }

 private:
  Handle* handles_;
  std::vector<int> numbers_;
};

class ChangedNumber {
 public:
  ChangedNumber(Numbers all, int* number) : all_(all), number_(number), value_(number ? to_mpich(all, *number) : 0) {}
  ~ChangedNumber() {
    if (number_) *number_ = to_abi(all_, value_);
  }
  ChangedNumber(const ChangedNumber&) = delete;
  ChangedNumber& operator=(const ChangedNumber&) = delete;
  int* get() { return number_ ? &value_ : nullptr; }

 private:
  Numbers all_;
  int* number_;
  int value_;
};

/// Those that a call reads or writes.
class Statuses {
 public:
  Statuses(const ABI_Status* statuses, int count);
  Statuses(ABI_Status* statuses, int count) : Statuses(static_cast<const ABI_Status*>(statuses), count) {
    changed_ = statuses;
  }
  ~Statuses();
  Statuses(const Statuses&) = delete;
  Statuses& operator=(const Statuses&) = delete;
  MPI_Status* get() { return statuses_.empty() ? MPI_STATUS_IGNORE : statuses_.data(); }

 private:
  ABI_Status* changed_ = nullptr;
  std::vector<MPI_Status> statuses_;
};

}  // namespace stand_in

using namespace stand_in;  // NOLINT: of generated sources
