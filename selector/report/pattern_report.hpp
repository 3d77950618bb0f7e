// The report of `commpass pattern --statistics`: tables, JSON and CSV.
#pragma once

#include <string>

#include "model/pattern/pattern_statistics.hpp"

namespace commpass {

/// @param pattern  the name of the pattern
/// @param layout   of the statistics; null: none
std::string statistics_table(const PatternStatistics& statistics, const std::string& pattern, const Layout* layout);
std::string statistics_json(const PatternStatistics& statistics, const std::string& pattern, const Layout* layout);
/// A line for each number of all tables (table, row, column, value), since each table has other columns.
std::string statistics_csv(const PatternStatistics& statistics, const std::string& pattern, const Layout* layout);

}  // namespace commpass
