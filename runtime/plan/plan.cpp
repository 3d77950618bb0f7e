#include "runtime/plan/plan.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace commpass {

bool PlannedMessage::may_stay_in_pieces() const {
  Bytes end = 0;
  for (const auto& [offset, its_place, size] : pieces) {
    const bool is_users = its_place.buffer == Place::Buffer::send || its_place.buffer == Place::Buffer::receive;
    if (!is_users || offset != end) return false;
    end += size;
  }
  return !pieces.empty() && end == bytes && !is_forwarded;
}

std::vector<Payload> payloads_of(std::span<const SendEdge> sends) {
  std::vector<std::size_t> order(sends.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto place = [&](std::size_t i) { return std::pair(sends[i].offset, sends[i].bytes); };
  std::ranges::sort(order, {}, place);
  std::vector<Payload> payloads(sends.size(), no_payload);
  Payload last = no_payload;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (sends[order[i]].bytes == 0 || place(order[i]) != place(order[i - 1])) continue;
    auto& first = payloads[order[i - 1]];
    if (first == no_payload) first = ++last;
    payloads[order[i]] = first;
  }
  return payloads;
}

}  // namespace commpass
