#include "runtime/local_copy.hpp"

#include <cstring>

namespace commpass {

void local_copy(std::span<const LocalCopy> copies) {
  for (const auto& [from, to, bytes] : copies) std::memcpy(to, from, bytes);
}

}  // namespace commpass
