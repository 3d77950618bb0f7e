// What one more edge costs an exchange.
#pragma once

#include "model/machine/machine.hpp"

namespace commpass {

/// In bytes that the network moves meanwhile: the edge's bytes are copied as a piece of their own, where they are
/// packed and where they are unpacked.
Bytes bytes_worth_an_edge(const Machine& machine);

}  // namespace commpass
