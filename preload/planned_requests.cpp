#include "preload/planned_requests.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "preload/counted_call.hpp"
#include "preload/settings.hpp"
#include "preload/ticks.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/oversubscription.hpp"
#include "runtime/neighbor/one_stage_exchange.hpp"
#include "selector/choose/trial_budget.hpp"

namespace commpass {

namespace {

/// Of the process, whose threads do not call MPI at the same time.
struct PlannedTable {
  std::unordered_map<MPI_Request, std::unique_ptr<PlannedRequest>> all = {};
  Seconds planning_s = 0;  ///< spent so far

  void set_filter() const {
    found_plan = {};
    std::uint64_t filter = 0;
    for (const auto& [request, planned] : all) filter |= filter_bit(request);
    planned_filter = filter;
  }
};

/// Without waiting: an exchange that was not completed is left as it is.
void drop(std::unique_ptr<PlannedRequest>& planned) {
  if (planned->is_active()) static_cast<void>(planned.release());
  planned.reset();
}

PlannedTable& planned_table() {
  static auto& only = *new PlannedTable;  // never destroyed: programs call MPI until the very end
  return only;
}

/// The program's own request.
class LibraryRequest final : public BatchRequests {
 public:
  explicit LibraryRequest(MPI_Request request) : request_(request) {}
  std::size_t batches() const override { return 1; }
  void begin(std::size_t) override { check_mpi("MPI_Start", PMPI_Start(&request_)); }
  std::span<MPI_Request> requests() override { return {&request_, 1}; }
  void end(std::size_t) override {}
  void abandon() noexcept override {}

 private:
  MPI_Request request_;
};

/// Those that send directly; none: COMMPASS_ALLTOALLV_STRATEGY names another one.
std::vector<std::string> direct_strategies(const Context& context) {
  const auto direct = parse_strategy("standard");
  if (const auto& named = context.named.alltoallv; !named.empty())
    return parse_strategy(named).route == direct.route ? std::vector{named} : std::vector<std::string>();
  std::vector strategies{to_string(direct)};
  const auto shared = through_node_memory(direct);
  if (shared && may_share_memory() && context.layout.max_ppn() > 1) strategies.push_back(to_string(*shared));
  return strategies;
}

CallNeighbors all_ranks(int ranks) {
  CallNeighbors all;
  all.sources.resize(static_cast<std::size_t>(ranks));
  std::iota(all.sources.begin(), all.sources.end(), 0);
  all.destinations = all.source_places = all.destination_places = all.sources;
  return all;
}

bool have_threads() {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

/// Planning may take a share of the run, and at once that of some seconds: a request is made to be started often.
bool can_afford_plan() {
  constexpr Seconds run_ahead_s = 5;
  if (settings().mode == Interposition::always) return true;
  const auto run_s = monotonic_seconds() - record_table().begin_s;
  return planned_table().planning_s < settings().trial_loss_share * (run_s + run_ahead_s);
}

/// Adds the time of its life, also of a plan that fails.
struct Charged {
  Seconds& total_s;
  double begin_s = monotonic_seconds();
  ~Charged() { total_s += monotonic_seconds() - begin_s; }
};

/// Trials may take that share of the time of the exchanges, a plan's worth of which is still to come.
std::int64_t calls_ahead() {
  constexpr double calls_of_a_plan = 2000, calls_max = 1e9;
  return static_cast<std::int64_t>(
      std::min(calls_of_a_plan * settings().trial_loss_share / TrialBudget::default_share, calls_max));
}

std::unique_ptr<PlannedRequest> make_plan(InterposedCall kind, MPI_Comm comm, MPI_Request request,
                                          const TakenCommunicator& of, PlannedBlocks& blocks, std::int64_t ahead) {
  const auto& context = of.engines->context;
  auto strategies = insist([&] { return direct_strategies(*context); });
  if (strategies.empty()) return nullptr;
  auto elements = insist([] { return std::make_unique<KeptElements>(); });
  Failure failure;
  attempt(failure, [&] {
    elements->keep(blocks.sends);
    elements->keep(blocks.receives);
  });
  PlannedRequest::Made made{kind, comm, of.ranks, 0, settings().mode == Interposition::on};
  for (const auto& block : blocks.sends) made.bytes += bytes_of(block.count, block.type);
  OneStageContenders contenders{std::move(strategies), {}, ahead};
  if (made.has_library_call)
    contenders.library_call = insist([&] { return std::make_unique<LibraryRequest>(request); });
  auto exchange = plan_one_stage_exchange(context, {blocks.send_buffer, blocks.sends},
                                          {blocks.receive_buffer, blocks.receives}, std::move(contenders), failure);
  return insist([&] { return std::make_unique<PlannedRequest>(made, std::move(elements), std::move(exchange)); });
}

}  // namespace

KeptElements::~KeptElements() {
  if (!mpi_is_usable()) return;
  for (auto& each : copies_) PMPI_Type_free(&each.copy);
}

void KeptElements::keep(std::vector<TypedBlock>& blocks) {
  for (auto& block : blocks) {
    const auto known = std::ranges::find(copies_, block.type, &Copy::of);
    if (known != copies_.end()) {
      block.type = known->copy;
      continue;
    }
    int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
    COMMPASS_MPI_CALL(PMPI_Type_get_envelope, block.type, &integers, &addresses, &types, &combiner);
    if (combiner == MPI_COMBINER_NAMED) continue;
    // Not a duplicate, which would call back the program for its attributes.
    copies_.push_back({block.type, MPI_DATATYPE_NULL});
    COMMPASS_MPI_CALL(PMPI_Type_contiguous, 1, block.type, &copies_.back().copy);
    COMMPASS_MPI_CALL(PMPI_Type_commit, &copies_.back().copy);
    block.type = copies_.back().copy;
  }
}

PlannedRequest::PlannedRequest(const Made& made, std::unique_ptr<KeptElements> elements, Exchange exchange)
    : made_(made), elements_(std::move(elements)), exchange_(std::move(exchange)), record_{made.kind} {}

PlannedRequest::~PlannedRequest() {
  attempt_to([&] { exchange_.wait(); });
  remember_calls(made_.ranks, record_);
}

/// What it throws is told in one line, and is an error of the exchange.
template <class Action>
void PlannedRequest::attempt_to(Action action) noexcept {
  const Inside inside;
  try {
    action();
  } catch (const std::exception& error) {
    const auto name = mpi_name_of(interposed_call_names[static_cast<std::size_t>(made_.kind)]);
    std::fprintf(stderr, "commpass: %s: %s\n", name.c_str(), sentence_of(error).c_str());
    code_ = error_class_of(error);
    is_done_ = true;
  }
}

int PlannedRequest::raise(int code) const {
  if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(made_.comm, code);
  return code;
}

int PlannedRequest::start(MPI_Request* request) {
  record_.bytes += made_.bytes;
  if (is_left_) {
    ++record_.by_library;
    return PMPI_Start(request);
  }
  if (is_active_) return raise(MPI_ERR_REQUEST);
  is_done_ = false;
  attempt_to([&] { exchange_.start(); });
  if (is_done_) return raise(std::exchange(code_, MPI_SUCCESS));
  is_active_ = true;
  count_started();
  return MPI_SUCCESS;
}

void PlannedRequest::count_started() {
  const auto& state = exchange_.state();
  const auto* const tried = state.tried;
  const auto running = tried ? tried->running_number() : 0;
  const bool is_by_library = made_.has_library_call && running == 0;
  ++(is_by_library ? record_.by_library : record_.by_ours);
  is_left_ = is_by_library && (!tried || tried->are_over());
  const auto& name = state.decision.contenders[running].strategy;
  if (!is_by_library && record_.strategy != name) insist([&] { record_.strategy = name; });
}

bool PlannedRequest::poll() noexcept {
  if (!is_done_) attempt_to([&] { is_done_ = exchange_.test(); });
  return is_done_;
}

void PlannedRequest::finish() noexcept {
  if (is_done_) return;
  attempt_to([&] { exchange_.wait(); });
  is_done_ = true;
}

int PlannedRequest::report() {
  is_active_ = is_done_ = false;
  return raise(std::exchange(code_, MPI_SUCCESS));
}

PlannedRequest* find_in_table(MPI_Request request) {
  const auto& all = planned_table().all;
  const auto found = all.find(request);
  if (found == all.end()) return nullptr;
  found_plan = {request, found->second.get()};
  return found_plan.planned;
}

void drop_planned(MPI_Request request) {
  auto& table = planned_table();
  const auto found = table.all.find(request);
  drop(found->second);
  table.all.erase(found);
  table.set_filter();
}

bool may_plan(InterposedCall kind) {
  // MPI 4.1 has more calls that ask for requests (MPI_Request_get_status_all), whose parameters differ between
  // libraries; those of the ABI see plans.
#ifdef COMMPASS_MPI_ABI
  constexpr bool are_all_calls_seen = true;
#else
  constexpr bool are_all_calls_seen = MPI_VERSION < 4 || (MPI_VERSION == 4 && MPI_SUBVERSION == 0);
#endif
  return are_all_calls_seen && settings().mode >= Interposition::on &&
         settings().is_taken[static_cast<std::size_t>(kind)] && !is_inside();
}

void plan_request(InterposedCall kind, MPI_Comm comm, int code, const MPI_Request* request, bool is_in_place,
                  const ListBlocks& list_blocks) noexcept {
  const Inside inside;
  auto& table = planned_table();
  try {
    const auto found = insist([&] { return find_calls(kind, comm); });
    if (!found.of) return;
    auto& of = *found.of;
    if (!of.left_to_library.empty() || (is_of_neighborhood(kind) && !of.neighborhood)) return;
    PlannedBlocks blocks;
    Failure failure;
    const bool has_request = code == MPI_SUCCESS && !is_in_place && !have_threads();
    if (has_request)
      attempt(failure, [&] {
        if (is_of_neighborhood(kind)) list_blocks(*of.neighborhood, blocks);
        else list_blocks(all_ranks(of.ranks), blocks);
      });
    const bool can_plan = has_request && !failure && can_keep_more_engines() && can_afford_plan();
    std::array<std::int64_t, 3> told{can_plan ? 1 : 0, blocks.sends.empty() ? 0 : -1, calls_ahead()};
    PMPI_Allreduce(MPI_IN_PLACE, told.data(), static_cast<int>(told.size()), MPI_INT64_T, MPI_MIN, comm);
    const auto [can_all_plan, has_elements, agreed_calls_ahead] = told;
    if (can_all_plan == 0 || has_elements == 0) return;
    const Charged charged{table.planning_s};
    if (!of.engines) open_engines(of, comm);
    if (of.engines) of.has_plans = true;
    auto planned = of.engines ? make_plan(kind, comm, *request, of, blocks, agreed_calls_ahead) : nullptr;
    if (!planned) return;
    insist([&] { table.all[*request] = std::move(planned); });
    table.set_filter();
    --found.record->by_library;      // its starts are counted in its place
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the same on every rank; the library runs it
  }
}

void forget_communicator_of_requests(MPI_Comm comm) noexcept {
  for (auto& [request, planned] : planned_table().all) planned->forget(comm);
}

void release_planned_requests() noexcept {
  auto& table = planned_table();
  planned_filter = 0;
  found_plan = {};
  for (auto& [request, planned] : table.all) drop(planned);
  table.all.clear();
}

}  // namespace commpass
