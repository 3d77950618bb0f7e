// Stands in for metis_partition.cpp where Commpass is built without METIS.
#include "model/base/error.hpp"
#include "model/pattern/metis_partition.hpp"

namespace commpass {

std::vector<Rank> metis_partition(const CoordinateMatrix&, int, const std::string&) {
  throw InputError("--partition metis", "this Commpass was built without METIS",
                   "install libmetis-dev and build it again, or use --partition block");
}

}  // namespace commpass
