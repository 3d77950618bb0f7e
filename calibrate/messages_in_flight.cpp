// How many messages a rank may have in flight to other nodes.
#include <fmt/core.h>

#include "calibrate/calibration.hpp"
#include "calibrate/fit/late_messages.hpp"
#include "calibrate/flight_timing.hpp"
#include "model/base/text.hpp"

namespace commpass {

void measure_messages_in_flight(Calibration& calibration) {
  constexpr const char* key = "limits.messages_off_node";
  if (calibration.layout.nodes() < 2) return calibration.not_measured(fmt::format("{}: needs two nodes", key));
  if (!calibration.provenance.warning.empty())
    return calibration.not_measured(fmt::format("{}: ranks wait for processors, so that all messages are late", key));
  calibration.progress("messages in flight");
  constexpr int exchanges = 20;  // a third of them is late where the network begins to lose messages
  std::vector<CrowdedExchanges> crowded;
  auto& provenance = calibration.provenance;
  for (const int messages : {16, 32, 64, 128, 256}) {
    if (calibration.sampler.has_spent(flight_share.end)) break;
    crowded.push_back(
        {messages, time_messages_in_flight(calibration.comm.get(), calibration.layout, messages, exchanges)});
    calibration.sampler.look();
    provenance.late_messages = find_late_messages(crowded);
    if (provenance.late_messages) break;
  }
  auto& limit = calibration.machine.limits.messages_off_node;
  if (const auto& late = provenance.late_messages) limit = std::max(1, late->most_in_time);
  else if (!crowded.empty() && crowded.back().messages > default_messages_off_node) limit = crowded.back().messages;
  else
    calibration.not_measured(
        fmt::format("{}: no time was left for more than {} messages", key, default_messages_off_node));
}

}  // namespace commpass
