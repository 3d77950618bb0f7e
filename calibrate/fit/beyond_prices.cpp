#include <vector>

#include "calibrate/calls.hpp"
#include "model/median.hpp"

namespace commpass {

Seconds beyond_prices(std::span<const HeldOut> exchanges) {
  constexpr double little = 0.05;
  std::vector<double> beyond, surely, predicted;
  for (const auto& each : exchanges) {
    beyond.push_back(each.measured_s - each.predicted_s);
    surely.push_back(each.measured_interval_s.low - each.predicted_s);
    predicted.push_back(each.predicted_s);
  }
  const Seconds middle = median(std::move(beyond));
  return median(std::move(surely)) > 0 && middle > little * median(std::move(predicted)) ? middle : 0;
}

}  // namespace commpass
