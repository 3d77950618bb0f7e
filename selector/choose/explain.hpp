// Why a strategy is chosen or not, as text.
#pragma once

#include <span>
#include <string>

#include "selector/choose/select.hpp"
#include "selector/choose/ties.hpp"

namespace commpass {

/// Why a candidate costs what it costs: for each stage its messages, bytes, seconds and what dominates, and how it
/// compares with the cheapest other candidate, or, if it is not the cheapest, with that.
/// @param ranking  as rank_strategies gives it; strategies to compare with may follow
/// @param chosen   index in ranking
/// @param calls    by which it was ranked
/// @param ties     of the ranking, to which its first may owe its place
std::string explain(std::span<const Candidate> ranking, std::size_t chosen, const Calls& calls = {},
                    const Ties& ties = {});

}  // namespace commpass
