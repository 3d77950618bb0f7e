#include "selector/report/place_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "model/base/error.hpp"
#include "model/base/text.hpp"

namespace commpass {

namespace {

constexpr std::size_t places_max = 20, page_width = 120;

double members_of(const Record& record, const RecordedExchange& exchange) {
  return static_cast<double>(record.communicators[exchange.communicator].size());
}

ReportedPlace place_of(const Record& record, const std::vector<WhoRan>& ran, AdvisedCall call) {
  ReportedPlace place;
  std::set<Rank> ranks;
  for (const auto i : call.exchanges) {
    const auto& exchange = record.exchanges[i];
    const auto& members = record.communicators[exchange.communicator];
    ranks.insert(members.begin(), members.end());
    const auto count = members_of(record, exchange);
    auto part = ran[i];
    part.saved = part.saved * count;
    place.ran.add(part);
    place.exchange_s += count * exchange.exchange_s;
    place.waiting_s += count * std::max(exchange.in_call_s - exchange.exchange_s, 0.0);
  }
  const auto all = static_cast<double>(std::max(ranks.size(), std::size_t{1}));
  place.ran.saved = place.ran.saved * (1 / all);
  place.exchange_s /= all;
  place.waiting_s /= all;
  place.call = std::move(call);
  return place;
}

/// "12 ms" or "12 ms..15 ms"; both ends are positive.
std::string span_text(Seconds low_s, Seconds high_s) {
  const auto low = format_seconds(low_s), high = format_seconds(high_s);
  return low == high ? low : low + ".." + high;
}

std::string signed_seconds(Seconds seconds) {
  return seconds < 0 ? "-" + format_seconds(-seconds) : format_seconds(seconds);
}

/// "12 ms..15 ms", also for a loss; "-1 ms..2 ms" if the sign is unknown.
std::string interval_text(const SavedTime& saved) {
  if (saved.high_s < 0) return span_text(-saved.high_s, -saved.low_s);
  if (saved.low_s >= 0) return span_text(saved.low_s, saved.high_s);
  return signed_seconds(saved.low_s) + ".." + signed_seconds(saved.high_s);
}

std::string saved_sentence(const PlaceReport& report) {
  const auto& saved = report.saved;
  if (!report.is_saved_known) return "the saving was not measured";
  if (saved == SavedTime{}) return "nothing was saved or lost";
  const bool is_distinguishable = saved.low_s > 0 || saved.high_s < 0;
  if (!is_distinguishable) return "the saving is not distinguishable from 0: " + interval_text(saved);
  return interval_text(saved) + (saved.low_s > 0 ? " saved" : " lost");
}

Cell known_seconds(bool is_known, Seconds seconds) { return is_known ? seconds_cell(seconds) : Cell(Json(), "-"); }

Json known_json(bool is_known, const SavedTime& saved) { return is_known ? Json(saved.estimate_s) : Json(); }
Json interval_json(bool is_known, const SavedTime& saved) {
  return is_known ? Json{saved.low_s, saved.high_s} : Json();
}

/// A second line: the saving, the strategy and the place.
std::string second_line(const ReportedPlace& place) {
  const auto& ran = place.ran;
  auto text = fmt::format("    {} {}; {}, called from ", ran.saved.high_s < 0 ? "lost" : "saved",
                          place.is_timed() && ran.is_saved_known ? interval_text(ran.saved) : "-",
                          ran.strategy.empty() ? "-" : ran.strategy);
  constexpr std::size_t site_width_min = 40;
  text += fitted(place.call.site, std::max(site_width_min, page_width - std::min(text.size(), page_width)));
  return text + "\n";
}

Table table_of(const PlaceReport& report) {
  Table table{"places",
              {{"site"},
               {"call", "MPI_...", -22, {}, 0},
               {"ranks", "ranks", 5, {}, 1},
               {"communicators"},
               {"calls", "calls", 7, {}, 1},
               {"bytes_a_call", "bytes", 8, {}, 1},
               {"by_library", "by MPI", 7, {}, 1},
               {"by_ours", "by ours", 7, {}, 1},
               {"by_both", "by both", 7, {}, 1},
               {"strategy"},
               {"exchange_s", "exchange", 8, {}, 1},
               {"waiting_s", "waiting", 8, {}, 1},
               {"predicted_library_s", "MPI's p.", 8, {}, 1},
               {"predicted_ours_s", "ours p.", 8, {}, 1},
               {"predicted_strategy"},
               {"saved_s"},
               {"saved_interval_s"}}};
  const bool is_priced = report.predicted.has_value();
  for (std::size_t i = 0; i < report.places.size(); ++i) {
    const auto& place = report.places[i];
    const auto& [call, ran, exchange_s, waiting_s] = place;
    const bool is_timed = place.is_timed(), is_saved_known = is_timed && ran.is_saved_known;
    const auto price = is_priced ? report.predicted->prices[i] : CallPrice{};
    table
        .add({call.site,
              call.call,
              call.ranks,
              call.communicators,
              ran.calls(),
              bytes_cell(call.bytes),
              ran.by_library,
              ran.by_ours,
              ran.by_both,
              ran.strategy.empty() ? Cell(Json()) : Cell(ran.strategy),
              known_seconds(is_timed, exchange_s),
              known_seconds(is_timed, waiting_s),
              known_seconds(is_priced, price.library_s),
              known_seconds(is_priced, price.taken_s),
              is_priced ? Cell(price.taken) : Cell(Json()),
              {known_json(is_saved_known, ran.saved), ""},
              {interval_json(is_saved_known, ran.saved), ""}})
        .below = second_line(place);
  }
  return table;
}

}  // namespace

SavedTime& SavedTime::operator+=(const SavedTime& other) {
  estimate_s += other.estimate_s;
  low_s += other.low_s;
  high_s += other.high_s;
  return *this;
}

SavedTime saved_by_ours(Seconds call_s, const MedianInterval& ratio) {
  return SavedTime{1 / ratio.median - 1, 1 / ratio.high - 1, 1 / ratio.low - 1} * call_s;
}

void WhoRan::add(const WhoRan& other) {
  by_library += other.by_library;
  by_ours += other.by_ours;
  by_both += other.by_both;
  saved += other.saved;
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
    report.saved += ran[i].saved * share;
    report.is_saved_known = report.is_saved_known && ran[i].is_saved_known;
  }
  for (; calls.size() > places_max; calls.pop_back()) ++report.places_left_out;
  if (machine) {
    try {
      report.predicted = advise(record, calls, layout, *machine);
    } catch (const Error& error) {  // the machine lacks parameters for this layout
      report.unpriced = error.what();
    }
  }
  for (auto& call : calls) report.places.push_back(place_of(record, ran, std::move(call)));
  return report;
}

Document document_of(const Record& record, const PlaceReport& report) {
  Document document;
  document.facts({{"schema_version", 1},
                  {"context", {{"program", record.program}, {"mpi", record.mpi}, {"layout", record.layout}}},
                  {"machine", report.predicted ? Json(report.predicted->machine) : Json()},
                  {"unpriced", report.unpriced},
                  {"run_s", record.run_s},
                  {"exchange_s", report.exchange_s},
                  {"calls_overlap", report.calls_overlap},
                  {"are_sampled", report.are_sampled},
                  {"saved_s", known_json(report.is_saved_known, report.saved)},
                  {"saved_interval_s", interval_json(report.is_saved_known, report.saved)}});
  auto table = table_of(report);
  if (report.places.empty()) table.forms = Forms::json;
  else
    document.text(
        fmt::format("commpass: by place, in all calls on average over ranks; bytes of a call; predicted (p.) on {}\n",
                    report.predicted ? report.predicted->machine : "no machine: " + report.unpriced));
  document.add(std::move(table));
  document.fact("places_left_out", report.places_left_out);
  document.add(others_table(record));
  if (report.places.empty()) return document;
  if (report.places_left_out > 0) document.text(fmt::format("{} more places are left out\n", report.places_left_out));
  for (const auto& line : describe_others(record)) document.text(line + "\n");
  document.text(fmt::format("of a run of {} exchanges took {}{}{}; {}\n", format_seconds(record.run_s),
                            format_seconds(report.exchange_s), report.are_sampled ? " by samples of the calls" : "",
                            report.calls_overlap ? ", added up over threads that call at once" : "",
                            saved_sentence(report)));
  return document;
}

}  // namespace commpass
