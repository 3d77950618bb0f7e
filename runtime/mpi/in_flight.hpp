// Exchanges in flight that need calls of this process: every wait moves on all of them.
#pragma once

#include <mpi.h>

#include <exception>
#include <thread>

namespace commpass {

/// A recursive lock of the state of all that is in flight. Does nothing unless MPI gave MPI_THREAD_MULTIPLE. Threads
/// get it in the order in which they ask: one that polls does not keep it from others.
class InFlightLock {
 public:
  InFlightLock() noexcept;
  ~InFlightLock();
  InFlightLock(const InFlightLock&) = delete;
  InFlightLock& operator=(const InFlightLock&) = delete;

 private:
  bool is_held_;
};

/// An exchange whose steps begin in our code, not in the MPI library's. While it has entered, every wait of this
/// process moves it on, whichever exchange and communicator the wait is for. (Ranks may complete exchanges in different
/// orders, as MPI's persistent requests; a rank that waits for one must forward messages of another.)
class InFlight {
 public:
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  /// Moves on without waiting. Keeps a failure for rethrow_failure(), and leaves.
  void try_move_on() noexcept;

 protected:
  InFlight() = default;
  ~InFlight() { leave(); }

  /// Neither allocates; either may be called again.
  void enter() noexcept;
  void leave() noexcept;
  /// Throws the kept failure, once.
  void rethrow_failure();

 private:
  virtual void move_on() = 0;

  friend void move_on_all() noexcept;
  friend bool must_poll(const InFlight* but) noexcept;
  friend bool anything_is_in_flight() noexcept;
  InFlight *previous_ = nullptr, *next_ = nullptr;
  bool entered_ = false;
  std::exception_ptr failure_;
};

/// Moves on everything that is in flight, without waiting.
void move_on_all() noexcept;

/// From now on all waits of this process poll and yield their core, which MPI's blocking calls might keep from the rank
/// that they wait for.
void yield_in_waits() noexcept;

/// Must a wait poll in place of MPI's blocking call? It must if anything besides `but` is in flight; with
/// MPI_THREAD_MULTIPLE always, since another thread may start an exchange meanwhile; and after yield_in_waits().
bool must_poll(const InFlight* but = nullptr) noexcept;

bool anything_is_in_flight() noexcept;

/// Moves on all that is in flight until `done()`, which is called under the lock and must not wait.
template <class Done>
void wait_until(Done done) {
  for (;;) {
    {
      const InFlightLock lock;
      if (done()) return;
      move_on_all();
    }
    std::this_thread::yield();  // ranks may outnumber the cores
  }
}

/// For a wait that polls memory: lets the MPI library move on the user's messages from time to time, for which those of
/// other ranks may wait, and more rarely another process have the core.
class RareProbe {
 public:
  /// @throws MpiError
  void poll(MPI_Comm comm);

 private:
  unsigned polls_ = 0;
};

/// Tests requests as MPI_Testall does; the statuses may be MPI_STATUSES_IGNORE. Tests a single one by MPI_Test: for a
/// persistent collective MPI_Testall of MPICH 4.0 returns MPI_ERR_IN_STATUS without an error in its status. Tests many
/// without statuses in portions, so that complete ones may be null before all are complete.
/// @return what MPI_Testall returns
int test_all(int count, MPI_Request* requests, int* done, MPI_Status* statuses);

/// MPI_Waitall, which moves on no exchange in flight, and returns its errors.
int block_for_all(int count, MPI_Request* requests, MPI_Status* statuses);

/// Waits for requests; the statuses may be MPI_STATUSES_IGNORE.
/// @return what MPI_Waitall returns
int wait_for_all(int count, MPI_Request* requests, MPI_Status* statuses);

}  // namespace commpass
