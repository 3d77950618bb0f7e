// An exchange with a Cartesian neighbourhood, planned once and run many times.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "runtime/neighbor/neighbor_exchange.hpp"

namespace commpass {

/// Made by the functions of CartNeighborhood that end in _init. Move-only; may outlive its neighbourhood. Destroying it
/// completes an exchange in flight, so buffers and datatypes must outlive it.
class CartExchange {
 public:
  explicit CartExchange(Exchange exchange) : exchange_(std::move(exchange)) {}

  /// As those of Exchange. @throws Error
  void start() { exchange_.start(); }
  bool test() { return exchange_.test(); }
  void wait() { exchange_.wait(); }

  /// The strategy that runs, in text form.
  const std::string& strategy() const { return exchange_.strategy(); }
  /// Its predicted seconds, for blocks of about the smallest size for which it was chosen; nothing if it was named.
  std::optional<Seconds> predicted_seconds() const { return exchange_.predicted_seconds(); }
  /// Bytes of the buffers that this rank holds besides the user's.
  Bytes buffer_bytes() const { return exchange_.buffer_bytes(); }

 private:
  Exchange exchange_;
};

}  // namespace commpass
