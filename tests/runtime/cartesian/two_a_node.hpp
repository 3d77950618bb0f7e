// A communicator whose ranks are taken to sit two on a node.
#pragma once

#include <gtest/gtest.h>

#include "model/machine/layout.hpp"
#include "runtime/communicator.hpp"
#include "runtime/world.hpp"

namespace commpass::test {

class TwoANode : public testing::Test {
 protected:
  const Machine machine_ = some_machine();
  Communicator communicator_{MPI_COMM_WORLD, machine_, {Layout::with_ppn(size_of(), 2)}};
};

}  // namespace commpass::test
