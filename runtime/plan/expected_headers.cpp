#include "runtime/plan/expected_headers.hpp"

#include <map>

#include "model/mixed.hpp"

namespace commpass {

namespace {

std::uint64_t number_of(const Block& block, bool brings_its_bytes) {
  const auto unsigned_of = [](auto number) { return static_cast<std::uint64_t>(number); };
  return mixed({unsigned_of(block.source), unsigned_of(block.destination), unsigned_of(block.index),
                unsigned_of(block.bytes), unsigned_of(block.offset), brings_its_bytes ? 1U : 0U});
}

}  // namespace

Headers ExpectedHeaders::operator()(int, const Departures& departures, std::span<const Block> held) {
  for (const auto& message : departures.messages)
    for (auto place = message.first_block; place < message.first_block + message.blocks; ++place)
      mismatch_ += number_of(held[departures.order[place]], departures.carrier(place) == place);
  std::map<Rank, Incoming> by_source;
  for (const auto& edge : receives_) {
    if (edge.bytes == 0 || edge.source == rank_) continue;
    auto& message = by_source[edge.source];
    message.from = edge.source;
    const auto& block = message.blocks.emplace_back(Block{.source = edge.source,
                                                          .destination = rank_,
                                                          .index = static_cast<std::int32_t>(message.blocks.size()),
                                                          .bytes = edge.bytes});
    mismatch_ -= number_of(block, true);
  }
  Headers result;
  for (auto& [source, message] : by_source) result.incoming.push_back(std::move(message));
  return result;
}

}  // namespace commpass
