#include "calibrate/fit/measured_times.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "model/median.hpp"

namespace commpass {
namespace {

/// Splits a line. A field in double quotes may have commas.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') is_quoted = !is_quoted;
    else if (c == ',' && !is_quoted) fields.emplace_back();
    else if (c != '\r') fields.back() += c;
  }
  return fields;
}

/// A line of a table, by column.
class Row {
 public:
  Row(const std::vector<std::string>& columns, std::string_view line, std::string where)
      : columns_(columns), fields_(fields_of(line)), where_(std::move(where)) {
    if (fields_.size() != columns.size())
      throw InputError(where_, fmt::format("{} fields, the table has {} columns", fields_.size(), columns.size()),
                       "correct the line");
  }

  const std::string& operator[](const char* column) const { return fields_[at(index(column))]; }
  bool has(const char* column) const { return index(column) < std::ssize(columns_); }
  /// The field of an optional column.
  std::string text(const char* column) const { return has(column) ? (*this)[column] : std::string(); }

  template <class Number>
  Number number(const char* column, double least) const {
    const auto value = parse_number<Number>((*this)[column]);
    if (!value || !(static_cast<double>(*value) >= least) || !std::isfinite(static_cast<double>(*value)))
      throw InputError(fmt::format("{}, column {}", where_, column),
                       fmt::format("'{}' is no number of {} or more", (*this)[column], least), "correct it");
    return *value;
  }

  const std::string& where() const { return where_; }

  Seconds seconds(const char* column) const { return number<double>(column, std::numeric_limits<double>::min()); }

 private:
  std::ptrdiff_t index(const char* column) const { return std::ranges::find(columns_, column) - columns_.begin(); }

  const std::vector<std::string>& columns_;
  std::vector<std::string> fields_;
  std::string where_;
};

/// All runs of an algorithm for a case.
struct Runs {
  MeasuredCase of;
  MeasuredAlgorithm algorithm;
  std::string first_date, last_date;
  std::vector<Seconds> seconds;
};

class RunTable {
 public:
  void add(MeasuredCase of, MeasuredAlgorithm algorithm, const std::string& date, Seconds seconds) {
    const auto [found, is_new] = index_.try_emplace({of, algorithm}, runs_.size());
    if (is_new) runs_.push_back({std::move(of), std::move(algorithm), date, date, {}});
    auto& runs = runs_[found->second];
    runs.first_date = std::min(runs.first_date, date);
    runs.last_date = std::max(runs.last_date, date);
    runs.seconds.push_back(seconds);
  }

  std::vector<MeasuredTime> times() const {
    std::vector<MeasuredTime> result;
    for (const auto& runs : runs_) {
      const auto base = index_.find({runs.of, pairwise_form(runs.algorithm)});
      const auto fastest = std::ranges::min(base == index_.end() ? runs.seconds : runs_[base->second].seconds);
      const auto stalled = std::ranges::count_if(
          runs.seconds, [&](Seconds s) { return s > fastest + stall_s && s > stall_ratio * fastest; });
      result.push_back({runs.of, runs.algorithm,
                        runs.first_date == runs.last_date ? runs.first_date : runs.first_date + ".." + runs.last_date,
                        std::ranges::min(runs.seconds), median(runs.seconds), static_cast<int>(runs.seconds.size()),
                        static_cast<double>(stalled) / static_cast<double>(runs.seconds.size())});
    }
    return result;
  }

 private:
  std::map<std::pair<MeasuredCase, MeasuredAlgorithm>, std::size_t> index_;
  std::vector<Runs> runs_;
};

struct Table {
  std::vector<std::string> columns;
  std::vector<Row> rows;

  bool has(std::span<const char* const> names) const {
    return std::ranges::all_of(names, [&](const char* name) { return std::ranges::count(columns, name) == 1; });
  }
};

/// Of each number in a layout, so that their products do not overflow.
constexpr int layout_number_max = 1 << 14;

MeasuredCase case_of(const Row& row) {
  MeasuredCase of{.machine = row.text("machine"),
                  .library = row.text("library"),
                  .pattern = row["pattern"],
                  .bytes = row.number<Bytes>("bytes_per_pair", 1)};
  if (!row.has("layout")) {
    of.nodes = row.number<int>("nodes", 1);
    of.ppn = row.number<int>("ppn", 1);
    return of;
  }
  std::vector<int> sizes;
  for (const auto& piece : split(row["layout"], 'x')) sizes.push_back(parse_number<int>(piece).value_or(0));
  if (sizes.size() < 2 || sizes.size() > 3 ||
      std::ranges::any_of(sizes, [](int size) { return size < 1 || size > layout_number_max; }))
    throw InputError(row.where() + ", column layout", fmt::format("'{}' is no layout", row["layout"]),
                     "write NODESxRANKS or NODESxSOCKETSxRANKS, for example 4x2x50");
  of.nodes = sizes.front();
  of.ppn = sizes.back();
  if (sizes.size() == 3) {
    of.sockets = sizes[1];
    of.ppn *= of.sockets;
  }
  return of;
}

std::vector<MeasuredTime> read_runs(const Table& table) {
  RunTable runs;
  for (const auto& row : table.rows)
    if ((!row.has("kind") || row["kind"] == "full") && !row["bytes_per_pair"].empty())
      runs.add(case_of(row), {row["algorithm"], row.text("parameter")}, row.text("date"), row.seconds("seconds"));
  return runs.times();
}

std::vector<MeasuredTime> read_condensed(const Table& table) {
  std::vector<MeasuredTime> times;
  std::set<std::pair<MeasuredCase, MeasuredAlgorithm>> known;
  for (const auto& row : table.rows) {
    times.push_back({case_of(row),
                     {row["algorithm"], row.text("parameter")},
                     row.text("date"),
                     row.seconds("fastest_s"),
                     row.seconds("median_s"),
                     row.number<int>("runs", 1),
                     row.number<double>("stalled_share", 0)});
    if (!known.emplace(times.back().of, times.back().algorithm).second)
      throw InputError(row.where(), "an earlier row has the same algorithm and case", "take their runs together");
  }
  return times;
}

/// A burst sends one message to each of some ranks of the other node. So a node has at least as many ranks as the
/// largest burst has messages.
std::vector<MeasuredTime> read_bursts(const Table& table) {
  const auto is_burst = [](const Row& row) { return row["test"] == "burst" && row["locality"] == "network"; };
  std::map<std::tuple<std::string, std::string, std::string>, int> ppn;
  for (const auto& row : table.rows)
    if (is_burst(row)) {
      auto& most = ppn[{row["machine"], row["library"], row["memory"]}];
      most = std::max(most, row.number<int>("messages", 1));
    }
  RunTable runs;
  for (const auto& row : table.rows)
    if (is_burst(row))
      runs.add({row["machine"], row["library"], 2, ppn[{row["machine"], row["library"], row["memory"]}],
                "burst:messages=" + row["messages"], row.number<Bytes>("bytes", 1)},
               {"burst-" + row["memory"], ""}, row["date"], row.seconds("seconds"));
  return runs.times();
}

const std::vector<const char*> condensed_columns{"machine",  "library",        "date",         "nodes",     "ppn",
                                                 "pattern",  "bytes_per_pair", "algorithm",    "parameter", "fastest_s",
                                                 "median_s", "runs",           "stalled_share"};

struct Format {
  std::vector<const char*> columns;  ///< required
  std::vector<MeasuredTime> (*read)(const Table& table);
};

const Format formats[] = {
    {{"nodes", "ppn", "pattern", "bytes_per_pair", "algorithm", "seconds"}, read_runs},
    {{"layout", "pattern", "bytes_per_pair", "algorithm", "seconds"}, read_runs},
    {{"nodes", "ppn", "pattern", "bytes_per_pair", "algorithm", "fastest_s", "median_s", "runs", "stalled_share"},
     read_condensed},
    {{"machine", "library", "date", "test", "memory", "locality", "messages", "bytes", "seconds"}, read_bursts}};

}  // namespace

MeasuredAlgorithm pairwise_form(MeasuredAlgorithm algorithm) {
  constexpr std::string_view nonblocking = "nonblocking";
  if (const auto begin = algorithm.name.find(nonblocking); begin != std::string::npos)
    algorithm.name.replace(begin, nonblocking.size(), "pairwise");
  return algorithm;
}

std::vector<MeasuredTime> parse_measured_times(const std::string& text, const std::string& origin) {
  Table table;
  const auto lines = split(without_byte_order_mark(text, origin), '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty() || lines[i] == "\r" || lines[i].starts_with('#')) continue;
    if (table.columns.empty()) table.columns = fields_of(lines[i]);
    else table.rows.emplace_back(table.columns, lines[i], fmt::format("{}, line {}", origin, i + 1));
  }
  if (table.columns.empty())
    throw InputError(origin, "it has no line of columns", "name a table of measured exchanges");
  if (!lines.back().empty() && !lines.back().starts_with('#'))
    throw InputError(fmt::format("{}, line {}", origin, lines.size()),
                     "the line has no end, so its last number may be cut", "give the whole file, or end the line");
  for (const auto& format : formats) {
    if (!table.has(format.columns)) continue;
    auto times = format.read(table);
    if (times.empty())
      throw InputError(origin, "there is no time of a whole exchange",
                       "name a table with rows of kind full, or of bursts");
    return times;
  }
  throw InputError(origin, "these are no columns of measured exchanges: " + join(table.columns, ","),
                   fmt::format("write {}, or {}", join(formats[0].columns, ","), join(formats[1].columns, ",")));
}

std::vector<MeasuredTime> read_measured_times(const std::string& path) {
  return within_memory(path, [&] { return parse_measured_times(read_file(path), path); });
}

std::set<std::pair<MeasuredCase, MeasuredAlgorithm>> stalled_times(std::span<const MeasuredTime> times) {
  constexpr double stalled_median_ratio = 2.5;
  std::map<std::pair<MeasuredCase, MeasuredAlgorithm>, Seconds> fastest;
  for (const auto& time : times) fastest[{time.of, time.algorithm}] = time.fastest_s;
  std::set<std::pair<MeasuredCase, MeasuredAlgorithm>> stalled;
  for (const auto& time : times) {
    const auto pairwise = pairwise_form(time.algorithm);
    const auto found = fastest.find({time.of, pairwise});
    if (pairwise != time.algorithm && found != fastest.end() && time.runs > 1 &&
        time.median_s > stalled_median_ratio * std::min(time.fastest_s, found->second))
      stalled.insert({time.of, time.algorithm});
  }
  return stalled;
}

std::string condensed_table(const std::vector<MeasuredTime>& times) {
  auto text = csv_line({condensed_columns.begin(), condensed_columns.end()});
  for (const auto& [of, algorithm, date, fastest_s, median_s, runs, stalled_share] : times)
    text += csv_line({of.machine, of.library, date, std::to_string(of.nodes), std::to_string(of.ppn), of.pattern,
                      std::to_string(of.bytes), algorithm.name, algorithm.parameter, fmt::format("{:.7g}", fastest_s),
                      fmt::format("{:.7g}", median_s), std::to_string(runs), fmt::format("{:.3g}", stalled_share)});
  return text;
}

}  // namespace commpass
