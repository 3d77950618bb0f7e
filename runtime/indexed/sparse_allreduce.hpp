// A reduction of sparse vectors: each rank has values at some indices, and gets the sums there.
//
//   auto sum = communicator.sparse_allreduce(indices, sizeof(double));
//   for (…) sum.run(values, sums);
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runtime/indexed/indexed_exchange.hpp"

namespace commpass {

/// Combines, for each index, the values of all ranks that have it, and gives the result to all of them. Move-only; may
/// outlive its Communicator.
///
/// Contributions travel to the lowest rank that has the index, and the sums from there: an indexed exchange back and
/// forth, with its choices. Every rank must start and complete each exchange. Destroying it completes an exchange in
/// flight, so the array of sums must outlive it. start, test and wait allocate nothing.
class SparseAllreduce {
 public:
  /// Begins to combine values. They may change at once, the sums are complete after wait.
  /// @param values  one for each index, in the order of the indices; of an index that is there twice both are added
  /// @param sums    likewise; may be the same array. An index that no other rank has keeps its own value
  /// @tparam Number  a value is one or several of them
  /// @throws Error if something is in flight or a value is no whole number of Numbers; MpiError
  template <class Number>
  void start(const Number* values, Number* sums) {
    contributions().start_reverse_add(values, static_cast<Number*>(own_sums()));
    follow(sums);
  }
  /// The same for values of any kind.
  void start(const void* values, void* sums, Addition add);

  /// @return true when the started exchange is complete, and when there is none. @throws as IndexedExchange::test
  bool test();
  /// Completes the started exchange. @throws as test
  void wait();

  /// Starts and completes an exchange. @throws as start
  template <class Number>
  void run(const Number* values, Number* sums) {
    start(values, sums);
    wait();
  }
  /// As above.
  void run(const void* values, void* sums, Addition add) {
    start(values, sums, std::move(add));
    wait();
  }

  /// The strategy of the sums' way to the ranks, the predicted seconds of both ways, nothing if it was named, and the
  /// reasons of both choices.
  const std::string& strategy() const;
  std::optional<Seconds> predicted_seconds() const;
  const std::string& explanation() const;
  /// Are contributions to a sum added where they meet? The same on every rank.
  bool adds_on_the_way() const;

  struct State;
  /// Communicator::sparse_allreduce makes one.
  explicit SparseAllreduce(std::unique_ptr<State> state);

 private:
  IndexedExchange& contributions();
  void* own_sums();         ///< of the indices of which this rank is the lowest
  void follow(void* sums);  ///< sends the sums when the contributions have come
  StatePointer<State> state_;
};

}  // namespace commpass
