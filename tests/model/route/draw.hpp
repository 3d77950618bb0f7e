// Random cases that RapidCheck draws.
#pragma once

#include <gtest/gtest.h>
// after GoogleTest
#include <rapidcheck/gtest.h>

namespace commpass::test {

inline constexpr int most_ranks = 40, most_edges = 120;

/// For draw_layout and draw_pattern: a number that RapidCheck picks, and makes smaller when a property fails.
inline int draw(int limit) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, limit)); }

}  // namespace commpass::test
