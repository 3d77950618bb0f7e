// What other programs do on a host while this one runs.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <optional>

#include "doctor/host.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/own_communicator.hpp"

namespace commpass {

/// Watches the ranks of a host from its construction on. Both calls are collective over all ranks of a communicator.
class OtherPrograms {
 public:
  explicit OtherPrograms(MPI_Comm comm) : host_(OwnCommunicator::split_by_node(comm)) {
    COMMPASS_MPI_CALL(MPI_Barrier, host_.get());
    all_ = used_by_all();
    own_ = used_by_this_process();
    begin_ = MPI_Wtime();
  }

  /// Processors that others have kept busy on this host, on average; 0 where the system does not tell.
  double processors() const {
    const auto elapsed = MPI_Wtime() - begin_;
    double own = used_by_this_process() - own_;
    const auto all = used_by_all();
    COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_SUM, host_.get());
    return all_ && all && elapsed > 0 ? std::max(0.0, (*all - *all_ - own) / elapsed) : 0;
  }

 private:
  OwnCommunicator host_;
  std::optional<Seconds> all_;
  Seconds own_ = 0, begin_ = 0;
};

}  // namespace commpass
