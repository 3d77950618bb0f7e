#include "runtime/mpi/one_thread.hpp"

#include <mpi.h>

#include "model/base/error.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

void require_thread_may_call_mpi() {
  static const bool only_main_may = [] {
    int level = MPI_THREAD_SINGLE;
    COMMPASS_MPI_CALL(MPI_Query_thread, &level);
    return level < MPI_THREAD_SERIALIZED;
  }();
  if (only_main_may && !is_main_thread())
    throw InputError("communicator", "it is called by a thread that did not initialize MPI",
                     "initialize MPI by MPI_Init_thread with MPI_THREAD_MULTIPLE, or call from the thread that did");
}

}  // namespace

OneThread::Use::Use(OneThread& of) : of_(of) {
  require_thread_may_call_mpi();
  const auto own = std::this_thread::get_id();
  std::thread::id user{};
  is_outermost_ = of_.user_.compare_exchange_strong(user, own);
  if (!is_outermost_ && user != own)
    throw InputError("communicator", "another thread is in a call of it",
                     "make a communicator for each thread, or let threads take turns");
}

OneThread::Use::~Use() {
  if (is_outermost_) of_.user_ = std::thread::id{};
}

}  // namespace commpass
