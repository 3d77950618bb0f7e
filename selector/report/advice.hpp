// What a recorded run would gain on a machine: by strategies in the place of MPI's calls, and by planned exchanges.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/machine/machine.hpp"
#include "selector/report/record.hpp"

namespace commpass {

/// The calls of one kind from one place of the program, on communicators of one size. Those that exchange other things,
/// or on other communicators, are in it together. Of messages, the phases that a RecordedExchange is.
struct AdvisedCall {
  std::string site, call;
  int ranks = 0;
  std::size_t communicators = 0, patterns = 0;
  std::int64_t calls = 0;                   ///< of one communicator, on average
  double bytes = 0;                         ///< of one call, of all ranks, on average
  std::vector<std::size_t> exchanges = {};  ///< numbers of Record::exchanges
  Seconds measured_s = 0;                   ///< of all calls, on the rank with the most; 0 of those that do not block
};

/// All calls, from the longest on.
std::vector<AdvisedCall> advised_calls(const Record& record);

/// In all of the calls the rank with the most spends so long, apart from waiting for late ranks.
Seconds measured_in_calls(const Record& record);

/// How a call is spread over the run, on the rank that spends most time in it; of calls that do not block, on the one
/// that makes most.
OverTime spread_over_time(const Record& record, const AdvisedCall& call);

/// What a call costs there. Of all calls together, on the rank with the most.
struct CallPrice {
  Seconds library_s = 0;  ///< as the MPI library runs it: what is called `library`
  /// By libcommpass-mpi, trials included, which may be more than the library's; that where it leaves the call to MPI.
  Seconds taken_s = 0;
  Seconds plugged_s = 0;  ///< by PETSc's plug-in, where PETSc sends the messages; else the library's
  Seconds planned_s = 0;  ///< by a changed source, planning included; at most the library's
  std::string library, taken,
      planned;  ///< strategies, of the exchange that takes longest; planned: empty where a changed source saves nothing
};

/// What a run costs on a machine.
struct MachineAdvice {
  std::string machine, layout;
  int ranks = 0;
  std::vector<CallPrice> prices;  ///< for each of the calls that were asked for
  CallPrice all;                  ///< of all of these, without names; those that do not block do not count
  Seconds outside_s = 0;          ///< of the run, outside of the calls that were asked for
  std::string library_rules{};    ///< by which MPI's all-to-alls are priced; empty: they were measured
  std::string note;               ///< what else the profile lacks (profile_note); empty: nothing
  std::string guess{};            ///< why its savings are not told as numbers; empty: they are

  /// The share of the run that would be gone, 0 … 1, of a whole with the library's calls.
  double share(Seconds seconds) const;
};

/// Prices calls on a machine. Communicators that exchange at the same time are priced as if alone.
/// @param layout  of the run's ranks
/// @throws InputError, NotApplicable, if the machine has no parameters for the layout
MachineAdvice advise(const Record& record, std::span<const AdvisedCall> calls, const Layout& layout,
                     const Machine& machine);

/// For people: the calls, and what each machine would bring.
/// @param origin  the record's file
/// @param left_out  calls that were not priced, and their share of the run
struct Advice {
  std::string origin;
  const Record& record;
  std::vector<AdvisedCall> calls;
  std::size_t calls_left_out = 0;
  Seconds left_out_s = 0;
  std::vector<MachineAdvice> machines;
};
/// "MPI's all-to-alls are not measured in the profile, and priced by the rules of MVAPICH2 2.3".
std::string describe_library_rules(const MachineAdvice& machine);
/// Of a record without exchanges.
std::string describe_no_exchanges(const Record& record);
std::string advice_text(const Advice& advice);
std::string advice_json(const Advice& advice);

}  // namespace commpass
