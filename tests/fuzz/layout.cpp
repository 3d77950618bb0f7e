// Layout texts: an accepted text has the wanted number of ranks.
#include "model/machine/layout.hpp"

#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  return fuzz::accept_or_refuse([&] {
    constexpr int ranks = 12;
    const auto layout = parse_layout(fuzz::text_of(data, size), ranks);
    fuzz::expect(layout.ranks() == ranks && layout.nodes() <= layout.sockets());
  });
}
