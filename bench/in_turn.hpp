// Two things that are compared run in turn.
#pragma once

#include <random>

namespace commpass::bench {

/// Each once in a round, in random order, the same on all ranks, so that a disturbance hits both alike.
template <class First, class Second>
void run_in_turn(int rounds, First first, Second second) {
  std::mt19937 random(1);
  for (int i = 0; i < rounds; ++i) {
    const bool is_first = random() % 2 == 0;
    if (is_first) first();
    second();
    if (!is_first) first();
  }
}

}  // namespace commpass::bench
