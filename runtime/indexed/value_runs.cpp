#include "runtime/indexed/value_runs.hpp"

#include <utility>

namespace commpass {

void append(ValueRuns& runs, std::int64_t from, std::int64_t to) {
  if (!runs.empty() && runs.back().from + runs.back().count == from && runs.back().to + runs.back().count == to)
    ++runs.back().count;
  else runs.push_back({from, to, 1});
}

ValueRuns reversed(ValueRuns runs) {
  for (auto& run : runs) std::swap(run.from, run.to);
  return runs;
}

}  // namespace commpass
