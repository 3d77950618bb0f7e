// Generator texts: an accepted text is a valid pattern.
#include "model/pattern/generate.hpp"

#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  constexpr std::int64_t few_edges = 5000;  // more are legal and slow
  return fuzz::accept_or_refuse([&] { generate_pattern(fuzz::text_of(data, size), few_edges).validate(); });
}
