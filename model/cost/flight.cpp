#include "model/cost/flight.hpp"

namespace commpass {

LevelChannels channels_of(const Machine& machine) {
  LevelChannels result;
  for (std::size_t l = 0; l < result.size(); ++l)
    if (const auto* channel = machine.host.find(static_cast<Level>(l))) result[l] = {channel, channel->least_beta()};
  return result;
}

Flight flight_of(const Message& message, Level level, const LevelChannels& channels) {
  const auto& channel = *channels[level].channel;
  return {.protocol = &channel.protocol(message.bytes),
          .level = level,
          .is_eager = channel.is_eager(message.bytes),
          .awaits_receive = channel.awaits_receive(message.bytes)};
}

}  // namespace commpass
