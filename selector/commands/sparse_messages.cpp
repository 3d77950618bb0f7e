#include "selector/commands/sparse_messages.hpp"

#include <fmt/core.h>

#include <limits>

#include "model/base/error.hpp"

namespace commpass {

void require_plain_messages(const Pattern& pattern, bool constant_size) {
  for (const auto& edge : pattern.edges) {
    if (edge.bytes > std::numeric_limits<int>::max())
      throw InputError("--sparse", fmt::format("a message has {} bytes", edge.bytes), "use fewer than 2^31");
    if (constant_size && edge.bytes != pattern.edges.front().bytes)
      throw InputError("--sparse constant",
                       fmt::format("there are messages of {} and of {} bytes", pattern.edges.front().bytes, edge.bytes),
                       "use --sparse variable");
  }
}

}  // namespace commpass
