#include "model/machine.hpp"

#include <algorithm>
#include <bit>

namespace commpass {

bool MemoryChannels::empty() const {
  return std::ranges::none_of(by_locality, [](const auto& channel) { return channel.has_value(); });
}

const Channel* MemoryChannels::find(Locality locality) const {
  for (auto i = static_cast<std::size_t>(locality); i < by_locality.size(); ++i)
    if (by_locality[i]) return &*by_locality[i];
  return nullptr;
}

Seconds collective_seconds(const OperationCosts& operations, Seconds measured_s, int ranks) {
  if (!operations.ranks) return measured_s;
  const auto rounds = [](int count) { return std::bit_width(static_cast<unsigned>(count) - 1); };
  return measured_s * rounds(ranks) / rounds(*operations.ranks);
}

}  // namespace commpass
