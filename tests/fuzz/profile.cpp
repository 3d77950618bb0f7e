// Profiles: an accepted one is written in a form that is read as the same machine.
#include "model/machine/profile.hpp"

#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  return fuzz::accept_or_refuse([&] {
    const auto profile = parse_profile(fuzz::text_of(data, size), "fuzz.json");
    fuzz::expect(parse_profile(to_json(profile), "again.json").machine == profile.machine);
  });
}
