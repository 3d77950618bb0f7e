#include "model/machine/plausibility.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "model/base/text.hpp"
#include "model/machine/named_parameters.hpp"

namespace commpass {

namespace {

constexpr double rounding = 1 + 1e-6;

/// What one more message costs one end of it: α and β.
void check_further(const Protocol& protocol, const std::string& place, const char* end, Seconds alpha_s,
                   double beta_s_per_byte, std::vector<std::string>& found) {
  if (alpha_s > rounding * protocol.alpha_s)
    found.push_back(fmt::format("{}: a further message costs its {} {} (alpha_{}_s), and a lone one takes {}", place,
                                end, format_seconds(alpha_s), std::string(end) == "sender" ? "next" : "receive",
                                format_seconds(protocol.alpha_s)));
  const bool is_last = protocol.max_bytes == std::numeric_limits<Bytes>::max();
  const auto most = static_cast<double>(protocol.max_bytes);
  const double further = is_last ? beta_s_per_byte : alpha_s + beta_s_per_byte * most;
  const double lone = is_last ? protocol.beta_s_per_byte : protocol.alone_seconds(most);
  if (further > rounding * most_of_lone_message * lone)
    found.push_back(
        fmt::format("{}: of its largest messages a further one costs its {} {:.3g} times what a lone one takes", place,
                    end, further / lone));
}

void check_channel(const Channel& channel, const std::string& place, std::vector<std::string>& found) {
  for (std::size_t i = 0; i < channel.protocols.size(); ++i) {
    const auto& protocol = channel.protocols[i];
    const auto where = fmt::format("{}.{}", place, protocol.name);
    check_further(protocol, where, "sender", protocol.alpha_next_s, protocol.beta_next(), found);
    if (protocol.alpha_receive_s)
      check_further(protocol, where, "receiver", *protocol.alpha_receive_s,
                    protocol.beta_receive_s_per_byte.value_or(protocol.beta_s_per_byte), found);
    if (i + 1 == channel.protocols.size()) break;
    const auto bytes = static_cast<double>(protocol.max_bytes);
    const auto before = protocol.alone_seconds(bytes), after = channel.protocols[i + 1].alone_seconds(bytes);
    constexpr double seen = 1.01;
    if (before > seen * after)
      found.push_back(fmt::format("{}: a message of {} bytes takes {}, and one byte more {}", where, protocol.max_bytes,
                                  format_seconds(before), format_seconds(after)));
  }
}

}  // namespace

std::vector<std::string> implausible(const Machine& machine, int ranks_of_node) {
  std::vector<std::string> found;
  const double memory = ranks_of_node * machine.copy_rate_bytes_per_s;
  const auto check_rate = [&](const std::string& name, double rate) {
    constexpr double giga = 1e9;
    if (ranks_of_node > 0 && std::isfinite(rate) && rate > rounding * memory)
      found.push_back(fmt::format("{}: {:.3g} GB/s, and the copies of {} ranks move {:.3g} GB/s", name, rate / giga,
                                  ranks_of_node, memory / giga));
  };
  for (Level i = 0; i < machine.levels.size(); ++i) {
    const auto place = "levels." + machine.name_of(i);
    if (machine.host.has(i)) check_channel(*machine.host.by_level[i], place + ".host", found);
    if (machine.shared.has(i)) check_channel(*machine.shared.by_level[i], place + ".shared", found);
    if (machine.device.has(i)) check_channel(*machine.device.by_level[i], place + ".device", found);
    if (i > machine.node_level()) continue;
    if (machine.host.has(i))
      check_rate(place + ".host.aggregate_rate_bytes_per_s", machine.host.by_level[i]->aggregate_rate_bytes_per_s);
    check_rate(place + ".inside_rate_bytes_per_s", machine.levels[i].inside_rate_bytes_per_s);
  }
  return found;
}

std::optional<InputError> find_misread(Machine machine, const std::string& origin) {
  for (const auto& [name, parameter, owner] : named_parameters(machine)) {
    const auto value = parameter->access.get(owner);
    const auto [least, most] = plausible_range(*parameter);
    if (is_absent(value) || (to_double(value) >= least && to_double(value) <= most)) continue;
    return InputError(
        origin,
        fmt::format(
            "{} is {:.4g} {}, and real machines have {}", name, to_double(value), symbol_of(parameter->unit),
            to_double(value) > most ? fmt::format("{:.4g} at most", most) : fmt::format("{:.4g} or more", least)),
        fmt::format("write it in {}", words_of(parameter->unit)));
  }
  constexpr double most_ratio = 2;  // measured within one NUMA domain and beyond it: 1.7 for short messages on DeltaAI
  constexpr Bytes probed_bytes[] = {8, 1 << 16, 1 << 20};
  std::optional<Level> inner;
  for (Level outer = 0; outer < machine.levels.size(); ++outer) {
    if (!machine.host.has(outer)) continue;
    const auto takes_longer = [&](Bytes bytes) {
      const auto seconds = [&](Level level) {
        return machine.host.by_level[level]->protocol(bytes).alone_seconds(static_cast<double>(bytes));
      };
      return seconds(*inner) > most_ratio * seconds(outer);
    };
    if (inner && std::ranges::all_of(probed_bytes, takes_longer))
      return InputError(origin,
                        fmt::format("levels.{} comes before levels.{}, and messages of all sizes take more than {} "
                                    "times as long within it",
                                    machine.name_of(*inner), machine.name_of(outer), most_ratio),
                        "list levels innermost first");
    inner = outer;
  }
  return std::nullopt;
}

}  // namespace commpass
