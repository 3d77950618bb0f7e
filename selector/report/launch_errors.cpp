#include "selector/report/launch_errors.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/base/json.hpp"
#include "model/machine/miss.hpp"
#include "model/median.hpp"

namespace commpass {

namespace {

using Key = std::pair<std::string, std::string>;  // the exchange, the strategy

struct Times {
  double predicted_s, measured_s;
};

std::map<Key, Times> held_out_of(const Json& provenance) {
  std::map<Key, Times> times;
  for (const auto& each : provenance.list("held_out")) {
    // A profile's provenance is anybody's to write.
    const auto exchange = each.optional<std::string>("exchange"), strategy = each.optional<std::string>("strategy");
    const Times found_s{each.number_or_0("predicted_s"), each.number_or_0("measured_s")};
    if (exchange && strategy && found_s.predicted_s > 0 && found_s.measured_s > 0)
      times[{*exchange, *strategy}] = found_s;
  }
  return times;
}

}  // namespace

std::optional<double> miss_between_launches(std::span<const Json> provenances) {
  std::vector<std::map<Key, Times>> launches;
  for (const auto& each : provenances) launches.push_back(held_out_of(each));
  std::vector<double> misses;
  for (std::size_t i = 0; i < launches.size(); ++i)
    for (std::size_t k = 0; k < launches.size(); ++k) {
      if (i == k || provenances[i].value("layout", Json()) != provenances[k].value("layout", Json())) continue;
      for (const auto& [key, mine] : launches[i])
        if (const auto theirs = launches[k].find(key); theirs != launches[k].end())
          misses.push_back(miss_between(mine.predicted_s, theirs->second.measured_s));
    }
  if (misses.empty()) return {};
  return median(std::move(misses));
}

}  // namespace commpass
