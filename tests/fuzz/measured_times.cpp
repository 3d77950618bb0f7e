// Tables of measured times: an accepted table has times, and can be condensed.
#include "calibrate/fit/measured_times.hpp"

#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  return fuzz::accept_or_refuse([&] {
    const auto times = parse_measured_times(fuzz::text_of(data, size), "file");
    fuzz::expect(!times.empty());
    for (const auto& time : times) {
      fuzz::expect(time.fastest_s > 0 && time.median_s > 0 && time.runs > 0);
      fuzz::expect(time.of.nodes > 0 && time.of.ppn > 0 && time.of.bytes > 0);
    }
    condensed_table(times);
  });
}
