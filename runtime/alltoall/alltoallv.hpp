// Exchanges between all pairs of ranks, with the arguments of MPI_Alltoallv (runtime/communicator.hpp).
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runtime/neighbor/neighbor_exchange.hpp"

namespace commpass {

/// The same on every rank.
struct AlltoallvOptions {
  std::string strategy;                 ///< run this one; empty: COMMPASS_ALLTOALLV_STRATEGY, else the cheapest
  std::optional<double> block_bytes{};  ///< a hint: the mean size of a block, 0 or more. Absent: what was told last
                                        ///< (Communicator::alltoallv)
};

/// Planned once, run many times with the same counts. Move-only. Destroying it completes an exchange in flight, so
/// buffers and datatypes must outlive it.
class PersistentAlltoallv {
 public:
  ~PersistentAlltoallv();
  PersistentAlltoallv(PersistentAlltoallv&&) noexcept;
  PersistentAlltoallv& operator=(PersistentAlltoallv&&) noexcept;

  /// Begins an exchange; see Exchange::start. @throws Error
  void start();
  /// @return true when it is complete. @throws Error
  bool test();
  /// Completes it. @throws Error
  void wait();

  // As those of Exchange:
  const std::string& strategy() const;
  std::optional<Seconds> predicted_seconds() const;
  const std::string& explanation() const;
  /// Bytes of the buffers that this rank holds besides the user's, those for datatypes with gaps among them.
  Bytes buffer_bytes() const;

  struct State;
  /// Communicator::alltoallv_init makes one.
  explicit PersistentAlltoallv(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

/// Chooses and plans one (Communicator::alltoallv_init). Collective. @throws Error, the same on every rank
PersistentAlltoallv plan_alltoallv(const std::shared_ptr<Context>& context, const void* sendbuf,
                                   std::span<const int> sendcounts, std::span<const int> sdispls, MPI_Datatype sendtype,
                                   void* recvbuf, std::span<const int> recvcounts, std::span<const int> rdispls,
                                   MPI_Datatype recvtype, const ExchangeOptions& options);

}  // namespace commpass
