// What is in flight in this process and needs its ranks to go on: whoever waits for something moves on all of it.
#pragma once

#include <mpi.h>

#include <exception>
#include <thread>

namespace commpass {

/// Held while the state of what is in flight is touched; may be taken again by its holder. Does nothing unless MPI gave
/// MPI_THREAD_MULTIPLE. Threads get it in the order in which they ask: one that polls does not keep it from others.
class InFlightLock {
 public:
  InFlightLock() noexcept;
  ~InFlightLock();
  InFlightLock(const InFlightLock&) = delete;
  InFlightLock& operator=(const InFlightLock&) = delete;

 private:
  bool is_held_;
};

/// Something that is under way and has steps that begin in our code, not in the MPI library's: as long as it has
/// entered, every wait of this process moves it on, whichever exchange and communicator the wait is for. (Ranks may
/// complete exchanges in different orders, as MPI's persistent requests; a rank that waits for one must pass on what
/// others need of another.)
class InFlight {
 public:
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  /// Moves on without waiting. What fails is kept for rethrow_failure(), and it leaves.
  void try_move_on() noexcept;

 protected:
  InFlight() = default;
  ~InFlight() { leave(); }

  /// Neither allocates; either may be called again.
  void enter() noexcept;
  void leave() noexcept;
  bool is_under_way() const noexcept { return entered_; }
  /// Throws what failed while others waited, once.
  void rethrow_failure();

 private:
  virtual void move_on() = 0;

  friend void move_on_all() noexcept;
  friend bool must_look_around(const InFlight* but) noexcept;
  friend bool anything_is_in_flight() noexcept;
  InFlight *previous_ = nullptr, *next_ = nullptr;
  bool entered_ = false;
  std::exception_ptr failure_;
};

/// Moves on everything that is in flight, without waiting.
void move_on_all() noexcept;

/// From now on all waits of this process yield their core between looks, where MPI's blocking calls might keep it from
/// the rank that they wait for.
void let_others_run() noexcept;

/// Must a wait do more than MPI's blocking call does? It must where anything besides `but` is in flight; with
/// MPI_THREAD_MULTIPLE always, since another thread may start something meanwhile; and where it should let other ranks
/// run.
bool must_look_around(const InFlight* but = nullptr) noexcept;

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

/// Asks for requests as MPI_Testall does; the statuses may be MPI_STATUSES_IGNORE. One alone is asked for by MPI_Test:
/// for a persistent collective MPI_Testall of MPICH 4.0 returns MPI_ERR_IN_STATUS without an error in its status. Of
/// many without statuses some are asked for at a time, so those of them that are complete are gone before all are.
/// @return what MPI_Testall returns
int test_all(int count, MPI_Request* requests, int* done, MPI_Status* statuses);

/// MPI_Waitall, which moves on nothing of ours, and whose errors are returned.
int block_for_all(int count, MPI_Request* requests, MPI_Status* statuses);

/// Waits for requests; the statuses may be MPI_STATUSES_IGNORE.
/// @return what MPI_Waitall returns
int wait_for_all(int count, MPI_Request* requests, MPI_Status* statuses);

}  // namespace commpass
