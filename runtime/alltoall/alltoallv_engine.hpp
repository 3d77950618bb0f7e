// One-shot exchanges between all pairs of ranks: chooses their strategies and keeps what they need.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runtime/alltoall/alltoall_exchange.hpp"
#include "runtime/alltoall/alltoallv.hpp"
#include "runtime/alltoall/alltoallv_arguments.hpp"
#include "runtime/context.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "selector/choose/alltoall_choice.hpp"

namespace commpass {

/// No exchange waits for an agreement: each, or each of some if they are short (telling.hpp), starts a non-blocking sum
/// of the bytes that all ranks send, and of their blocks that are not empty, which the next one completes; it and those
/// after it are chosen by that. The first is chosen by its hint, or for blocks of 1 KiB for everybody. What is cheapest
/// for a class of blocks rank 0 finds out and tells all when such blocks come for the first time; the structure of a
/// strategy is made when it is run for the first time. An exchange that is left to the MPI library has none: it is
/// MPI_Alltoallv.
class AlltoallvEngine {
 public:
  /// Collective.
  explicit AlltoallvEngine(std::shared_ptr<const Context> context);
  ~AlltoallvEngine();
  AlltoallvEngine(const AlltoallvEngine&) = delete;
  AlltoallvEngine& operator=(const AlltoallvEngine&) = delete;

  /// As MPI_Alltoallv, MPI_IN_PLACE as the send buffer among it. Collective. Takes no memory when the strategy and
  /// sizes like these have been run before.
  /// @throws InputError if this rank's arguments are wrong, if what it gets is not what its counts say, or there is no
  /// memory on it or, for what it should get, on another; Error. If
  ///   MPI has failed, all later exchanges fail on this rank, as those of other ranks may wait for it.
  void alltoallv(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                 MPI_Datatype sendtype, void* recvbuf, std::span<const int> recvcounts, std::span<const int> rdispls,
                 MPI_Datatype recvtype, const AlltoallvOptions& options);
  /// As MPI_Alltoall. All ranks know its sizes, so nothing has to be told. @throws as alltoallv
  void alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                MPI_Datatype recvtype, const AlltoallvOptions& options);

  /// The strategy of the last exchange, in text form.
  const std::string& last_strategy() const { return *last_; }

 private:
  struct Choice {
    std::string strategy;
    int exchanges_a_telling = 1;
  };
  /// Runs what `arguments_` say; of an exchange in place the receiving side alone.
  /// @param by_library   runs the same exchange by the MPI library on the given communicator
  /// @param block_bytes  the size of every block, where it is the same on all ranks
  void run(const void* send_buffer, void* receive_buffer, const AlltoallvOptions& options,
           const std::function<void(MPI_Comm)>& by_library, std::optional<Bytes> block_bytes);
  const Choice& choose(const AlltoallvOptions& options, std::optional<Bytes> block_bytes);
  /// @param named  empty, or an automatic strategy: the cheapest of its family
  const Choice& cheapest(const std::string& named, const BlocksClass& blocks);
  using Structures =
      std::map<std::string, std::optional<AlltoallStructure>>;  ///< by strategy; nothing where the MPI library runs it
  const Structures::value_type& structure(const std::string& strategy);
  void tell(const AlltoallBlocks<const std::byte*>& sends);
  void forget_strays() noexcept;
  void leave_to_library(const std::function<void(MPI_Comm)>& by_library);

  std::shared_ptr<const Context> context_;
  OwnCommunicator comm_;
  const std::string no_strategy_{};
  const std::string* last_ = &no_strategy_;  ///< the key of a structure, if there was one
  AlltoallvArguments arguments_;
  AlltoallExchange exchange_;
  std::map<std::string, std::map<BlocksClass, Choice>> cheapest_;  ///< by what was named, and the blocks
  std::map<std::string, std::optional<Choice>>
      named_choices_;  ///< by what was named; nothing where the model has to choose
  Structures structures_;
  NonblockingReduction telling_;  ///< how much all ranks send in an exchange
  bool is_telling_ = false;
  NonblockingReduction arrival_;       ///< of all ranks in a call that is left to the library
  std::optional<BlocksClass> blocks_;  ///< what was told
  std::int64_t calls_with_own_tags_, runs_ = 0;
  std::int64_t exchanges_ = 0;  ///< so many have been run whose sizes had to be told
  bool has_failed_ = false;
};

}  // namespace commpass
