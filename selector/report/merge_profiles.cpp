#include "selector/report/merge_profiles.hpp"

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
#include "model/median.hpp"
#include "selector/report/launch_errors.hpp"
#include "selector/report/launch_intervals.hpp"

namespace commpass {

namespace {

/// A part of a machine that is taken whole.
struct Part {
  std::string key;
  std::function<std::optional<double>(const Machine&)> amount;  ///< by which profiles are compared; nothing: absent
  std::function<void(Machine& to, const Machine& from)> take;
  std::optional<Locality> host_channel{};  ///< if it is that of messages between hosts' memories
  bool is_channel = false;
};

/// The geometric mean of lone messages of all sizes.
double amount_of(const Channel& channel) {
  constexpr Bytes sizes[] = {8, 64, 512, 4096, 32768, 262144, 4194304};
  double sum = 0;
  for (const auto bytes : sizes) sum += std::log(channel.protocol(bytes).alone_seconds(static_cast<double>(bytes)));
  return std::exp(sum / static_cast<double>(std::size(sizes)));
}

Part channel_part(const char* memory, MemoryChannels Machine::*channels, Locality locality) {
  const auto index = static_cast<std::size_t>(locality);
  return {fmt::format("{}.{}", memory, name_of(locality)),
          [=](const Machine& m) {
            return (m.*channels).has(locality) ? std::optional(amount_of(*(m.*channels).by_locality[index]))
                                               : std::nullopt;
          },
          [=](Machine& to, const Machine& from) {
            (to.*channels).by_locality[index] = (from.*channels).by_locality[index];
          },
          channels == &Machine::host ? std::optional(locality) : std::nullopt, true};
}

Part rate_part(const char* key, double Machine::*rate) {
  return {key, [=](const Machine& m) { return std::isfinite(m.*rate) ? std::optional(m.*rate) : std::nullopt; },
          [=](Machine& to, const Machine& from) { to.*rate = from.*rate; }};
}

std::vector<Part> parts_of_machine() {
  std::vector<Part> parts;
  for (const auto locality : {Locality::socket, Locality::node, Locality::network}) {
    parts.push_back(channel_part("host", &Machine::host, locality));
    parts.push_back(channel_part("device", &Machine::device, locality));
  }
  parts.push_back(rate_part("injection", &Machine::injection_rate_bytes_per_s));
  parts.push_back(rate_part("ejection", &Machine::ejection_rate_bytes_per_s));
  parts.push_back(rate_part("core", &Machine::core_rate_bytes_per_s));
  parts.push_back(rate_part("group", &Machine::group_rate_bytes_per_s));
  parts.push_back(rate_part("bus", &Machine::bus_rate_bytes_per_s));
  parts.push_back({"copy",
                   [](const Machine& m) {
                     const bool is_there = !m.device_to_host.empty() || !m.host_to_device.empty();
                     return is_there ? std::optional(1.0) : std::nullopt;
                   },
                   [](Machine& to, const Machine& from) {
                     to.device_to_host = from.device_to_host;
                     to.host_to_device = from.host_to_device;
                   }});
  parts.push_back({"devices",
                   [](const Machine& m) {
                     const bool is_there = m.devices_per_node || m.device_copy_rate_bytes_per_s || m.device_copy_call_s;
                     return is_there ? std::optional(m.device_copy_call_s.value_or(1)) : std::nullopt;
                   },
                   [](Machine& to, const Machine& from) {
                     to.devices_per_node = from.devices_per_node;
                     to.device_copy_rate_bytes_per_s = from.device_copy_rate_bytes_per_s;
                     to.device_copy_call_s = from.device_copy_call_s;
                   }});
  parts.push_back({"local",
                   [](const Machine& m) {
                     constexpr double bytes = 65536;
                     const bool is_there = m.copy_block_s || std::isfinite(m.copy_rate_bytes_per_s);
                     return is_there ? std::optional(copying_seconds(m, bytes, 1)) : std::nullopt;
                   },
                   [](Machine& to, const Machine& from) {
                     to.copy_rate_bytes_per_s = from.copy_rate_bytes_per_s;
                     to.copy_block_s = from.copy_block_s;
                     to.value_run_s = from.value_run_s;
                     to.datatype_rate_bytes_per_s = from.datatype_rate_bytes_per_s;
                     to.datatype_block_s = from.datatype_block_s;
                   }});
  parts.push_back({"operations",
                   [](const Machine& m) {
                     return m.operations == OperationCosts{} ? std::nullopt
                                                             : std::optional(m.operations.allreduce_s.value_or(1));
                   },
                   [](Machine& to, const Machine& from) { to.operations = from.operations; }});
  return parts;
}

/// A profile that has a part, and what the part takes there.
struct Offer {
  double amount = 0;
  const NamedProfile* from = nullptr;
};

/// Those that have the part, by growing amount. Of operations only those with the most ranks: they grow with them.
std::vector<Offer> offers_of(const Part& part, std::span<const NamedProfile> profiles) {
  std::vector<Offer> offers;
  for (const auto& each : profiles)
    if (const auto amount = part.amount(each.profile.machine)) offers.push_back({*amount, &each});
  const auto ranks_of = [](const Offer& offer) { return offer.from->profile.machine.operations.ranks.value_or(0); };
  if (part.key == "operations" && !offers.empty()) {
    const int most = ranks_of(*std::ranges::max_element(offers, {}, ranks_of));
    std::erase_if(offers, [&](const Offer& offer) { return ranks_of(offer) < most; });
  }
  std::ranges::stable_sort(offers, {}, &Offer::amount);
  return offers;
}

std::size_t middle(const std::vector<Offer>& offers) { return (offers.size() - 1) / 2; }

/// Half of what they range over, as part of the middle one.
double spread_of(const std::vector<Offer>& offers) {
  return (offers.back().amount - offers.front().amount) / 2 / offers[middle(offers)].amount;
}

/// Two groups of at least two, between which there is a gap that is twice as wide as either.
bool are_bimodal(const std::vector<Offer>& offers) {
  for (std::size_t split = 2; split + 2 <= offers.size(); ++split) {
    const double low = offers[split - 1].amount - offers.front().amount,
                 high = offers.back().amount - offers[split].amount,
                 gap = offers[split].amount - offers[split - 1].amount;
    constexpr double wide = 2, seen = 0.1;
    if (gap > wide * std::max(low, high) && gap > seen * offers.front().amount) return true;
  }
  return false;
}

/// What all launches say together.
struct SpreadOfLaunches {
  double most = 0;
  std::string key;
  std::vector<std::string> bimodal;
  std::optional<double> miss{};  ///< of what one launch predicts, in others
};

Verdict judge(std::span<const NamedProfile> profiles, const SpreadOfLaunches& spread) {
  constexpr double little = 0.15, much = 0.5;
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
  if (!trusted.empty()) verdict.trust = trusted[trusted.size() / 2];  // of two in the middle the worse
  if (spread.most > little) verdict.trust = std::max(verdict.trust, spread.most > much ? Trust::none : Trust::usable);
  if (spread.miss && *spread.miss > most_miss_if_good)
    verdict.trust = std::max(verdict.trust, *spread.miss > most_miss_if_usable ? Trust::none : Trust::usable);
  verdict.uncertainty = std::max(spread.most, uncertainties.empty() ? 0 : median(uncertainties));
  verdict.why = fmt::format("{} profiles ({}) differ by {} to either side{}", profiles.size(), trusts,
                            format_share(spread.most), spread.key.empty() ? "" : " in " + spread.key);
  if (spread.miss)
    verdict.why +=
        fmt::format("; what one predicts of exchanges in the others is off by {} (median)", format_share(*spread.miss));
  for (const auto& key : spread.bimodal) verdict.why += fmt::format("; times of {} are of two kinds", key);
  if (verdict.trust != Trust::good)
    verdict.remedy = "bind ranks to cores, see 'commpass doctor', and calibrate more launches";
  return verdict;
}

/// What α and β of a locality are in one more launch, as entries of the fits of a provenance. Launches that happen to
/// agree know them no better than the one that is kept does by itself.
void add_intervals(Json& fits, Locality locality, const Profile& kept, const std::vector<Offer>& offers) {
  std::vector<const Channel*> launches;
  for (const auto& offer : offers) launches.push_back(&host_channel(offer.from->profile.machine, locality));
  const auto own = intervals_of(kept);
  const auto holding_own = [&](std::pair<double, double> over_launches, const std::string& protocol,
                               const char* parameter) {
    const auto found = own.find(fmt::format("host.{}.{}.{}", name_of(locality), protocol, parameter));
    const auto [low, high] = found == own.end() ? over_launches : found->second;
    return Json{std::min(over_launches.first, low), std::max(over_launches.second, high)};
  };
  for (const auto& [protocol, alpha_s, beta_s_per_byte] :
       intervals_over(host_channel(kept.machine, locality), launches))
    fits.push_back({{"locality", name_of(locality)},
                    {"protocol", protocol},
                    {"launches", launches.size()},
                    {"alpha_interval_s", holding_own(alpha_s, protocol, "alpha_s")},
                    {"beta_interval_s_per_byte", holding_own(beta_s_per_byte, protocol, "beta_s_per_byte")}});
}

/// What all say alike, as provenances are compared with what runs; of dates the oldest, of ranks a node the most.
void keep_common(Json& provenance, const std::vector<Json>& all) {
  for (const char* key : {"mpi_library", "transport", "partition", "processor", "node_processors", "layout"}) {
    const auto same = [&](const Json& each) { return each.value(key, Json()) == all.front().value(key, Json()); };
    if (all.front().contains(key) && std::ranges::all_of(all, same)) provenance[key] = all.front()[key];
  }
  std::set<std::string> dates;
  for (const auto& each : all)
    if (const auto date = each.value("date", Json()); date.is_string()) dates.insert(date.get<std::string>());
  if (!dates.empty()) provenance["date"] = *dates.begin();
  int ranks_per_node = 0;
  for (const auto& each : all)
    ranks_per_node = std::max(ranks_per_node, each.value("ranks_per_node", Json()).integer<int>().value_or(0));
  if (ranks_per_node > 0) provenance["ranks_per_node"] = ranks_per_node;
}

/// What small messages took while a channel was measured.
void keep_pace(Json& provenance, Locality of, const Profile& from) {
  for (const auto& [locality, seconds] : pace_of(from))
    if (locality == of) provenance["pace"][name_of(locality)] = seconds;
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
  for (const auto& part : parts_of_machine()) {
    const auto offers = offers_of(part, profiles);
    if (offers.empty()) continue;
    const auto& chosen = *offers[middle(offers)].from;
    part.take(merged.machine, chosen.profile.machine);
    origin[part.key] = chosen.name;
    if (part.host_channel) keep_pace(provenance, *part.host_channel, chosen.profile);
    if (offers.size() < 2) continue;
    const double differs = spread_of(offers);
    between[part.key] = differs;
    if (part.host_channel) add_intervals(fits, *part.host_channel, chosen.profile, offers);
    if (!part.is_channel) continue;
    if (differs > spread.most) {
      spread.most = differs;
      spread.key = part.key;
    }
    if (are_bimodal(offers)) spread.bimodal.push_back(part.key);
  }
  spread.miss = miss_between_launches(all);
  merged.machine.verdict = judge(profiles, spread);
  provenance["origin"] = origin;
  provenance["spread_between_profiles"] = between;
  if (!fits.empty()) provenance["fits"] = fits;
  for (std::size_t i = 0; i < profiles.size(); ++i) provenance["merged"][profiles[i].name] = all[i];
  merged.provenance_json = provenance.dump();
  return merged;
}

}  // namespace commpass
