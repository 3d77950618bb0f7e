// Candidates as text, by which ranks tell each other what they have priced.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "selector/choose/select.hpp"

namespace commpass {

/// Not for people: JSON, from which every number comes back to the last bit.
std::string to_text(std::span<const Candidate> candidates);

/// What to_text has made a text of.
/// @throws Error for any other text
std::vector<Candidate> parse_candidates(const std::string& text);

}  // namespace commpass
