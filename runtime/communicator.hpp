// The front door of the library: a communicator that picks the cheapest way to run an exchange, and runs it.
//
//   commpass::Communicator communicator(MPI_COMM_WORLD, "my-machine");
//   auto exchange = communicator.neighbor_exchange(send_buffer, sends, receive_buffer, receives);
//   for (…) { exchange.start(); …; exchange.wait(); }
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "model/cost.hpp"
#include "model/layout.hpp"
#include "model/machine.hpp"
#include "runtime/plan.hpp"
#include "runtime/sparse_exchange.hpp"

namespace commpass {

class Executor;
struct SparseSends;

/// A persistent neighbour exchange: planned once, run many times. Move-only.
///
/// Destroying it completes an exchange that is in flight, so buffers must outlive it. It may outlive its Communicator.
class Exchange {
 public:
  ~Exchange();
  Exchange(Exchange&&) noexcept;
  Exchange& operator=(Exchange&&) noexcept;

  /// Begins an exchange: the send buffer must not change and the receive buffer not be used until it is complete.
  /// Every rank must start and complete it; routes of several stages move on in test() and wait() only.
  /// @throws Error if it is in flight already, MpiError
  void start();
  /// @return true when the exchange is complete. @throws MpiError
  bool test();
  /// Completes the exchange. @throws MpiError
  void wait();

  /// The strategy that runs, in text form.
  const std::string& strategy() const;
  /// Its predicted seconds for one exchange; nothing if it was named and not selected.
  std::optional<Seconds> predicted_seconds() const;
  /// Why it was chosen, for people, the same on every rank.
  const std::string& explanation() const;
  /// Bytes of the buffers that this rank holds besides the user's.
  Bytes buffer_bytes() const;

 private:
  friend class Communicator;
  struct State;
  explicit Exchange(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct CommunicatorOptions {
  std::optional<Layout> layout;  ///< default: COMMPASS_LAYOUT, else what MPI and hwloc say
};

struct ExchangeOptions {
  std::string strategy;          ///< run this one; empty: COMMPASS_STRATEGY, else the cheapest
  CostModel model = CostModel::burst;
};

/// A communicator of our own beside a user's, with a machine profile. Move-only. All operations are collective; where
/// ranks give different options or have different environments, those of rank 0 hold.
class Communicator {
 public:
  /// @param profile  name or file of a profile, read by rank 0; empty: COMMPASS_PROFILE
  /// @throws Error, the same on every rank
  explicit Communicator(MPI_Comm comm, const std::string& profile = {}, const CommunicatorOptions& options = {});
  /// @param machine  the same on every rank
  Communicator(MPI_Comm comm, const Machine& machine, const CommunicatorOptions& options = {});
  ~Communicator();
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;

  const Layout& layout() const;
  const Machine& machine() const;
  MPI_Comm mpi() const;  ///< ours: do not send on it

  /// Plans an exchange: who sends how many bytes to whom is known, and the data moves many times.
  /// The k-th edge from rank i to rank j at i is the k-th edge from i at j; both must have the same size. Edges to
  /// oneself are copied, edges of 0 bytes move nothing.
  ///
  /// To select, rank 0 gathers all edges: it needs some 100 bytes for each, and at most 2^31 of them.
  /// @param send_buffer, receive_buffer  must not overlap; may be null where a rank sends or receives nothing
  /// @throws Error, the same on every rank, if any rank fails
  Exchange neighbor_exchange(const void* send_buffer, std::span<const SendEdge> sends, void* receive_buffer,
                             std::span<const ReceiveEdge> receives, const ExchangeOptions& options = {});

  /// Sparse dynamic data exchange: every rank names what it sends, and gets what is for it. All ranks take part, also with
  /// nothing. Messages of 0 bytes arrive; several messages to one rank arrive in order; so do those to oneself.
  ///
  /// Not thread-safe. A strategy is chosen by what all ranks have sent in an earlier exchange of these two functions: in
  /// the last one if its discovery has told them on the way (direct+nbx, direct+rma), else in the 1st, 2nd, 4th, 8th or every 16th
  /// exchange, after which they tell each other. Those that start_… begin do not count, since ranks may complete them at different times.
  /// A rank needs memory for its own messages and, while they are forwarded, for those of its node; what a discovery needs
  /// besides is said in model/sparse_strategy.cpp and docs/model.md.
  /// @param sends  offsets and sizes in bytes
  /// @throws Error, the same on every rank, if any rank fails
  ReceivedMessages sparse_alltoallv(const void* send_buffer, std::span<const SendEdge> sends, const SparseOptions& options = {});
  /// The same with `bytes` bytes for each destination, one after another in the buffer.
  /// @param bytes  the same on every rank
  ReceivedMessages sparse_alltoall(const void* send_buffer, std::span<const Rank> destinations, Bytes bytes, const SparseOptions& options = {});

  /// The same without waiting. Several may be in flight; ranks start them in the same order and may complete them in any.
  /// The buffer must not change until it is complete.
  SparseExchange start_sparse_alltoallv(const void* send_buffer, std::span<const SendEdge> sends, const SparseOptions& options = {});
  SparseExchange start_sparse_alltoall(const void* send_buffer, std::span<const Rank> destinations, Bytes bytes, const SparseOptions& options = {});

 private:
  struct State;
  void prepare_sparse();
  SparseExchange start_sparse(SparseSends sends, const SparseOptions& options);
  std::shared_ptr<State> state_;
};

}  // namespace commpass
