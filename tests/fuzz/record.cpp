// Records of runs: an accepted one is written in a form that is read as the same.
#include "selector/report/record.hpp"

#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  return fuzz::accept_or_refuse([&] {
    const auto record = parse_record(fuzz::text_of(data, size), "fuzz.json");
    fuzz::expect(parse_record(to_json(record), "again.json") == record);
    for (const auto& exchange : record.exchanges)
      if (const auto pattern = pattern_of(record, exchange)) pattern->validate();
  });
}
