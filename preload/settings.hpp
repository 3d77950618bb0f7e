// What the environment asks of the interposer, the same on every rank.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "selector/environment/environment.hpp"
#include "selector/environment/interposed_call.hpp"

namespace commpass {

struct Settings {
  Interposition mode = Interposition::off;
  std::array<bool, interposed_calls> is_taken{};
  bool counts_messages = false;
  double trial_loss_share = 0;  ///< see TrialBudget; of this rank
  bool reports = false;
  bool has_record_file = false;
  std::string record_file = {};  ///< of rank 0

  bool has_place_report = false;
  std::string place_report = {};  ///< of rank 0: a file, or "-"

  /// Are calls written down for a file?
  bool records() const { return mode == Interposition::record && has_record_file; }
  /// Do ranks tell each other of their calls?
  bool logs() const { return records() || (mode != Interposition::off && has_place_report); }
};

/// Those of all ranks; off until they are agreed.
const Settings& settings();
/// Reads and agrees on them: settings hold that all ranks ask for. An environment that cannot be understood switches
/// off, with one line. Called when MPI has been initialised. Collective over MPI_COMM_WORLD.
void agree_on_settings() noexcept;
/// Tells that a session begins where nothing is agreed, if the environment asks for anything. Local; one line of a job.
void tell_of_session() noexcept;
/// Tells that the program's MPI library is not of the kind that we are for, if the environment asks for anything.
/// @param mpi_file  its file
void tell_of_other_library(bool is_for_abi, std::string_view mpi_file) noexcept;
/// From now on every call is MPI's.
void switch_off() noexcept;

}  // namespace commpass
