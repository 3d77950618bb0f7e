// What became of a program's calls, for people.
#pragma once

#include <map>
#include <string>

#include "preload/taken_communicator.hpp"

namespace commpass {

/// A table with a row for each kind of call and number of ranks, of this rank's calls; empty if there were none.
std::string report_of(const std::map<int, PastCalls>& calls);

/// Writes it to stderr, on the rank that is asked for it. Called when all communicators have been released.
void write_report() noexcept;

}  // namespace commpass
