// Predicts the time of a recorded run on a machine: by MPI's calls, by libcommpass-mpi, and by planned exchanges.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/machine/machine.hpp"
#include "selector/report/document.hpp"
#include "selector/report/record.hpp"

namespace commpass {

/// The calls of one kind from one place of the program, on communicators of one size: the sum of all such
/// RecordedExchanges, whatever their patterns.
struct AdvisedCall {
  std::string site, call;
  int ranks = 0;
  std::size_t communicators = 0, patterns = 0;
  std::int64_t calls = 0;                   ///< mean over communicators
  double bytes = 0;                         ///< of all ranks in one call, mean
  std::vector<std::size_t> exchanges = {};  ///< indices of Record::exchanges
  Seconds measured_s = 0;                   ///< of all calls on the busiest rank; 0 for non-blocking calls
};

/// All calls by descending time.
std::vector<AdvisedCall> advised_calls(const Record& record);

/// The time in all calls on the busiest rank, without waiting for late ranks.
Seconds measured_in_calls(const Record& record);

/// The distribution of a call over the run, on the rank with the most time in it; for non-blocking calls, on the rank
/// with the most calls.
OverTime spread_over_time(const Record& record, const AdvisedCall& call);

/// Predicted times of all calls of an AdvisedCall on the busiest rank.
struct CallPrice {
  Seconds library_s = 0;  ///< by the MPI library, which runs `library`
  /// By libcommpass-mpi with its trials, so perhaps more than the library's; equal if MPI keeps the calls.
  Seconds taken_s = 0;
  Seconds plugged_s = 0;  ///< by PETSc's plug-in if PETSc sends the messages; else the library's
  Seconds planned_s = 0;  ///< by a changed source, with planning; at most the library's
  /// Strategies of the longest exchange; planned: empty if a changed source saves nothing.
  std::string library, taken, planned;
};

/// Predicted times of a run on a machine.
struct MachineAdvice {
  std::string machine, layout;
  int ranks = 0;
  std::vector<CallPrice> prices;  ///< for each of the given calls
  CallPrice all;                  ///< of all given calls that block, without names
  Seconds outside_s = 0;          ///< of the run, outside of the given calls
  std::string library_rules{};    ///< the rules by which MPI's all-to-alls are priced; empty: they were measured
  std::string note;               ///< profile_note; empty: none
  std::string guess{};            ///< the reason why the savings are not shown as numbers; empty: they are

  /// Ratio, 0 … 1, of a time to the run with the library's calls.
  double share(Seconds seconds) const;
};

/// Prices calls on a machine, without contention between communicators.
/// @param layout  of the run's ranks
/// @throws InputError, NotApplicable  if the machine lacks parameters for the layout
MachineAdvice advise(const Record& record, std::span<const AdvisedCall> calls, const Layout& layout,
                     const Machine& machine);

/// The calls of a record, and their times on several machines.
struct Advice {
  std::string origin;  ///< the file of the record
  const Record& record;
  std::vector<AdvisedCall> calls;
  std::size_t calls_left_out = 0;
  Seconds left_out_s = 0;
  std::vector<MachineAdvice> machines;
};
/// A smaller share is "nothing": one decimal does not show it.
inline constexpr double shown_share_min = 0.0005;
/// "MPI's all-to-alls are not measured in the profile, and priced by the rules of MVAPICH2 2.3".
std::string describe_library_rules(const MachineAdvice& machine);
/// A sentence about a record without exchanges.
std::string describe_no_exchanges(const Record& record);
/// "3 more calls of MPI_Alltoallw were counted only", for each of Record::others.
std::vector<std::string> describe_others(const Record& record);
/// Their list `others` in JSON.
Table others_table(const Record& record);
/// The calls, and the messages of the program: tables for people, and the lists `calls` and `messages` in JSON.
Table calls_table(const Advice& advice);
Table messages_table(const Record& record);
Document document_of(const Advice& advice);

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
