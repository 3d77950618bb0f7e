#include "runtime/sparse/sparse_engine.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/base/error.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/oversubscription.hpp"

namespace commpass {

namespace {

constexpr Bytes largest_piece = Bytes{1} << 30;  // fits an MPI count

constexpr Bytes most_slot_bytes = Bytes{1} << 29;

bool has_equals(std::vector<Rank> ranks) {
  std::ranges::sort(ranks);
  return std::ranges::adjacent_find(ranks) != ranks.end();
}

}  // namespace

SparseEngine::SparseEngine(std::shared_ptr<Context> context)
    : context_(std::move(context)),
      comm_(context_->comm.get()),
      chooser_(context_, comm_.get(), combine_),
      routes_(context_, comm_.get()),
      may_share_memory_(commpass::may_share_memory() && context_->layout.max_ppn() > 1) {}

SparseEngine::~SparseEngine() {
  if (!mpi_is_usable()) return;
  const InFlightLock lock;
  leave();
}

void SparseEngine::check(const SparseSends& sends) const {
  for (std::size_t i = 0; i < sends.edges.size(); ++i) {
    const auto& [destination, offset, bytes] = sends.edges[i];
    const auto fail = [&, number = i](const std::string& what, const std::string& remedy) {
      throw InputError(fmt::format("sparse exchange, message {} of rank {}", number, comm_.rank()), what, remedy);
    };
    if (destination < 0 || destination >= context_->layout.ranks())
      fail(fmt::format("rank {} is out of range", destination),
           fmt::format("use 0 to {}", context_->layout.ranks() - 1));
    if (bytes < 0) fail(fmt::format("it has {} bytes", bytes), "use 0 or more");
    if (offset < 0) fail(fmt::format("offset {} is out of range", offset), "use offsets inside the buffer");
    if (!sends.buffer && bytes > 0) fail("the buffer is null", "give the buffer");
  }
}

/// Copies data on a device to host memory.
void SparseEngine::stage(SparseSends& sends) {
  const auto first = std::ranges::find_if(sends.edges, [](const SendEdge& edge) { return edge.bytes > 0; });
  if (first == sends.edges.end()) return;
  const auto device = device_of(sends.buffer + first->offset);
  if (!device) return;
  auto staged = staging(*device);
  staged->assign({ranges_of(sends.edges), 0});
  const auto& ranges = staged->ranges();
  staged->read(sends.buffer, ranges.ends(*device, sends.buffer));
  sends.buffer = staged->host();
  for (auto& edge : sends.edges) edge.offset = edge.bytes > 0 ? ranges.place_of(edge.offset) : 0;
  sends.holder = std::move(staged);
}

std::shared_ptr<StagedBuffer> SparseEngine::staging(const Device& device) {
  const auto is_free = [&](const auto& each) { return each.use_count() == 1; };
  const auto found = std::ranges::find_if(
      staging_, [&](const auto& each) { return is_free(each) && each->queue().serves(device, context_->stream); });
  if (found != staging_.end()) return *found;
  std::erase_if(staging_, is_free);  // of a stream or device before
  return staging_.emplace_back(std::make_shared<StagedBuffer>(device, context_->stream));
}

SparseEngine::Prepared SparseEngine::prepare(const Sends& sends, bool constant) {
  Prepared result;
  try {
    result.sends = sends();
    check(result.sends);
    stage(result.sends);
    std::vector<Rank> destinations;
    std::vector<Bytes> sizes;
    for (const auto& edge : result.sends.edges) {
      destinations.push_back(edge.destination);
      sizes.push_back(edge.bytes);
    }
    result.tally.statistics = traffic_of(comm_.rank(), destinations, sizes, context_->layout);
    // A rank that sends nothing may say 0 bytes.
    if (const auto bytes = result.sends.constant_bytes.value_or(0); constant && (bytes > 0 || !sizes.empty()))
      result.tally.set_bytes(bytes);
    result.tally.repeating = constant && has_equals(destinations);
  } catch (const std::exception& error) {
    result = {};
    result.sends.error = sentence_of(error);
  }
  if (constant && !result.sends.constant_bytes) result.sends.constant_bytes = 0;
  chooser_.add_received(result.tally.statistics);
  return result;
}

int SparseEngine::next_tag(std::size_t stages) {
  const int count = std::max(1, static_cast<int>(stages));
  const int first = last_tag_ + count > context_->largest_tag ? 0 : last_tag_;
  last_tag_ = first + count;
  return first;
}

/// What all have told decides. @throws NotApplicable where the caller wants slots all the same
bool SparseEngine::may_use_slots(const SparseChosen& chosen, const Tally& all) {
  if (all.largest_bytes <= most_slot_bytes && (chosen.by_caller || all.repeating == 0)) return true;
  if (chosen.by_caller)
    throw NotApplicable(to_string(chosen.strategy), fmt::format("{} bytes are too many for a slot", all.largest_bytes));
  avoids_slots_ = true;
  return false;
}

void SparseEngine::make_window(Bytes bytes) {
  assemble(context_->comm.get());
  window_.reset();
  insist([&] { window_ = std::make_unique<SlotWindow>(context_->comm.get(), SlotWindow::slot_bytes_for(bytes)); });
}

/// Collective. @return is there memory? The same on every rank
bool SparseEngine::share_memory() {
  assemble(context_->comm.get());
  post_.rings = NodeRings::share(*context_);
  may_share_memory_ = post_.rings != nullptr;
  return may_share_memory_;
}

/// All ranks know which ranks have a window; only this rank knows whether its messages fit into it.
/// @return false if another strategy has to be chosen
bool SparseEngine::may_make_window(const SparseChosen& chosen, const Tally& own, bool blocking,
                                   std::optional<Tally>& all) {
  if (!blocking)
    throw NotApplicable(to_string(chosen.strategy), "it needs a window, which only a blocking exchange makes");
  if (!all) all = chooser_.told_by_all(own);
  return may_use_slots(chosen, *all);
}

SparseEngine::Started SparseEngine::start(const Sends& given, bool constant, const SparseOptions& options) {
  return start(given, constant, options, false);
}

SparseEngine::Started SparseEngine::start(const Sends& given, bool constant, const SparseOptions& options,
                                          bool blocking) {
  if (has_broken_)
    throw InputError(fmt::format("sparse exchange, rank {}", comm_.rank()),
                     "MPI has failed in an exchange before this one", "go on with a new Communicator");
  // Whatever is collective comes after all that is in flight: then every rank is here.
  if (blocking) wait_until([&] { return in_flight_.empty(); });
  auto prepared = prepare(given, constant);
  auto& sends = prepared.sends;
  const auto& tally = prepared.tally;
  std::optional<Tally> all;
  const auto choose_now = [&] {
    const bool may_have_slots = constant && !avoids_slots_;
    return chooser_.choose({tally, options, constant, blocking, may_have_slots && blocking,
                            may_have_slots && (blocking || window_ || context_->layout.ranks() == 1),
                            blocking ? may_share_memory_ : post_.rings != nullptr},
                           all);
  };
  const auto is_by_slots = [&](const SparseChosen& chosen) {
    return context_->layout.ranks() > 1 && discovery_row(chosen.strategy.discovery).constant_size_only;
  };
  auto chosen = choose_now();
  const StagedRoute* ready = nullptr;
  while (!ready) {
    const bool needs_window = is_by_slots(chosen) && !window_;
    if (needs_window && !may_make_window(chosen, tally, blocking, all)) {
      chosen = choose_now();
      continue;
    }
    if (chosen.strategy.route.path.is_shared && !post_.rings) {
      if (blocking && may_share_memory_ && !share_memory()) {
        chosen = choose_now();
        continue;
      }
      chosen.strategy.route.path.is_shared = post_.rings != nullptr;
    }
    try {
      if (needs_window) make_window(all->has_bytes() ? all->largest_bytes : 0);
      ready = &routes_.of(chosen.strategy, blocking);
    } catch (const MpiError&) {
      throw;
    } catch (const Error&) {  // the same on every rank
      if (!chosen.is_trial) throw;
      chosen = chooser_.choose_another(chosen);
    }
  }
  const auto& route = *ready;
  const bool by_slots = is_by_slots(chosen);
  if (chosen.is_trial) begin_together(context_->comm.get());
  const double begin = chosen.is_trial ? MPI_Wtime() : 0;

  const InFlightLock lock;
  StageContext context;
  context.comm = comm_.get();
  context.tag = next_tag(route.groups.size());
  context.largest_piece = largest_piece;
  context.limits = context_->send_limits();
  context.combine = &combine_;
  if (chosen.strategy.route.path.is_shared) context.post = &post_;
  if (by_slots) {
    context.window = window_.get();
    context.window_exchange = window_->begin();
  }
  // All ranks hear of messages that are too large for the slots, or too many, and a blocking exchange is done again:
  // with a larger window or without one.
  const bool fits = !by_slots || (tally.largest_bytes <= window_->slot_bytes() && tally.repeating == 0);
  try {
    const auto refuse = [&](const std::string& what) {
      throw InputError(fmt::format("sparse exchange, rank {}", comm_.rank()), what, "use another discovery than rma");
    };
    const bool wants_slots = chosen.by_caller && discovery_row(chosen.strategy.discovery).constant_size_only;
    if (tally.repeating > 0 && (wants_slots || (by_slots && !blocking)))
      refuse("it sends several messages to one rank, which has one slot for it");
    if (!fits && !blocking)
      refuse(fmt::format("{} bytes are more than the slots of direct+rma hold", tally.largest_bytes));
  } catch (const std::exception& error) {
    if (sends.error.empty()) sends.error = sentence_of(error);
  }
  if (!fits || !sends.error.empty()) sends.edges.clear();
  if (blocking) chooser_.note_sent(tally.statistics);
  insist([&] { in_flight_.reserve(in_flight_.size() + 1); });
  auto call = insist([&] {
    return std::make_unique<SparseCall>(comm_.rank(), context_->layout.ranks(), chosen.strategy, route, context,
                                        std::move(sends), tally);
  });
  if (!call->complete()) {
    in_flight_.push_back(call.get());
    enter();
    if (context.post) move_on();  // so that messages are in the memory of the node before the first test
  }
  return {std::move(call), chosen.predicted_s, chosen.reason, chosen.by_caller,
          chosen.is_trial ? std::optional(begin) : std::nullopt};
}

void SparseEngine::move_on() {
  bool oldest = true, moved = false;
  for (auto* const call : in_flight_) {
    const bool complete = call->progress(oldest);
    oldest = oldest && complete;
    moved = moved || complete;
  }
  if (moved) std::erase_if(in_flight_, [](const SparseCall* call) { return call->complete(); });
  if (in_flight_.empty()) leave();
}

bool SparseEngine::test(const SparseCall& call) {
  const InFlightLock lock;
  if (!call.complete()) move_on_all();
  return call.complete();
}

void SparseEngine::wait_for(const SparseCall& call) {
  // A core for each rank that waits for memory, which no call of MPI fills.
  if (call.strategy().route.path.is_shared && !must_poll(this))
    while (!call.complete()) move_on();
  wait_until([&] { return call.complete(); });
  has_broken_ = has_broken_ || call.has_broken();
}

ReceivedMessages SparseEngine::complete(SparseCall& call) {
  wait_for(call);
  return insist([&] { return call.take(); });
}

ReceivedMessages SparseEngine::run(const Sends& sends, bool constant, const SparseOptions& options) {
  for (;;) {
    const auto started = start(sends, constant, options, true);
    auto& call = *started.call;
    wait_for(call);
    if (window_ && discovery_row(call.strategy().discovery).constant_size_only && call.combined() &&
        !call.has_failed_everywhere()) {
      // All ranks have been told the same, and do the same.
      const auto& all = *call.combined();
      require_same_bytes(all);
      if (!may_use_slots({call.strategy(), {}, started.reason, started.by_caller}, all)) continue;
      if (all.largest_bytes > window_->slot_bytes()) {
        make_window(all.largest_bytes);
        continue;
      }
    }
    // A named exchange is not surveyed: the next one is named, too, or the hint is renewed. One that has failed here
    // alone tells as much as elsewhere.
    const bool is_lesson = started.predicted_s && !call.has_failed_everywhere();
    if (is_lesson && started.trial_began_s) chooser_.note_trial(MPI_Wtime() - *started.trial_began_s);
    if (is_lesson) chooser_.learn(call);
    insist([&] { last_ = call.strategy(); });
    return complete(call);
  }
}

void SparseEngine::abandon(SparseCall& call) noexcept {
  if (mpi_is_usable()) wait_for(call);
}

SparseExchange::SparseExchange(std::unique_ptr<State> state) : state_(std::move(state)) {}
std::string SparseExchange::strategy() const { return to_string(state_->started.call->strategy()); }
std::optional<Seconds> SparseExchange::predicted_seconds() const { return state_->started.predicted_s; }
std::string SparseExchange::explanation() const { return strategy() + ": " + state_->started.reason + ".\n"; }

bool SparseExchange::test() { return state_->engine->test(*state_->started.call); }

ReceivedMessages SparseExchange::wait() {
  if (state_->taken) throw Error("sparse exchange: its messages have been handed out already; keep what wait returns.");
  state_->taken = true;
  return state_->engine->complete(*state_->started.call);
}

}  // namespace commpass
