// What libcommpass-mpi wrote of the exchanges of a program's run (COMMPASS_MPI_RECORD): one JSON file.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/pattern/pattern.hpp"

namespace commpass {

/// How much of something fell into each of so many equal parts of the run, from its begin.
struct OverTime {
  static constexpr std::size_t parts = 64;
  static constexpr Seconds finest_s = 1.0 / 64;

  Seconds part_s = finest_s;  ///< how long each is; doubled until the run fits in
  std::array<std::int64_t, parts> calls = {};
  std::array<Seconds, parts> seconds = {};  ///< in these calls, apart from waiting for late ranks

  /// Of one call. @param at_s  since the begin of the run; before it counts as then
  void add(Seconds at_s, Seconds call_s);
  void add(const OverTime& other);
  /// Pairs of parts become one.
  void coarsen();
  bool operator==(const OverTime&) const = default;
};

/// The calls of one kind, from one place of the program, on one communicator, that exchanged the same; or phases of
/// messages with the same partners, which begin with sends or receives and end when all of them are completed. Then the
/// call is the one that sends, and edges have the mean of their bytes.
struct RecordedExchange {
  std::string call;              ///< as MPI calls it, without its prefix: "alltoallv"
  std::string site;              ///< where rank 0 of the communicator called it, for people
  std::size_t communicator = 0;  ///< number of Record::communicators
  std::int64_t calls = 0;
  std::int64_t handles = 1;  ///< communicators with these ranks that made them: a program may free one and make another
  Seconds exchange_s = 0;    ///< of all calls together, apart from waiting for late ranks; 0 of calls that do not block
  Seconds in_call_s = 0;     ///< of all calls together, with waiting, on average over ranks
  bool is_by_clock = true;   ///< exchange_s is from the last arrival to the last finish; else the least time of a rank
  Bytes bytes = 0;           ///< of all ranks in all calls, to themselves, too
  std::int64_t blocks = 0;   ///< that are not empty, likewise
  std::optional<Bytes> equal_bytes{};  ///< every rank sends so many to every rank
  /// Between ranks of the communicator, by sender. None: too many, or no two calls need be alike; see bytes and blocks.
  std::vector<Edge> edges{};
  OverTime over_time{};

  bool operator==(const RecordedExchange&) const = default;
};

/// Does the MPI library send its messages directly, as it does those of neighbours and the program's own?
bool is_sent_directly(const RecordedExchange& exchange);

/// Calls of which no more is known, since there were too many kinds.
struct OtherCalls {
  std::string call;
  std::int64_t calls = 0;
  Seconds in_call_s = 0;  ///< on one of the ranks
  Bytes bytes = 0;        ///< that this one sent
  bool operator==(const OtherCalls&) const = default;
};

/// The messages that one MPI call sent, received or waited for, at one place of the program.
struct CountedMessages {
  std::string call;        ///< as MPI calls it, without its prefix: "isend"
  std::string site;        ///< where it was called, for people
  int ranks = 0;           ///< that called it there
  std::int64_t calls = 0;  ///< of all ranks
  Bytes bytes = 0;         ///< that these calls sent, or received where they receive only; 0 of calls that wait
  int partners = 0;        ///< ranks that the rank with the most of them named
  Seconds in_call_s = 0;   ///< in all calls of the rank with the most, waiting included; 0 of calls that do not wait
  bool operator==(const CountedMessages&) const = default;
};

struct Record {
  std::string program;                           ///< command line of rank 0
  std::string mpi;                               ///< the library's name and version
  std::string layout;                            ///< for parse_layout
  Seconds run_s = 0;                             ///< from MPI_Init to MPI_Finalize
  std::vector<std::vector<Rank>> communicators;  ///< ranks of MPI_COMM_WORLD, in the order of the communicator
  std::vector<RecordedExchange> exchanges;
  std::vector<OtherCalls> others;
  std::vector<CountedMessages> messages{};
  Seconds counting_s = 0;  ///< that counting one of these calls took, as measured at the end; 0: none was counted

  int ranks() const { return ranks_of_layout(layout); }
  bool operator==(const Record&) const = default;
};

/// The edges between ranks of the communicator, also where the exchange has equal blocks; nothing where they are not
/// known.
/// @throws InputError if there are more than most_recorded_edges
std::optional<Pattern> pattern_of(const Record& record, const RecordedExchange& exchange);

/// What a file may hold: libcommpass-mpi writes no more.
inline constexpr std::size_t most_recorded_edges = std::size_t{1} << 21;
inline constexpr std::size_t most_recorded_members = std::size_t{1} << 24;  ///< of all communicators

/// @param origin  what to call the text in errors, usually the file name
/// @throws InputError that names the exchange and the key
Record parse_record(const std::string& text, const std::string& origin);
/// JSON, with a newline at the end. parse_record gives the same record back.
std::string to_json(const Record& record);
/// @throws InputError
Record read_record(const std::string& path);

}  // namespace commpass
