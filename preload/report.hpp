// What became of a program's calls, for people.
#pragma once

#include <map>
#include <string>

#include "preload/taken_communicator.hpp"

namespace commpass {

/// A table with a row for each kind of call and number of ranks, of this rank's calls; empty if there were none.
std::string report_of(const std::map<int, PastCalls>& calls);

/// One line if none of this rank's calls was taken over: since there were none that can be, or since the library ran
/// all of them; else nothing.
std::string nothing_taken_over(const std::map<int, PastCalls>& calls);

/// Of this process.
struct MemoryUse {
  std::int64_t page_faults;  ///< that needed no file
  Bytes resident_max;
};
MemoryUse memory_use();
/// A finding about malloc, for a program that spends its time on page faults; else empty.
/// @param page_faults  of rank 0 in the run
std::string page_fault_note(std::int64_t page_faults, Bytes resident_max, Seconds run_s);

/// Writes it to stderr, on the rank that is asked for it. Called when all communicators have been released.
/// @param takes_over  calls may have been taken over, so that it is told where none was
void write_report(bool takes_over) noexcept;

}  // namespace commpass
