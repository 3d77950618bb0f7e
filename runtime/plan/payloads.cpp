#include "runtime/plan/payloads.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace commpass {

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
