// An exchange with a Cartesian neighbourhood, planned once and run many times.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/base/types.hpp"

namespace commpass {

/// Made by the functions of CartNeighborhood that end in _init. Move-only; may outlive its neighbourhood. Destroying it
/// completes an exchange in flight, so buffers and datatypes must outlive it.
class CartExchange {
 public:
  ~CartExchange();
  CartExchange(CartExchange&&) noexcept;
  CartExchange& operator=(CartExchange&&) noexcept;

  /// As those of Exchange (runtime/neighbor/neighbor_exchange.hpp). @throws Error
  void start();
  bool test();
  void wait();

  /// The strategy that runs, in text form.
  const std::string& strategy() const;
  /// Its predicted seconds, for blocks of about the smallest size for which it was chosen; nothing if it was named.
  std::optional<Seconds> predicted_seconds() const;
  /// Bytes of the buffers that this rank holds besides the user's.
  Bytes buffer_bytes() const;

  struct State;
  explicit CartExchange(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace commpass
