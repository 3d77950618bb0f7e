#include "runtime/alltoall/alltoallv_engine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/alltoall/alltoallv_prices.hpp"
#include "runtime/choose/decision.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/message_type.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/oversubscription.hpp"
#include "selector/choose/family.hpp"
#include "selector/choose/offer.hpp"

namespace commpass {

namespace {

constexpr double first_block_bytes = 1024;

/// For sizes and for data.
constexpr int tags_of_call = 2;

/// What a survey sums up over all ranks.
enum Surveyed : std::size_t { bytes, used, refused, first_count };
constexpr std::size_t surveyed_counts = std::tuple_size_v<MessageTotals::Counts>;

/// Where a rank may follow the blocks of all: then that takes less than a second.
constexpr int most_ranks_followed = 2048;

/// Is there one that is not negative for each rank, and a place?
bool are_complete(std::span<const int> counts, std::span<const int> displacements, int ranks) {
  return std::ssize(counts) == ranks && std::ssize(displacements) == ranks &&
         std::ranges::all_of(counts, [](int count) { return count >= 0; });
}

/// A sentence to which a remedy is added.
std::string without_end(const std::exception& error) {
  std::string what = sentence_of(error);
  while (what.ends_with('.')) what.pop_back();
  return what;
}

/// The strategy without memory of a node.
std::string by_messages(const std::string& text) {
  auto strategy = parse_strategy(text);
  if (!strategy.path.is_shared) return text;
  strategy.path.is_shared = false;
  return to_string(strategy);
}

/// The strategy of an exchange in place that would be left to the MPI library: libraries are wrong there for types with
/// gaps. Its structure takes no other ranks.
const std::string& in_place_of_library(const DataPath& path) {
  static const std::string host = "standard", staged = host + "@staged", device = host + "@device";
  return path.is_host() ? host : path.kind == DataPath::Kind::device ? device : staged;
}

}  // namespace

AlltoallvEngine::AlltoallvEngine(std::shared_ptr<const Context> context, std::shared_ptr<const void> freed_later)
    : context_(std::move(context)),
      freed_later_(std::move(freed_later)),
      ranks_(context_->layout.ranks()),
      comm_(context_->comm.get()),
      may_share_memory_(commpass::may_share_memory() && context_->layout.max_ppn() > 1),
      exchange_(comm_.get(), context_->send_limits()),
      chooser_(comm_.get(), telling_of_trials(*context_, "alltoallv")),
      chooser_of_equal_(comm_.get(), telling_of_trials(*context_, "alltoall")),
      arrivals_(context_->layout.nodes() == 1),
      calls_with_own_tags_((context_->largest_tag - 1) / tags_of_call) {
  int has_prices = 0;
  all_or_none(comm_.get(), [&] {
    data_.make_room(context_->layout.ranks());
    has_prices =
        context_->unpriced.empty() && !device_paths(context_->layout, context_->machine, true, false).empty() ? 1 : 0;
  });
  COMMPASS_MPI_CALL(MPI_Bcast, &has_prices, 1, MPI_INT, 0, comm_.get());
  has_device_prices_ = has_prices != 0;
}

AlltoallvEngine::~AlltoallvEngine() {
  if (has_failed_) comm_.keep();
  else if (mpi_is_usable()) forget_strays();
}

/// Messages that their receiver did not expect at all would reach the next communicator that MPI makes in the place of
/// this one.
void AlltoallvEngine::forget_strays() noexcept {
  try {
    // Reductions may be messages of this communicator, too.
    survey_.complete();
    device_survey_.complete();
    arrivals_.complete();
    for (int found = 1; found != 0;) {
      MPI_Status status;
      COMMPASS_MPI_CALL(MPI_Iprobe, MPI_ANY_SOURCE, MPI_ANY_TAG, comm_.get(), &found, &status);
      if (found == 0) return;
      int bytes = 0;
      COMMPASS_MPI_CALL(MPI_Get_count, &status, MPI_BYTE, &bytes);
      MPI_Request request = MPI_REQUEST_NULL;
      receive_and_discard(bytes, status.MPI_SOURCE, status.MPI_TAG, comm_.get(), &request);
      COMMPASS_MPI_CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    }
  } catch (...) {  // NOLINT: a destructor cannot throw
  }
}

const AlltoallvEngine::Named& AlltoallvEngine::named_as(const std::string& text) {
  if (const auto found = named_.find(text); found != named_.end()) return found->second;
  Named named;
  if (!text.empty()) {
    const auto strategy = parse_strategy(text);
    named.path = strategy.path;
    if (!is_automatic(strategy)) named.choice = Contender{text};
  }
  if (!named.choice && !context_->unpriced.empty()) {
    warn_unpriced(context_->unpriced, comm_.rank());
    named.choice = Contender{text.empty() ? unpriced_alltoallv
                                          : to_string(unpriced_member(parse_strategy(text), context_->layout))};
  }
  return named_.emplace(text, std::move(named)).first->second;
}

const std::string& AlltoallvEngine::name_for(const AlltoallvOptions& options) const {
  return options.strategy.empty() ? context_->named.alltoallv : options.strategy;
}

AlltoallvEngine::MetBlocks AlltoallvEngine::met(const ExchangeClass& their_class, const RandomPattern& pattern,
                                                BlockSizes sizes) const {
  return {their_class, priced_in_call(pattern, context_->layout.ranks()), sizes};
}

AlltoallvEngine::MetBlocks AlltoallvEngine::blocks_for(const AlltoallvOptions& options,
                                                       std::optional<Bytes> block_bytes) const {
  if (block_bytes)
    return met(class_of_equal(*block_bytes), {1, 1, static_cast<double>(*block_bytes)}, BlockSizes::equal);
  if (!options.block_bytes && blocks_) return *blocks_;
  const auto expected_bytes = options.block_bytes.value_or(first_block_bytes);
  return met(class_of_full(expected_bytes), {1, 1, expected_bytes}, BlockSizes::told);
}

void AlltoallvEngine::complete_surveys() {
  const auto know_devices = [&](std::int64_t used, std::int64_t refused) {
    const auto before = devices_;
    if (has_device_prices_) devices_ = {used > 0, refused > 0};
    return devices_ != before;
  };
  if (const auto sums = device_survey_.complete()) device_survey_.note(know_devices(sums->front(), sums->back()));
  if (const auto sums = survey_.complete()) {
    const auto totals =
        MessageTotals::from(sums->subspan<first_count, surveyed_counts>(), static_cast<double>((*sums)[bytes]));
    const auto before = std::exchange(
        blocks_, met(class_of(totals, context_->layout), random_pattern(totals, context_->layout), BlockSizes::told));
    // Traffic near the border of two classes may be of either.
    const bool is_alike = before && distance(before->their_class, blocks_->their_class) <= 1;
    if (!before || before->their_class != blocks_->their_class) settled_ = {};
    survey_.note(know_devices((*sums)[used], (*sums)[refused]) || !is_alike);
  }
}

AlltoallvEngine::Chosen AlltoallvEngine::choose(const AlltoallvOptions& options) {
  complete_surveys();
  const auto& named = name_for(options);
  if (const auto& fixed = insist([&]() -> auto& { return named_as(named); }).choice) return {&*fixed, nullptr, true};
  const auto blocks = blocks_for(options, data_.block_bytes());
  auto how = how_to_try_calls(*context_, options.planner, options.planner_seconds);
  // Members of a family are not timed, nor are exchanges in place: `mpi` is another strategy there.
  if (!named.empty() || data_.is_in_place()) how = {};
  auto& chooser = chooser_for(blocks.sizes);
  const auto price = [&](std::size_t) {
    return decide_alltoallv(named, blocks.pattern, blocks.sizes, devices_, may_share_memory_, how.planner,
                            context_->layout, context_->machine);
  };
  const auto& choice = chooser.choose(decisions_for(named, devices_), blocks.their_class, std::cref(price), how);
  return {&choice, chooser.is_trial() ? &chooser : nullptr, chooser.is_lasting(), chooser.calls_left()};
}

/// Makes sure that the choice can be run. A trial that cannot is replaced by another one, on all ranks alike.
const AlltoallvEngine::Structures::value_type& AlltoallvEngine::prepare(Chosen& chosen) {
  for (; chosen.trials; chosen = another(chosen)) {
    try {
      const auto& run = insist([&]() -> auto& { return structure(chosen.choice->strategy); });
      if (run.second.structure || all_ranks(data_.is_countable())) return run;
    } catch (const MpiError&) {
      throw;
    } catch (const Error&) {  // that is the same on every rank
    }
  }
  return insist([&]() -> auto& { return structure(chosen.choice->strategy); });
}

AlltoallvEngine::Chosen AlltoallvEngine::another(const Chosen& chosen) {
  const auto& choice = chosen.trials->choose_another();
  return {&choice, chosen.trials->is_trial() ? chosen.trials : nullptr, false};
}

/// Collective. @return is there memory? The same on every rank
bool AlltoallvEngine::share_memory() {
  if (streams_) return true;
  assemble(comm_.get());
  streams_ = NodeStreams::share(*context_);
  may_share_memory_ = streams_ != nullptr;
  if (streams_) insist([&] { direct_.make_room(*streams_, ranks_); });
  return may_share_memory_;
}

bool AlltoallvEngine::all_ranks(bool is_so) {
  int are_so = is_so ? 1 : 0;
  assemble(comm_.get());
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &are_so, 1, MPI_INT, MPI_MIN, comm_.get());
  return are_so != 0;
}

/// What an exchange runs that is chosen without the other ranks.
struct AlltoallvEngine::Unwaited {
  std::string strategy;
  std::optional<Seconds> predicted_s;
  const char* reason;
};

/// Calls that do not wait have no streams, since several may be in flight. A survey may be under way, which a later
/// exchange that waits completes: at the same point of the program on all ranks, as this call must be.
AlltoallvEngine::Unwaited AlltoallvEngine::choose_alone(const AlltoallvOptions& options,
                                                        std::optional<Bytes> block_bytes) {
  const auto& named = name_for(options);
  if (const auto& choice = named_as(named).choice) {
    const char* const reason = !context_->unpriced.empty() && (named.empty() || choice->strategy != named)
                                   ? "no strategy has a price"
                               : options.strategy.empty() ? "COMMPASS_ALLTOALLV_STRATEGY names it"
                                                          : "it was named by the caller";
    return {by_messages(choice->strategy), {}, reason};
  }
  const auto blocks = blocks_for(options, block_bytes);
  const auto& decided = chooser_for(blocks.sizes);
  const auto* near = decided.nearest(decisions_for(named, devices_), blocks.their_class);
  if (!near) near = decided.nearest(named, blocks.their_class);  // before it was known where the data are
  if (near)
    return {by_messages(near->strategy), near->predicted_s,
            near->measured_s
                ? "nothing that was timed is faster for blocks about like these, in calls that were waited for"
                : "it is the fastest by prediction, or the simplest of its ties, for blocks about like these, as was "
                  "decided in a "
                  "call that was waited for"};
  return {named.empty() ? "standard" : to_string(unpriced_member(parse_strategy(named), context_->layout)),
          {},
          "nothing was decided yet in a call that was waited for"};
}

/// Strategies that differ in their path have one structure.
/// @param make  finds that of a strategy; where it gives nothing, there is none
template <class Make>
const AlltoallvEngine::Structures::value_type* AlltoallvEngine::structure_by(const std::string& text, Make make) {
  if (const auto found = structures_.find(text); found != structures_.end()) return &*found;
  auto strategy = parse_one_shot_strategy(text);
  const auto path = std::exchange(strategy.path, {});
  if (const auto of_host = to_string(strategy); of_host != text) {
    const auto* const same = structure_by(of_host, make);
    if (!same) return nullptr;
    return insist([&] { return &*structures_.emplace(text, Prepared{same->second.structure, path}).first; });
  }
  const std::optional<Prepared> made = make(strategy);
  if (!made) return nullptr;
  return insist([&] { return &*structures_.emplace(text, *made).first; });
}

const AlltoallvEngine::Structures::value_type& AlltoallvEngine::structure(const std::string& text) {
  return *structure_by(text, [&](const Strategy& strategy) -> std::optional<Prepared> {
    assemble(comm_.get());
    std::unique_ptr<Route> route;
    all_or_none(comm_.get(), [&] { route = make_route(strategy, context_->layout); });
    if (is_run_by_library(*route)) return Prepared{};
    auto made = make_alltoall_structure(comm_.get(), *route, strategy.window, strategy.coalescing);
    Prepared prepared;
    all_or_none(comm_.get(), [&] {
      exchange_.make_room(made);
      prepared.structure = std::make_shared<const AlltoallStructure>(std::move(made));
    });
    return prepared;
  });
}

const AlltoallvEngine::Structures::value_type* AlltoallvEngine::structure_alone(const std::string& text) {
  return structure_by(text, [&](const Strategy& strategy) -> std::optional<Prepared> {
    const auto route = make_route(strategy, context_->layout);
    if (is_run_by_library(*route)) return Prepared{};
    const RouteOfRank own{*route, strategy.window, strategy.coalescing, comm_.rank(), context_->layout.ranks()};
    if (own.ranks > most_ranks_followed && !edges_tell_all(route->stages().size(), strategy.coalescing)) return {};
    return Prepared{std::make_shared<const AlltoallStructure>(find_alltoall_structure(own)), {}};
  });
}

int AlltoallvEngine::survey_interval_of(const Contender& choice, bool is_by_library) const {
  if (context_->layout.ranks() == 1) return 0;
  return is_by_library ? library_survey_ratio * choice.survey_interval
                       : std::min(choice.survey_interval, longest_survey_interval);
}

void AlltoallvEngine::survey_if_due(int interval) {
  if (interval <= 0) return;
  if (!data_.block_bytes()) {
    if (survey_.is_due(interval)) survey();
  } else if (has_device_prices_ && device_survey_.is_due(interval)) {
    survey_devices();
  }
}

void AlltoallvEngine::survey() {
  MessageTotals own;
  const Rank me = comm_.rank();
  for (Rank rank = 0; rank < context_->layout.ranks(); ++rank)
    own.add(me, rank, data_.sent().bytes(static_cast<std::size_t>(rank)), context_->layout);
  const auto devices = has_device_prices_ ? data_.use() : DeviceUse{};
  own.add_square();
  std::array<std::int64_t, first_count + surveyed_counts> sums{static_cast<std::int64_t>(own.bytes),
                                                               devices.is_used ? 1 : 0, devices.is_refused ? 1 : 0};
  std::ranges::copy(own.counts(), sums.begin() + first_count);
  survey_.begin([&](NonblockingReduction& reduction) { reduction.start_sum(comm_.get(), sums); });
}

void AlltoallvEngine::survey_devices() {
  const auto devices = data_.use();
  const std::array<std::int64_t, 2> sums{devices.is_used ? 1 : 0, devices.is_refused ? 1 : 0};
  device_survey_.begin([&](NonblockingReduction& reduction) { reduction.start_sum(comm_.get(), sums); });
}

std::string AlltoallvEngine::place() const { return "alltoallv, rank " + std::to_string(comm_.rank()); }

void AlltoallvEngine::require_usable(const AlltoallvOptions& options) const {
  if (has_failed_)
    throw InputError(place(), "an exchange before this one has failed, and others may wait for its messages",
                     "go on with a new Communicator");
  if (options.block_bytes && !(*options.block_bytes >= 0 && std::isfinite(*options.block_bytes)))
    throw InputError(place(), "block_bytes is not a size", "hint at 0 bytes or more");
}

/// What the environment names and a rank cannot do is staged there.
void AlltoallvEngine::require_path(const AlltoallvOptions& options, const AlltoallData& data) {
  if (options.strategy.empty()) return;
  const auto& named = insist([&]() -> auto& { return named_as(options.strategy); });
  if (named.path.kind == DataPath::Kind::device) data.require_for_mpi(place());
}

int AlltoallvEngine::next_tag() { return 1 + static_cast<int>(runs_++ % calls_with_own_tags_) * tags_of_call; }

void AlltoallvEngine::fail(const std::exception& error) {
  has_failed_ = true;
  throw CallError(error_class_of(error), place(), without_end(error),
                  "let all ranks send as much as their receivers' counts say, and go on with a new Communicator");
}

void AlltoallvEngine::require_undamaged(const std::optional<AlltoallDamage>& damage) {
  if (!damage) return;
  throw CallError(damage->error_class, place(), damage->sentence,
                  "let all ranks send as much as their receivers' counts say, and have memory for what they forward");
}

AlltoallvEngine::Begun AlltoallvEngine::begin(const AlltoallvOptions& options, const AlltoallData& data) {
  require_usable(options);
  require_path(options, data);
  auto chosen = insist([&] { return choose_alone(options, data.block_bytes()); });
  const auto structure_of = [&](const std::string& text) { return insist([&] { return structure_alone(text); }); };
  const auto* run = structure_of(chosen.strategy);
  if (!run && !chosen.predicted_s)
    throw NotApplicable(chosen.strategy, "on this number of ranks a call that waits has to prepare it first");
  if (!run || (data.is_in_place() && !run->second.structure)) {
    if (!run) chosen.reason = "on this number of ranks a call that waits has to prepare the cheaper one";
    chosen.predicted_s.reset();
    run = structure_of(in_place_of_library(run ? run->second.path : parse_strategy(chosen.strategy).path));
  }
  return {&run->first, run->second.structure.get(), run->second.path, chosen.predicted_s, chosen.reason, next_tag()};
}

void AlltoallvEngine::run(const AlltoallCall& call, const AlltoallvOptions& options) {
  const bool may_be_trial = planner_mode(*context_, options.planner) != PlannerMode::estimate;
  const double entered_s = may_be_trial ? MPI_Wtime() : 0;
  data_.assign(call, comm_.get(), users_stream());
  require_usable(options);
  require_path(options, data_);
  auto chosen = choose(options);
  if (chosen.trials) settled_ = settled_of_equal_ = {};  // it may change what their calls run
  const auto* run = &prepare(chosen);
  if (run->second.path.is_shared && may_share_memory_ && !share_memory()) {
    chooser_.forget();
    chooser_of_equal_.forget();
    chosen = choose(options);
    run = &prepare(chosen);
  }
  const bool is_by_library = !run->second.structure;
  const int survey_interval = survey_interval_of(*chosen.choice, is_by_library);
  was_left_ = leaves_library_calls_ && is_by_library;
  if (was_left_) {
    survey_if_due(survey_interval);
    last_ = &run->first;
    return;
  }
  const bool is_direct = may_go_directly(call, *run);
  settle(call, options, chosen, *run, is_direct);
  if (data_.is_in_place() && is_by_library)
    run = insist([&] { return &structure(in_place_of_library(run->second.path)); });
  const AlltoallStructure* const ours = run->second.structure.get();
  const DataPath& path = run->second.path;
  const int tag = next_tag();
  auto* const streams = path.is_shared ? streams_.get() : nullptr;
  if (streams) insist([&] { exchange_.make_room(*ours, streams); });
  std::optional<AlltoallDamage> damage;
  // A call that stays with the library or is direct will be a settled one, which takes no time before it begins.
  const bool has_preparation = chosen.trials && chosen.trials->is_warm() && !is_by_library && !is_direct;
  const double preparation_s = has_preparation ? MPI_Wtime() - entered_s : 0;
  if (chosen.trials) begin_together(comm_.get());
  const double begin_s = chosen.trials ? MPI_Wtime() - preparation_s : 0;
  try {
    data_.begin(path);
    survey_if_due(survey_interval);
    damage = is_direct ? run_directly(call) : ours ? exchange_.run(*ours, data_, tag, streams) : leave_to_library();
  } catch (const std::exception& error) {
    fail(error);
  }
  last_ = &run->first;
  std::exception_ptr not_copied;  // to a device, on this rank alone
  try {
    if (!damage) data_.end();
  } catch (...) {
    not_copied = std::current_exception();
  }
  if (chosen.trials) chosen.trials->note(MPI_Wtime() - begin_s);
  require_undamaged(damage);
  if (not_copied) std::rethrow_exception(not_copied);
}

/// The conditions are the same on every rank, but for those of buffers and arguments. A call that is wrong or on a
/// device and one that is settled do the same that other ranks see.
bool AlltoallvEngine::is_settled(Settled& settled, const void* sendbuf, const void* recvbuf,
                                 const AlltoallvOptions& options) {
  if (!settled.strategy || options.strategy != *settled.named || options.block_bytes || options.planner_seconds ||
      options.planner != settled.planner || (leaves_library_calls_ && !settled.is_direct) || has_failed_)
    return false;
  if (survey_.is_under_way() || device_survey_.is_under_way()) complete_surveys();
  // A survey may have found another class, for which nothing is settled.
  if (!settled.strategy || !sendbuf || !recvbuf || sendbuf == MPI_IN_PLACE || recvbuf == MPI_IN_PLACE) return false;
  if (sendbuf != settled.sendbuf || recvbuf != settled.recvbuf) {
    if (may_be_on_device()) return false;
    settled.sendbuf = sendbuf;
    settled.recvbuf = recvbuf;
  }
  if (settled.calls_left && *settled.calls_left == 0) return false;
  if (settled.survey_interval != 0 && !survey_.pass_undue(settled.survey_interval)) return false;
  if (settled.calls_left) --*settled.calls_left;
  return true;
}

/// @param library  the call
template <class Library>
void AlltoallvEngine::run_settled(const Settled& settled, const DirectAlltoall::Side& sends,
                                  const DirectAlltoall::Side& receives, const char* name, Library library) {
  ++runs_;
  was_left_ = false;
  last_ = settled.strategy;
  std::optional<AlltoallDamage> damage;
  try {
    if (settled.is_direct) damage = direct_.run(*streams_, comm_.rank(), comm_.get(), sends, receives);
    else announce_arrival();
  } catch (const std::exception& error) {
    fail(error);
  }
  if (settled.is_direct) return require_undamaged(damage);
  if (const int code = library(comm_.get()); code != MPI_SUCCESS) {
    const MpiError error(name, code);
    require_undamaged(AlltoallDamage{without_end(error), error.error_class()});
  }
}

bool AlltoallvEngine::run_settled(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  int recvcount, MPI_Datatype recvtype, const AlltoallvOptions& options) {
  auto& settled = settled_of_equal_;
  if (recvcount != settled.count || recvtype != settled.recvtype || sendtype != settled.sendtype || sendcount < 0 ||
      !is_settled(settled, sendbuf, recvbuf, options))
    return false;
  run_settled(settled, {sendbuf, settled.sent_element, sendcount}, {recvbuf, settled.received_element, recvcount},
              "MPI_Alltoall", [&](MPI_Comm comm) {
                return MPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
              });
  return true;
}

bool AlltoallvEngine::run_settled(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                                  MPI_Datatype sendtype, void* recvbuf, std::span<const int> recvcounts,
                                  std::span<const int> rdispls, MPI_Datatype recvtype,
                                  const AlltoallvOptions& options) {
  if (!settled_.strategy || sendtype != settled_.sendtype || recvtype != settled_.recvtype ||
      !are_complete(sendcounts, sdispls, ranks_) || !are_complete(recvcounts, rdispls, ranks_) ||
      !is_settled(settled_, sendbuf, recvbuf, options))
    return false;
  run_settled(settled_, {sendbuf, settled_.sent_element, 0, sendcounts.data(), sdispls.data()},
              {recvbuf, settled_.received_element, 0, recvcounts.data(), rdispls.data()}, "MPI_Alltoallv",
              [&](MPI_Comm comm) {
                return MPI_Alltoallv(sendbuf, sendcounts.data(), sdispls.data(), sendtype, recvbuf, recvcounts.data(),
                                     rdispls.data(), recvtype, comm);
              });
  return true;
}

void AlltoallvEngine::settle(const AlltoallCall& call, const AlltoallvOptions& options, const Chosen& chosen,
                             const Structures::value_type& run, bool is_direct) {
  const bool is_equal = call.shape() == CallSide::Shape::equal;
  const bool is_by_library = !run.second.structure;
  auto& settled = is_equal ? settled_of_equal_ : settled_;
  settled = {};
  if (!(is_by_library || is_direct) || call.shape() == CallSide::Shape::w || !chosen.is_lasting || call.is_in_place() ||
      has_device_prices_ || !run.second.path.is_host() || options.block_bytes || options.planner_seconds ||
      !data_.are_named() || call.receives.count > std::numeric_limits<int>::max())
    return;
  settled.strategy = &run.first;
  settled.named = options.strategy.empty() ? &no_strategy_ : &named_.find(options.strategy)->first;
  settled.planner = options.planner;
  settled.survey_interval = is_equal ? 0 : survey_interval_of(*chosen.choice, is_by_library);
  settled.count = call.receives.count;
  settled.sendtype = call.sends.type;
  settled.recvtype = call.receives.type;
  settled.calls_left = chosen.calls_left;
  settled.is_direct = is_direct;
  settled.sent_element = data_.sent().types().front().size();
  settled.received_element = data_.received().types().front().size();
}

/// May this rank run it as a DirectAlltoall?
bool AlltoallvEngine::may_go_directly(const AlltoallCall& call, const Structures::value_type& run) const {
  const auto& [structure, path] = run.second;
  return structure && path.is_shared && path.is_host() && streams_ && streams_->reach_all() &&
         structure->forwarded == 0 && structure->stages.size() == 1 && call.shape() != CallSide::Shape::w &&
         !call.is_in_place() && call.are_int() && data_.are_named() && !data_.use().is_used;
}

std::optional<AlltoallDamage> AlltoallvEngine::run_directly(const AlltoallCall& call) {
  const auto side = [](const CallSide& of, const TypedBlocks& blocks) {
    DirectAlltoall::Side result{of.buffer, blocks.types().front().size(), of.count};
    if (of.has_counts()) {
      result.counts = of.counts.ints().data();
      result.places = of.displacements.ints().data();
    }
    return result;
  };
  return direct_.run(*streams_, comm_.rank(), comm_.get(), side(call.sends, data_.sent()),
                     side(call.receives, data_.received()));
}

/// The state of the communicator after an error is what the library's own call makes of it: later calls are not
/// refused.
std::optional<AlltoallDamage> AlltoallvEngine::leave_to_library() {
  announce_arrival();
  const auto call = data_.library_call();
  try {
    library_.run(call, comm_.get());
    return {};
  } catch (const MpiError& error) {
    return AlltoallDamage{without_end(error), error.error_class()};
  }
}

}  // namespace commpass
