// A communicator of a case, as one of its ranks sees it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>

#include "model/machine/layout.hpp"
#include "runtime/communicator.hpp"
#include "runtime/random/draw.hpp"
#include "runtime/random/switches.hpp"

namespace commpass::random_test {

struct Place {
  const Switches* switches = nullptr;
  MPI_Comm parent = MPI_COMM_NULL;  ///< the user's
  Rank rank = 0;
  int ranks = 0;
  std::uint64_t key = 0;  ///< of what its ranks draw
  std::string profile;    ///< of its machine; empty: drawn
  std::string layout_text;
  bool tries = false;  ///< do its exchanges try strategies?
  std::optional<Layout> layout;
  std::optional<Communicator> communicator;

  Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place();
};

/// Makes it, with ours beside the user's. Collective.
/// @param key  the same on all ranks of the world
void make_place(Place& place, const Switches& switches, std::uint64_t key);

}  // namespace commpass::random_test
