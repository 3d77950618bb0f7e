#include "selector/report/pattern_report.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "selector/report/forms.hpp"

namespace commpass {

namespace {

std::string bytes_text(double bytes) { return format_bytes(bytes); }
std::string bytes_text(Bytes bytes) { return format_bytes(static_cast<double>(bytes)); }

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

using TrafficRows = std::vector<std::pair<std::string, Traffic>>;

/// A table of messages and bytes, with their shares of the total.
void print_traffic(std::string& text, const std::string& heading, const TrafficRows& rows, const Traffic& total) {
  const auto width = column_width(heading, rows, &TrafficRows::value_type::first);
  append(text, "\n  {:<{}}  {:>10}  {:>6}  {:>10}  {:>6}\n", heading, width, "messages", "share", "bytes", "share");
  for (const auto& [name, traffic] : rows)
    append(text, "  {:<{}}  {:>10}  {:>5.1f}%  {:>10}  {:>5.1f}%\n", name, width, traffic.messages,
           percent(traffic.messages, total.messages), bytes_text(traffic.bytes), percent(traffic.bytes, total.bytes));
}

TrafficRows rows_of_levels(std::span<const LevelTraffic> levels) {
  TrafficRows rows;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const auto two = l == 0 ? "" : fmt::format("two {}s", levels[l - 1].name);
    const auto one = l + 1 == levels.size() ? "" : "one " + levels[l].name;
    rows.emplace_back(fmt::format("{}{}{}", one, one.empty() || two.empty() ? "" : ", ", two), levels[l].traffic);
  }
  return rows;
}

Json json_of(const Traffic& traffic) { return {{"messages", traffic.messages}, {"bytes", traffic.bytes}}; }

Json json_of(const PatternStatistics& s, const std::string& pattern, const Layout* layout) {
  const auto spread = [](const Spread& v) {
    return Json{{"min", v.min}, {"mean", v.mean}, {"max", v.max}, {"imbalance", v.imbalance()}};
  };
  auto json = json_head({{"pattern", pattern}});
  if (layout) json["context"]["layout"] = layout->describe();
  json["ranks"] = s.ranks;
  json["idle_ranks"] = s.idle_ranks;
  json["messages"] = s.total.messages;
  json["bytes"] = s.total.bytes;
  json["repeated_bytes"] = s.repeated_bytes;
  json["empty_edges"] = s.empty_edges;
  json["self_bytes"] = s.self_bytes;
  json["symmetry"] = name_of(s.symmetry);
  json["message_bytes"] = {
      {"min", s.message_bytes_min}, {"median", s.message_bytes_median}, {"max", s.message_bytes_max}};
  json["per_rank"] = {{"messages_sent", spread(s.sends)},
                      {"messages_received", spread(s.receives)},
                      {"bytes_sent", spread(s.send_bytes)},
                      {"bytes_received", spread(s.receive_bytes)}};
  json["sizes"] = Json::array();
  for (const auto& size : s.sizes) {
    Json entry{{"min_bytes", size.least}, {"max_bytes", size.most}};
    entry.update(json_of(size.traffic));
    json["sizes"].push_back(std::move(entry));
  }
  for (const auto& level : s.by_level) json["localities"][level.name] = json_of(level.traffic);
  return json;
}

}  // namespace

std::string statistics_table(const PatternStatistics& s, const std::string& pattern, const Layout* layout) {
  std::string text;
  append(text, "pattern: {}\n", pattern);
  if (layout) append(text, "layout: {}\n", layout->describe());
  append(text, "ranks: {}, of which {} neither send nor receive\n", s.ranks, s.idle_ranks);
  append(text, "messages: {}, and {} edges of 0 bytes\n", s.total.messages, s.empty_edges);
  append(text, "bytes: {}, and {} of ranks to themselves\n", bytes_text(s.total.bytes), bytes_text(s.self_bytes));
  if (s.repeated_bytes > 0)
    append(text, "repeated: {} ({:.1f}%) are bytes that their rank also sends to another one\n",
           bytes_text(s.repeated_bytes), percent(s.repeated_bytes, s.total.bytes));
  append(text, "message size: {} smallest, {} median, {} largest\n", bytes_text(s.message_bytes_min),
         bytes_text(s.message_bytes_median), bytes_text(s.message_bytes_max));
  append(text, "symmetric: {}\n", describe(s.symmetry));

  append(text, "\n  {:<17}  {:>10}  {:>10}  {:>10}  {:>10}\n", "of a rank", "least", "mean", "most", "most/mean");
  const auto counts = [&](const char* what, const Spread& spread) {
    append(text, "  {:<17}  {:>10}  {:>10.1f}  {:>10}  {:>10.2f}\n", what, spread.min, spread.mean, spread.max,
           spread.imbalance());
  };
  const auto bytes = [&](const char* what, const Spread& spread) {
    append(text, "  {:<17}  {:>10}  {:>10}  {:>10}  {:>10.2f}\n", what, bytes_text(spread.min), bytes_text(spread.mean),
           bytes_text(spread.max), spread.imbalance());
  };
  counts("messages sent", s.sends);
  counts("messages received", s.receives);
  bytes("bytes sent", s.send_bytes);
  bytes("bytes received", s.receive_bytes);

  TrafficRows sizes;
  for (const auto& size : s.sizes)
    sizes.emplace_back(
        size.least == size.most ? bytes_text(size.least) : fmt::format("from {}", bytes_text(size.least)),
        size.traffic);
  if (!sizes.empty()) print_traffic(text, "message size", sizes, s.total);
  if (layout) print_traffic(text, "between ranks of", rows_of_levels(s.by_level), s.total);
  return text;
}

std::string statistics_json(const PatternStatistics& s, const std::string& pattern, const Layout* layout) {
  return json_text(json_of(s, pattern, layout));
}

std::string statistics_csv(const PatternStatistics& s, const std::string& pattern, const Layout* layout) {
  auto text = csv_line({"table", "row", "column", "value"});
  const auto add = [&](const char* table, const std::string& row, const std::string& column, const Json& value) {
    text += csv_line({table, row, column, csv_number(value.get<double>())});
  };
  const auto add_all = [&](const char* table, const std::string& row, const Json& values) {
    for (const auto& [column, value] : values.items()) add(table, row, column, value);
  };
  const auto json = json_of(s, pattern, layout);
  for (const auto& [name, value] : json.items())
    if (value.is_number() && name != "schema_version") add("pattern", name, "all", value);
  for (const auto& [name, spread] : json["per_rank"].items()) add_all("rank", name, spread);
  for (const auto& size : s.sizes)
    add_all("message_size", fmt::format("{}-{}", size.least, size.most), json_of(size.traffic));
  for (const auto& level : s.by_level) add_all("locality", level.name, json_of(level.traffic));
  return text;
}

}  // namespace commpass
