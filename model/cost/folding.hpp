// Like messages of a stage taken together, so that few are left however many ranks there are. Private to the model.
#pragma once

#include <span>
#include <vector>

#include "model/cost/models.hpp"

namespace commpass {

/// Messages of consecutive rounds of one sender, alike but for their receivers.
struct AlikeRun {
  Message first;
  int messages = 1;
  Ring ring;
  Level level = 0;   ///< of the ends of all of them
  double share = 1;  ///< this part of them, spread evenly

  int last_round() const { return first.round + messages - 1; }
};

/// Do they hold as much, in as many pieces?
bool alike(const Message& a, const Message& b);

/// How many rounds of a stage are in flight at once, all or those of its window.
int rounds_in_flight(const StageInfo& stage, Window window);

/// Appends the messages of a run, cut where the level of their ends changes.
/// @param first  the first of them: its sender, its round and what it holds
void append_run(const UniformRun& run, const Message& first, const Layout& layout, std::vector<AlikeRun>& alike_run);

/// Makes the messages of a stage of one node that stands for all.
///
/// Of more than 64 rounds, like messages of rounds of a batch that are taken together become one, to the receiver of
/// their median round: as they are the same for all ranks, each receives about as much as before. And batches
/// that are like the one before at every rank are taken together after the first ones.
/// @param sent   by the ranks of the node, rank after rank, in order of rounds
/// @param stage  whose messages are made, with local ranks in place of ranks; its info is there
/// @return the multiplicity of each of its messages
std::vector<Folded> fold(std::span<const AlikeRun> sent, const Layout& layout, Window window, Stage& stage);

}  // namespace commpass
