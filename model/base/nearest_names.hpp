// The names that a mistyped word may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace commpass {

/// Names of which few letters differ from the word, in whatever case, names that begin with it, and long ones with
/// another ending: at most three, the nearest first. Distances are those of Damerau and Levenshtein, restricted to
/// neighbouring letters.
std::vector<std::string> nearest_names(std::string_view word, const std::vector<std::string>& names);

/// "did you mean tuna or tuna-node? " with a blank at its end, or nothing where no name is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

/// "list, show or merge": for sentences.
std::string either_of(const std::vector<std::string>& names);

}  // namespace commpass
