// Extrapolates the record of a program to another number of ranks.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "selector/report/advice.hpp"
#include "selector/report/record.hpp"

namespace commpass {

/// The counterparts of calls in a scaled record; without exchanges if the record lacks them.
std::vector<AdvisedCall> scaled_calls(const Record& scaled, std::span<const AdvisedCall> calls, int ranks_before);

struct ScaledRecord {
  Record record;
  std::string guess;  ///< the reason why it is a guess; empty: it is none
};

inline constexpr int scaled_ranks_min = 8;   ///< of a record: on fewer, all ranks are neighbours
inline constexpr int scaled_ratio_max = 16;  ///< between the given ranks and those of the largest record

/// Scales the exchanges of all ranks: those of all with all, and those whose ranks exchange at the same offsets of a
/// grid in two records: of one dimension, or of two or three whose sizes are those of MPI_Dims_create. Other exchanges
/// are left out. Blocks, and the time outside of calls, grow as powers of the number of ranks, which two records
/// determine. With one record the bytes of all ranks and the work stay constant, which is a guess. Times in calls are
/// those of the record with the most ranks.
/// @param records  of one program, with different numbers of ranks; at least one
/// @throws InputError if the records are unsuitable, or no exchange remains
ScaledRecord scaled(std::span<const Record> records, int ranks);

}  // namespace commpass
