#include "model/machine.hpp"

#include <algorithm>

namespace commpass {

bool MemoryChannels::empty() const {
  return std::ranges::none_of(by_locality, [](const auto& channel) { return channel.has_value(); });
}

const Channel* MemoryChannels::find(Locality locality) const {
  for (auto i = static_cast<std::size_t>(locality); i < by_locality.size(); ++i)
    if (by_locality[i]) return &*by_locality[i];
  return nullptr;
}

}  // namespace commpass
