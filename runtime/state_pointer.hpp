// The state behind a handle, whose type is known where the handle is made.
#pragma once

#include <memory>

namespace commpass {

/// Move-only. Unlike std::unique_ptr it destroys a type that is incomplete in the header of the handle.
template <class State>
class StatePointer {
 public:
  explicit StatePointer(std::unique_ptr<State> state) : state_(state.release(), [](State* its) { delete its; }) {}
  State* operator->() const { return state_.get(); }
  State& operator*() const { return *state_; }

 private:
  std::unique_ptr<State, void (*)(State*)> state_;
};

}  // namespace commpass
