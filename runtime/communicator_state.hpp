// What a Communicator holds. Private to the runtime.
#pragma once

#include <memory>

#include "runtime/alltoallv_engine.hpp"
#include "runtime/communicator.hpp"
#include "runtime/executor.hpp"
#include "runtime/own_communicator.hpp"
#include "runtime/sparse_engine.hpp"
#include "selector/environment.hpp"

namespace commpass {

struct Communicator::State {
  OwnCommunicator comm;
  Machine machine;
  Layout layout;
  Environment environment;  ///< of rank 0 where it matters
  unsigned threads = 1;     ///< that this rank may start without taking cores from others of its node
  int largest_tag = 0;
  int next_exchange = 0;    ///< its number, which comes again when all tags have been used
  std::string named{};      ///< the strategy that the environment names, as it fits; empty: none
  std::unique_ptr<SparseEngine> sparse;
  std::unique_ptr<AlltoallvEngine> alltoallv;

  /// The first tag of the next exchange; those below 1 stand for headers.
  int next_tag() {
    const int tag = 1 + next_exchange * tags_per_exchange;
    next_exchange = (next_exchange + 1) % (largest_tag / tags_per_exchange);
    return tag;
  }
};

}  // namespace commpass
