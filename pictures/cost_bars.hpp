// Cost bars: what strategies spend their time on, by stage.
#pragma once

#include <span>
#include <string>

#include "pictures/picture.hpp"
#include "selector/report/report.hpp"

namespace commpass {

/// A bar for each strategy: what programs do today first, then the ranking's best. Stages follow each other, each
/// divided as the way to its last finish is (CostPart). Where today's bars are much longer than the others, these are
/// drawn once more, enlarged.
/// @param top  of the ranking, besides the baselines; at least 1
Picture draw_cost_bars(const Report& report, std::size_t top = 6, const std::string& id = "cost-bars");

}  // namespace commpass
