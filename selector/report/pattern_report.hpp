// What `commpass pattern --statistics` tells: tables for people, JSON and comma-separated values for machines.
#pragma once

#include <string>

#include "model/pattern/pattern_statistics.hpp"

namespace commpass {

/// @param pattern  what to call the pattern
/// @param layout   that the statistics were made with; null: none
std::string statistics_table(const PatternStatistics& statistics, const std::string& pattern, const Layout* layout);
std::string statistics_json(const PatternStatistics& statistics, const std::string& pattern, const Layout* layout);
/// The rows of all tables, of which each has other columns: a line for each number (table, row, column, value).
std::string statistics_csv(const PatternStatistics& statistics, const std::string& pattern, const Layout* layout);

}  // namespace commpass
