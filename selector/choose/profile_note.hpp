// What a profile lacks that the prices of a ranking use.
#pragma once

#include <span>
#include <string>

#include "selector/choose/select.hpp"

namespace commpass {

/// For people, without a full stop: which parameters are missing, and what looks better for that than it is; and the
/// extrapolation. docs/profiles.md has all stand-ins; here are those that may decide a ranking. Empty where nothing is
/// missing, and under the papers' models, which use less.
std::string profile_note(const Machine& machine, const Layout& layout, CostModel model,
                         std::span<const Candidate> ranking);

/// For people, without a full stop: which limits the choice exceeds, or how many of the others exceed one, so that
/// they come last. Empty where all keep them, and for a machine that limits messages in flight alone: windows keep
/// that.
/// @param ranking  the chosen one first
std::string limits_note(const Machine& machine, std::span<const Candidate> ranking);

/// The part of that note on levels that the layout nests in another order than the profile. It does not depend on the
/// traffic.
std::string level_order_note(const Machine& machine, const Layout& layout);

/// What explain() says, and below it that note, if there is one.
std::string explain_with_note(std::span<const Candidate> ranking, std::size_t chosen, const Machine& machine,
                              const Layout& layout, CostModel model, const Calls& calls = {});

}  // namespace commpass
