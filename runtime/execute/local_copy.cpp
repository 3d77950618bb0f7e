#include "runtime/execute/local_copy.hpp"

#include "runtime/execute/memory.hpp"

namespace commpass {

void local_copy(std::span<const LocalCopy> copies) { host_memory().copy(copies); }

}  // namespace commpass
