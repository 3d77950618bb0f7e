#include "preload/settings.hpp"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "model/base/error.hpp"
#include "preload/message_log.hpp"
#include "preload/record_table.hpp"
#include "preload/report.hpp"
#include "preload/ticks.hpp"
#include "runtime/choose/warn_once.hpp"
#include "runtime/mpi/launcher.hpp"
#include "selector/choose/trial_budget.hpp"

namespace commpass {

namespace {

Settings agreed;  // NOLINT: of the process

/// By MPI_Comm_spawn, with the variables of those that did: the file is theirs.
bool is_spawned() {
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  return parent != MPI_COMM_NULL;
}

Settings read_settings(std::string& complaint) {
  Settings read;
  try {
    const auto environment = read_environment();
    read.mode = environment.interposition;
    read.trial_loss_share = environment.trial_loss_share.value_or(TrialBudget::default_share);
    read.record_file = environment.record_file.value_or("");
    read.has_record_file = !read.record_file.empty() && !is_spawned();
    read.place_report = environment.place_report.value_or("");
    read.has_place_report = !read.place_report.empty() && !is_spawned();
    read.reports = environment.verbose || read.mode == Interposition::record;
    const auto& asked = environment.interposed_calls;
    read.counts_messages = read.records() && (asked.empty() || std::ranges::count(asked, counted_calls_name) > 0);
    for (std::size_t i = 0; i < interposed_calls; ++i)
      read.is_taken[i] = asked.empty() || std::ranges::count(asked, interposed_call_names[i]) > 0;
  } catch (const std::exception& error) {
    complaint = error.what();
    read = {};
  }
  return read;
}

/// Does the environment ask for anything, and is this rank 0? Where nothing is agreed.
bool is_for_this_rank_to_tell() noexcept {
  try {
    return read_environment().interposition != Interposition::off && launcher_of(1).rank == 0;
  } catch (const std::exception&) {
    return false;  // MPI_Init reports the error
  }
}

constexpr double patience_s = 10;

/// Completes what all ranks have to begin in MPI_Init. A rank without the library does not: then one line says so, and
/// the wait goes on, since a rank may only be late. Non-blocking, as the messages of such calls meet none of those by
/// which that rank goes on.
class Meeting {
 public:
  explicit Meeting(std::span<int> least) {
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    PMPI_Ibcast(&from_first_, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests_[0]);
    PMPI_Iallreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_INT, MPI_MIN, MPI_COMM_WORLD,
                    &requests_[1]);
  }
  void wait() {
    const double begin = PMPI_Wtime();
    while (!has_ended()) {
      if (!is_told_ && PMPI_Wtime() - begin > patience_s) tell();
      std::this_thread::yield();
    }
  }

 private:
  bool has_ended() {
    int is_first_here = 0, are_all_here = 0;
    PMPI_Test(&requests_[0], &is_first_here, MPI_STATUS_IGNORE);
    PMPI_Test(&requests_[1], &are_all_here, MPI_STATUS_IGNORE);
    return is_first_here && are_all_here;
  }
  /// Rank 0 does. If it is that which lacks the library, those do that it would have sent to: broadcasts of one number
  /// are binomial trees.
  void tell() {
    is_told_ = true;
    const bool is_below_first = std::has_single_bit(static_cast<unsigned>(rank_)) && requests_[0] != MPI_REQUEST_NULL;
    if (rank_ == 0 || is_below_first)
      std::fprintf(stderr,
                   "commpass: rank %d has waited %.0f s in MPI_Init for ranks that seem to have no libcommpass-mpi; "
                   "preload it on all ranks that are started together, or on none.\n",
                   rank_, patience_s);
  }

  int rank_ = 0, from_first_ = 0;
  bool is_told_ = false;
  std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace

const Settings& settings() { return agreed; }

void switch_off() noexcept { agreed.mode = Interposition::off; }

void tell_of_session() noexcept {
  static std::atomic<bool> is_told = false;
  int is_initialized = 0;
  PMPI_Initialized(&is_initialized);
  if (is_initialized || is_told.exchange(true) || !is_for_this_rank_to_tell()) return;
  std::fputs("commpass: MPI ran all calls of MPI sessions before MPI_Init, in which libcommpass-mpi begins.\n", stderr);
}

void tell_of_other_library(bool is_for_abi, std::string_view mpi_file) noexcept {
  if (!is_for_this_rank_to_tell()) return;
  std::fprintf(
      stderr, "commpass: MPI runs all calls: the program's MPI library is %.*s, and %s; preload %s in its place.\n",
      static_cast<int>(mpi_file.size()), mpi_file.data(),
      is_for_abi ? "libcommpass-mpi-abi is for the ABI of MPI 5" : "libcommpass-mpi is not for the ABI of MPI 5",
      is_for_abi ? "libcommpass-mpi" : "libcommpass-mpi-abi");
}

void agree_on_settings() noexcept {
  std::string complaint;
  auto own = read_settings(complaint);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // The least of each: off before record before on before always. And who tells of an environment that says nothing of
  // use.
  std::array<int, interposed_calls + 5> numbers{};
  numbers[0] = static_cast<int>(own.mode);
  for (std::size_t i = 0; i < interposed_calls; ++i) numbers[i + 1] = own.is_taken[i] ? 1 : 0;
  numbers[interposed_calls + 1] = own.has_record_file ? 1 : 0;
  numbers[interposed_calls + 2] = own.has_place_report ? 1 : 0;
  numbers[interposed_calls + 3] = own.counts_messages ? 1 : 0;
  numbers.back() = complaint.empty() ? std::numeric_limits<int>::max() : rank;
  Meeting(numbers).wait();
  own.mode = static_cast<Interposition>(numbers[0]);
  for (std::size_t i = 0; i < interposed_calls; ++i) own.is_taken[i] = numbers[i + 1] != 0;
  own.has_record_file = numbers[interposed_calls + 1] != 0;
  own.has_place_report = numbers[interposed_calls + 2] != 0;
  own.counts_messages = numbers[interposed_calls + 3] != 0;
  own.reports = own.reports && rank == 0 && own.mode != Interposition::off;
  if (numbers.back() == rank)
    std::fprintf(stderr, "commpass: exchanges are left to the MPI library: %s\n", complaint.c_str());
  agreed = own;
  // Each communicator of the program has a rank 0 of its own, and the warnings hold for all.
  if (rank != 0) silence_warnings();
  record_table().begin_s = monotonic_seconds();
  if (agreed.counts_messages) begin_counting_messages();
  record_table().page_faults_at_begin = memory_use().page_faults;
}

}  // namespace commpass
