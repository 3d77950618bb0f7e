// Assignments of --set: a profile stays one that is read as the same machine.
#include "fuzz/fuzz.hpp"
#include "model/machine/named_parameters.hpp"
#include "model/machine/profile_lookup.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  return fuzz::accept_or_refuse([&] {
    auto profile = generic_profile();
    set_parameters(profile, {fuzz::text_of(data, size)});
    fuzz::expect(parse_profile(to_json(profile), "again.json").machine == profile.machine);
  });
}
