// The MPI operation that combines the tallies of two ranks.
#pragma once

#include <mpi.h>

namespace commpass {

/// How tallies are combined: some of their numbers are added up, of the others the largest is found.
class TallyOperation {
 public:
  TallyOperation();
  ~TallyOperation();
  TallyOperation(const TallyOperation&) = delete;
  TallyOperation& operator=(const TallyOperation&) = delete;

  MPI_Datatype type() const { return type_; }  ///< one whole tally
  MPI_Op operation() const { return operation_; }
  /// As MPI wants it.
  static void combine(void* in, void* in_and_out, int* tallies, MPI_Datatype* type);

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op operation_ = MPI_OP_NULL;
};

}  // namespace commpass
