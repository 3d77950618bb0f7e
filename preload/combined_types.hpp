// Several blocks of one rank as one element.
#pragma once

#include <mpi.h>

#include <map>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// In bytes, of a type that may be none: MPI says so when it is used.
Bytes extent_of(MPI_Datatype type);

/// Types that have several blocks each, in the order in which they were added. Frees them.
class CombinedTypes {
 public:
  CombinedTypes() = default;
  ~CombinedTypes();
  CombinedTypes(const CombinedTypes&) = delete;
  CombinedTypes& operator=(const CombinedTypes&) = delete;

  /// @param displacement  in bytes
  void add(int rank, Bytes count, Bytes displacement, MPI_Datatype type);
  /// Calls action(rank, type) for ranks to which several blocks were added, and begins anew.
  /// @throws CallError for a block of 2^31 elements, MpiError
  template <class Action>
  void for_each_rank_met_twice(Action action) {
    for (const auto& [rank, blocks] : blocks_)
      if (blocks.size() > 1) action(rank, combine(blocks));
    blocks_.clear();
  }

 private:
  struct Block {
    Bytes count, displacement;
    MPI_Datatype type;
  };
  MPI_Datatype combine(const std::vector<Block>& blocks);

  std::map<int, std::vector<Block>> blocks_;
  std::vector<MPI_Datatype> made_;
};

}  // namespace commpass
