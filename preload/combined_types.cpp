#include "preload/combined_types.hpp"

#include <fmt/core.h>

#include <limits>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

Bytes extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  const ReturnedErrors errors;
  if (type == MPI_DATATYPE_NULL || PMPI_Type_get_extent(type, &lower, &extent) != MPI_SUCCESS) return 0;
  return extent;
}

CombinedTypes::~CombinedTypes() {
  for (auto& type : made_) PMPI_Type_free(&type);
}

void CombinedTypes::add(int rank, Bytes count, Bytes displacement, MPI_Datatype type) {
  blocks_[rank].push_back({count, displacement, type});
}

MPI_Datatype CombinedTypes::combine(const std::vector<Block>& blocks) {
  std::vector<int> counts;
  std::vector<MPI_Aint> displacements;
  std::vector<MPI_Datatype> types;
  for (const auto& block : blocks) {
    if (block.count < 0 || block.count > std::numeric_limits<int>::max())
      throw CallError(MPI_ERR_COUNT, "neighbourhood", fmt::format("a count is {}", block.count),
                      "use 0 to 2^31 - 1 where a rank is a neighbour several times");
    if (block.count == 0) continue;  // whose type may be any
    counts.push_back(static_cast<int>(block.count));
    displacements.push_back(block.displacement);
    types.push_back(block.type);
  }
  const ReturnedErrors errors;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  made_.reserve(made_.size() + 1);
  COMMPASS_MPI_CALL(PMPI_Type_create_struct, static_cast<int>(counts.size()), counts.data(), displacements.data(),
                    types.data(), &made);
  made_.push_back(made);
  COMMPASS_MPI_CALL(PMPI_Type_commit, &made_.back());
  return made;
}

}  // namespace commpass
