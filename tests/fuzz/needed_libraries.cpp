// Programs whose libraries are asked for: any file has an answer.
#include "selector/commands/needed_libraries.hpp"

#include <sstream>

#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream file(commpass::fuzz::text_of(data, size));
  for (const auto& name : commpass::needed_libraries(file)) commpass::fuzz::expect(!name.empty());
  return 0;
}
