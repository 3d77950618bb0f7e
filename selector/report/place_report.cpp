#include "selector/report/place_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"

namespace commpass {

namespace {

constexpr std::size_t most_places = 20;

double members_of(const Record& record, const RecordedExchange& exchange) {
  return static_cast<double>(record.communicators[exchange.communicator].size());
}

/// Over the ranks that take part in any of them.
ReportedPlace place_of(const Record& record, const std::vector<WhoRan>& ran, AdvisedCall call) {
  ReportedPlace place;
  std::set<Rank> ranks;
  for (const auto i : call.exchanges) {
    const auto& exchange = record.exchanges[i];
    const auto& members = record.communicators[exchange.communicator];
    ranks.insert(members.begin(), members.end());
    const auto count = members_of(record, exchange);
    auto part = ran[i];
    part.saved_s *= count;
    place.ran.add(part);
    place.exchange_s += count * exchange.exchange_s;
    place.waiting_s += count * std::max(exchange.in_call_s - exchange.exchange_s, 0.0);
  }
  const auto all = static_cast<double>(std::max(ranks.size(), std::size_t{1}));
  place.ran.saved_s /= all;
  place.exchange_s /= all;
  place.waiting_s /= all;
  place.call = std::move(call);
  return place;
}

/// A call starts an exchange that nobody timed.
bool is_timed(const ReportedPlace& place) { return place.exchange_s > 0; }

std::string seconds_or_dash(bool is_known, Seconds seconds) {
  if (!is_known) return "-";
  return seconds < 0 ? "-" + format_seconds(-seconds) : format_seconds(seconds);
}

std::string row_of(const PlaceReport& report, std::size_t i) {
  const auto& place = report.places[i];
  const auto& call = place.call;
  const bool is_priced = report.predicted.has_value();
  const auto price = is_priced ? report.predicted->prices[i] : CallPrice{};
  return fmt::format("{:<20} {:>6} {:>8} {:>12} {:>8} {:>8} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10}  {}  {}\n",
                     call.call, call.ranks, place.ran.by_library + place.ran.by_ours + place.ran.by_both,
                     format_bytes(call.bytes), place.ran.by_library, place.ran.by_ours, place.ran.by_both,
                     seconds_or_dash(is_timed(place), place.exchange_s),
                     seconds_or_dash(is_timed(place), place.waiting_s), seconds_or_dash(is_priced, price.library_s),
                     seconds_or_dash(is_priced, price.taken_s),
                     seconds_or_dash(is_timed(place) && place.ran.is_saved_known, place.ran.saved_s),
                     place.ran.strategy.empty() ? "-" : place.ran.strategy, call.site);
}

}  // namespace

void WhoRan::add(const WhoRan& other) {
  by_library += other.by_library;
  by_ours += other.by_ours;
  by_both += other.by_both;
  saved_s += other.saved_s;
  is_saved_known = is_saved_known && other.is_saved_known;
  if (!other.strategy.empty()) strategy = other.strategy;
}

PlaceReport report_places(const Record& record, const std::vector<WhoRan>& ran, const Layout& layout,
                          const Machine* machine, const std::string& unpriced) {
  PlaceReport report;
  report.unpriced = unpriced;
  auto calls = advised_calls(record);
  for (std::size_t i = 0; i < record.exchanges.size(); ++i) {
    const auto share = members_of(record, record.exchanges[i]) / record.ranks();
    report.exchange_s += share * record.exchanges[i].exchange_s;
    report.saved_s += share * ran[i].saved_s;
    report.is_saved_known = report.is_saved_known && ran[i].is_saved_known;
  }
  for (; calls.size() > most_places; calls.pop_back()) ++report.places_left_out;
  if (machine) {
    try {
      report.predicted = advise(record, calls, layout, *machine);
    } catch (const Error& error) {  // the machine has no parameters for this layout
      report.unpriced = error.what();
    }
  }
  for (auto& call : calls) report.places.push_back(place_of(record, ran, std::move(call)));
  return report;
}

std::string place_report_text(const Record& record, const PlaceReport& report) {
  if (report.places.empty()) return {};
  std::string text;
  append(text, "commpass: by place, in all calls on average over ranks; predicted on {}\n",
         report.predicted ? report.predicted->machine : "no machine: " + report.unpriced);
  append(text, "{:<20} {:>6} {:>8} {:>12} {:>8} {:>8} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10}  {}\n", "MPI_...",
         "ranks", "calls", "bytes a call", "by MPI", "by ours", "by both", "exchange", "waiting", "MPI's pred.",
         "ours pred.", "saved", "last strategy, called from");
  for (std::size_t i = 0; i < report.places.size(); ++i) text += row_of(report, i);
  if (report.places_left_out > 0) append(text, "{} more places are left out\n", report.places_left_out);
  for (const auto& other : record.others)
    append(text, "{} more calls of MPI_{} were counted only\n", other.calls, other.call);
  append(text, "of a run of {} exchanges took {}; {}\n", format_seconds(record.run_s),
         format_seconds(report.exchange_s),
         report.is_saved_known ? seconds_or_dash(true, report.saved_s) + " saved" : "what was saved was not measured");
  return text;
}

std::string place_report_json(const Record& record, const PlaceReport& report) {
  const auto known = [](bool is_known, Seconds seconds) { return is_known ? Json(seconds) : Json(); };
  Json json{{"schema_version", 1},
            {"context", {{"program", record.program}, {"mpi", record.mpi}, {"layout", record.layout}}},
            {"machine", report.predicted ? Json(report.predicted->machine) : Json()},
            {"unpriced", report.unpriced},
            {"run_s", record.run_s},
            {"exchange_s", report.exchange_s},
            {"saved_s", known(report.is_saved_known, report.saved_s)},
            {"places", Json::array()}};
  for (std::size_t i = 0; i < report.places.size(); ++i) {
    const auto& place = report.places[i];
    const bool is_priced = report.predicted.has_value();
    const auto price = is_priced ? report.predicted->prices[i] : CallPrice{};
    json["places"].push_back({{"site", place.call.site},
                              {"call", place.call.call},
                              {"ranks", place.call.ranks},
                              {"communicators", place.call.communicators},
                              {"calls", place.ran.by_library + place.ran.by_ours + place.ran.by_both},
                              {"bytes_a_call", place.call.bytes},
                              {"by_library", place.ran.by_library},
                              {"by_ours", place.ran.by_ours},
                              {"by_both", place.ran.by_both},
                              {"strategy", place.ran.strategy.empty() ? Json() : Json(place.ran.strategy)},
                              {"exchange_s", known(is_timed(place), place.exchange_s)},
                              {"waiting_s", known(is_timed(place), place.waiting_s)},
                              {"predicted_library_s", known(is_priced, price.library_s)},
                              {"predicted_ours_s", known(is_priced, price.taken_s)},
                              {"predicted_strategy", is_priced ? Json(price.taken) : Json()},
                              {"saved_s", known(is_timed(place) && place.ran.is_saved_known, place.ran.saved_s)}});
  }
  json["places_left_out"] = report.places_left_out;
  json["others"] = Json::array();
  for (const auto& other : record.others) json["others"].push_back({{"call", other.call}, {"calls", other.calls}});
  constexpr int indent = 2;
  return json.dump(indent) + "\n";
}

}  // namespace commpass
