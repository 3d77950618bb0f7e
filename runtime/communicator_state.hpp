// What a Communicator holds. Private to the runtime.
#pragma once

#include <memory>

#include "runtime/alltoallv_engine.hpp"
#include "runtime/communicator.hpp"
#include "runtime/own_communicator.hpp"
#include "runtime/sparse_engine.hpp"
#include "selector/environment.hpp"

namespace commpass {

struct Communicator::State {
  OwnCommunicator comm;
  Machine machine;
  Layout layout;
  Environment environment;  ///< of rank 0 where it matters
  int largest_tag = 0;
  int last_tag = 0;         ///< of the last exchange; tags below stand for headers
  std::unique_ptr<SparseEngine> sparse;
  std::unique_ptr<AlltoallvEngine> alltoallv;

  int next_tag() { return last_tag = last_tag % largest_tag + 1; }
};

}  // namespace commpass
