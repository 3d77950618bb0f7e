#include "runtime/sparse_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "model/catalogue.hpp"
#include "model/error.hpp"
#include "runtime/agreement.hpp"
#include "runtime/environment_names.hpp"
#include "runtime/mpi_error.hpp"
#include "runtime/telling.hpp"
#include "runtime/unpriced.hpp"

namespace commpass {

namespace {

constexpr Bytes largest_piece = Bytes{1} << 30;  // fits an MPI count

constexpr Bytes most_slot_bytes = std::numeric_limits<int>::max() / 2;

/// Nobody has sent anything yet: a few small messages.
constexpr double first_messages = 8, first_bytes = 64;

}  // namespace

SparseEngine::SparseEngine(MPI_Comm comm, const Layout& layout, const Machine& machine, std::string named, int largest_tag, bool verbose)
    : parent_(comm), comm_(comm), layout_(layout), machine_(machine), named_(std::move(named)), tells_misfit_(verbose && comm_.rank() == 0), largest_tag_(largest_tag) {}

std::string SparseEngine::check(const void* buffer, const std::vector<SendEdge>& edges) const {
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto& [destination, offset, bytes] = edges[i];
    const auto fail = [&](const std::string& what, const std::string& remedy) {
      return std::string(InputError(fmt::format("sparse exchange, message {} of rank {}", i, comm_.rank()), what, remedy).what());
    };
    if (destination < 0 || destination >= layout_.ranks()) return fail(fmt::format("rank {} is out of range", destination), fmt::format("use 0 to {}", layout_.ranks() - 1));
    if (bytes < 0) return fail(fmt::format("it has {} bytes", bytes), "use 0 or more");
    if (offset < 0) return fail(fmt::format("offset {} is out of range", offset), "use offsets inside the buffer");
    if (!buffer && bytes > 0) return fail("the buffer is null", "give the buffer");
  }
  return {};
}

int SparseEngine::next_tag(std::size_t stages) {
  const int count = std::max(1, static_cast<int>(stages));
  const int first = last_tag_ + count > largest_tag_ ? 0 : last_tag_;
  last_tag_ = first + count;
  return first;
}

bool SparseEngine::has_slots(const SparseSends& sends, bool blocking) const {
  if (!sends.constant_bytes || *sends.constant_bytes > most_slot_bytes) return false;
  return blocking || (window_ && *sends.constant_bytes <= window_->slot_bytes());
}

bool SparseEngine::fits(const SparseSends& sends, bool blocking) {
  if (!discovery_row(parse_sparse_strategy(named_).discovery).constant_size_only || has_slots(sends, blocking)) return true;
  if (tells_misfit_) tell_misfit("COMMPASS_SPARSE_STRATEGY", named_, sends.constant_bytes ? "an exchange that has no slots" : "messages of different sizes", {});
  tells_misfit_ = false;
  return false;
}

SparseEngine::Chosen SparseEngine::choose(const SparseSends& sends, const SparseOptions& options, bool blocking) {
  const auto& named = !options.strategy.empty() ? options.strategy : named_;
  if (!options.strategy.empty() || (!named_.empty() && fits(sends, blocking))) {
    const auto strategy = parse_sparse_strategy(named);
    if (discovery_row(strategy.discovery).constant_size_only && !sends.constant_bytes)
      throw NotApplicable(named, "messages have different sizes");
    return {strategy, {}};
  }
  if (const auto why = why_unpriced(layout_, machine_); !why.empty()) {
    warn_unpriced(why, comm_.rank());
    return {parse_sparse_strategy(unpriced_sparse), {}};
  }
  if (telling_) {
    while (!telling_->test()) progress();
    known_ = Tally::of(telling_->result()).statistics;
    telling_.reset();
  }
  const bool constant = sends.constant_bytes.has_value();
  auto& choice = choices_[constant ? 1 : 0];
  if (!choice) choice.emplace(layout_, machine_, constant);
  const auto statistics = options.messages ? expected_statistics(*options.messages, options.bytes, layout_)
                          : known_         ? *known_
                                           : expected_statistics(first_messages, constant ? static_cast<double>(*sends.constant_bytes) : first_bytes, layout_);
  const auto best = choice->best(statistics, has_slots(sends, blocking));
  return {best.strategy, best.seconds};
}

const StagedRoute& SparseEngine::staged(const SparseStrategy& strategy, bool blocking) {
  const auto name = to_string(strategy.route);
  if (const auto found = split_.find(name); found != split_.end()) return found->second;
  const bool split = blocking && !strategy.is_direct();
  auto& routes = split ? split_ : whole_;
  if (const auto found = routes.find(name); found != routes.end()) return found->second;
  StagedRoute made;
  if (!strategy.is_direct()) {
    made.route = make_route(strategy.route, layout_);
    made.groups = split ? split_stages(parent_, *made.route) : whole_stages(comm_.get(), *made.route);
  } else if (layout_.ranks() > 1) {
    made.groups.emplace_back().comm = comm_.get();
  }
  return routes.emplace(name, std::move(made)).first->second;
}

SlotWindow* SparseEngine::window(const SparseStrategy& strategy, const SparseSends& sends, bool blocking) {
  if (!discovery_row(strategy.discovery).constant_size_only) return nullptr;
  const Bytes bytes = *sends.constant_bytes;
  if (window_ && bytes <= window_->slot_bytes()) return window_.get();
  if (!blocking) throw NotApplicable(to_string(strategy), "it needs a window, which only a blocking exchange makes");
  if (bytes > most_slot_bytes) throw NotApplicable(to_string(strategy), fmt::format("{} bytes are too many for a slot", bytes));
  window_.reset();
  window_ = std::make_unique<SlotWindow>(parent_, bytes);
  return window_.get();
}

SparseEngine::Started SparseEngine::start(SparseSends sends, const SparseOptions& options, bool blocking) {
  // Whatever is collective comes after all that is in flight: then every rank is here.
  if (blocking)
    while (!in_flight_.empty()) progress();
  const auto chosen = choose(sends, options, blocking);
  auto* const slots = window(chosen.strategy, sends, blocking);
  const auto& route = staged(chosen.strategy, blocking);
  StageContext context;
  context.tag = next_tag(route.groups.size());
  context.largest_piece = largest_piece;
  context.combine = &combine_;
  context.window = slots;
  context.constant_bytes = sends.constant_bytes.value_or(0);
  std::vector<Rank> destinations;
  std::vector<Bytes> sizes;
  for (const auto& edge : sends.edges) {
    destinations.push_back(edge.destination);
    sizes.push_back(edge.bytes);
  }
  if (slots && sends.error.empty() && std::set(destinations.begin(), destinations.end()).size() < destinations.size())
    sends.error = InputError(fmt::format("sparse exchange, rank {}", comm_.rank()), "it sends several messages to one rank, which has one slot for it", "use another discovery than rma").what();
  if (!sends.error.empty()) sends.edges.clear();

  Tally tally;
  tally.failures = !sends.error.empty();
  if (tally.failures == 0) tally.statistics = statistics_of(comm_.rank(), destinations, sizes, layout_);
  tally.statistics.received_messages_max = own_.received_messages_max;
  tally.statistics.received_bytes_max = own_.received_bytes_max;
  if (blocking) own_ = tally.statistics;
  auto call = std::make_unique<SparseCall>(comm_.rank(), layout_.ranks(), chosen.strategy, route, context, std::move(sends), tally);
  if (!call->complete()) in_flight_.push_back(call.get());
  return {std::move(call), chosen.predicted_s};
}

void SparseEngine::progress() {
  bool oldest = true, moved = false;
  for (auto* const call : in_flight_) {
    const bool complete = call->progress(oldest);
    oldest = oldest && complete;
    moved = moved || complete;
  }
  if (moved) std::erase_if(in_flight_, [](const SparseCall* call) { return call->complete(); });
}

void SparseEngine::complete(SparseCall& call) {
  while (!call.complete()) progress();
}

ReceivedMessages SparseEngine::finish(SparseCall& call) {
  if (call.any_failed()) agree(parent_, call.error());
  return std::move(call.received());
}

ReceivedMessages SparseEngine::run(SparseSends sends, const SparseOptions& options) {
  const auto started = start(std::move(sends), options, true);
  try {
    complete(*started.call);
    auto received = finish(*started.call);
    if (started.predicted_s) learn(*started.call, received);  // else the next one is named, too, or the hint is renewed
    return received;
  } catch (...) {
    std::erase(in_flight_, started.call.get());
    throw;
  }
}

void SparseEngine::learn(const SparseCall& call, const ReceivedMessages& received) {
  own_.received_messages_max = own_.received_bytes_max = 0;
  for (const auto& message : received) {
    if (message.source == comm_.rank()) continue;
    ++own_.received_messages_max;
    own_.received_bytes_max += std::ssize(message.bytes);
  }
  ++learned_;
  telling_.reset();
  if (call.combined()) {
    known_ = call.combined()->statistics;
  } else if (tells_after(learned_)) {
    telling_ = std::make_unique<NonblockingReduction>();
    telling_->start_tally(comm_.get(), Tally{0, own_}.numbers(), combine_);
  }
}

void SparseEngine::abandon(SparseCall& call) noexcept {
  if (!mpi_is_usable()) return;
  try {
    complete(call);
  } catch (...) {  // NOLINT: a destructor has nobody to tell
  }
  std::erase(in_flight_, &call);
}

}  // namespace commpass
