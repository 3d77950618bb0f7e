#include "selector/report/profile_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/miss.hpp"
#include "model/machine/pace.hpp"
#include "model/machine/parameters.hpp"
#include "model/median.hpp"
#include "selector/report/launch_statistics.hpp"

namespace commpass {

namespace {

using Place = MachineParameter::Place;

/// A part of a machine that merging takes from one profile.
struct Part {
  std::string key;
  std::function<std::optional<double>(const Machine&)> amount;  ///< orders the profiles; nothing: the part is absent
  std::function<void(Machine& to, const Machine& from)> take;
  std::string host_level = {};  ///< the level of a channel of host memory; else empty
  bool is_channel = false;
};

/// The geometric mean of the times of lone messages.
double amount_of(const Channel& channel) {
  constexpr Bytes sizes[] = {8, 64, 512, 4096, 32768, 262144, 4194304};
  double sum = 0;
  for (const auto bytes : sizes) sum += std::log(channel.protocol(bytes).alone_seconds(static_cast<double>(bytes)));
  return std::exp(sum / static_cast<double>(std::size(sizes)));
}

Part channel_part(const std::string& level, const char* memory, MemoryChannels Machine::*channels) {
  return {fmt::format("levels.{}.{}", level, memory),
          [=](const Machine& m) {
            const auto index = find_level(m.levels, level);
            return index && (m.*channels).has(*index) ? std::optional(amount_of(*(m.*channels).by_level[*index]))
                                                      : std::nullopt;
          },
          [=](Machine& to, const Machine& from) {
            (to.*channels).by_level[to.level(level)] = (from.*channels).by_level[from.level(level)];
          },
          channels == &Machine::host ? level : std::string(), true};
}

std::optional<double> number_of(const ParameterValue& value) {
  return is_absent(value) ? std::nullopt : std::optional(to_double(value));
}

constexpr std::string_view limits_prefix = "limits.";

Part limit_part(const MachineParameter& row) {
  return {fmt::format("{}{}", limits_prefix, row.key),
          [&row](const Machine& m) { return number_of(row.access.get(&m.limits)); },
          [&row](Machine& to, const Machine& from) { row.access.set(&to.limits, row.access.get(&from.limits)); }};
}

Part level_part(const std::string& level, const MachineParameter& row) {
  return {fmt::format("levels.{}.{}", level, row.key),
          [=](const Machine& m) {
            const auto index = find_level(m.levels, level);
            return index ? number_of(row.access.get(&m.levels[*index])) : std::nullopt;
          },
          [=](Machine& to, const Machine& from) {
            row.access.set(&to.levels[to.level(level)], row.access.get(&from.levels[from.level(level)]));
          }};
}

/// The parameters of a section.
/// @param owner   returns the owner of the section in a machine
/// @param amount  orders the profiles that have a parameter of the section
template <class Owner>
Part section_part(const char* key, Place place, Owner owner, double (*amount)(const Machine&)) {
  return {key,
          [=](const Machine& m) {
            const auto is_there = [&](const auto& row) { return !is_absent(row.access.get(owner(m))); };
            return std::ranges::any_of(parameters_of(place), is_there) ? std::optional(amount(m)) : std::nullopt;
          },
          [=](Machine& to, const Machine& from) {
            for (const auto& row : parameters_of(place)) row.access.set(owner(to), row.access.get(owner(from)));
          }};
}

Part copies_part() {
  return {"copy",
          [](const Machine& m) {
            const bool has_copies = !m.device_to_host.empty() || !m.host_to_device.empty();
            return has_copies ? std::optional(1.0) : std::nullopt;
          },
          [](Machine& to, const Machine& from) {
            to.device_to_host = from.device_to_host;
            to.host_to_device = from.host_to_device;
          }};
}

std::vector<Part> parts_of_machine(const std::vector<MachineLevel>& levels) {
  std::vector<Part> parts;
  for (const auto& level : levels) {
    parts.push_back(channel_part(level.name, "host", &Machine::host));
    parts.push_back(channel_part(level.name, "shared", &Machine::shared));
    parts.push_back(channel_part(level.name, "device", &Machine::device));
  }
  for (const auto& level : levels)
    for (const auto& row : parameters_of(Place::level)) parts.push_back(level_part(level.name, row));
  parts.push_back(copies_part());
  const auto itself = [](auto& m) { return &m; };
  parts.push_back(section_part("devices", Place::devices, itself,
                               [](const Machine& m) { return m.device_copy_call_s.value_or(1); }));
  parts.push_back(section_part("local", Place::local, itself, [](const Machine& m) {
    constexpr double bytes = 65536;
    return copying_seconds(m, bytes, 1);
  }));
  parts.push_back(section_part(
      "operations", Place::operations, [](auto& m) { return &m.operations; },
      [](const Machine& m) { return m.operations.allreduce_s.value_or(1); }));
  for (const auto& row : parameters_of(Place::limits)) parts.push_back(limit_part(row));
  return parts;
}

/// The levels of the profile with the most levels, without their parameters.
/// @throws InputError if another profile has a further level, or another order
std::vector<MachineLevel> levels_of(std::span<const NamedProfile> profiles) {
  const auto names_of = [](const NamedProfile& each) {
    std::vector<MachineLevel> levels;
    for (const auto& level : each.profile.machine.levels) levels.push_back({.name = level.name});
    return levels;
  };
  const auto count = [](const NamedProfile& each) { return each.profile.machine.levels.size(); };
  const auto& most = *std::ranges::max_element(profiles, {}, count);
  auto all = names_of(most);
  for (const auto& each : profiles) {
    auto from = all.begin();
    for (const auto& level : names_of(each)) {
      from = std::find(from, all.end(), level);
      if (from == all.end())
        throw InputError(each.name, fmt::format("level '{}' is not there in {}", level.name, most.name),
                         "merge profiles of one machine");
      ++from;
    }
  }
  return all;
}

struct Offer {
  double amount = 0;  ///< of a part
  const NamedProfile* from = nullptr;
};

/// The profiles with the part by ascending amount. Times of operations grow with the ranks, so only the profiles with
/// the most ranks offer these. Of limits only the strictest is offered.
std::vector<Offer> offers_of(const Part& part, std::span<const NamedProfile> profiles) {
  std::vector<Offer> offers;
  for (const auto& each : profiles)
    if (const auto amount = part.amount(each.profile.machine)) offers.push_back({*amount, &each});
  const auto ranks_of = [](const Offer& offer) { return offer.from->profile.machine.operations.ranks.value_or(0); };
  if (part.key == "operations" && !offers.empty()) {
    const int ranks_max = ranks_of(*std::ranges::max_element(offers, {}, ranks_of));
    std::erase_if(offers, [&](const Offer& offer) { return ranks_of(offer) < ranks_max; });
  }
  std::ranges::stable_sort(offers, {}, &Offer::amount);
  if (part.key.starts_with(limits_prefix)) offers.resize(std::min<std::size_t>(offers.size(), 1));
  return offers;
}

const Offer& median_of(const std::vector<Offer>& offers) { return offers[(offers.size() - 1) / 2]; }

/// Half of the range ÷ the median.
double spread_of(const std::vector<Offer>& offers) {
  return (offers.back().amount - offers.front().amount) / 2 / median_of(offers).amount;
}

/// Are there two groups of at least two, and between them a gap of twice the range of either?
bool are_bimodal(const std::vector<Offer>& offers) {
  constexpr double gap_ratio_min = 2, gap_share_min = 0.1;
  for (std::size_t split = 2; split + 2 <= offers.size(); ++split) {
    const double low = offers[split - 1].amount - offers.front().amount,
                 high = offers.back().amount - offers[split].amount,
                 gap = offers[split].amount - offers[split - 1].amount;
    if (gap > gap_ratio_min * std::max(low, high) && gap > gap_share_min * offers.front().amount) return true;
  }
  return false;
}

struct SpreadOfLaunches {
  double largest = 0;
  std::string key;  ///< of the part with the largest spread
  std::vector<std::string> bimodal;
  std::optional<double> miss{};  ///< miss_between_launches
};

Verdict judge(std::span<const NamedProfile> profiles, const SpreadOfLaunches& spread) {
  constexpr double good_spread_max = 0.15, usable_spread_max = 0.5;
  std::vector<double> uncertainties;
  std::vector<Trust> trusted;
  Verdict verdict;
  std::string trusts;
  for (const auto& [name, profile] : profiles) {
    const auto& own = profile.machine.verdict;
    if (own) {
      uncertainties.push_back(own->uncertainty);
      trusted.push_back(own->trust);
    }
    trusts += fmt::format("{}{}", trusts.empty() ? "" : ", ", own ? name_of(own->trust) : "no verdict");
  }
  std::ranges::sort(trusted);
  if (!trusted.empty()) verdict.trust = trusted[trusted.size() / 2];  // the upper median is the worse one
  if (spread.largest > good_spread_max)
    verdict.trust = std::max(verdict.trust, spread.largest > usable_spread_max ? Trust::none : Trust::usable);
  if (spread.miss && *spread.miss > most_miss_if_good)
    verdict.trust = std::max(verdict.trust, *spread.miss > most_miss_if_usable ? Trust::none : Trust::usable);
  verdict.uncertainty = std::max(spread.largest, uncertainties.empty() ? 0 : median(uncertainties));
  verdict.why = fmt::format("{} profiles ({}) differ by {} to either side{}", profiles.size(), trusts,
                            format_share(spread.largest), spread.key.empty() ? "" : " in " + spread.key);
  if (spread.miss)
    verdict.why +=
        fmt::format("; what one predicts of exchanges in the others is off by {} (median)", format_share(*spread.miss));
  for (const auto& key : spread.bimodal) verdict.why += fmt::format("; times of {} are bimodal", key);
  if (verdict.trust != Trust::good)
    verdict.remedy = "bind ranks to cores, see 'commpass doctor', and calibrate more launches";
  return verdict;
}

/// Adds the intervals of α and β of a level for one more launch. They contain those of the kept profile: launches that
/// agree by chance do not make α and β more certain.
void add_intervals(Json& fits, const std::string& level, const Profile& kept, const std::vector<Offer>& offers) {
  const auto channel_of = [&](const Machine& machine) -> const Channel& {
    return host_channel(machine, machine.level(level));
  };
  std::vector<const Channel*> launches;
  for (const auto& offer : offers) launches.push_back(&channel_of(offer.from->profile.machine));
  const auto own = intervals_of(kept);
  const auto with_own = [&](const Interval& over_launches, const std::string& protocol, const char* parameter) {
    const auto found = own.find(fmt::format("levels.{}.host.{}.{}", level, protocol, parameter));
    const auto [low, high] = found == own.end() ? over_launches : found->second;
    return Json{std::min(over_launches.first, low), std::max(over_launches.second, high)};
  };
  for (const auto& [protocol, alpha_s, beta_s_per_byte] : intervals_over(channel_of(kept.machine), launches))
    fits.push_back({{"level", level},
                    {"protocol", protocol},
                    {"launches", launches.size()},
                    {"alpha_interval_s", with_own(alpha_s, protocol, "alpha_s")},
                    {"beta_interval_s_per_byte", with_own(beta_s_per_byte, protocol, "beta_s_per_byte")}});
}

/// Keeps the entries that are the same in all, the oldest date, and the largest number of ranks per node.
void keep_common(Json& provenance, const std::vector<Json>& all) {
  for (const char* key : {"mpi_library", "transport", "partition", "processor", "node_processors", "layout"}) {
    const auto same = [&](const Json& each) { return each.value(key, Json()) == all.front().value(key, Json()); };
    if (all.front().contains(key) && std::ranges::all_of(all, same)) provenance[key] = all.front()[key];
  }
  std::set<std::string> dates;
  for (const auto& each : all)
    if (const auto date = each.optional<std::string>("date")) dates.insert(*date);
  if (!dates.empty()) provenance["date"] = *dates.begin();
  int ranks_per_node = 0;
  for (const auto& each : all)
    ranks_per_node = std::max(ranks_per_node, each.value("ranks_per_node", Json()).integer<int>().value_or(0));
  if (ranks_per_node > 0) provenance["ranks_per_node"] = ranks_per_node;
}

/// Keeps the time of small messages during the measurement of a channel.
void keep_pace(Json& provenance, const std::string& level, const Profile& from) {
  const auto pace = Json::parse(from.provenance_json).value("pace", Json());
  if (const auto* seconds = pace.find(level); seconds && seconds->is_number()) provenance["pace"][level] = *seconds;
}

}  // namespace

Profile merge_profiles(std::span<const NamedProfile> profiles) {
  if (profiles.size() < 2) throw InputError("profile merge", "there is one profile", "name two or more");
  Profile merged;
  Json provenance, origin, between, fits = Json::array();
  std::vector<Json> all;
  for (const auto& each : profiles) all.push_back(Json::parse(each.profile.provenance_json));
  keep_common(provenance, all);
  merged.machine.name = profiles.front().profile.machine.name;
  SpreadOfLaunches spread;
  merged.machine.levels = levels_of(profiles);
  for (const auto& part : parts_of_machine(merged.machine.levels)) {
    const auto offers = offers_of(part, profiles);
    if (offers.empty()) continue;
    const auto& chosen = *median_of(offers).from;
    part.take(merged.machine, chosen.profile.machine);
    origin[part.key] = chosen.name;
    if (!part.host_level.empty()) keep_pace(provenance, part.host_level, chosen.profile);
    if (offers.size() < 2) continue;
    const double differs = spread_of(offers);
    between[part.key] = differs;
    if (!part.host_level.empty()) add_intervals(fits, part.host_level, chosen.profile, offers);
    if (!part.is_channel) continue;
    if (differs > spread.largest) {
      spread.largest = differs;
      spread.key = part.key;
    }
    if (are_bimodal(offers)) spread.bimodal.push_back(part.key);
  }
  spread.miss = miss_between_launches(all);
  const auto has_verdict = [](const NamedProfile& each) { return each.profile.machine.verdict.has_value(); };
  if (std::ranges::any_of(profiles, has_verdict)) merged.machine.verdict = judge(profiles, spread);
  provenance["origin"] = origin;
  provenance["spread_between_profiles"] = between;
  if (!fits.empty()) provenance["fits"] = fits;
  for (std::size_t i = 0; i < profiles.size(); ++i) provenance["merged"][profiles[i].name] = all[i];
  if (const auto library = provenance.value("mpi_library", Json()); library.is_string())
    merged.machine.mpi_library = library.get<std::string>();
  for (const auto& each : profiles)
    merged.machine.nodes_measured = std::max(merged.machine.nodes_measured, each.profile.machine.nodes_measured);
  if (merged.machine.nodes_measured > 0) provenance["nodes"] = merged.machine.nodes_measured;
  merged.provenance_json = provenance.dump();
  return merged;
}

}  // namespace commpass
