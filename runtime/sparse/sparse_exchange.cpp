#include "runtime/sparse/sparse_exchange.hpp"

#include "model/base/error.hpp"
#include "runtime/sparse/sparse_exchange_state.hpp"

namespace commpass {

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
