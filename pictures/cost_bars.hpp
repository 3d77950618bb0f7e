// Cost bars: the predicted times of strategies by stage and cost part.
#pragma once

#include <span>
#include <string>

#include "pictures/picture.hpp"
#include "selector/report/report.hpp"

namespace commpass {

/// A bar for each strategy: the baselines, then the best of the ranking. Each stage is divided as the critical path to
/// its last finish is (CostPart). If the baselines are much longer, the other bars are drawn again, enlarged.
/// @param top  the number of strategies of the ranking; at least 1
Picture draw_cost_bars(const Report& report, std::size_t top = 6, const std::string& id = "cost-bars");

}  // namespace commpass
