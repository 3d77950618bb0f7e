// The worst-case formulas of the node-aware paper (Lockhart, Bienz, Gropp, Olson), §4 and table 6, for devices that
// exchange data. They price a strategy from a few numbers, without a pattern; the cost model of Commpass (cost.hpp)
// does not use them. They are here to be laid beside the paper's figures.
#pragma once

#include "model/machine/machine.hpp"

namespace commpass::node_aware {

/// A node of two sockets.
struct Node {
  int devices_per_socket = 2;     ///< gps; Lassen
  int processes_per_socket = 20;  ///< pps
  int devices() const { return 2 * devices_per_socket; }
  int processes() const { return 2 * processes_per_socket; }
};

/// Table 7: the messages sent under the priced strategy, after it has gathered blocks.
struct Load {
  double process_bytes = 0;       ///< s_proc: the most that a process sends
  double node_bytes = 0;          ///< s_node: the most that a node sends into the network
  double node_to_node_bytes = 0;  ///< s_node→node: the most between two nodes
  double messages = 0;            ///< m: the most messages that a process sends into the network
};

/// Where a message's buffers are while it is in the network.
enum class Path {
  staged,  ///< copied to the host, sent, copied back
  device   ///< device-aware MPI
};

/// Eq. 4.1: the data of all devices of a node comes together on one of them, or is spread from there.
/// @param bytes  of each message
/// @throws InputError if the machine lacks parameters for the path
Seconds on_node(double bytes, const Node& node, const Machine& machine, Path path);

/// Eq. 4.2: one device's data is spread over all processes of its node, or comes back.
/// @param bytes                 of each message
/// @param processes_per_device  ppg: host processes that copy from one device
Seconds on_node_split(double bytes, int processes_per_device, const Node& node, const Machine& machine);

/// Eq. 4.3 (staged, max-rate) and 4.4 (device, postal): `messages` of together `bytes` go into the network.
Seconds off_node(double messages, double bytes, double node_bytes, const Machine& machine, Path path);

/// Eq. 4.5: `sent` bytes leave a device and in the end `received` bytes reach one, each copied by `processes` at once.
/// As printed, with the host-to-device parameters for the sent bytes, though the text says that they leave the device.
/// @throws InputError if the machine has no copies by that number of processes
Seconds copies(double sent, double received, int processes, const Machine& machine);

// Table 6. Standard has no copies there, even when staged: add copies() for what a staged exchange takes as a whole.
Seconds standard(const Load& load, const Machine& machine, Path path);
Seconds three_step(const Load& load, const Node& node, const Machine& machine, Path path);
Seconds two_step(const Load& load, const Node& node, const Machine& machine, Path path);

/// How large the on-node messages of split are, on which the paper can be read in two ways.
enum class SplitReading {
  whole,  ///< table 6 to the letter: T_on-split(s_node, ppg), each message has all that the node sends
  parts   ///< "split across": each has the part of one process, s_node / ppn
};

/// Split + MD (one process copies from a device) and Split + DD (several do).
Seconds split(const Load& load, int processes_per_device, SplitReading reading, const Node& node,
              const Machine& machine);

}  // namespace commpass::node_aware
