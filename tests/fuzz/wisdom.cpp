// Wisdom: an accepted one is written in a form that is read as the same.
#include "selector/choose/wisdom.hpp"

#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  return fuzz::accept_or_refuse([&] {
    const auto wisdom = parse_wisdom(fuzz::text_of(data, size), "fuzz.json");
    fuzz::expect(parse_wisdom(to_json(wisdom), "again.json") == wisdom);
  });
}
