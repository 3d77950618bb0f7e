#include "calibrate/fit/provenance.hpp"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <ctime>

#include "model/base/json.hpp"

namespace commpass {

namespace {

/// Adds intervals as two columns.
void add_columns(Json& json, const Interval& interval) {
  json["low_s"].push_back(interval.low);
  json["high_s"].push_back(interval.high);
}

Json to_json(const std::vector<ProtocolFit>& fits) {
  Json json = Json::array();
  for (const auto& [level, protocol, segment] : fits)
    json.push_back({{"level", level},
                    {"protocol", protocol},
                    {"sizes", segment.sizes},
                    {"median_relative_error", segment.median_relative_error},
                    {"alpha_interval_s", {segment.alpha_interval.low, segment.alpha_interval.high}},
                    {"beta_interval_s_per_byte", {segment.beta_interval.low, segment.beta_interval.high}}});
  return json;
}

Json to_json(const std::vector<HeldOut>& held_out) {
  Json json = Json::array();
  for (const auto& each : held_out)
    json.push_back({{"exchange", each.exchange},
                    {"strategy", each.strategy},
                    {"predicted_s", each.predicted_s},
                    {"measured_s", each.measured_s},
                    {"measured_interval_s", {each.measured_interval_s.low, each.measured_interval_s.high}},
                    {"error", each.error()}});
  return json;
}

Json to_json(const MeasuredDevices& devices) {
  Json json{{"kind", devices.kind}, {"name", devices.name}, {"per_node", devices.per_node}};
  if (!devices.why_no_kernel.empty()) json["pieces_one_by_one"] = devices.why_no_kernel;
  json["copies"] = Json::array();
  for (const auto& [way, processes, line, error, sizes] : devices.copies)
    json["copies"].push_back({{"direction", name_of(way.direction)},
                              {"host_memory", way.memory == HostPages::pinned ? "pinned" : "pageable"},
                              {"processes", processes},
                              {"alpha_s", line.alpha_s},
                              {"beta_s_per_byte", line.beta_s_per_byte},
                              {"median_relative_error", error},
                              {"sizes", sizes}});
  if (!devices.fits.empty()) json["fits"] = to_json(devices.fits);
  if (!devices.held_out.empty()) json["held_out"] = to_json(devices.held_out);
  return json;
}

}  // namespace

std::string to_json(const Provenance& provenance) {
  Json json;
  json["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  json["mpi_library"] = provenance.mpi_library;
  json["transport"] = provenance.transport;
  if (!provenance.partition.empty()) json["partition"] = provenance.partition;
  json["layout"] = provenance.layout;
  json["nodes"] = provenance.nodes;
  json["ranks"] = provenance.ranks;
  json["ranks_per_node"] = provenance.ranks_per_node;
  json["host_hash"] = provenance.host_hash;
  json["processor"] = provenance.fingerprint.processor;
  json["node_processors"] = provenance.fingerprint.node_processors;
  json["samples"] = provenance.samples;
  json["rounds_measured_again"] = provenance.disturbed_rounds;
  json["elapsed_s"] = provenance.elapsed_s;
  json["ping_pong"] = {{"sizes", provenance.ping_pong_sizes},
                       {"sizes_not_known_to_3_percent", provenance.ping_pong_unsettled},
                       {"outliers", provenance.ping_pong_outliers}};
  json["fits"] = to_json(provenance.fits);
  // In columns, since a level has some sixty sizes.
  for (const auto& [level, bytes, seconds, interval] : provenance.messages) {
    auto& columns = json["messages"][level];
    columns["bytes"].push_back(bytes);
    columns["seconds"].push_back(seconds);
    add_columns(columns, interval);
  }
  for (const auto& sweep : provenance.sharing) {
    Json entry{{"parameter", sweep.parameter},
               {"level", sweep.level},
               {"bytes", sweep.bytes},
               {"pairs", sweep.pairs},
               {"seconds", sweep.seconds}};
    for (const auto& interval : sweep.interval_s) add_columns(entry, interval);
    json["sharing"].push_back(std::move(entry));
  }
  json["held_out"] = to_json(provenance.held_out);
  if (provenance.device) json["device"] = to_json(*provenance.device);
  json["slow_nodes"] = Json::array();
  for (const auto& each : provenance.slow_nodes)
    json["slow_nodes"].push_back({{"node", each.node}, {"times_as_long", each.times_as_long}});
  if (const auto& [parts, of, times_as_long] = provenance.slow_phases; parts > 0)
    json["slow_phases"] = {{"parts", parts}, {"of", of}, {"times_as_long", times_as_long}};
  if (const auto& late = provenance.late_messages)
    json["late_messages"] = {{"messages_in_flight", late->messages},
                             {"late", late->late},
                             {"of", late->of},
                             {"late_s", late->late_s},
                             {"most_in_time", late->most_in_time}};
  if (provenance.others >= busy_with_others) json["processors_of_others"] = provenance.others;
  for (const auto& pace : provenance.pace) json["pace"][pace.level] = pace.seconds;
  json["not_measured"] = provenance.not_measured;
  if (!provenance.measured_again.empty()) json["measured_again"] = provenance.measured_again;
  if (!provenance.warning.empty()) json["warning"] = provenance.warning;
  return json.dump();
}

}  // namespace commpass
