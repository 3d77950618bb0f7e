#include "calibrate/fit/benchmark_times.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string_view>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"

namespace commpass {

namespace {

using Test = BenchmarkTime::Test;
using Memory = BenchmarkTime::Memory;

constexpr double micro = 1e-6, mega = 1e6;
constexpr const char *as_written = "give the file as the benchmark wrote it", *whole = "give the whole file";
constexpr const char* known =
    "osu_latency, osu_bw, osu_bibw, osu_mbw_mr, osu_multi_lat, IMB PingPong and Multi-PingPong, and tables";

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (auto& word : split(line, ' '))
    for (auto& part : split(word, '\t'))
      if (!part.empty()) words.push_back(std::move(part));
  return words;
}

/// The lines of a file, with their numbers.
class Lines {
 public:
  Lines(std::string_view text, const std::string& path)
      : path_(path), is_last_open_(!text.empty() && text.back() != '\n' && text.back() != '\r') {
    while (!text.empty()) lines_.emplace_back(take_line(text));
    if (!is_last_open_) lines_.emplace_back();
  }
  const std::vector<std::string>& all() const { return lines_; }
  /// The index of the first line with the text.
  std::optional<std::size_t> find(std::string_view text, std::size_t from = 0) const {
    for (auto i = from; i < lines_.size(); ++i)
      if (lines_[i].find(text) != std::string::npos) return i;
    return std::nullopt;
  }
  std::string where(std::size_t line) const { return fmt::format("{}, line {}", path_, line + 1); }
  InputError error(std::size_t line, const std::string& what, const std::string& remedy) const {
    return {where(line), what, remedy};
  }
  /// Refuses a last line of numbers without an end.
  void check_end() const {
    if (is_last_open_ && !lines_.back().starts_with('#'))
      throw error(lines_.size() - 1, "the line has no end, so its last number may be cut",
                  "give the whole file, or end the line");
  }
  InputError error(const std::string& what, const std::string& remedy) const { return {path_, what, remedy}; }

 private:
  std::string path_;
  bool is_last_open_;
  std::vector<std::string> lines_;
};

double number_in(const Lines& lines, std::size_t line, const std::string& word) {
  const auto number = parse_number<double>(word);
  if (!number || !std::isfinite(*number) || *number < 0)
    throw lines.error(line, fmt::format("'{}' is no number of 0 or more", word), as_written);
  return *number;
}

Bytes bytes_in(const Lines& lines, std::size_t line, const std::string& word) {
  const auto number = parse_number<Bytes>(word);
  if (!number || *number < 0) throw lines.error(line, fmt::format("'{}' is no size in bytes", word), as_written);
  return *number;
}

/// Refuses messages below 10 ns, above 0.1 s (1 ms in a ping-pong), above 10 TB/s, and below 1 MB/s.
void check_plausible(const Lines& lines, std::size_t line, Test test, Bytes bytes, Seconds seconds,
                     const char* remedy) {
  constexpr Seconds least_s = 1e-8;
  const Seconds most_s = test == Test::ping_pong ? 1e-3 : 0.1;
  constexpr double most_bytes_per_s = 1e13, least_bytes_per_s = 1e6;
  const auto size = static_cast<double>(bytes);
  const bool is_too_fast = (seconds < least_s && test != Test::streams) || size > most_bytes_per_s * seconds;
  if (is_too_fast || seconds > most_s + size / least_bytes_per_s)
    throw lines.error(line,
                      fmt::format("{} would take {}, which is too {} for any machine", format_bytes(size),
                                  format_seconds(seconds), is_too_fast ? "fast" : "slow"),
                      remedy);
}

// ---- OSU ----

struct OsuTest {
  const char* title;
  Test test;
  const char* unit;  ///< of the second column, as its heading has it
  bool has_pairs;    ///< more than one pair of ranks
  int ways = 1;      ///< directions that are busy at once
};
constexpr OsuTest osu_tests[] = {{"Multi Latency Test", Test::many_pairs, "(us)", true},
                                 {"Multiple Bandwidth / Message Rate Test", Test::streams, "MB/s", true},
                                 {"Latency Test", Test::ping_pong, "(us)", false},
                                 {"Bi-Directional Bandwidth Test", Test::streams, "MB/s", false, 2},
                                 {"Bandwidth Test", Test::streams, "MB/s", false}};

/// "[ pairs: 28 ]"
std::optional<int> osu_pairs(const Lines& lines) {
  const auto line = lines.find("pairs:");
  if (!line) return std::nullopt;
  const auto words = words_of(lines.all()[*line]);
  const auto word = std::ranges::find(words, "pairs:");
  return word == words.end() || word + 1 == words.end() ? std::nullopt : parse_number<int>(*(word + 1));
}

/// Titles of point-to-point tests: "# OSU MPI Latency Test v7.3", "# OSU MPI-CUDA Latency Test v7.3". Others differ: "#
/// OSU MPI Allreduce Latency Test v7.3", "# OSU MPI_Put Latency Test v7.3".
bool has_title(const std::string& line, const std::string& title) {
  const auto words = words_of(line);
  if (words.size() < 3 || (words[2] != "MPI" && !words[2].starts_with("MPI-"))) return false;
  return join(std::span(words).subspan(3), " ").starts_with(title);
}

InputError unknown_pairs(const Lines& lines, const BenchmarkPlace& place) {
  return lines.error("it does not say of how many pairs it is",
                     fmt::format("name it as {}x28=FILE for 28", place.level));
}

std::vector<BenchmarkTime> parse_osu(const Lines& lines, std::size_t title, const BenchmarkPlace& place) {
  const auto& name = lines.all()[title];
  const auto* const test = std::ranges::find_if(osu_tests, [&](const auto& t) { return has_title(name, t.title); });
  if (test == std::end(osu_tests))
    throw lines.error(title, fmt::format("'{}' tells no parameter of a profile", name), fmt::format("use {}", known));
  if (const auto second = lines.find("# OSU ", title + 1))
    throw lines.error(*second, "here the output of a second benchmark begins", "give each a file of its own");
  const auto heading = lines.find("# Size", title);
  if (!heading) throw lines.error("it has no line '# Size …': it is cut", whole);
  if (lines.all()[*heading].find(test->unit) == std::string::npos)
    throw lines.error(*heading, fmt::format("its column is not in {}", test->unit), as_written);
  const auto pairs = place.pairs ? place.pairs : test->has_pairs ? osu_pairs(lines) : std::optional(1);
  if (!pairs || *pairs < 1) throw unknown_pairs(lines, place);
  const auto device = lines.find("DEVICE (D)");
  if (const auto managed = lines.find("MANAGED (M)"))
    throw lines.error(*managed, "its buffers are in managed memory", "give a file of D D or H H");
  if (device && lines.all()[*device].find("HOST (H)") != std::string::npos)
    throw lines.error(*device, "one of its buffers is on a device, the other in host memory",
                      "give a file of D D or H H");
  std::vector<BenchmarkTime> times;
  for (auto i = *heading + 1; i < lines.all().size(); ++i) {
    const auto words = words_of(lines.all()[i]);
    if (words.empty() || words.front().starts_with('#')) continue;
    if (words.size() < 2) throw lines.error(i, "the line is cut", whole);
    if (words.back() == "Fail")
      throw lines.error(i, "the benchmark received other bytes than it sent", "repair MPI first");
    const auto bytes = bytes_in(lines, i, words[0]);
    const auto value = number_in(lines, i, words[1]);
    if (bytes == 0) continue;  // a protocol needs bytes
    if (value == 0) throw lines.error(i, "it took no time", as_written);
    const auto seconds =
        test->test == Test::streams ? test->ways * *pairs * static_cast<double>(bytes) / (value * mega) : value * micro;
    check_plausible(lines, i, test->test, bytes, seconds, as_written);
    times.push_back({.test = test->test,
                     .memory = device ? Memory::device : Memory::host,
                     .level = place.level,
                     .pairs = *pairs,
                     .bytes = bytes,
                     .seconds = seconds,
                     .where = lines.where(i)});
  }
  if (times.empty()) throw lines.error("it has no times: it is cut", whole);
  return times;
}

// ---- IMB ----

/// "# ( 28 groups of 2 processes each running simultaneous )"
std::optional<int> imb_pairs(const std::string& line) {
  const auto words = words_of(line);
  const auto groups = std::ranges::find(words, "groups");
  if (groups == words.begin() || groups == words.end()) return std::nullopt;
  const auto& count = *(groups - 1);
  return parse_number<int>(count.starts_with('(') ? count.substr(1) : count);
}

std::vector<BenchmarkTime> parse_imb(const Lines& lines, const BenchmarkPlace& place) {
  std::vector<BenchmarkTime> times;
  const auto first = lines.find("# Benchmarking");
  for (auto title = first; title; title = lines.find("# Benchmarking", *title + 1)) {
    const auto words = words_of(lines.all()[*title]);
    const auto name = words.size() > 2 ? words[2] : std::string();
    const bool is_multi = name == "Multi-PingPong";
    if (!is_multi && name != "PingPong") {
      if (title == first && !lines.find("# Benchmarking", *title + 1))
        throw lines.error(*title, fmt::format("'{}' tells no parameter of a profile", name),
                          fmt::format("use {}", known));
      continue;
    }
    const auto heading = lines.find("#bytes", *title);
    if (!heading) throw lines.error("it has no line '#bytes …': it is cut", whole);
    const auto columns = words_of(lines.all()[*heading]);
    const auto* const wanted = is_multi ? "t_avg[usec]" : "t[usec]";
    const auto column = static_cast<std::size_t>(std::ranges::find(columns, wanted) - columns.begin());
    if (column == columns.size()) throw lines.error(*heading, fmt::format("it has no column {}", wanted), as_written);
    auto pairs = is_multi ? place.pairs : std::optional(1);
    if (const auto groups = lines.find("groups of", *title); !pairs && groups && *groups < *heading)
      pairs = imb_pairs(lines.all()[*groups]);
    if (!pairs || *pairs < 1) throw unknown_pairs(lines, place);
    for (auto i = *heading + 1; i < lines.all().size(); ++i) {
      const auto values = words_of(lines.all()[i]);
      if (values.empty() || values.front().starts_with('#')) break;
      if (values.size() <= column) throw lines.error(i, "the line is cut", whole);
      const auto bytes = bytes_in(lines, i, values[0]);
      const auto value = number_in(lines, i, values[column]);
      if (bytes == 0) continue;
      if (value == 0) throw lines.error(i, "it took no time", as_written);
      const auto test_of_pairs = is_multi ? Test::many_pairs : Test::ping_pong;
      check_plausible(lines, i, test_of_pairs, bytes, value * micro, as_written);
      times.push_back({.test = test_of_pairs,
                       .level = place.level,
                       .pairs = *pairs,
                       .bytes = bytes,
                       .seconds = value * micro,
                       .where = lines.where(i)});
    }
  }
  if (times.empty()) throw lines.error("it has no times of PingPong or Multi-PingPong: it is cut", whole);
  return times;
}

// ---- tables ----

constexpr const char* table_columns[] = {"test", "memory", "locality", "active_pairs", "messages", "bytes", "seconds"};

struct TableTest {
  const char* name;
  Test test;
};
constexpr TableTest table_tests[] = {
    {"ping-pong", Test::ping_pong}, {"many-pairs", Test::many_pairs},         {"streams", Test::streams},
    {"burst", Test::burst},         {"burst-one-peer", Test::burst_one_peer}, {"copy", Test::copy},
    {"copies-at-once", Test::copy}};
/// Ignored: they determine no parameter.
constexpr const char* ignored_tests[] = {"many-pairs-split", "burst-split", "burst-one-peer-reversed"};

const std::map<std::string, Memory> memories{
    {"host", Memory::host}, {"device", Memory::device}, {"d2h", Memory::to_host}, {"h2d", Memory::to_device}};
/// Ignored, too.
constexpr const char* ignored_memories[] = {"device-staged", "d2d"};

std::vector<BenchmarkTime> parse_table(const Lines& lines) {
  std::size_t heading = 0;
  while (heading < lines.all().size() && (lines.all()[heading].empty() || lines.all()[heading].starts_with('#')))
    ++heading;
  if (heading == lines.all().size())
    throw lines.error("it has no line of column names", fmt::format("write {}", join(table_columns, ",")));
  std::map<std::string, std::size_t> columns;
  const auto names = split(lines.all()[heading], ',');
  for (std::size_t c = 0; c < names.size(); ++c) columns[names[c]] = c;
  for (const auto* column : table_columns)
    if (!columns.contains(column))
      throw lines.error(heading, fmt::format("it has no column '{}'", column),
                        fmt::format("write {}", join(table_columns, ",")));
  std::vector<BenchmarkTime> times;
  for (auto i = heading + 1; i < lines.all().size(); ++i) {
    if (lines.all()[i].empty() || lines.all()[i].starts_with('#')) continue;
    const auto cells = split(lines.all()[i], ',');
    if (cells.size() != names.size())
      throw lines.error(i, fmt::format("it has {} of {} columns", cells.size(), names.size()), whole);
    const auto cell = [&](const char* column) { return cells[columns.at(column)]; };
    const auto test = cell("test"), memory = cell("memory");
    const auto* const row = std::ranges::find(table_tests, test, &TableTest::name);
    if (row == std::end(table_tests)) {
      if (std::ranges::find(ignored_tests, test) != std::end(ignored_tests)) continue;
      std::vector<std::string> all;
      for (const auto& each : table_tests) all.emplace_back(each.name);
      throw lines.error(i, fmt::format("there is no test '{}'", test), "use " + join(all, ", "));
    }
    if (std::ranges::find(ignored_memories, memory) != std::end(ignored_memories)) continue;
    const auto in = memories.find(memory);
    if (in == memories.end())
      throw lines.error(i, fmt::format("there is no memory '{}'", memory), "use host, device, d2h or h2d");
    const auto count = [&](const char* column) {
      const auto number = cell(column).empty() ? std::optional(1) : parse_number<int>(cell(column));
      if (!number || *number < 1)
        throw lines.error(i, fmt::format("{} is '{}'", column, cell(column)), "use an integer, 1 or more");
      return *number;
    };
    const auto bytes = bytes_in(lines, i, cell("bytes"));
    const auto seconds = number_in(lines, i, cell("seconds"));
    if (bytes == 0) continue;
    if (seconds == 0) throw lines.error(i, "it took no time", "leave the line out");
    check_plausible(lines, i, row->test, bytes, seconds, "give seconds of one way, and bytes");
    if (const auto level = cell("locality"); !is_imported_level(level))
      throw lines.error(i, fmt::format("there is no level '{}'", level), imported_levels_remedy());
    times.push_back({row->test, in->second, cell("locality"), columns.contains("variant") ? cell("variant") : "",
                     count("active_pairs"), count("messages"), bytes, seconds, lines.where(i)});
  }
  if (times.empty()) throw lines.error("the table has no rows that tell a parameter", whole);
  return times;
}

}  // namespace

std::vector<BenchmarkTime> parse_benchmark(const std::string& text, const std::string& path,
                                           const std::optional<BenchmarkPlace>& place) {
  const Lines lines(without_byte_order_mark(text, path), path);
  const auto parse = [&] {
    const auto osu = lines.find("# OSU ");
    const bool is_imb = lines.find("# Benchmarking").has_value();
    if ((osu || is_imb) && !place)
      throw lines.error("it does not say where its ranks were", "name it as LEVEL=FILE, for example network=" + path);
    if (osu) return parse_osu(lines, *osu, *place);
    if (is_imb) return parse_imb(lines, *place);
    if (const auto heading = lines.find("# Size"))
      throw lines.error(*heading, "there is no title '# OSU …' above it", as_written);
    if (place && lines.find("active_pairs"))
      throw lines.error("a table tells the levels of its rows", fmt::format("name it without {}=", place->level));
    if (place || text.find(',') == std::string::npos)
      throw lines.error("it is no output of a benchmark that is known", fmt::format("use {}", known));
    return parse_table(lines);
  };
  auto times = parse();
  lines.check_end();
  return times;
}

bool is_imported_level(std::string_view name) {
  return std::ranges::find(imported_levels, name) != std::end(imported_levels);
}

std::string imported_levels_remedy() {
  const std::span all(imported_levels);
  return fmt::format("use {} or {}", join(all.first(all.size() - 1), ", "), all.back());
}

}  // namespace commpass
