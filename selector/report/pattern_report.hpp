// What `commpass pattern --statistics` tells: tables for people, JSON for machines.
#pragma once

#include <string>

#include "model/pattern/pattern_statistics.hpp"

namespace commpass {

/// @param pattern  what to call the pattern
/// @param layout   that the statistics were made with; null: none
std::string statistics_table(const PatternStatistics& statistics, const std::string& pattern, const Layout* layout);
std::string statistics_json(const PatternStatistics& statistics, const std::string& pattern, const Layout* layout);

}  // namespace commpass
