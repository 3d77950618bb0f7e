#include "selector/report/pattern_report.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "selector/report/csv.hpp"
#include "selector/report/json_text.hpp"

namespace commpass {

namespace {

std::string bytes_text(double bytes) { return format_bytes(bytes); }
std::string bytes_text(Bytes bytes) { return format_bytes(static_cast<double>(bytes)); }

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

const char* describe(Symmetry symmetry) {
  switch (symmetry) {
    case Symmetry::sizes: return "yes, as many bytes both ways";
    case Symmetry::pairs: return "in its pairs of ranks, not in their bytes";
    case Symmetry::none: return "no";
  }
  return "?";
}

/// Rows of messages and bytes with their shares of the whole.
void print_traffic(std::string& text, const std::string& heading,
                   const std::vector<std::pair<std::string, Traffic>>& rows, const Traffic& total) {
  std::size_t width = heading.size();
  for (const auto& [name, traffic] : rows) width = std::max(width, name.size());
  append(text, "\n  {:<{}}  {:>10}  {:>6}  {:>10}  {:>6}\n", heading, width, "messages", "share", "bytes", "share");
  for (const auto& [name, traffic] : rows)
    append(text, "  {:<{}}  {:>10}  {:>5.1f}%  {:>10}  {:>5.1f}%\n", name, width, traffic.messages,
           100 * share(traffic.messages, total.messages), bytes_text(traffic.bytes),
           100 * share(traffic.bytes, total.bytes));
}

std::vector<std::pair<std::string, Traffic>> rows_of_levels(std::span<const LevelTraffic> levels) {
  std::vector<std::pair<std::string, Traffic>> rows;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const auto two = l == 0 ? "" : fmt::format("two {}s", levels[l - 1].name);
    const auto one = l + 1 == levels.size() ? "" : "one " + levels[l].name;
    rows.emplace_back(fmt::format("{}{}{}", one, one.empty() || two.empty() ? "" : ", ", two), levels[l].traffic);
  }
  return rows;
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
           bytes_text(s.repeated_bytes), 100 * share(s.repeated_bytes, s.total.bytes));
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

  std::vector<std::pair<std::string, Traffic>> sizes;
  for (const auto& size : s.sizes)
    sizes.emplace_back(
        size.least == size.most ? bytes_text(size.least) : fmt::format("from {}", bytes_text(size.least)),
        size.traffic);
  if (!sizes.empty()) print_traffic(text, "message size", sizes, s.total);
  if (layout) print_traffic(text, "between ranks of", rows_of_levels(s.by_level), s.total);
  return text;
}

std::string statistics_json(const PatternStatistics& s, const std::string& pattern, const Layout* layout) {
  const auto traffic = [](const Traffic& t) { return Json{{"messages", t.messages}, {"bytes", t.bytes}}; };
  const auto spread = [](const Spread& v) {
    return Json{{"min", v.min}, {"mean", v.mean}, {"max", v.max}, {"imbalance", v.imbalance()}};
  };
  Json json;
  json["schema_version"] = 1;
  json["context"]["pattern"] = pattern;
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
    auto entry = Json{{"min_bytes", size.least}, {"max_bytes", size.most}};
    entry.update(traffic(size.traffic));
    json["sizes"].push_back(std::move(entry));
  }
  for (const auto& level : s.by_level) json["localities"][level.name] = traffic(level.traffic);
  return json_text(json);
}

std::string statistics_csv(const PatternStatistics& s, const std::string&, const Layout*) {
  auto text = csv_line({"table", "row", "column", "value"});
  const auto add = [&](const char* table, const std::string& row, const char* column, auto value) {
    text += csv_line({table, row, column, csv_number(static_cast<double>(value))});
  };
  for (const auto& [name, value] : {std::pair<const char*, std::int64_t>{"ranks", s.ranks},
                                    {"idle_ranks", s.idle_ranks},
                                    {"messages", s.total.messages},
                                    {"bytes", s.total.bytes},
                                    {"repeated_bytes", s.repeated_bytes},
                                    {"empty_edges", s.empty_edges},
                                    {"self_bytes", s.self_bytes}})
    add("pattern", name, "all", value);
  for (const auto& [name, spread] : {std::pair<const char*, const Spread&>{"messages_sent", s.sends},
                                     {"messages_received", s.receives},
                                     {"bytes_sent", s.send_bytes},
                                     {"bytes_received", s.receive_bytes}}) {
    add("rank", name, "min", spread.min);
    add("rank", name, "mean", spread.mean);
    add("rank", name, "max", spread.max);
    add("rank", name, "imbalance", spread.imbalance());
  }
  const auto add_traffic = [&](const char* table, const std::string& row, const Traffic& traffic) {
    add(table, row, "messages", traffic.messages);
    add(table, row, "bytes", traffic.bytes);
  };
  for (const auto& size : s.sizes)
    add_traffic("message_size", fmt::format("{}-{}", size.least, size.most), size.traffic);
  for (const auto& level : s.by_level) add_traffic("locality", level.name, level.traffic);
  return text;
}

}  // namespace commpass
