// One exchange of a case, on one rank: planned, started, completed and checked, as often as the case says.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/random/image.hpp"
#include "runtime/random/place.hpp"
#include "runtime/random/switches.hpp"

namespace commpass::random_test {

/// How an exchange is run, which says in which order ranks may do so.
enum class Manner {
  persistent,  ///< planned together; each rank starts and completes it when it likes
  started,     ///< started by all ranks in the same order, completed when a rank likes
  blocking
};

class Trial {
 public:
  Trial(Place& its_place, Kind its_kind, Manner its_manner, std::uint64_t its_key)
      : kind(its_kind), manner(its_manner), place(its_place), key(its_key) {}
  virtual ~Trial() = default;
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// Collective.
  virtual void plan() {}
  /// Draws the properties that differ in each repetition, the strategy among them.
  virtual void prepare(int /*repetition*/) {}
  /// Fills buffers for this repetition, and starts; blocking exchanges are complete and checked then.
  virtual void begin(int repetition) = 0;
  virtual bool test() { return true; }
  /// Waits for it and checks the received data. @throws Failure
  virtual void complete() {}
  /// Destroys its handle in flight. @throws Failure where that breaks a promise
  virtual void drop() {}
  /// Begins and completes it a few times, in which it tries strategies, if that is to be. All ranks do so now.
  void run_together(int times) {
    constexpr int first = 1000;  // beyond the repetitions of a case
    for (int i = 0; i < times; ++i) {
      begin(first + i);
      complete();
    }
  }
  /// Moves its handle.
  virtual void move_handle() {}

  /// For the line of a failure.
  std::string describe() const;

  const Kind kind;
  const Manner manner;
  Place& place;
  const std::uint64_t key;  ///< the same on all ranks of the place
  std::string strategy;     ///< as it was named; empty: chosen
  bool is_in_flight = false;

 protected:
  /// The key of a rank's buffer in a repetition.
  std::uint64_t sent_key(Rank rank, int repetition) const;
  std::uint64_t received_key(Rank rank, int repetition) const;
};

/// @param key  the same on all ranks of the place
std::unique_ptr<Trial> make_trial(Place& place, Kind kind, std::uint64_t key);

std::unique_ptr<Trial> make_neighbor_trial(Place& place, std::uint64_t key);
std::unique_ptr<Trial> make_indexed_trial(Place& place, std::uint64_t key);
std::unique_ptr<Trial> make_reduction_trial(Place& place, std::uint64_t key);
std::unique_ptr<Trial> make_alltoall_trial(Place& place, Kind kind, std::uint64_t key);
std::unique_ptr<Trial> make_persistent_alltoallv_trial(Place& place, std::uint64_t key);
std::unique_ptr<Trial> make_sparse_trial(Place& place, Kind kind, std::uint64_t key);
std::unique_ptr<Trial> make_cartesian_trial(Place& place, Kind kind, std::uint64_t key);
std::unique_ptr<Trial> make_c_sparse_trial(Place& place, Kind kind, std::uint64_t key);

/// A handle in another place, over which the one that it moves from is left empty.
template <class Handle>
void move_over(std::optional<Handle>& handle) {
  if (!handle) return;
  Handle moved(std::move(*handle));
  handle.reset();
  handle.emplace(std::move(moved));
}

}  // namespace commpass::random_test
