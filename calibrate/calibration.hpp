// A calibration that is under way, and its parts in their order. Each part has a file of its own.
#pragma once

#include <mpi.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/calibrate.hpp"
#include "calibrate/fit/pairs.hpp"
#include "calibrate/fit/provenance.hpp"
#include "calibrate/sampling.hpp"
#include "calibrate/timing.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/machine/pace.hpp"
#include "runtime/mpi/own_communicator.hpp"

namespace commpass {

/// What the parts share: whom to time, and what was found so far. The same on every rank but for clocks.
struct Calibration {
  /// @param memory  of the messages that are timed; what is found of them is `machine.host`, in whatever memory
  Calibration(MPI_Comm user_comm, const Layout& ranks_layout, const CalibrationOptions& user_options,
              Memory& memory = host_memory());

  Machine machine;  ///< with the levels of the layout
  const Layout layout;
  const CalibrationOptions& options;
  OwnCommunicator comm;
  Bench bench;
  Sampler sampler;
  std::array<std::vector<Pair>, most_levels> pairs_by_level;
  std::vector<Level> levels;  ///< those that have pairs
  Provenance provenance;
  std::vector<std::vector<Pace>>
      pulses;  ///< of lone small messages, before the parts and after each; nearest ranks first
  /// Where the injection rate was reached only by pairs of which some nodes have one more than others: the rate into
  /// these that would explain it as well.
  std::optional<double> rate_in_place_of_injection{};

  const std::string& name_of(Level level) const { return machine.name_of(level); }
  /// "levels.network.host.gamma_s": what is told of a parameter of the messages of a level begins so.
  std::string host_key(Level level, const std::string& key) const;
  /// The same of a parameter of the level itself: "levels.node.up_rate_bytes_per_s".
  std::string level_key(Level level, const char* key) const;
  const std::vector<Pair>& pairs(Level level) const { return pairs_by_level[level]; }
  /// The channel of a level whose protocols were fitted.
  Channel& channel(Level level) { return *machine.host.by_level[level]; }
  void progress(const std::string& what) const;
  void not_measured(std::string what_and_why) { provenance.not_measured.push_back(std::move(what_and_why)); }
};

/// The part of the budget after which a step ends, even if medians are not settled.
struct Share {
  double begin = 0, end = 0;

  double middle() const { return (begin + end) / 2; }
  /// That of one of `all` levels, if they share this part evenly.
  Share of(Level level, const std::vector<Level>& all) const;
};
// Behind the held-out exchanges there is time to measure again what they show to be wrong.
inline constexpr Share node_share{0, 0.02}, request_share{0.02, 0.03}, ping_pong_share{0.03, 0.37},
    switch_share{0.37, 0.51}, burst_share{0.51, 0.6}, sharing_share{0.6, 0.65}, bus_share{0.65, 0.66},
    core_share{0.66, 0.67}, ejection_share{0.67, 0.69}, receive_share{0.69, 0.77}, copy_share{0.77, 0.78},
    value_share{0.78, 0.79}, datatype_share{0.79, 0.81}, operation_share{0.81, 0.84}, collective_share{0.84, 0.85},
    alltoallv_share{0.85, 0.86}, visits_share{0.86, 0.865}, flight_share{0.865, 0.87}, calls_share{0.87, 0.88},
    held_out_share{0.88, 0.93};

/// Nodes that are slower than the others: not what the profile describes, or all that it describes.
void find_slow_nodes(Calibration& calibration);
/// Which sends have a new request each time, here and in all exchanges.
void measure_new_sends(Calibration& calibration);
/// Protocols, their α, β and switch points: ping-pongs of many sizes on all levels.
void measure_protocols(Calibration& calibration);
/// From which size on a send waits for its receive, by what it does and not by what it costs.
void find_rendezvous(Calibration& calibration, Level level);
/// α_next, β_next, the link's rate and γ: bursts from one rank.
void measure_bursts(Calibration& calibration, Level level, const Share& share);
/// What a socket or a node moves together, and what a node sends into the network: more and more active pairs.
void measure_sharing(Calibration& calibration, Level level);
/// Nodes, and the levels within them that have others within.
std::vector<Level> levels_with_others_within(const Layout& layout);
/// The levels between nodes and the outermost one, groups of nodes.
std::vector<Level> levels_of_groups(const Layout& layout);
/// What all ranks of an instance of a level within nodes, or of a node, move within it when all are busy.
void measure_inside(Calibration& calibration, Level level);
/// What each node sends into the network when all do, if that is less than one alone. Not where there are groups.
void measure_core(Calibration& calibration);
/// What a group of nodes sends to the others when all do, if that is less than what is within it alone.
void measure_groups(Calibration& calibration);
/// What a node takes in from the network: many nodes send to one.
void measure_ejection(Calibration& calibration);
/// α_receive and β_receive, and γ again: many ranks send to one. Where the senders, or what they share, take as long,
/// the receiver's time does not show. Of few senders, where the times of many do not settle.
void measure_receiving(Calibration& calibration, Level level, const Share& share);
/// Copies within a rank's memory.
void measure_copies(Calibration& calibration);
/// What a loop takes for each run of small values.
void measure_value_loops(Calibration& calibration);
/// What the MPI library takes to gather and scatter the pieces of a derived datatype.
void measure_datatypes(Calibration& calibration);
/// Barrier, allreduce, probe, put, fence, window.
void measure_operations(Calibration& calibration);
/// What the MPI library's neighbourhood collective takes beyond a direct exchange.
void measure_neighborhood(Calibration& calibration);
/// What MPI_Alltoallv takes beyond a direct exchange.
void measure_alltoallv(Calibration& calibration);
/// With how many messages in flight none is lost: a stress of all ranks at once, more and more messages, to the first
/// sign of a timer.
void measure_messages_in_flight(Calibration& calibration);
/// What exchanges of ours take beyond their messages. Behind all that their prices are made of.
void measure_calls(Calibration& calibration);
/// Leaves out rates that the memory contradicts.
void hold_to_physics(Calibration& calibration);
/// Exchanges that no fit has seen, predicted with what was found and then run. Where they are off, what is left of the
/// budget is spent there.
void check_held_out(Calibration& calibration);

}  // namespace commpass
