#include "model/cost/flight.hpp"

namespace commpass {

std::array<double, most_levels> least_betas(const Machine& machine) {
  std::array<double, most_levels> result{};
  for (std::size_t l = 0; l < result.size(); ++l)
    if (const auto* channel = machine.host.find(static_cast<Level>(l))) result[l] = channel->least_beta();
  return result;
}

}  // namespace commpass
