// What reports tell of strategies that are named and have no price where others have one.
#pragma once

#include <span>
#include <string>

#include "selector/choose/rank_named.hpp"

namespace commpass {

/// A line for each, below a table; empty where there are none.
std::string describe_not_priced(std::span<const NotPriced> strategies);

/// @throws NotApplicable  of the first one, where nothing else is left to tell
[[noreturn]] void fail_without_price(std::span<const NotPriced> strategies);

}  // namespace commpass
