// Texts of priced candidates between ranks: an accepted text is written again in the same way.
#include "selector/choose/candidate_text.hpp"

#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  return fuzz::accept_or_refuse([&] {
    const auto text = to_text(parse_candidates(fuzz::text_of(data, size)));
    fuzz::expect(to_text(parse_candidates(text)) == text);
  });
}
