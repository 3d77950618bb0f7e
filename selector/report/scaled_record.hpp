// A program on other numbers of ranks than it was recorded on: what records tell of how its exchanges grow.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "selector/report/advice.hpp"
#include "selector/report/record.hpp"

namespace commpass {

/// The calls of a scaled record that these calls are there; without exchanges where they are left out.
std::vector<AdvisedCall> scaled_calls(const Record& scaled, std::span<const AdvisedCall> calls, int ranks_before);

/// A record of another number of ranks, as records of some numbers of ranks tell it.
struct ScaledRecord {
  Record record;
  std::string guess;  ///< why it is one; empty: it is none
};

inline constexpr int scaled_ranks_min = 8;   ///< of a record: on fewer, neighbours are all ranks
inline constexpr int scaled_ratio_max = 16;  ///< between the ranks asked for and those of the nearest record

/// The program on other ranks. Exchanges of all ranks are scaled, those of all with all, and those in which the ranks
/// at the same distances exchange in two records; others are left out. Two records tell how blocks and the time
/// outside of calls grow with the number of ranks: as its powers. Of one record the bytes of all ranks and the work
/// stay the same, which is a guess. Times in calls are those of the record with the most ranks.
/// @param records  of the same program, with different numbers of ranks; at least one
/// @throws InputError if they cannot tell it, or nothing is left
ScaledRecord scaled(std::span<const Record> records, int ranks);

}  // namespace commpass
