#include "selector/report/report.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/base/format.hpp"

namespace commpass {

namespace {

double percent(std::int64_t part, std::int64_t total) {
  return total > 0 ? 100 * (static_cast<double>(part) / static_cast<double>(total)) : 0;
}

const char* describe(Symmetry symmetry) {
  switch (symmetry) {
    case Symmetry::sizes: return "yes, as many bytes both ways";
    case Symmetry::pairs: return "in its pairs of ranks, not in their bytes";
    case Symmetry::none: return "no";
  }
  return "?";
}

struct TrafficRow {
  std::string name, key;  ///< for people, and of CSV
  Traffic traffic;
};

std::vector<TrafficRow> rows_of_levels(std::span<const LevelTraffic> levels) {
  std::vector<TrafficRow> rows;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const auto two = l == 0 ? "" : fmt::format("two {}s", levels[l - 1].name);
    const auto one = l + 1 == levels.size() ? "" : "one " + levels[l].name;
    rows.push_back(
        {fmt::format("{}{}{}", one, one.empty() || two.empty() ? "" : ", ", two), levels[l].name, levels[l].traffic});
  }
  return rows;
}

Json json_of(const Traffic& traffic) { return {{"messages", traffic.messages}, {"bytes", traffic.bytes}}; }

/// The report with its lines of CSV.
class PatternReport {
 public:
  PatternReport(const PatternStatistics& s, const std::string& pattern, const Layout* layout) : s_(s) {
    ReportContext context{{"pattern", pattern}};
    if (layout) context.emplace_back("layout", layout->describe());
    document_ = Document(context);
  }

  Document make(bool has_layout) {
    add_totals();
    add_ranks();
    std::vector<TrafficRow> sizes;
    for (const auto& size : s_.sizes)
      sizes.push_back({(size.least == size.most ? "" : "from ") + bytes_cell(size.least).text,
                       fmt::format("{}-{}", size.least, size.most), size.traffic});
    add_traffic("message size", "message_size", sizes);
    auto json = Json::array();
    for (const auto& size : s_.sizes) {
      json.push_back({{"min_bytes", size.least}, {"max_bytes", size.most}});
      json.back().update(json_of(size.traffic));
    }
    document_.fact("sizes", std::move(json));
    if (has_layout) add_traffic("between ranks of", "locality", rows_of_levels(s_.by_level));
    for (const auto& level : s_.by_level) document_.fact("localities", {{level.name, json_of(level.traffic)}});
    document_.add(std::move(lines_));
    return std::move(document_);
  }

 private:
  void add_line(const std::string& table, const std::string& row, const std::string& column, const Json& value) {
    lines_.add({table, row, column, value.get<double>()});
  }
  void add_lines(const std::string& table, const std::string& row, const Json& values) {
    for (const auto& [column, value] : values.items()) add_line(table, row, column, value);
  }

  void add_totals() {
    const auto number = [&](const char* key, std::int64_t value) {
      document_.fact(key, value);
      add_line("pattern", key, "all", value);
    };
    const auto bytes = [](auto count) { return bytes_cell(count).text; };
    number("ranks", s_.ranks);
    number("idle_ranks", s_.idle_ranks);
    number("messages", s_.total.messages);
    number("bytes", s_.total.bytes);
    number("repeated_bytes", s_.repeated_bytes);
    number("empty_edges", s_.empty_edges);
    number("self_bytes", s_.self_bytes);
    document_.fact("symmetry", name_of(s_.symmetry));
    document_.fact("message_bytes",
                   {{"min", s_.message_bytes_min}, {"median", s_.message_bytes_median}, {"max", s_.message_bytes_max}});
    std::string text = fmt::format(
        "ranks: {}, of which {} neither send nor receive\nmessages: {}, and {} edges of 0 bytes\n"
        "bytes: {}, and {} of ranks to themselves\n",
        s_.ranks, s_.idle_ranks, s_.total.messages, s_.empty_edges, bytes(s_.total.bytes), bytes(s_.self_bytes));
    if (s_.repeated_bytes > 0)
      append(text, "repeated: {} ({:.1f}%) are bytes that their rank also sends to another one\n",
             bytes(s_.repeated_bytes), percent(s_.repeated_bytes, s_.total.bytes));
    append(text, "message size: {} smallest, {} median, {} largest\nsymmetric: {}\n\n", bytes(s_.message_bytes_min),
           bytes(s_.message_bytes_median), bytes(s_.message_bytes_max), describe(s_.symmetry));
    document_.text(text);
  }

  void add_ranks() {
    Table table{"",
                {{"", "of a rank", -17}, {"", "least", 10}, {"", "mean", 10}, {"", "most", 10}, {"", "most/mean", 10}}};
    const auto add = [&](const char* name, const char* key, const Spread& spread, auto print, auto print_mean) {
      table.add({name, print(spread.min), print_mean(spread.mean), print(spread.max),
                 fmt::format("{:.2f}", spread.imbalance())});
      const Json values{
          {"min", spread.min}, {"mean", spread.mean}, {"max", spread.max}, {"imbalance", spread.imbalance()}};
      document_.fact("per_rank", {{key, values}});
      add_lines("rank", key, values);
    };
    const auto count = [](std::int64_t value) { return std::to_string(value); };
    const auto mean_count = [](double value) { return fmt::format("{:.1f}", value); };
    const auto bytes = [](auto value) { return bytes_cell(value); };
    add("messages sent", "messages_sent", s_.sends, count, mean_count);
    add("messages received", "messages_received", s_.receives, count, mean_count);
    add("bytes sent", "bytes_sent", s_.send_bytes, bytes, bytes);
    add("bytes received", "bytes_received", s_.receive_bytes, bytes, bytes);
    document_.add(std::move(table));
  }

  void add_traffic(const std::string& heading, const std::string& key, const std::vector<TrafficRow>& rows) {
    if (rows.empty()) return;
    Table table{"", {{"", heading}, {"", "messages", 10}, {"", "share", 6}, {"", "bytes", 10}, {"", "share", 6}}};
    for (const auto& [name, row, traffic] : rows) {
      table.add({name, traffic.messages, fmt::format("{:.1f}%", percent(traffic.messages, s_.total.messages)),
                 bytes_cell(traffic.bytes), fmt::format("{:.1f}%", percent(traffic.bytes, s_.total.bytes))});
      add_lines(key, row, json_of(traffic));
    }
    document_.text("\n");
    document_.add(std::move(table));
  }

  const PatternStatistics& s_;
  Document document_;
  Table lines_{"", {csv_column("table"), csv_column("row"), csv_column("column"), csv_column("value")}};
};

}  // namespace

Document document_of(const PatternStatistics& statistics, const std::string& pattern, const Layout* layout) {
  return PatternReport(statistics, pattern, layout).make(layout != nullptr);
}

}  // namespace commpass
