// The exchanges that the figures of the node-aware paper are about: as patterns, whose on-node phases are priced as
// they are, and in the few numbers of its formulas.
#pragma once

#include "bench/node_aware_formulas.hpp"
#include "model/cost/cost.hpp"
#include "model/pattern/pattern.hpp"

namespace commpass::node_aware {

/// Which ranks of a node take part.
enum class Ranks {
  devices,  ///< one for each device
  helpers,  ///< all processes, of which one for each device has data: Split + MD
  spread    ///< all processes, of which four for each device have a quarter of its data each: Split + DD
};

/// What devices send to each other, those of a node one after another.
struct Exchange {
  Pattern pattern;
  Node node;

  Layout layout(Ranks ranks) const;
  Pattern among(Ranks ranks) const;
};

/// Figure 4.3: one node sends `messages` of as many bytes, the same number from each device, to the devices of `nodes`
/// other nodes in turn.
Exchange scattered(int messages, int nodes, Bytes bytes, const Node& node);

/// Figure 4.2 and section 5: the values that a sparse matrix-vector product needs, with the rows of a matrix shared out
/// among devices in blocks.
/// @throws InputError
Exchange matrix_product(const std::string& matrix_file, int devices, const Node& node);

/// What the formulas know of an exchange: table 7, and how many messages each strategy leaves to a process.
struct Sent {
  Load load;                    ///< without messages
  double messages = 0;          ///< into the network, by the process that sends the most
  double nodes_of_process = 0;  ///< to which a process sends, at most
  double nodes = 0;             ///< to which a node sends, at most
};
Sent sent_in(const Exchange& exchange);

/// The price of a strategy of Commpass for an exchange.
/// @param strategy  with its path
/// @throws InputError, NotApplicable
Cost price_exactly(const std::string& strategy, Ranks ranks, const Exchange& exchange, const Machine& machine,
                   CostModel model);

}  // namespace commpass::node_aware
