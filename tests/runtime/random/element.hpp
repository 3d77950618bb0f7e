// Datatypes, and where the bytes of their elements lie.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "model/base/types.hpp"
#include "runtime/random/draw.hpp"
#include "runtime/random/switches.hpp"

namespace commpass::random_test {

/// A datatype. Types of one family have the same signature, so that each may be sent and any other received.
struct Element {
  std::shared_ptr<MPI_Datatype> type;  ///< freed with the last copy, unless it is a named one
  std::vector<Bytes> offsets;          ///< of each byte of data, in the order of the signature
  Bytes extent = 0;
  int in_unit = 1;  ///< their number in a unit, which all types of a family can count in

  Bytes least_offset() const;
  Bytes end_offset() const;
};

enum class Family { bytes, doubles, three_ints, mixed };

/// What types may be besides named ones and such that are just as contiguous.
struct Freedom {
  bool gaps = false;         ///< with gaps, or in another order
  bool lower_bound = false;  ///< and with a negative lower bound
};

Freedom draw_freedom(Draw& draw, const Switches& switches);
Element draw_element(Draw& draw, Family family, Freedom freedom);

}  // namespace commpass::random_test
