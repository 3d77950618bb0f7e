#include "selector/report/record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/json.hpp"
#include "selector/environment/interposed_call.hpp"
#include "selector/report/document.hpp"

namespace commpass {

namespace {

constexpr int record_schema = 2;
constexpr auto* record_remedy = "record the program again";

/// The strict reader of an object: all keys are required, and no others are allowed.
class Fields {
 public:
  Fields(const Json& json, std::string place, std::size_t count) : json_(json), place_(std::move(place)) {
    if (!json.is_object()) fail("it is no object");
    if (json.size() != count) fail(fmt::format("it has {} keys in place of {}", json.size(), count));
  }

  const Json& at(const char* key) const {
    const auto* found = json_.find(key);
    if (!found) fail(fmt::format("{} is missing", key));
    return *found;
  }
  std::string text(const char* key) const {
    const auto& value = at(key);
    if (!value.is_string()) fail(fmt::format("{} is no text", key));
    return value.get<std::string>();
  }
  std::int64_t whole(const char* key) const { return whole(at(key), key); }
  std::int64_t whole(const Json& value, const char* key, std::int64_t max = std::int64_t{1} << 62) const {
    const auto integer = value.integer();
    if (!integer || *integer < 0 || *integer > max) fail(fmt::format("{} is no whole number from 0 to {}", key, max));
    return *integer;
  }
  std::int64_t calls(const Json& value) const {
    constexpr auto calls_max = std::int64_t{1} << 40;  // sums over a file stay below 2^63
    return whole(value, "calls", calls_max);
  }
  std::int64_t calls(const char* key = "calls") const { return calls(at(key)); }
  Seconds seconds(const char* key) const { return seconds(at(key), key); }
  Seconds seconds(const Json& value, const char* key) const {
    constexpr Seconds seconds_max = 1e12;  // sums stay finite
    if (!value.is_number() || !(value.get<double>() >= 0) || value.get<double>() > seconds_max)
      fail(fmt::format("{} is no time in seconds", key));
    return value.get<double>();
  }
  const Json& list(const char* key, std::optional<std::size_t> count = {}) const {
    const auto& value = at(key);
    if (!value.is_array() || (count && value.size() != *count))
      fail(fmt::format("{} is no list of the right length", key));
    return value;
  }
  [[noreturn]] void fail(const std::string& what) const { throw InputError(place_, what, record_remedy); }

 private:
  const Json& json_;
  std::string place_;
};

/// Ranks as [first, count, stride], …: most communicators are regular.
Json ranges_of(const std::vector<Rank>& ranks) {
  Json ranges = Json::array();
  for (std::size_t i = 0; i < ranks.size();) {
    const int stride = i + 1 < ranks.size() ? ranks[i + 1] - ranks[i] : 1;
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] - ranks[end - 1] == stride) ++end;
    ranges.push_back({ranks[i], end - i, stride});
    i = end;
  }
  return ranges;
}

/// Reads the ranks of communicators, and limits their number in all.
class Members {
 public:
  explicit Members(int ranks) : last_communicator_(static_cast<std::size_t>(ranks), none) {}

  std::vector<Rank> read(const Json& json, const std::string& place) {
    const auto number = read_++;
    const auto fail = [&](const char* what) { throw InputError(place, what, record_remedy); };
    std::vector<Rank> ranks;
    if (!json.is_array() || json.empty()) fail("it is no list of ranges of ranks");
    for (const auto& range : json) {
      if (!range.is_array() || range.size() != 3 ||
          !std::ranges::all_of(range, [](const Json& entry) { return entry.is_number_integer(); }))
        fail("a range of ranks is not [first, count, stride]");
      const auto within = [&](const Json& entry) {
        const auto ranks_of_run = std::ssize(last_communicator_);
        const auto integer = entry.integer();
        if (!integer || *integer < -ranks_of_run || *integer > ranks_of_run)
          fail("a range leaves the ranks of the run");
        return *integer;
      };
      const auto first = within(range[0]), count = within(range[1]), stride = within(range[2]);
      if (count < 1) fail("a range has no ranks");
      for (std::int64_t i = 0; i < count; ++i) {
        const auto rank = first + i * stride;
        if (rank < 0 || rank >= std::ssize(last_communicator_)) fail("a range leaves the ranks of the run");
        if (std::exchange(last_communicator_[static_cast<std::size_t>(rank)], number) == number)
          fail("it has a rank twice");
        ranks.push_back(static_cast<Rank>(rank));
        if (++total_ > recorded_members_max) fail("communicators have too many ranks in all");
      }
    }
    return ranks;
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> last_communicator_;
  std::size_t read_ = 0, total_ = 0;
};

/// Edges as [from, [to, …], [bytes, …]], one for each sender.
Json senders_of(const std::vector<Edge>& edges) {
  Json senders = Json::array();
  for (std::size_t i = 0; i < edges.size();) {
    Json to = Json::array(), bytes = Json::array();
    const auto from = edges[i].source;
    for (; i < edges.size() && edges[i].source == from; ++i) {
      to.push_back(edges[i].destination);
      bytes.push_back(edges[i].bytes);
    }
    senders.push_back({from, std::move(to), std::move(bytes)});
  }
  return senders;
}

std::vector<Edge> parse_edges(const Fields& of, std::int64_t ranks, std::size_t& total) {
  std::vector<Edge> edges;
  Bytes sum = 0;
  const auto rank_of = [&](const Json& value) {
    const auto rank = of.whole(value, "a rank of edges");
    if (rank >= ranks) of.fail("edges leave the ranks of the communicator");
    return static_cast<Rank>(rank);
  };
  for (const auto& sender : of.list("edges")) {
    if (!sender.is_array() || sender.size() != 3 || !sender[1].is_array() || !sender[2].is_array() ||
        sender[1].size() != sender[2].size() || sender[1].empty())
      of.fail("edges are not [from, [to, …], [bytes, …]]");
    const auto from = rank_of(sender[0]);
    if (!edges.empty() && edges.back().source >= from) of.fail("edges are not in the order of their senders");
    total += sender[1].size();
    if (total > recorded_edges_max) of.fail("there are too many edges");
    for (std::size_t i = 0; i < sender[1].size(); ++i) {
      const auto bytes = of.whole(sender[2][i], "a size of edges");
      if (bytes > std::numeric_limits<Bytes>::max() - sum) of.fail("edges add up to more than 2^63 bytes");
      sum += bytes;
      edges.push_back({from, rank_of(sender[1][i]), bytes});
    }
  }
  return edges;
}

Json json_of(const OverTime& over_time) {
  std::size_t end = OverTime::parts;
  while (end > 0 && over_time.calls[end - 1] == 0 && over_time.seconds[end - 1] == 0) --end;
  return {{"part_s", over_time.part_s},
          {"calls", std::span(over_time.calls).first(end)},
          {"seconds", std::span(over_time.seconds).first(end)}};
}

OverTime parse_over_time(const Json& json, const std::string& place) {
  const Fields of(json, place, 3);
  OverTime result;
  result.part_s = of.seconds("part_s");
  constexpr double mantissa = 0.5;  // of a power of two, as finest_s is
  int exponent = 0;
  if (result.part_s < OverTime::finest_s || std::frexp(result.part_s, &exponent) != mantissa)
    of.fail("part_s is not 1/64 s times a power of two");
  const auto& calls = of.list("calls");
  const auto& seconds = of.list("seconds", calls.size());
  if (calls.size() > OverTime::parts) of.fail(fmt::format("it has more than {} parts", OverTime::parts));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    result.calls[i] = of.calls(calls[i]);
    result.seconds[i] = of.seconds(seconds[i], "seconds");
  }
  return result;
}

int ranks_in(const std::string& layout, const Fields& of) {
  try {
    return ranks_of_layout(layout);
  } catch (const InputError& error) {
    of.fail("layout cannot be: " + std::string(error.what()).substr(0, std::string(error.what()).find(';')));
  }
}

Json json_of(const RecordedExchange& exchange) {
  Json json{{"call", exchange.call},
            {"site", exchange.site},
            {"communicator", exchange.communicator},
            {"calls", exchange.calls},
            {"handles", exchange.handles},
            {"exchange_s", exchange.exchange_s},
            {"in_call_s", exchange.in_call_s},
            {"timed", exchange.is_by_clock ? "last finish - last arrival" : "least of the ranks"},
            {"bytes", exchange.bytes},
            {"blocks", exchange.blocks}};
  json["equal_bytes"] = exchange.equal_bytes ? Json(*exchange.equal_bytes) : Json();
  json["edges"] = senders_of(exchange.edges);
  json["over_time"] = json_of(exchange.over_time);
  return json;
}

RecordedExchange parse_exchange(const Json& json, const std::string& place, const Record& record, std::size_t& edges) {
  constexpr std::size_t keys = 13;
  const Fields of(json, place, keys);
  RecordedExchange result{of.text("call"), of.text("site")};
  result.communicator = static_cast<std::size_t>(of.whole("communicator"));
  if (result.communicator >= record.communicators.size()) of.fail("there is no such communicator");
  result.calls = of.calls();
  if (result.calls < 1) of.fail("it was never called");
  result.handles = of.calls("handles");
  if (result.handles < 1 || result.handles > result.calls) of.fail("handles is not from 1 to calls");
  result.exchange_s = of.seconds("exchange_s");
  result.in_call_s = of.seconds("in_call_s");
  const auto timed = of.text("timed");
  result.is_by_clock = timed == "last finish - last arrival";
  if (!result.is_by_clock && timed != "least of the ranks") of.fail("timed is no known method");
  result.bytes = of.whole("bytes");
  result.blocks = of.whole("blocks");
  if (!of.at("equal_bytes").is_null()) result.equal_bytes = of.whole("equal_bytes");
  result.edges = parse_edges(of, std::ssize(record.communicators[result.communicator]), edges);
  if (result.equal_bytes && !result.edges.empty()) of.fail("it has both equal blocks and edges");
  result.over_time = parse_over_time(of.at("over_time"), place + ", over_time");
  return result;
}

OtherCalls parse_others(const Json& json, const std::string& place) {
  const Fields of(json, place, 4);
  return {of.text("call"), of.calls(), of.seconds("in_call_s"), of.whole("bytes")};
}

CountedMessages parse_messages(const Json& json, const std::string& place) {
  constexpr std::size_t keys = 7;
  const Fields of(json, place, keys);
  const auto ranks_of = [&](const char* key) {
    return static_cast<int>(of.whole(of.at(key), key, most_pattern_ranks));
  };
  return {of.text("call"),   of.text("site"),      ranks_of("ranks"),      of.calls(),
          of.whole("bytes"), ranks_of("partners"), of.seconds("in_call_s")};
}

Json json_of(const CountedMessages& messages) {
  return {{"call", messages.call},          {"site", messages.site},   {"ranks", messages.ranks},
          {"calls", messages.calls},        {"bytes", messages.bytes}, {"partners", messages.partners},
          {"in_call_s", messages.in_call_s}};
}

}  // namespace

void OverTime::coarsen() {
  part_s *= 2;
  const auto fold = [](auto& numbers) {
    for (std::size_t i = 0; i < parts / 2; ++i) numbers[i] = numbers[2 * i] + numbers[2 * i + 1];
    std::fill(numbers.begin() + parts / 2, numbers.end(), 0);
  };
  fold(calls);
  fold(seconds);
}

void OverTime::add(Seconds at_s, Seconds call_s) {
  const auto at = std::max(at_s, 0.0);
  while (at >= part_s * static_cast<double>(parts)) coarsen();
  const auto part = static_cast<std::size_t>(at / part_s);
  ++calls[part];
  seconds[part] += call_s;
}

void OverTime::add(const OverTime& other) {
  auto added = other;
  while (part_s < added.part_s) coarsen();
  while (added.part_s < part_s) added.coarsen();
  for (std::size_t i = 0; i < parts; ++i) {
    calls[i] += added.calls[i];
    seconds[i] += added.seconds[i];
  }
}

bool is_sent_directly(const RecordedExchange& exchange) {
  return is_counted_call(exchange.call) || exchange.call.find("neighbor") != std::string::npos;
}

std::optional<Pattern> pattern_of(const Record& record, const RecordedExchange& exchange) {
  const auto ranks = record.communicators[exchange.communicator].size();
  Pattern pattern{static_cast<int>(ranks), exchange.edges};
  if (exchange.equal_bytes) {
    if (ranks * ranks > recorded_edges_max)
      throw InputError("an all-to-all of " + std::to_string(ranks) + " ranks", "it has too many edges to list",
                       fmt::format("use --generate alltoall:ranks={},bytes={}", ranks, *exchange.equal_bytes));
    for (Rank from = 0; from < pattern.ranks; ++from)
      for (Rank to = 0; to < pattern.ranks; ++to) pattern.edges.push_back({from, to, *exchange.equal_bytes});
  } else if (exchange.edges.empty() && exchange.blocks > 0) {
    return std::nullopt;
  }
  return pattern;
}

Record parse_record(const std::string& text, const std::string& origin) {
  const auto json = Json::parse_or_null(text);
  if (!json.is_object() || json.value("schema", Json()) != record_schema)
    throw InputError(origin, fmt::format("it is no record of schema {}", record_schema),
                     "name a file that 'commpass record' has written");
  constexpr std::size_t keys = 10;
  const Fields of(json, origin, keys);
  Record record{of.text("program"), of.text("mpi"), of.text("layout"), of.seconds("run_s"), {}, {}, {}};
  const int ranks = ranks_in(record.layout, of);
  if (ranks > most_pattern_ranks) of.fail(fmt::format("it has {} ranks", ranks));
  const auto read_all = [&](const char* key, const char* each, auto& list, auto read) {
    for (const auto& entry : of.list(key))
      list.push_back(read(entry, fmt::format("{}: {} {}", origin, each, list.size())));
  };
  Members members(ranks);
  read_all("communicators", "communicator", record.communicators,
           [&](const Json& entry, const std::string& place) { return members.read(entry, place); });
  std::size_t edges = 0;
  read_all("exchanges", "exchange", record.exchanges,
           [&](const Json& entry, const std::string& place) { return parse_exchange(entry, place, record, edges); });
  if (record.run_s == 0 && std::ranges::any_of(record.exchanges, [](const auto& one) { return one.exchange_s > 0; }))
    of.fail("run_s is 0, though exchanges took time");
  read_all("others", "others", record.others, parse_others);
  read_all("messages", "messages", record.messages, parse_messages);
  record.counting_s = of.seconds("counting_s");
  return record;
}

std::string to_json(const Record& record) {
  Json json{{"schema", record_schema},   {"program", record.program}, {"mpi", record.mpi},
            {"layout", record.layout},   {"run_s", record.run_s},     {"communicators", Json::array()},
            {"exchanges", Json::array()}};
  for (const auto& ranks : record.communicators) json["communicators"].push_back(ranges_of(ranks));
  for (const auto& exchange : record.exchanges) json["exchanges"].push_back(json_of(exchange));
  json["others"] = Json::array();
  for (const auto& [call, calls, in_call_s, bytes] : record.others)
    json["others"].push_back({{"call", call}, {"calls", calls}, {"in_call_s", in_call_s}, {"bytes", bytes}});
  json["messages"] = Json::array();
  for (const auto& messages : record.messages) json["messages"].push_back(json_of(messages));
  json["counting_s"] = record.counting_s;
  return json_text(json, -1);
}

Record read_record(const std::string& path) {
  const ReadLimit limit{Bytes{1} << 28, "record fewer calls by COMMPASS_MPI_CALLS"};
  return within_memory(path, [&] { return parse_record(read_file(path, limit), path); });
}

}  // namespace commpass
