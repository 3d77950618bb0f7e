// What other libraries do in a neighbour exchange, as fixed schedules written from the published algorithms.
#pragma once

#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/pattern/pattern.hpp"

namespace commpass::bench {

/// A message as `bench/reference_exchange.cpp` sends it. A message of several blocks is copied block by block at its
/// ends. One from a rank to itself stands for what that rank copies before and after, and is not sent.
struct PeerMessage {
  int stage = 0;
  Rank from = 0, to = 0;
  Bytes bytes = 0;
  int packed = 0;    ///< pieces copied before it is sent; 0: none
  int unpacked = 0;  ///< pieces copied after it has come; 0: none
  bool operator==(const PeerMessage&) const = default;
};

/// The messages of a sender in the order in which they are posted; the stages one after another.
using PeerSchedule = std::vector<PeerMessage>;

/// One message for each edge, in the order of receivers: the loop of Open MPI and MPICH, and of MPI Advance's standard
/// neighbour exchange.
PeerSchedule plain_loop(const Pattern& pattern, const Layout& layout);

/// The same in the order of distance from the sender, as spread-out exchanges are.
PeerSchedule loop_by_distance(const Pattern& pattern, const Layout& layout);

/// The level-aware exchange of MPI Advance (Bienz, Gropp, Olson: Node aware sparse matrix-vector multiplication,
/// JPDC 2019, 3-step): blocks of a node for another one are gathered on one of its ranks, sent in one message, and
/// handed out; blocks within the node go straight, with the first stage. Of N pairs of nodes that exchange anything
/// there are N messages between nodes, and no byte crosses twice.
PeerSchedule locality_aware(const Pattern& pattern, const Layout& layout);

/// As text for `commpass-reference`: a line a message.
std::string to_text(const PeerSchedule& schedule);

}  // namespace commpass::bench
