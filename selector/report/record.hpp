// The record of the exchanges of a run: one JSON file, which libcommpass-mpi writes (COMMPASS_MPI_RECORD).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/pattern/pattern.hpp"

namespace commpass {

/// The calls, and the time in them, in each of several equal parts of the run.
struct OverTime {
  static constexpr std::size_t parts = 64;
  static constexpr Seconds finest_s = 1.0 / 64;

  Seconds part_s = finest_s;  ///< the length of a part, doubled until the run fits
  std::array<std::int64_t, parts> calls = {};
  std::array<Seconds, parts> seconds = {};  ///< in these calls, without waiting for late ranks

  /// Adds one call. @param at_s  since the start of the run; less than 0 counts as 0
  void add(Seconds at_s, Seconds call_s);
  void add(const OverTime& other);
  /// Doubles part_s.
  void coarsen();
  bool operator==(const OverTime&) const = default;
};

/// Totals of recorded calls; ranks tell them as they are in memory.
struct ExchangeNumbers {
  std::int64_t calls = 0;
  std::int64_t handles = 1;  ///< communicators with these ranks that called: a program may free one and make another
  Seconds exchange_s = 0;    ///< of all calls, without waiting for late ranks; 0 for non-blocking calls
  Seconds in_call_s = 0;     ///< of all calls with waiting, mean over ranks
  bool is_by_clock = true;   ///< exchange_s is from the last arrival to the last finish; else the least time of a rank
  Bytes bytes = 0;           ///< of all ranks in all calls, including those of ranks to themselves
  std::int64_t blocks = 0;   ///< non-empty ones, likewise
  std::optional<Bytes> equal_bytes{};  ///< every rank sends this size to every rank
  OverTime over_time{};

  bool operator==(const ExchangeNumbers&) const = default;
};

/// The calls of one kind from one place of the program, on one communicator, with one pattern. Or phases of messages
/// with the same partners: a phase begins with sends or receives and ends when all of them are completed. Its call is
/// the one that sends, and its edges have their mean sizes.
struct RecordedExchange : ExchangeNumbers {
  std::string call{};            ///< the name of the MPI call without its prefix: "alltoallv"
  std::string site{};            ///< the place where rank 0 of the communicator called, for people
  std::size_t communicator = 0;  ///< index of Record::communicators
  /// Edges between ranks of the communicator, by sender. None: there are too many, or calls may differ; see bytes and
  /// blocks.
  std::vector<Edge> edges{};

  RecordedExchange() = default;
  RecordedExchange(std::string its_call, std::string its_site) : call(std::move(its_call)), site(std::move(its_site)) {}
  bool operator==(const RecordedExchange&) const = default;
};

/// Does the MPI library send the blocks directly? It does in neighbourhood collectives and point-to-point calls.
bool is_sent_directly(const RecordedExchange& exchange);

/// Totals of the calls beyond the number of kinds that a record holds.
struct OtherCalls {
  std::string call;
  std::int64_t calls = 0;
  Seconds in_call_s = 0;  ///< of one rank
  Bytes bytes = 0;        ///< sent by that rank
  bool operator==(const OtherCalls&) const = default;
};

/// The messages of one MPI call at one place of the program.
struct CountedMessages {
  std::string call;        ///< the name of the MPI call without its prefix: "isend"
  std::string site;        ///< its place, for people
  int ranks = 0;           ///< that called
  std::int64_t calls = 0;  ///< of all ranks
  Bytes bytes = 0;         ///< sent, or received by calls that only receive; 0 for calls that wait
  int partners = 0;        ///< the largest number of ranks that one rank named
  Seconds in_call_s = 0;   ///< of all calls on the busiest rank, with waiting; 0 for calls that do not wait
  bool operator==(const CountedMessages&) const = default;
};

struct Record {
  std::string program;                           ///< command line of rank 0
  std::string mpi;                               ///< name and version of the MPI library
  std::string layout;                            ///< for parse_layout
  Seconds run_s = 0;                             ///< from MPI_Init to MPI_Finalize
  std::vector<std::vector<Rank>> communicators;  ///< ranks of MPI_COMM_WORLD, in the order of the communicator
  std::vector<RecordedExchange> exchanges;
  std::vector<OtherCalls> others;
  std::vector<CountedMessages> messages{};
  Seconds counting_s = 0;  ///< overhead of counting one call, measured at the end; 0: none was counted

  int ranks() const { return ranks_of_layout(layout); }
  bool operator==(const Record&) const = default;
};

/// The edges between ranks of the communicator, also of equal blocks; nothing if they are unknown.
/// @throws InputError if there are more than recorded_edges_max
std::optional<Pattern> pattern_of(const Record& record, const RecordedExchange& exchange);

/// Limits of a file.
inline constexpr std::size_t recorded_edges_max = std::size_t{1} << 21;
inline constexpr std::size_t recorded_members_max = std::size_t{1} << 24;  ///< sum over communicators

/// @param origin  the name of the text in errors, usually the file name
/// @throws InputError that names the exchange and the key
Record parse_record(const std::string& text, const std::string& origin);
/// JSON, with a newline at the end, that parse_record reads as the same record.
std::string to_json(const Record& record);
/// @throws InputError
Record read_record(const std::string& path);

}  // namespace commpass
