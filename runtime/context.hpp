// Where exchanges take place: what every kind of exchange needs of a communicator.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/pattern/grid.hpp"
#include "runtime/choose/environment_names.hpp"
#include "runtime/execute/send_limits.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "selector/choose/planner_mode.hpp"

namespace commpass {

class NodeMemory;
class PlanCache;
struct KnownWisdom;

/// A communicator of our own, with the properties of its ranks. Shared by the exchanges that it runs, for which nothing
/// of it changes but the next tag, and the kept plans.
struct Context {
  OwnCommunicator comm;
  Layout layout;
  Machine machine;
  EnvironmentNames named{};    ///< what the environment of rank 0 names, as it fits the layout
  std::string unpriced{};      ///< why nothing has a price (runtime/choose/decision.hpp), as rank 0 says; empty: it has
  std::optional<Grid> grid{};  ///< of the user's communicator, if it has a Cartesian topology
  std::optional<PlannerMode> planner{};  ///< unless told, as the environment of rank 0 says
  bool may_try_calls = true;             ///< may calls be trials (OneShotChooser)? Not where the caller times them
  bool verbose = false;                  ///< as the environment of this rank says
  unsigned threads = 1;                  ///< that this rank may start without taking cores from others of its node
  int largest_tag = 0;
  void* stream = nullptr;   ///< of this rank's work on its device (Communicator::use_stream)
  int next_exchange = 0;    ///< its number among the planned ones that share a communicator
  int tried_exchanges = 0;  ///< planned ones that have tried contenders
  std::shared_ptr<const OwnCommunicator>
      further{};                          ///< where planned exchanges go when the tags of `comm` have been given away
  std::shared_ptr<KnownWisdom> wisdom{};  ///< earlier measurements
  std::shared_ptr<PlanCache> plans{};     ///< of neighbour exchanges
  std::shared_ptr<NodeMemory> node_memory{};  ///< for messages of these within nodes

  /// On which communicator and from which tag up a planned exchange sends; it keeps the communicator.
  struct Address {
    std::shared_ptr<const OwnCommunicator> further;  ///< none: `comm`
    MPI_Comm comm = MPI_COMM_NULL;
    int tag = 0;
  };
  /// Of the next exchange. An earlier one may still be in use on some ranks; so no tag is given
  /// away twice, and where there are none left, another communicator is made. Collective.
  Address next_address();

  SendLimits send_limits() const { return {machine.limits, layout, comm.rank()}; }
};

/// Collective.
/// @param profile  name or file, if no machine is given; empty: as find_machine
/// @param machine  null, or the same on every rank
/// @param layout   as text; that of rank 0 holds; empty: COMMPASS_LAYOUT, else what MPI and hwloc say
/// @param info     hints, which go before those that MPI keeps of `comm`, and both before the environment
/// @param limits   those that are there go before hints, the environment and the profile
/// @throws Error, the same on every rank
std::shared_ptr<Context> make_context(MPI_Comm comm, const std::string& profile, const Machine* machine,
                                      const std::string& layout = {}, MPI_Info info = MPI_INFO_NULL,
                                      const Limits& limits = {});

/// See Communicator::use_wisdom.
void use_wisdom(Context& context, const std::string& file);

/// As `other`, with the same ranks at other places, and tags of its own.
std::shared_ptr<Context> context_like(const Context& other, OwnCommunicator comm, Layout layout);

}  // namespace commpass
