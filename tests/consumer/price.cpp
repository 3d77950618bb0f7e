// The model alone, used from outside.
#include <cstdio>

#include "model/cost/cost.hpp"
#include "model/machine/profile.hpp"
#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto machine = commpass::read_profile(argv[1]).machine;
  const auto layout = commpass::parse_layout("8x8");
  const auto strategy = commpass::parse_strategy("stfw,n=2");
  const auto schedule = commpass::make_schedule(*commpass::make_route(strategy, layout), strategy.window,
                                                commpass::generate_pattern("random:ranks=64,bytes=64,degree=16"));
  std::printf("%g s\n", commpass::evaluate(schedule, layout, machine, commpass::CostModel::burst).seconds);
}
