#include "selector/report/not_priced.hpp"

#include <fmt/core.h>

#include "model/base/error.hpp"

namespace commpass {

std::string describe_not_priced(std::span<const NotPriced> strategies) {
  std::string text;
  for (const auto& [strategy, reason] : strategies) text += fmt::format("  {} has no price: {}\n", strategy, reason);
  return text;
}

void fail_without_price(std::span<const NotPriced> strategies) {
  throw NotApplicable(strategies.front().strategy, strategies.front().reason);
}

}  // namespace commpass
