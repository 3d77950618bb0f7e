#include "selector/report/report.hpp"

#include <cmath>
#include <limits>

#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "selector/choose/baseline.hpp"

namespace commpass {

double CallReport::regret() const {
  Seconds fastest_s = std::numeric_limits<Seconds>::infinity();
  for (const auto* list : {&rows, &baselines})
    for (const auto& row : *list) fastest_s = std::min(fastest_s, row.measured_s);
  return std::isfinite(fastest_s) && fastest_s > 0 ? chosen_s / fastest_s : 1;
}

Document document_of(const CallReport& report) {
  Document document(report.context);
  document.facts({{"chosen", report.chosen}, {"chosen_s", report.chosen_s}});
  Table ranking{"ranking",
                {mark_column(),
                 {.key = "strategy", .heading = "strategy", .gap = 1},
                 {"predicted_s", "predicted", 10},
                 {"measured_s", "measured", 10},
                 {"", "error", 10}}};
  Table baselines{"baselines", columns_of("name measured_s")};
  auto lines = csv_table("name kind predicted_s measured_s");
  ranking.forms = Forms::but_csv;
  baselines.forms = Forms::json;
  for (const auto& [name, predicted_s, measured_s] : report.rows) {
    ranking.add({name == report.chosen ? "*" : " ", name, seconds_cell(predicted_s), seconds_cell(measured_s),
                 predicted_s ? format_rounded_error(*predicted_s / measured_s - 1) : ""});
    lines.add({name, "strategy", predicted_s, measured_s});
  }
  document.text("\n");
  document.add(std::move(ranking));
  document.text(
      fmt::format("\nChosen: {}, {} with the overhead of choosing, regret {} (its time over that of the fastest)\n",
                  report.chosen, format_seconds(report.chosen_s), format_fixed(report.regret(), 3)));
  for (const auto& [name, predicted_s, measured_s] : report.baselines) {
    baselines.add({name, measured_s});
    lines.add({name, "baseline", predicted_s, measured_s});
    document.text(fmt::format(
        "{}, {}: {}; the choice is {} that\n", report.baseline_kind, name, format_seconds(measured_s),
        measured_s > 0 && report.chosen_s > 0 ? compare_speed(report.chosen_s, measured_s) : "not comparable with"));
  }
  lines.add({report.chosen, "choice", Cell(), report.chosen_s});
  document.add(std::move(baselines));
  document.add(std::move(lines));
  if (report.barrier_s) document.fact("barrier_s", *report.barrier_s);
  if (report.tally_s) document.fact("tally_s", *report.tally_s);
  if (report.barrier_s && report.tally_s)
    document.text(fmt::format("A non-blocking barrier alone: {}; the reduction that ends nbx in its place: {}\n",
                              format_seconds(*report.barrier_s), format_seconds(*report.tally_s)));
  document.fact("regret", report.regret());
  return document;
}

}  // namespace commpass
