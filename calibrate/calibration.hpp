// The state of a calibration, and its parts in their order.
#pragma once

#include <mpi.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/calibrate.hpp"
#include "calibrate/fit/pairs.hpp"
#include "calibrate/fit/plan.hpp"
#include "calibrate/fit/provenance.hpp"
#include "calibrate/sampling.hpp"
#include "calibrate/timing.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/machine/pace.hpp"
#include "runtime/mpi/own_communicator.hpp"

namespace commpass {

/// The state that the parts share: ranks, experiments and results so far. The same on every rank but for clocks.
struct Calibration {
  /// @param memory  of the messages; their parameters go to `machine.host`, whatever the memory
  Calibration(MPI_Comm user_comm, const Layout& ranks_layout, const CalibrationOptions& user_options,
              Memory& memory = host_memory());

  Machine machine;  ///< with the levels of the layout
  const Layout layout;
  const std::vector<Experiment> plan;
  const CalibrationOptions& options;
  OwnCommunicator comm;
  Bench bench;
  Sampler sampler;
  std::array<std::vector<Pair>, most_levels> pairs_by_level;
  std::vector<Level> levels;  ///< those that have pairs
  Provenance provenance;
  /// Latencies of lone small messages, before the parts and after each; of each the nearest ranks first.
  std::vector<std::vector<Pace>> latencies;
  /// SweptRate::or_at_other_ends of the injection rate: ejection may explain it.
  std::optional<double> rate_in_place_of_injection{};

  const std::string& name_of(Level level) const { return machine.name_of(level); }
  /// "levels.network.host.gamma_s", the name of a parameter of a level's messages.
  std::string host_key(Level level, const std::string& key) const;
  /// "levels.node.up_rate_bytes_per_s", the name of a parameter of the level itself.
  std::string level_key(Level level, const char* key) const;
  /// The name of the rate that messages of a level share: that of their channel, or out of nodes.
  std::string shared_rate_key(Level level) const;
  const std::vector<Pair>& pairs(Level level) const { return pairs_by_level[level]; }
  /// The channel of a level whose protocols were fitted.
  Channel& channel(Level level) { return *machine.host.by_level[level]; }
  void progress(const std::string& what) const;
  /// Has the layout the ranks that an experiment needs? Else they are noted as the reason why it did not run.
  bool has_ranks_for(const std::string& parameters);
  void not_measured(std::string what_and_why) { provenance.not_measured.push_back(std::move(what_and_why)); }
};

/// Finds nodes that are slower than the others.
void find_slow_nodes(Calibration& calibration);
/// Finds the sends that have a new request each time, here and in all exchanges.
void measure_new_sends(Calibration& calibration);
/// Measures protocols, their α, β and switches, by ping-pongs of many sizes on all levels.
void measure_protocols(Calibration& calibration);
/// Finds the size from which on a send waits for its receive, by its behaviour and not by its time.
void find_rendezvous(Calibration& calibration, Level level);
/// Measures α_next, β_next, the link's rate and γ, by bursts from one rank.
void measure_bursts(Calibration& calibration, Level level, const Share& share);
/// Measures the rate of a level's messages together, or the injection of a node, by a sweep over active pairs.
void measure_sharing(Calibration& calibration, Level level);
/// Measures the rate of all ranks of a node, or of an instance of a level within nodes, when all are busy.
void measure_inside(Calibration& calibration, Level level);
/// Measures the injection of each node when all nodes send, if it is below that of one node. Layouts with groups of
/// nodes skip it.
void measure_core(Calibration& calibration);
/// Measures the rate out of each group of nodes when all groups send, if its nodes could send more.
void measure_groups(Calibration& calibration);
/// Measures the ejection of a node: many nodes send to one.
void measure_ejection(Calibration& calibration);
/// Measures α_receive, β_receive and again γ: many ranks send to one, or three if the times of many do not settle. The
/// receiver does not show if the senders, or rates that they share, take as long.
void measure_receiving(Calibration& calibration, Level level, const Share& share);
/// Measures copies within a rank's memory.
void measure_copies(Calibration& calibration);
/// Measures the time of a loop for each run of small values.
void measure_value_loops(Calibration& calibration);
/// Measures additions of values to others within a rank's memory.
void measure_reductions(Calibration& calibration);
/// Measures how the MPI library gathers and scatters the pieces of a derived datatype.
void measure_datatypes(Calibration& calibration);
/// Measures barrier, allreduce, probe, put, fence and window.
void measure_operations(Calibration& calibration);
/// Measures the cost of MPI's neighbourhood collective beyond a direct exchange.
void measure_neighborhood(Calibration& calibration);
/// Measures the cost of MPI_Alltoallv beyond a direct exchange.
void measure_alltoallv(Calibration& calibration);
/// Finds the number of messages in flight without losses: all ranks send more and more messages at once, until a timer
/// shows.
void measure_messages_in_flight(Calibration& calibration);
/// Measures the cost of Commpass's exchanges beyond their messages. Needs the parameters of their predictions.
void measure_calls(Calibration& calibration);
/// Measures the wait of ranks for one another between rounds of messages to other nodes. Needs what measure_calls does.
void measure_skew(Calibration& calibration);
/// Measures messages through memory that ranks of a node share, with all that their exchange takes.
void measure_node_memory(Calibration& calibration, Level level, const Share& share);
/// Runs `work`. Collective.
/// @return processors that other programs kept busy meanwhile, on average, on the host where they are most. The same on
/// every rank
double beside_others(MPI_Comm comm, const std::function<void()>& work);
/// Drops rates above the rate of all ranks' memory copies.
void hold_to_physics(Calibration& calibration);
/// Predicts and runs held-out exchanges. If predictions are bad, spends the rest of the budget on measuring again.
void check_held_out(Calibration& calibration);

}  // namespace commpass
