// Finds the number of messages in flight to other nodes beyond which a network loses some.
#include <fmt/core.h>

#include "calibrate/calibration.hpp"
#include "calibrate/fit/switches.hpp"
#include "model/base/text.hpp"
#include "model/machine/late_messages.hpp"
#include "runtime/mpi/messages_in_flight.hpp"

namespace commpass {

namespace {

/// Bisects between the number of messages without late exchanges and that with mostly late ones.
void narrow(Calibration& calibration, const CrowdedExchanges& in_time, LateMessages& late) {
  const auto is_late = [&](Bytes number) {
    if (2 * late.late < late.of || calibration.sampler.has_spent(flight_share.end)) return true;
    const auto messages = static_cast<int>(number);
    const CrowdedExchanges between{
        messages, time_messages_in_flight(calibration.comm.get(), calibration.layout, messages, exchanges_timed)};
    calibration.sampler.check_time();
    const auto found = find_late_messages(std::vector{in_time, between});
    if (found) late = *found;
    return found.has_value();
  };
  late.most_in_time = static_cast<int>(bisect(late.most_in_time, late.messages, is_late));
}

}  // namespace

void measure_messages_in_flight(Calibration& calibration) {
  constexpr const char* key = "limits.messages_off_node";
  if (!calibration.has_ranks_for(key)) return;
  if (!calibration.provenance.warning.empty())
    return calibration.not_measured(fmt::format("{}: ranks wait for processors, so that all messages are late", key));
  calibration.progress("messages in flight");
  std::vector<CrowdedExchanges> crowded;
  auto& provenance = calibration.provenance;
  for (const int messages : {messages_in_flight_min, 16, 32, 64, 128, 256}) {
    if (calibration.sampler.has_spent(flight_share.end)) break;
    crowded.push_back(
        {messages, time_messages_in_flight(calibration.comm.get(), calibration.layout, messages, exchanges_timed)});
    calibration.sampler.check_time();
    provenance.late_messages = find_late_messages(crowded);
    if (!provenance.late_messages) continue;
    narrow(calibration, crowded[crowded.size() - 2], *provenance.late_messages);
    break;
  }
  auto& limit = calibration.machine.limits.messages_off_node;
  if (const auto& late = provenance.late_messages) limit = std::max(1, late->most_in_time);
  else if (!crowded.empty() && crowded.back().messages > default_messages_off_node) limit = crowded.back().messages;
  else
    calibration.not_measured(
        fmt::format("{}: no time was left for more than {} messages", key, default_messages_off_node));
}

}  // namespace commpass
