// The report of `commpass pattern --statistics`.
#pragma once

#include <string>

#include "model/pattern/pattern_statistics.hpp"
#include "selector/report/document.hpp"

namespace commpass {

/// CSV has a line for each number of all tables (table, row, column, value), since each table has other columns.
/// @param pattern  the name of the pattern
/// @param layout   of the statistics; null: none
Document document_of(const PatternStatistics& statistics, const std::string& pattern, const Layout* layout);

}  // namespace commpass
