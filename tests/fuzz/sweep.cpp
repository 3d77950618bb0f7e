// Ranges of --sweep: few values, ascending, within the given bounds.
#include <algorithm>
#include <cstdint>
#include <functional>

#include "fuzz/fuzz.hpp"
#include "selector/commands/sweep_range.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  return fuzz::accept_or_refuse([&] {
    std::size_t points = 1;
    for (const auto& range : parse_sweep(fuzz::text_of(data, size))) {
      fuzz::expect(!range.values.empty() && range.values.front() > 0);
      fuzz::expect(!range.row || range.values.front() >= 1);
      fuzz::expect(std::ranges::adjacent_find(range.values, std::greater_equal()) == range.values.end());
      points *= range.values.size();
    }
    constexpr std::size_t most_points = 2048;
    fuzz::expect(points <= most_points);
  });
}
