// An exchange of values by their global indices: who owns them is found out, then they move many times.
//
//   auto x = communicator.indexed_exchange(commpass::IndexRange{begin, end}, needed, sizeof(double));
//   for (…) x.forward(owned_values, ghost_values);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "model/base/types.hpp"
#include "model/cost/cost_model.hpp"
#include "runtime/addition.hpp"
#include "runtime/sparse/sparse_exchange.hpp"
#include "runtime/state_pointer.hpp"

namespace commpass {

using Index = std::int64_t;  ///< a global index, 0 or more

/// begin ≤ index < end.
struct IndexRange {
  Index begin = 0, end = 0;
};

/// What a rank owns: a range, or a list, whose order is that of the owned values. Ranks may own nothing, and some a
/// range and others a list.
using OwnedBy = std::variant<IndexRange, std::span<const Index>>;

/// `values` values for the result of a rank (Communicator::neighbor_reduce_scatter).
struct Contribution {
  Rank destination = 0;
  std::int64_t values = 0;
};

/// How an exchange by indices is chosen and planned.
struct IndexedOptions {
  std::string strategy{};              ///< as in ExchangeOptions
  CostModel model = CostModel::burst;  ///< by which strategies are priced
  SparseOptions discovery{};           ///< how needers find owners
  bool forward = true;                 ///< plan the way there, which forward needs
  bool reverse = false;                ///< plan the way back, which reverse_add needs
  bool overwrite = false;  ///< reverse_add replaces an owned value that is needed by the sum of its ghost values
  std::optional<bool>
      share{};  ///< send values that several ranks need as edges with the same bytes, and add their contributions where
                ///< they meet on the way back; absent: in each direction, if it is predicted to pay
  bool deterministic = false;  ///< the owner adds all contributions, in the order of ranks, whatever the strategy
  void* ghost_values =
      nullptr;  ///< of this rank: the array that forward will always fill, so that it may be received in place
};

/// Moves values from their owners to the ranks that need them, and back. Move-only; may outlive its Communicator.
///
/// Owned values have the order of the owned indices, ghost values that of the needed ones. Both arrays may be others
/// every time: values to be sent are gathered in a buffer of ours, values that come are received in one and put where
/// they are needed. The second copy falls away on a rank that binds its ghost values (IndexedOptions::ghost_values), if
/// the values of each owner stand together there in the order of arrival: that in which they are needed first, unless
/// values are shared. start, test and wait allocate nothing.
///
/// Every rank must start and complete each exchange. Destroying it completes exchanges in flight, without handing out
/// their values.
class IndexedExchange {
 public:
  /// Begins to bring each needed value to its ghost values. Owned values may change at once, ghost values are complete
  /// after wait.
  /// @param ghost_values  does not overlap the owned values
  /// @throws Error if something is in flight or the ghost values are bound to another array, MpiError
  void start_forward(const void* owned_values, void* ghost_values);

  /// Begins to add each ghost value to the owned value of its index. The sums are complete after wait, ghost values may
  /// change at once. A rank's own ghost values are added first, then those of others. Where contributions meet on their
  /// way (adds_on_the_way), they are added there and go on as one, in an order that strategy, edges and layout alone
  /// determine; else the owner adds them in the order of ranks. Either way the result is the same every time.
  /// @tparam Number  a value is one or several of them
  /// @throws Error if something is in flight, a value is no whole number of Numbers or the way back was not planned;
  /// MpiError
  template <class Number>
  void start_reverse_add(const Number* ghost_values, Number* owned_values);
  /// The same for values of any kind.
  void start_reverse_add(const void* ghost_values, void* owned_values, Addition add);

  /// @return true when the started exchange is complete, and when there is none. @throws MpiError; the first exception
  /// of an Addition, when the exchange is complete
  bool test();
  /// Completes the started exchange. @throws as test
  void wait();

  /// Starts and completes an exchange. @throws as start_forward
  void forward(const void* owned_values, void* ghost_values) {
    start_forward(owned_values, ghost_values);
    wait();
  }
  /// Starts and completes an exchange. @throws as start_reverse_add and wait
  template <class Number>
  void reverse_add(const Number* ghost_values, Number* owned_values) {
    start_reverse_add(ghost_values, owned_values);
    wait();
  }
  /// As above.
  void reverse_add(const void* ghost_values, void* owned_values, Addition add) {
    start_reverse_add(ghost_values, owned_values, std::move(add));
    wait();
  }

  /// Of forward, or, if it was not planned, of the way back: the strategy that runs, in text form; its predicted
  /// seconds with those of the loops over values before and after it, nothing if it was named; why it was chosen.
  const std::string& strategy() const;
  std::optional<Seconds> predicted_seconds() const;
  const std::string& explanation() const;
  /// Are values that several ranks need edges with the same bytes? The same on every rank.
  bool shares_values() const;
  /// Of the way back: the strategy that runs, which carries each contribution to its owner, or, if contributions are
  /// added where they meet, is run backwards; empty without a way back. Its predicted seconds, as above.
  std::string reverse_strategy() const;
  std::optional<Seconds> predicted_reverse_seconds() const;
  /// Bytes that this rank sends to ranks of other nodes on the way back.
  Bytes reverse_bytes_to_other_nodes() const;
  /// Are contributions to a value added where they meet on the way back? The same on every rank.
  bool adds_on_the_way() const;
  /// Bytes of values that this rank gets from others in forward.
  Bytes received_bytes() const;
  /// Bytes of the buffers that this rank holds besides the user's.
  Bytes buffer_bytes() const;

  struct State;
  /// Communicator::indexed_exchange makes one.
  explicit IndexedExchange(std::unique_ptr<State> state);

 private:
  friend class SparseAllreduce;  // which sends sums on before it throws an exception of an addition
  bool test_messages();          ///< without an exception of an addition, which the next test() or wait() throws
  void wait_for_messages();      ///< likewise
  std::int64_t numbers_in_a_value(std::size_t number_bytes) const;
  StatePointer<State> state_;
};

template <class Number>
void IndexedExchange::start_reverse_add(const Number* ghost_values, Number* owned_values) {
  start_reverse_add(ghost_values, owned_values, addition_of<Number>(numbers_in_a_value(sizeof(Number))));
}

}  // namespace commpass
