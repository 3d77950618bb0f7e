#include "runtime/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <variant>

#include "model/machine/profile.hpp"
#include "model/route/catalogue.hpp"
#include "model/text.hpp"
#include "runtime/choose/environment_names.hpp"
#include "runtime/choose/gather_pattern.hpp"
#include "runtime/choose/selection.hpp"
#include "runtime/communicator_state.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/execute/library_executor.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/crowd.hpp"
#include "runtime/mpi/detect_layout.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/mpi/thread_share.hpp"
#include "runtime/sparse/sparse_exchange_state.hpp"
#include "selector/commands/environment.hpp"

namespace commpass {

struct Exchange::State {
  std::shared_ptr<void> communicator;                ///< keeps the MPI communicator alive, and
  std::shared_ptr<const OwnCommunicator> further{};  ///< that on which it sends, if it is another
  std::string strategy, explanation;
  std::optional<Seconds> predicted_s;
  Bytes buffer_bytes = 0;
  std::variant<std::unique_ptr<Executor>, std::unique_ptr<LibraryExecutor>> executor;  ///< last, so that it goes first
};

Exchange::Exchange(std::unique_ptr<State> state) : state_(std::move(state)) {}
Exchange::~Exchange() = default;
Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;
void Exchange::start() {
  std::visit([](auto& executor) { executor->start(); }, state_->executor);
}
bool Exchange::test() {
  return std::visit([](auto& executor) { return executor->test(); }, state_->executor);
}
void Exchange::wait() {
  std::visit([](auto& executor) { executor->wait(); }, state_->executor);
}
const std::string& Exchange::strategy() const { return state_->strategy; }
std::optional<Seconds> Exchange::predicted_seconds() const { return state_->predicted_s; }
const std::string& Exchange::explanation() const { return state_->explanation; }
Bytes Exchange::buffer_bytes() const { return state_->buffer_bytes; }

namespace {

/// The profile that rank 0 finds, on every rank.
Machine read_machine(MPI_Comm comm, const std::string& name, const Environment& environment) {
  const Rank rank = rank_in(comm);
  std::string json;
  together(comm, [&] {
    if (rank != 0) return;
    const auto wanted = !name.empty() ? name : environment.profile.value_or("");
    if (wanted.empty()) throw InputError("profile", "none is named", "name one or set COMMPASS_PROFILE");
    json = to_json(read_profile(find_profile(wanted, profile_directories(environment.profile_path))));
  });
  return parse_profile(broadcast(comm, json), "profile of rank 0").machine;
}

/// The layout of rank 0's options or environment, else what is detected.
Layout choose_layout(MPI_Comm comm, const CommunicatorOptions& options, const Environment& environment) {
  const int ranks = ranks_in(comm);
  // As text, so that every rank has the same: node and socket of each rank.
  std::string text;
  together(comm, [&] {
    std::optional<Layout> layout = options.layout;
    if (!layout && environment.layout) layout = parse_layout(*environment.layout, ranks);
    if (!layout) return;
    if (layout->ranks() != ranks)
      throw InputError("layout", fmt::format("it has {} ranks but the communicator has {}", layout->ranks(), ranks),
                       "use a layout for all its ranks");
    if (rank_in(comm) != 0) return;
    for (Rank rank = 0; rank < ranks; ++rank)
      fmt::format_to(std::back_inserter(text), "{}{}.{}", rank == 0 ? "" : ",", layout->node(rank),
                     layout->socket(rank));
  });
  text = broadcast(comm, text);
  return text.empty() ? detect_layout(comm) : parse_layout(text, ranks);
}

Environment agreed_environment(MPI_Comm comm) {
  Environment environment;
  together(comm, [&] { environment = read_environment(); });
  return environment;
}

/// Ours beside a user's; when all ranks are here, since duplicating blocks.
OwnCommunicator duplicate(MPI_Comm comm) {
  OwnCommunicator::require_intracommunicator(comm);
  assemble(comm);
  return OwnCommunicator(comm);
}

/// How many threads this rank may start; and waits let other ranks run if these outnumber the cores.
unsigned settle_on_node(MPI_Comm comm) {
  const auto node = OwnCommunicator::split_by_node(comm);
  if (are_crowded(node.get())) let_others_run();
  return threads_of_rank(node.get());
}

int largest_tag_of(MPI_Comm comm) {
  constexpr int guaranteed = 32767;  // MPI 3.1, §8.1.2
  void* value = nullptr;
  int found = 0;
  COMMPASS_MPI_CALL(MPI_Comm_get_attr, comm, MPI_TAG_UB, &value, &found);
  return found ? *static_cast<int*>(value) : guaranteed;
}

}  // namespace

Communicator::Communicator(MPI_Comm comm, const std::string& profile, const CommunicatorOptions& options) {
  OwnCommunicator own = duplicate(comm);
  auto environment = agreed_environment(own.get());
  auto machine = read_machine(own.get(), profile, environment);
  auto layout = choose_layout(own.get(), options, environment);
  const auto threads = settle_on_node(own.get());
  const int largest_tag = largest_tag_of(own.get());
  state_ = std::make_shared<State>(
      State{std::move(own), std::move(machine), std::move(layout), std::move(environment), threads, largest_tag});
  make_engines();
}

Communicator::Communicator(MPI_Comm comm, const Machine& machine, const CommunicatorOptions& options) {
  OwnCommunicator own = duplicate(comm);
  auto environment = agreed_environment(own.get());
  auto layout = choose_layout(own.get(), options, environment);
  const auto threads = settle_on_node(own.get());
  const int largest_tag = largest_tag_of(own.get());
  state_ = std::make_shared<State>(
      State{std::move(own), machine, std::move(layout), std::move(environment), threads, largest_tag});
  make_engines();
}

/// Now, because it is collective, and a first sparse exchange must not wait for others.
void Communicator::make_engines() {
  const MPI_Comm comm = state_->comm.get();
  const auto names = fitting_names(comm, state_->layout, state_->environment);
  state_->named = names.strategy;
  state_->sparse = std::make_unique<SparseEngine>(comm, state_->layout, state_->machine, names.sparse,
                                                  state_->largest_tag, state_->environment.verbose);
  state_->alltoallv =
      std::make_unique<AlltoallvEngine>(comm, state_->layout, state_->machine, names.alltoallv, state_->largest_tag);
}

Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
const Layout& Communicator::layout() const { return state_->layout; }
const Machine& Communicator::machine() const { return state_->machine; }
MPI_Comm Communicator::mpi() const { return state_->comm.get(); }

Exchange Communicator::neighbor_exchange(const void* send_buffer, std::span<const SendEdge> sends, void* receive_buffer,
                                         std::span<const ReceiveEdge> receives, const ExchangeOptions& options) {
  const MPI_Comm comm = state_->comm.get();
  assemble(comm);
  auto named = broadcast(comm, options.strategy);

  std::optional<Strategy> wanted;
  std::string named_as;
  Decision decision;
  std::optional<SelectionOptions> selection;
  together(comm, [&] {
    if (named.empty()) named = state_->named;
    if (!named.empty()) {
      wanted = parse_strategy(named);
      named_as = named + " was named by the caller or COMMPASS_STRATEGY.\n";
    }
    decision = {named, std::nullopt, named_as};
    if (!wanted || is_automatic(*wanted))
      selection = SelectionOptions{options.model, options.calls, options.most_edges_gathered, state_->threads, wanted};
  });
  if (selection) decision = select_strategy(comm, state_->layout, state_->machine, sends, *selection);
  Strategy strategy;
  together(comm, [&] {
    if (selection && wanted) decision.explanation = named_as + decision.explanation;
    strategy = parse_strategy(decision.strategy);
  });
  const auto tables = share_tables(comm, strategy, state_->layout, sends);
  std::unique_ptr<Route> route;
  together(comm, [&] {
    route = make_route(strategy, state_->layout, tables);
    if (is_run_by_library(*route) && !NeighborhoodCollective::is_available())
      throw NotApplicable(to_string(strategy), "the MPI library that runs has no neighbourhood collectives");
    const auto has_bytes = [](const auto& edge) { return edge.bytes > 0; };
    if ((!send_buffer && std::ranges::any_of(sends, has_bytes)) ||
        (!receive_buffer && std::ranges::any_of(receives, has_bytes)))
      throw InputError("exchange", "a buffer is null but has edges", "give the buffer");
  });
  const auto plan = make_plan(comm, *route, strategy.window, sends, receives, strategy.coalescing);
  const auto address = state_->next_address();
  std::unique_ptr<Exchange::State> exchange;
  together(comm, [&] {
    exchange = std::make_unique<Exchange::State>();
    exchange->communicator = state_;
    exchange->further = address.further;
    exchange->strategy = to_string(strategy);
    exchange->explanation = decision.explanation;
    exchange->predicted_s = decision.predicted_s;
    exchange->buffer_bytes = plan.transit_bytes + plan.packing_bytes;
    if (!is_run_by_library(*route))
      exchange->executor = std::make_unique<Executor>(plan, address.comm, address.tag, send_buffer, receive_buffer);
  });
  if (is_run_by_library(*route))
    exchange->executor =
        insist([&] { return std::make_unique<LibraryExecutor>(plan, comm, send_buffer, receive_buffer); });
  return Exchange(std::move(exchange));
}

namespace {

SparseSends variable_sends(const void* buffer, std::span<const SendEdge> sends) {
  return {static_cast<const std::byte*>(buffer), {sends.begin(), sends.end()}, {}, {}};
}

SparseSends constant_sends(const void* buffer, std::span<const Rank> destinations, Bytes bytes) {
  SparseSends result{static_cast<const std::byte*>(buffer), {}, bytes, {}};
  for (const Rank destination : destinations)
    result.edges.push_back({destination, std::ssize(result.edges) * bytes, bytes});
  return result;
}

}  // namespace

ReceivedMessages Communicator::sparse_alltoallv(const void* send_buffer, std::span<const SendEdge> sends,
                                                const SparseOptions& options) {
  const auto given = [&] { return variable_sends(send_buffer, sends); };
  return state_->sparse->run(std::cref(given), false, options);
}

ReceivedMessages Communicator::sparse_alltoall(const void* send_buffer, std::span<const Rank> destinations, Bytes bytes,
                                               const SparseOptions& options) {
  const auto given = [&] { return constant_sends(send_buffer, destinations, bytes); };
  return state_->sparse->run(std::cref(given), true, options);
}

SparseExchange Communicator::start_sparse(const std::function<SparseSends()>& sends, bool constant,
                                          const SparseOptions& options) {
  const std::shared_ptr<SparseEngine> engine(state_, state_->sparse.get());  // and with it all of the communicator
  return SparseExchange(
      insist([&] { return std::make_unique<SparseExchange::State>(engine, sends, constant, options); }));
}

SparseExchange Communicator::start_sparse_alltoallv(const void* send_buffer, std::span<const SendEdge> sends,
                                                    const SparseOptions& options) {
  const auto given = [&] { return variable_sends(send_buffer, sends); };
  return start_sparse(std::cref(given), false, options);
}

SparseExchange Communicator::start_sparse_alltoall(const void* send_buffer, std::span<const Rank> destinations,
                                                   Bytes bytes, const SparseOptions& options) {
  const auto given = [&] { return constant_sends(send_buffer, destinations, bytes); };
  return start_sparse(std::cref(given), true, options);
}

}  // namespace commpass
