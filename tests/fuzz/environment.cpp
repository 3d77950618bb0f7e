// Environments, one NAME=VALUE a line.
#include "selector/environment/environment.hpp"

#include "fuzz/fuzz.hpp"
#include "model/base/text.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace commpass;
  return fuzz::accept_or_refuse([&] { parse_environment(split(fuzz::text_of(data, size), '\n')); });
}
