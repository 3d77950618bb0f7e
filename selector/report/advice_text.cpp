// The text and the JSON of advice.
#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "selector/environment/interposed_call.hpp"
#include "selector/report/advice.hpp"
#include "selector/report/forms.hpp"

namespace commpass {

namespace {

constexpr double percents = 100;

std::string percent(double share) { return format_fixed(percents * share, 1) + " %"; }

Seconds seconds_of(const Advice& advice, const AdvisedCall& call) {
  return call.calls == 0 || advice.record.run_s <= 0 ? 0 : call.measured_s / static_cast<double>(call.calls);
}

constexpr std::size_t site_width = 28;

std::string table_of_calls(const Advice& advice) {
  std::string text;
  append(text, "   {:<{}} {:<20} {:>6} {:>8} {:>12} {:>9} {:>8}\n", "called from", site_width, "MPI_...", "ranks",
         "calls", "bytes a call", "a call", "of run");
  for (const auto& call : advice.calls) {
    const auto number = &call - advice.calls.data() + 1;
    const bool is_timed = call.measured_s > 0;
    append(text, "{:>2} {:<{}} {:<20} {:>6} {:>8} {:>12} {:>9} {:>8}\n", number, fitted(call.site, site_width),
           site_width, call.call, call.ranks, call.calls, format_bytes(call.bytes),
           is_timed ? format_seconds(seconds_of(advice, call)) : "-",
           is_timed ? percent(call.measured_s / advice.record.run_s) : "-");
    if (call.communicators > 1) append(text, "   on {} communicators\n", call.communicators);
  }
  if (advice.calls_left_out > 0)
    append(text, "   {} more, {} of the run in all, are left out\n", advice.calls_left_out,
           percent(advice.left_out_s / advice.record.run_s));
  return text + others_text(advice.record, "   ");
}

/// The calls of messages in the order of the record: by descending time, then bytes.
std::string table_of_messages(const Advice& advice) {
  const auto& messages = advice.record.messages;
  if (messages.empty()) return {};
  constexpr std::size_t rows_max = 20;
  std::int64_t calls = 0;
  for (const auto& each : messages) calls += each.calls;
  auto text =
      wrap_lines(fmt::format("\nMessages of the program: {} calls of all ranks, by place. Counting one takes {}.\n",
                             calls, format_seconds(advice.record.counting_s)));
  append(text, "   {:<{}} {:<20} {:>6} {:>8} {:>12} {:>9} {:>8}\n", "called from", site_width, "MPI_...", "ranks",
         "calls", "bytes", "partners", "in calls");
  for (const auto& each : std::span(messages).first(std::min(messages.size(), rows_max)))
    append(text, "   {:<{}} {:<20} {:>6} {:>8} {:>12} {:>9} {:>8}\n", fitted(each.site, site_width), site_width,
           each.call, each.ranks, each.calls, format_bytes(static_cast<double>(each.bytes)), each.partners,
           each.in_call_s > 0 ? format_seconds(each.in_call_s) : "-");
  if (messages.size() > rows_max) append(text, "   {} more places are left out\n", messages.size() - rows_max);
  return text;
}

std::string saving_of(const MachineAdvice& machine, Seconds saved_s) {
  const auto share = machine.share(saved_s);
  return share < shown_share_min ? "nothing to gain" : percent(share);
}

/// A line of the table of a machine.
std::string price_line(const std::string& number, const std::string& seconds, const std::string& by,
                       const std::string& strategy, const std::string& saving) {
  constexpr std::size_t width = 44;
  auto text =
      fmt::format("{:>2} {:>10}  {:<18}  {:<{}}  {}", number, seconds, by, fitted(strategy, width), width, saving);
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string lines_of(const Advice& advice, const MachineAdvice& machine, std::size_t i) {
  const auto& call = advice.calls[i];
  const auto& price = machine.prices[i];
  if (price.library.empty()) return fmt::format("{:>2} known for {} ranks alone\n", i + 1, call.ranks);
  const auto calls = static_cast<double>(std::max<std::int64_t>(call.calls, 1));
  const auto faster = [&](Seconds seconds, const char* name, const std::string& strategy) {
    return price_line("", format_seconds(seconds / calls), name, strategy,
                      machine.guess.empty() ? saving_of(machine, price.library_s - seconds) : "");
  };
  auto text = price_line(std::to_string(i + 1), format_seconds(price.library_s / calls), "MPI", price.library, "");
  const bool is_of_messages = is_counted_call(call.call);
  if (price.taken_s < price.library_s) text += faster(price.taken_s, "commpass run", price.taken);
  else if (price.taken_s > price.library_s)
    text += faster(price.taken_s, "commpass run", "too few calls for its trials");
  else text += price_line("", "", "commpass run", is_of_messages ? "messages stay MPI's" : "leave it to MPI", "");
  constexpr double shown_ratio_max = 0.995;  // three digits do not show a smaller difference
  if (price.plugged_s < shown_ratio_max * price.library_s)
    text += faster(price.plugged_s, "PETSc's plug-in", price.planned);
  if (price.planned_s < shown_ratio_max * price.library_s)
    text += faster(price.planned_s, "a changed source", price.planned);
  else
    text += price_line("", "", "a changed source", is_of_messages ? "leave them as they are" : "leave it to MPI", "");
  return text;
}

std::string headline_of(const MachineAdvice& machine) {
  const auto& all = machine.all;
  const auto where = fmt::format("\nOn {}, {}", machine.machine, machine.layout);
  if (!machine.guess.empty())
    return fmt::format("{}, a guess: these calls would take {} by MPI; {}.\n", where, format_seconds(all.library_s),
                       machine.guess);
  const auto saving = [&](Seconds seconds) {
    const auto share = machine.share(all.library_s - seconds);
    return share < shown_share_min ? std::string("nothing") : percent(share);
  };
  return fmt::format("{}: these calls would take {} of the run; 'commpass run' would save {},{} a changed source {}.\n",
                     where, percent(machine.share(all.library_s)), saving(all.taken_s),
                     all.plugged_s < all.library_s ? " PETSc's plug-in " + saving(all.plugged_s) + "," : "",
                     saving(all.planned_s));
}

std::string page_of(const Advice& advice, const MachineAdvice& machine) {
  auto text = wrap_lines(headline_of(machine));
  text += price_line("", "a call", "run by", "strategy", machine.guess.empty() ? "saves of the run" : "");
  for (std::size_t i = 0; i < advice.calls.size(); ++i) text += lines_of(advice, machine, i);
  if (!machine.library_rules.empty()) text += wrap_lines(fmt::format("Note: {}.\n", describe_library_rules(machine)));
  if (!machine.note.empty()) text += wrap_lines(fmt::format("Note: {}.\n", machine.note));
  return text;
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

Json json_of(const MachineAdvice& machine) {
  Json json{{"machine", machine.machine},
            {"layout", machine.layout},
            {"ranks", machine.ranks},
            {"outside_s", machine.outside_s},
            {"guess", machine.guess.empty() ? Json() : Json(machine.guess)}};
  const auto seconds = [&](const CallPrice& price) {
    const auto saves = [&](Seconds by_door) {
      return machine.guess.empty() ? Json(machine.share(price.library_s - by_door)) : Json();
    };
    return Json{{"library_s", price.library_s},           {"run_s", price.taken_s},
                {"plugged_s", price.plugged_s},           {"planned_s", price.planned_s},
                {"run_saves", saves(price.taken_s)},      {"plugged_saves", saves(price.plugged_s)},
                {"planned_saves", saves(price.planned_s)}};
  };
  json["all"] = seconds(machine.all);
  json["calls"] = Json::array();
  for (const auto& price : machine.prices) {
    auto entry = seconds(price);
    entry["library"] = price.library;
    entry["run"] = price.taken;
    entry["planned"] = price.planned.empty() ? Json() : Json(price.planned);
    json["calls"].push_back(std::move(entry));
  }
  json["library_rules"] = machine.library_rules.empty() ? Json() : Json(machine.library_rules);
  if (!machine.note.empty()) json["note"] = machine.note;
  return json;
}

}  // namespace

std::string describe_library_rules(const MachineAdvice& machine) {
  return fmt::format("MPI's all-to-alls are not measured in the profile, and priced by the rules of {}",
                     machine.library_rules);
}

std::string describe_no_exchanges(const Record& record) {
  return record.messages.empty() ? "No exchange was recorded: there is nothing to gain."
                                 : "No exchange recurs with the same partners: there is nothing to plan.";
}

std::string others_text(const Record& record, std::string_view indent) {
  std::string text;
  for (const auto& other : record.others)
    append(text, "{}{} more calls of {} were counted only\n", indent, other.calls, mpi_name_of(other.call));
  return text;
}

Json others_json(const Record& record) {
  auto json = Json::array();
  for (const auto& other : record.others) json.push_back({{"call", other.call}, {"calls", other.calls}});
  return json;
}

std::string advice_text(const Advice& advice) {
  const auto& record = advice.record;
  const auto measured_s = measured_in_calls(record);
  const bool is_by_clock = std::ranges::all_of(record.exchanges, &RecordedExchange::is_by_clock);
  std::string text;
  append(text, "{}: {}\n", advice.origin, fitted(record.program, 100));
  append(text, "{}, {}, {}\n", parse_layout(record.layout).describe(), record.mpi, format_seconds(record.run_s));
  if (record.exchanges.empty()) return text + describe_no_exchanges(record) + "\n" + table_of_messages(advice);
  text += wrap_lines(fmt::format("Exchanges took {} of the run, {}, apart from waiting for late ranks ({}).\n\n",
                                 percent(record.run_s > 0 ? measured_s / record.run_s : 0), format_seconds(measured_s),
                                 is_by_clock ? "from the last arrival to the last finish"
                                             : "the least time of a rank in each call, which may be too little"));
  text += table_of_calls(advice);
  text += table_of_messages(advice);
  for (const auto& machine : advice.machines) text += page_of(advice, machine);
  return text + calls_that_plan(advice);
}

std::string advice_json(const Advice& advice) {
  const auto& record = advice.record;
  Json json{{"schema_version", 1},     {"record", advice.origin}, {"program", record.program},
            {"ranks", record.ranks()}, {"run_s", record.run_s},   {"measured_s", measured_in_calls(record)},
            {"calls", Json::array()}};
  for (const auto& call : advice.calls)
    json["calls"].push_back({{"site", call.site},
                             {"call", call.call},
                             {"ranks", call.ranks},
                             {"communicators", call.communicators},
                             {"patterns", call.patterns},
                             {"calls", call.calls},
                             {"bytes_a_call", call.bytes},
                             {"measured_s", call.measured_s > 0 ? Json(call.measured_s) : Json()}});
  json["calls_left_out"] = advice.calls_left_out;
  json["left_out_s"] = advice.left_out_s;
  json["others"] = others_json(record);
  json["messages"] = Json::array();
  for (const auto& each : record.messages)
    json["messages"].push_back({{"site", each.site},
                                {"call", each.call},
                                {"ranks", each.ranks},
                                {"calls", each.calls},
                                {"bytes", each.bytes},
                                {"partners", each.partners},
                                {"in_call_s", each.in_call_s > 0 ? Json(each.in_call_s) : Json()}});
  json["counting_s"] = record.counting_s > 0 ? Json(record.counting_s) : Json();
  json["machines"] = Json::array();
  for (const auto& machine : advice.machines) json["machines"].push_back(json_of(machine));
  return json_text(json);
}

}  // namespace commpass
