// bench radix: what the model says of tuna's radix, to be laid beside figures 7 and 9 of the TuNA paper: the time over
// the radix, and the radices that beat the linear exchange. Formulas only; nothing is simulated.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bench/options.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/profile_lookup.hpp"
#include "selector/choose/alltoall_choice.hpp"
#include "selector/commands/switches.hpp"

namespace commpass::bench {
namespace {

struct Figure {
  int ranks = 2048, ppn = 32;
  std::string profile = "lassen";
};

/// Largest block S of sizes that are uniform in 0…S, as in the paper.
constexpr Bytes largest_blocks[] = {16, 64, 256, 512, 1024, 2048, 8192, 32768, 131072};

/// Powers of two, √P and P.
std::vector<int> radices_for(int ranks) {
  std::set<int> radices{ranks, std::max(2, static_cast<int>(std::lround(std::sqrt(ranks))))};
  for (int radix = 2; radix < ranks; radix *= 2) radices.insert(radix);
  return {radices.begin(), radices.end()};
}

Strategy tuna(int radix) { return {"tuna", {{"radix", {radix}}}, {1}}; }

struct Curve {
  Bytes largest = 0;
  Seconds linear_s = 0;
  std::vector<std::pair<int, Seconds>> by_radix;

  std::pair<int, Seconds> best() const {
    return *std::ranges::min_element(by_radix, {}, &std::pair<int, Seconds>::second);
  }
  std::vector<int> that_beat_linear() const {
    std::vector<int> result;
    for (const auto& [radix, seconds] : by_radix)
      if (seconds < linear_s) result.push_back(radix);
    return result;
  }
};

Curve curve_of(Bytes largest, const Layout& layout, const Machine& machine) {
  const auto seconds = [&](const Strategy& strategy) {
    return price_one_shot(strategy, {1, 1, static_cast<double>(largest) / 2}, layout, machine).cost.seconds;
  };
  Curve curve{largest, seconds(parse_strategy("standard")), {}};
  for (const int radix : radices_for(layout.ranks())) curve.by_radix.emplace_back(radix, seconds(tuna(radix)));
  return curve;
}

void print_curves(const std::vector<Curve>& curves) {
  fmt::print("{:<12}", "radix");
  for (const auto& curve : curves)
    fmt::print("{:>12}", fmt::format("S = {}", format_bytes(static_cast<double>(curve.largest))));
  for (std::size_t i = 0; i < curves.front().by_radix.size(); ++i) {
    fmt::print("\n{:<12}", curves.front().by_radix[i].first);
    for (const auto& curve : curves) {
      const auto& [radix, seconds] = curve.by_radix[i];
      fmt::print("{:>12}", fmt::format("{}{}{}", radix == curve.best().first ? "*" : "", format_seconds(seconds),
                                       seconds < curve.linear_s ? "<" : " "));
    }
  }
  fmt::print("\n{:<12}", "linear");
  for (const auto& curve : curves) fmt::print("{:>12}", format_seconds(curve.linear_s) + " ");
  fmt::print("\n\n*: the least. <: less than the linear exchange.\n");
  for (const auto& curve : curves) {
    const auto better = curve.that_beat_linear();
    fmt::print("S = {:>9}: best radix {:>5}, {:>5.2f} times as fast as linear; radices that beat it: {}\n",
               format_bytes(static_cast<double>(curve.largest)), curve.best().first,
               curve.linear_s / curve.best().second,
               better.empty() ? "none" : fmt::format("{} to {}", better.front(), better.back()));
  }
}

Json radix(const Figure& figure, bool as_json) {
  const auto machine = read_profile(find_profile(figure.profile, profile_directories())).machine;
  const auto layout = Layout::with_ppn(figure.ranks, figure.ppn);
  std::vector<Curve> curves;
  for (const Bytes largest : largest_blocks) curves.push_back(curve_of(largest, layout, machine));
  Json json{{"schema_version", 1},
            {"context",
             {{"profile", machine.name},
              {"layout", layout.describe()},
              {"ranks", figure.ranks},
              {"sizes", "uniform in 0…S"}}}};
  for (const auto& curve : curves) {
    Json entry{{"largest_bytes", curve.largest},
               {"linear_s", curve.linear_s},
               {"best_radix", curve.best().first},
               {"beat_linear", curve.that_beat_linear()}};
    for (const auto& [r, seconds] : curve.by_radix) entry["tuna"].push_back({{"radix", r}, {"seconds", seconds}});
    json["cases"].push_back(std::move(entry));
  }
  json["summary"] = {{"cases", json["cases"].size()}};
  if (as_json) return json;
  fmt::print("profile: {}\nlayout: {}\nsizes: uniform in 0…S, priced by their mean\n\n", machine.name,
             layout.describe());
  print_curves(curves);
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  using namespace commpass::bench;
  commpass::Command command{"bench-radix",
                            "What the model says of tuna's radix, for figures 7 and 9 of the TuNA paper"};
  Figure figure;
  command.add({{"--profile", &figure.profile, "machine profile: NAME or file"},
               {"--ranks", &figure.ranks, "P", {.checks = {commpass::between(2, 1 << 20)}}},
               {"--ppn", &figure.ppn, "ranks on a node", {.checks = {commpass::positive()}}}});
  OutputOptions options;
  return run_benchmark(command, argc, argv, "radix", options, [&] { return radix(figure, options.json); });
}
