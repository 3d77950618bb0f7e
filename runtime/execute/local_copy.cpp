#include "runtime/execute/local_copy.hpp"

#include <cstring>

namespace commpass {

void local_copy(std::span<const LocalCopy> copies) {
  for (const auto& [from, to, bytes] : copies)
    if (bytes > 0)
      std::memcpy(to, from, bytes);  // messages of nothing may have no memory, and memcpy takes no null pointer
}

}  // namespace commpass
