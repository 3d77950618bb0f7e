#include "runtime/indexed/sparse_allreduce.hpp"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "runtime/context.hpp"
#include "runtime/indexed/value_planning.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/in_flight.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/planned_exchanges.hpp"
#include "runtime/sparse/sparse_engine.hpp"

namespace commpass {

/// In flight until its second exchange has started, since a rank may complete others first.
struct SparseAllreduce::State final : InFlight {
  IndexedExchange exchange;
  std::unique_ptr<std::byte[]> owned;  ///< sums of the indices of which this rank is the lowest
  void* sums = nullptr;                ///< the user's
  bool is_back = false;                ///< are contributions on their way, so that the sums still have to leave?

  explicit State(IndexedExchange planned) : exchange(std::move(planned)) {}
  ~State() {
    if (!mpi_is_usable()) return;
    try {
      wait();
    } catch (...) {  // NOLINT: a destructor cannot report it
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void follow(void* its_sums) {
    const InFlightLock lock;
    sums = its_sums;
    is_back = true;
    enter();
  }

  bool test() {
    const InFlightLock lock;
    rethrow_failure();
    move_on();
    return !is_back && exchange.test();
  }

  void wait() {
    {
      const InFlightLock lock;
      leave();  // this call moves it on
      rethrow_failure();
    }
    const bool turns = std::exchange(is_back, false);
    if (turns) {
      exchange.wait_for_messages();
      exchange.start_forward(owned.get(), sums);
    }
    exchange.wait();
  }

 private:
  void move_on() override {
    if (!is_back || is_moving_) return;
    is_moving_ = true;  // a test moves on all that is in flight
    const auto stop = [&] {
      is_moving_ = is_back = false;
      leave();
    };
    try {
      if (exchange.test_messages()) {
        stop();
        exchange.start_forward(owned.get(), sums);
      }
    } catch (...) {
      stop();
      throw;
    }
    is_moving_ = false;
  }

  bool is_moving_ = false;
};

SparseAllreduce::SparseAllreduce(std::unique_ptr<State> state) : state_(std::move(state)) {}

IndexedExchange& SparseAllreduce::contributions() { return state_->exchange; }
void* SparseAllreduce::own_sums() { return state_->owned.get(); }
void SparseAllreduce::follow(void* sums) { state_->follow(sums); }
void SparseAllreduce::start(const void* values, void* sums, Addition add) {
  contributions().start_reverse_add(values, own_sums(), std::move(add));
  follow(sums);
}
bool SparseAllreduce::test() { return state_->test(); }
void SparseAllreduce::wait() { state_->wait(); }

const std::string& SparseAllreduce::strategy() const { return state_->exchange.strategy(); }
const std::string& SparseAllreduce::explanation() const { return state_->exchange.explanation(); }
bool SparseAllreduce::adds_on_the_way() const { return state_->exchange.adds_on_the_way(); }
std::optional<Seconds> SparseAllreduce::predicted_seconds() const {
  const auto there = state_->exchange.predicted_seconds(), back = state_->exchange.predicted_reverse_seconds();
  return there && back ? std::optional(*there + *back) : std::nullopt;
}

SparseAllreduce plan_sparse_allreduce(SparseEngine& engine, std::span<const Index> indices, Bytes value_bytes,
                                      const IndexedOptions& options) {
  const MPI_Comm comm = engine.context()->comm.get();
  const Rank rank = rank_in(comm);
  assemble(comm);
  auto wanted = options;
  wanted.forward = wanted.reverse = wanted.overwrite = true;
  wanted.ghost_values = nullptr;
  const auto agreed = agreed_options(comm, value_bytes, wanted);
  DistinctIndices distinct;
  all_or_none(comm, [&] {
    distinct = distinct_indices(indices);
    if (!distinct.indices.empty() && distinct.indices.front() < 0)
      throw InputError(fmt::format("sparse_allreduce, index {}", distinct.indices.front()), "it is negative",
                       "use 0 or more");
  });
  const auto owners = elect_owners(engine, distinct.indices, agreed.discovery);
  std::optional<OwnedIndices> owned;
  all_or_none(comm, [&] {
    std::vector<Index> mine;
    for (std::size_t i = 0; i < owners.size(); ++i)
      if (owners[i] == rank) mine.push_back(distinct.indices[i]);
    owned.emplace(std::span<const Index>(mine));
  });
  const auto requests = request_values(engine, *owned, distinct, owners, agreed.discovery);
  auto exchange = plan_value_exchange(engine, requests, value_bytes, agreed);
  std::unique_ptr<SparseAllreduce::State> state;
  all_or_none(comm, [&] {
    state = std::make_unique<SparseAllreduce::State>(std::move(exchange));
    state->owned = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(owned->count() * value_bytes));
  });
  return SparseAllreduce(std::move(state));
}

}  // namespace commpass
