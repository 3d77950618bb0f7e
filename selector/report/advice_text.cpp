// The text and the JSON of advice.
#include <fmt/core.h>

#include <algorithm>

#include "model/base/text.hpp"
#include "selector/environment/interposed_call.hpp"
#include "selector/report/advice.hpp"

namespace commpass {

namespace {

Seconds seconds_of(const Advice& advice, const AdvisedCall& call) {
  return call.calls == 0 || advice.record.run_s <= 0 ? 0 : call.measured_s / static_cast<double>(call.calls);
}

constexpr int site_width = 28;

/// The calls of messages in the order of the record: by descending time, then bytes.
void add_messages(Document& document, const Record& record) {
  auto messages = messages_table(record), shown = messages;
  messages.forms = Forms::json;
  document.add(std::move(messages));
  if (record.messages.empty()) return;
  constexpr std::size_t rows_max = 20;
  std::int64_t calls = 0;
  for (const auto& each : record.messages) calls += each.calls;
  document.paragraph(fmt::format("\nMessages of the program: {} calls of all ranks, by place. Counting one takes {}.\n",
                                 calls, format_seconds(record.counting_s)));
  if (shown.rows.size() > rows_max) shown.rows.resize(rows_max);
  shown.forms = Forms::text;
  document.add(std::move(shown));
  if (record.messages.size() > rows_max)
    document.text(fmt::format("   {} more places are left out\n", record.messages.size() - rows_max));
}

std::string saving_of(const MachineAdvice& machine, Seconds saved_s) {
  const auto share = machine.share(saved_s);
  return share < shown_share_min ? "nothing to gain" : print_percent(share);
}

/// Adds the rows of a call to the table of a machine: number, time of a call, by whom it is run, strategy, saving.
void add_prices(Table& table, const Advice& advice, const MachineAdvice& machine, std::size_t i) {
  const auto& call = advice.calls[i];
  const auto& price = machine.prices[i];
  if (price.library.empty()) {
    table.add({}).instead = fmt::format("{:>2} known for {} ranks alone\n", i + 1, call.ranks);
    return;
  }
  const auto calls = static_cast<double>(std::max<std::int64_t>(call.calls, 1));
  const auto add = [&](Seconds seconds, const char* name, const std::string& strategy) {
    table.add({"", seconds_cell(seconds / calls), name, strategy,
               machine.guess.empty() ? saving_of(machine, price.library_s - seconds) : ""});
  };
  const auto keep = [&](const char* name, const char* messages_stay) {
    table.add({"", "", name, is_counted_call(call.call) ? messages_stay : "leave it to MPI"});
  };
  table.add({i + 1, seconds_cell(price.library_s / calls), "MPI", price.library});
  if (price.taken_s == price.library_s) keep("commpass run", "messages stay MPI's");
  else
    add(price.taken_s, "commpass run", price.taken_s < price.library_s ? price.taken : "too few calls for its trials");
  constexpr double shown_ratio_max = 0.995;  // three digits do not show a smaller difference
  if (price.plugged_s < shown_ratio_max * price.library_s) add(price.plugged_s, "PETSc's plug-in", price.planned);
  if (price.planned_s < shown_ratio_max * price.library_s) add(price.planned_s, "a changed source", price.planned);
  else keep("a changed source", "leave them as they are");
}

std::string headline_of(const MachineAdvice& machine) {
  const auto& all = machine.all;
  const auto where = fmt::format("\nOn {}, {}", machine.machine, machine.layout);
  if (!machine.guess.empty())
    return fmt::format("{}, a guess: these calls would take {} by MPI; {}.\n", where, format_seconds(all.library_s),
                       machine.guess);
  const auto saving = [&](Seconds seconds) {
    const auto share = machine.share(all.library_s - seconds);
    return share < shown_share_min ? std::string("nothing") : print_percent(share);
  };
  return fmt::format("{}: these calls would take {} of the run; 'commpass run' would save {},{} a changed source {}.\n",
                     where, print_percent(machine.share(all.library_s)), saving(all.taken_s),
                     all.plugged_s < all.library_s ? " PETSc's plug-in " + saving(all.plugged_s) + "," : "",
                     saving(all.planned_s));
}

void add_machine(Document& document, const Advice& advice, const MachineAdvice& machine) {
  Table table{"",
              {{"", "", 2, {}, 0},
               {"", "a call", 10, {}, 1},
               {"", "run by", -18},
               {"", "strategy", -44, {}, 2, Forms::all, true},
               {"", machine.guess.empty() ? "saves of the run" : ""}}};
  for (std::size_t i = 0; i < advice.calls.size(); ++i) add_prices(table, advice, machine, i);
  document.paragraph(headline_of(machine));
  document.add(std::move(table));
  if (!machine.library_rules.empty()) document.paragraph(fmt::format("Note: {}.\n", describe_library_rules(machine)));
  if (!machine.note.empty()) document.paragraph(fmt::format("Note: {}.\n", machine.note));
}

/// The calls of Commpass that a changed source makes.
std::string calls_that_plan(const Advice& advice) {
  const auto is_of_messages = [](const AdvisedCall& call) { return is_counted_call(call.call); };
  if (std::ranges::none_of(advice.calls, is_of_messages)) return {};
  return wrap_lines(
      "\nPhases of messages that recur with the same partners can be planned once: by Communicator::neighbor_exchange, "
      "or commpass_neighbor_alltoallv_init from C and Fortran. As MPI_Neighbor_alltoallv they are taken over by "
      "'commpass run'. PETSc's own messages go by -sf_type commpass.\n");
}

Json json_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json json_of(const MachineAdvice& machine) {
  const auto seconds = [&](const CallPrice& price) {
    const auto saves = [&](Seconds by_door) {
      return machine.guess.empty() ? Json(machine.share(price.library_s - by_door)) : Json();
    };
    return Json{{"library_s", price.library_s},           {"run_s", price.taken_s},
                {"plugged_s", price.plugged_s},           {"planned_s", price.planned_s},
                {"run_saves", saves(price.taken_s)},      {"plugged_saves", saves(price.plugged_s)},
                {"planned_saves", saves(price.planned_s)}};
  };
  Json json{{"machine", machine.machine},
            {"layout", machine.layout},
            {"ranks", machine.ranks},
            {"outside_s", machine.outside_s},
            {"guess", json_or_null(machine.guess)},
            {"all", seconds(machine.all)},
            {"calls", Json::array()}};
  for (const auto& price : machine.prices) {
    json["calls"].push_back(seconds(price));
    json["calls"].back().update(
        {{"library", price.library}, {"run", price.taken}, {"planned", json_or_null(price.planned)}});
  }
  json["library_rules"] = json_or_null(machine.library_rules);
  if (!machine.note.empty()) json["note"] = machine.note;
  return json;
}

/// A time in calls that may be unknown: 0.
Cell known_seconds(Seconds seconds) { return seconds > 0 ? seconds_cell(seconds) : Cell(Json(), "-"); }

}  // namespace

std::string describe_library_rules(const MachineAdvice& machine) {
  return fmt::format("MPI's all-to-alls are not measured in the profile, and priced by the rules of {}",
                     machine.library_rules);
}

std::string describe_no_exchanges(const Record& record) {
  return record.messages.empty() ? "No exchange was recorded: there is nothing to gain."
                                 : "No exchange recurs with the same partners: there is nothing to plan.";
}

std::vector<std::string> describe_others(const Record& record) {
  std::vector<std::string> lines;
  for (const auto& other : record.others)
    lines.push_back(fmt::format("{} more calls of {} were counted only", other.calls, mpi_name_of(other.call)));
  return lines;
}

Table others_table(const Record& record) {
  Table table{"others", columns_of("call calls")};
  for (const auto& other : record.others) table.add({other.call, other.calls});
  return table;
}

Table calls_table(const Advice& advice) {
  Table table{"calls",
              {{.key = {}, .width = 2, .gap = 0, .forms = Forms::text},
               {"", "#", 0, {}, 0, Forms::page},
               {"site", "called from", -site_width, {}, 1, Forms::all, true},
               {"call", "MPI_...", -20, {}, 1},
               {"ranks", "ranks", 6, {}, 1},
               {"communicators"},
               {"patterns"},
               {"calls", "calls", 8, {}, 1},
               {"bytes_a_call", "bytes a call", 12, {}, 1},
               {"", "a call", 9, "-", 1, Forms::text},
               {"measured_s", "time", 0, {}, 0, Forms::page_and_json},
               {"", "of run", 8, "-", 1}}};
  for (const auto& call : advice.calls) {
    const bool is_timed = call.measured_s > 0;
    auto& row = table.add({table.rows.size() + 1, table.rows.size() + 1, call.site, call.call, call.ranks,
                           call.communicators, call.patterns, call.calls, bytes_cell(call.bytes),
                           is_timed ? seconds_cell(seconds_of(advice, call)) : Cell(), known_seconds(call.measured_s),
                           is_timed ? percent_cell(call.measured_s / advice.record.run_s) : Cell()});
    if (call.communicators > 1) row.below = fmt::format("   on {} communicators\n", call.communicators);
  }
  return table;
}

Table messages_table(const Record& record) {
  Table table{"messages",
              {{"site", "called from", -site_width, {}, 3, Forms::all, true},
               {"call", "MPI_...", -20, {}, 1},
               {"ranks", "ranks", 6, {}, 1},
               {"calls", "calls", 8, {}, 1},
               {"bytes", "bytes", 12, {}, 1},
               {"partners", "partners", 9, {}, 1},
               {"in_call_s", "in calls", 8, {}, 1}}};
  for (const auto& each : record.messages)
    table.add({each.site, each.call, each.ranks, each.calls, bytes_cell(each.bytes), each.partners,
               known_seconds(each.in_call_s)});
  return table;
}

Document document_of(const Advice& advice) {
  const auto& record = advice.record;
  const auto measured_s = measured_in_calls(record);
  Document document;
  document.facts({{"schema_version", 1},
                  {"record", advice.origin},
                  {"program", record.program},
                  {"ranks", record.ranks()},
                  {"run_s", record.run_s},
                  {"measured_s", measured_s}});
  document.text(fmt::format("{}: {}\n{}, {}, {}\n", advice.origin, fitted(record.program, 100),
                            parse_layout(record.layout).describe(), record.mpi, format_seconds(record.run_s)));
  auto calls = calls_table(advice);
  if (record.exchanges.empty()) {
    calls.forms = Forms::json;
    document.text(describe_no_exchanges(record) + "\n");
  } else {
    const bool is_by_clock = std::ranges::all_of(record.exchanges, &RecordedExchange::is_by_clock);
    document.paragraph(fmt::format("Exchanges took {} of the run, {}, apart from waiting for late ranks ({}).\n\n",
                                   print_percent(record.run_s > 0 ? measured_s / record.run_s : 0),
                                   format_seconds(measured_s),
                                   is_by_clock ? "from the last arrival to the last finish"
                                               : "the least time of a rank in each call, which may be too little"));
  }
  document.add(std::move(calls));
  document.facts({{"calls_left_out", advice.calls_left_out}, {"left_out_s", advice.left_out_s}});
  if (advice.calls_left_out > 0)
    document.text(fmt::format("   {} more, {} of the run in all, are left out\n", advice.calls_left_out,
                              print_percent(advice.left_out_s / record.run_s)));
  document.add(others_table(record));
  if (!record.exchanges.empty())
    for (const auto& line : describe_others(record)) document.text("   " + line + "\n");
  add_messages(document, record);
  document.fact("counting_s", record.counting_s > 0 ? Json(record.counting_s) : Json());
  auto machines = Json::array();
  for (const auto& machine : advice.machines) machines.push_back(json_of(machine));
  document.fact("machines", std::move(machines));
  if (record.exchanges.empty()) return document;
  for (const auto& machine : advice.machines) add_machine(document, advice, machine);
  document.text(calls_that_plan(advice));
  return document;
}

}  // namespace commpass
