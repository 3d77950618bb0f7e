#include "calibrate/beside_others.hpp"

#include "doctor/other_programs.hpp"

namespace commpass {

double beside_others(MPI_Comm comm, const std::function<void()>& work) {
  const OtherPrograms others(comm);
  work();
  double most = others.processors();
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, comm);
  return most;
}

}  // namespace commpass
