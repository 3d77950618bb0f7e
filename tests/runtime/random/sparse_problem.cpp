#include "runtime/random/sparse_problem.hpp"

#include <algorithm>

#include "runtime/random/strategies.hpp"

namespace commpass::random_test {

SparseProblem::SparseProblem(Draw& draw, const Place& place, bool constant_size, bool single, bool typed)
    : constant(constant_size) {
  const auto family =
      typed ? draw.of({Family::bytes, Family::doubles, Family::three_ints, Family::mixed}) : Family::bytes;
  const auto freedom = typed ? draw_freedom(draw, *place.switches) : Freedom{};
  constexpr Bytes most_elements = 3000;
  const auto draw_units = [&] {
    return static_cast<int>(typed ? std::min(draw_bytes(draw), most_elements) : draw_bytes(draw));
  };
  constant_units = draw_units();
  const int density = draw.small(4), most_of_pair = single ? 1 : draw.of({1, 2, 5});
  for (Rank source = 0; source < place.ranks; ++source) {
    sent.push_back(draw_element(draw, family, freedom));
    received.push_back(typed ? draw_element(draw, family, freedom) : sent.back());
    std::vector<Rank> destinations;
    for (Rank destination = 0; destination < place.ranks; ++destination)
      if (draw.small(3) < density)
        for (int count = 1 + draw.small(most_of_pair); count > 0; --count) destinations.push_back(destination);
    draw.shuffle(destinations);
    const auto& element = sent.back();
    const Bytes before = std::max<Bytes>(0, -element.least_offset());
    origins.push_back(guard_bytes + (before + guard_bytes - 1) / guard_bytes * guard_bytes);
    int end = 0;
    for (const auto destination : destinations) {
      const int count = element.in_unit * (constant ? constant_units : draw_units());
      if (!constant) end += draw.of({0, 0, 3});
      messages.push_back({source, destination, count, end});
      end += count;
    }
    sent_bytes.push_back(origins.back() + end * element.extent + std::max<Bytes>(0, element.end_offset()) +
                         guard_bytes);
  }
}

std::vector<SparseMessage> SparseProblem::from(Rank rank) const {
  std::vector<SparseMessage> result;
  std::ranges::copy_if(messages, std::back_inserter(result),
                       [&](const auto& message) { return message.source == rank; });
  return result;
}

std::vector<SparseMessage> SparseProblem::to(Rank rank) const {
  std::vector<SparseMessage> result;
  std::ranges::copy_if(messages, std::back_inserter(result),
                       [&](const auto& message) { return message.destination == rank; });
  return result;
}

Buffer SparseProblem::data(const SparseMessage& message, std::uint64_t key) const {
  const auto& element = sent[at(message.source)];
  Buffer result;
  for (Bytes i = 0; i < message.count; ++i)
    for (const auto offset : element.offsets)
      result.push_back(
          byte_at(key, origins[at(message.source)] + (message.displacement + i) * element.extent + offset));
  return result;
}

}  // namespace commpass::random_test
