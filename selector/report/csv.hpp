// Tables as comma-separated values (RFC 4180), for spreadsheets and scripts: a header, numbers in full, seconds and
// bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "selector/report/call_report.hpp"
#include "selector/report/report.hpp"

namespace commpass {

/// One line; a field with a comma, a quote or a line's end is quoted.
std::string csv_line(const std::vector<std::string>& fields);
/// As many digits as give the same number again; empty: nothing.
std::string csv_number(const std::optional<double>& number);

/// The rows that the table has (report_table). `chosen` and `baseline` are 1 or 0; of messages the stages are separated
/// by '+'.
std::string report_csv(const Report& report, std::size_t top = 0);
/// The rows, what others do, and in the last row what the library chose by itself (`kind`: strategy, baseline, choice).
std::string call_report_csv(const CallReport& report);

}  // namespace commpass
