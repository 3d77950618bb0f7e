// What a Communicator holds. Private to the runtime.
#pragma once

#include <memory>

#include "runtime/alltoall/alltoallv_engine.hpp"
#include "runtime/communicator.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/sparse/sparse_engine.hpp"
#include "selector/commands/environment.hpp"

namespace commpass {

struct Communicator::State {
  OwnCommunicator comm;
  Machine machine;
  Layout layout;
  Environment environment;  ///< of rank 0 where it matters
  unsigned threads = 1;     ///< that this rank may start without taking cores from others of its node
  int largest_tag = 0;
  int next_exchange = 0;  ///< its number among those that share a communicator
  std::shared_ptr<const OwnCommunicator>
      further{};        ///< where exchanges go when the tags of `comm` have been given away
  std::string named{};  ///< the strategy that the environment names, as it fits; empty: none
  std::unique_ptr<SparseEngine> sparse{};
  std::unique_ptr<AlltoallvEngine> alltoallv{};

  /// On which communicator and from which tag up an exchange sends; it keeps the communicator.
  struct Address {
    std::shared_ptr<const OwnCommunicator> further;  ///< none: `comm`
    MPI_Comm comm = MPI_COMM_NULL;
    int tag = 0;
  };
  /// Of the next exchange. An earlier one may still be in use, and nobody knows which ranks use it; so no tag is given
  /// away twice, and where there are none left, another communicator is made. Collective.
  Address next_address() {
    if (next_exchange == (largest_tag - 1) / tags_per_exchange) {
      assemble(comm.get());
      further = std::make_shared<const OwnCommunicator>(comm.get());
      next_exchange = 0;
    }
    const int tag = 1 + next_exchange++ * tags_per_exchange;  // those below 1 stand for headers
    return {further, further ? further->get() : comm.get(), tag};
  }
};

/// For those who call the engines as no public function does.
struct CommunicatorAccess {
  static SparseEngine& sparse(Communicator& communicator) { return *communicator.state_->sparse; }
};

}  // namespace commpass
