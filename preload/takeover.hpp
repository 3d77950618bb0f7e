// One call of the program: who runs it, and how long it takes.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "preload/taken_communicator.hpp"

namespace commpass {

/// Are we inside of a call that was taken over? What it calls of MPI is left to MPI.
bool is_inside();

/// A blocking call of the program, which every rank of the communicator makes, in two ways.
class Takeover {
 public:
  Takeover(InterposedCall call, MPI_Comm comm, bool is_in_place)
      : call_(call), comm_(comm), is_in_place_(is_in_place) {}
  virtual ~Takeover() = default;

  /// Runs it. @return a code of MPI
  int run();

 protected:
  Takeover(const Takeover&) = default;
  Takeover& operator=(const Takeover&) = default;

 private:
  /// By the MPI library. @return its code
  virtual int library() = 0;
  /// By ours. @throws as AlltoallvEngine
  virtual void ours(TakenCommunicator& of) = 0;
  /// That this rank sends, for reports.
  virtual std::int64_t bytes() const = 0;

  int run_taken(TakenCommunicator& of);
  int run_ours(TakenCommunicator& of);
  int run_both(TakenCommunicator& of);
  int run_in_turn(TakenCommunicator& of);
  double agreed_seconds(double here) const;

  InterposedCall call_;
  MPI_Comm comm_;
  bool is_in_place_;
};

/// A Takeover of functions. @param bytes  that this rank sends; @param library, ours  as in Takeover
template <class BytesSent, class Library, class Ours>
int take_over(InterposedCall call, MPI_Comm comm, bool is_in_place, BytesSent bytes_sent, Library library, Ours ours) {
  class Call final : public Takeover {
   public:
    Call(InterposedCall which, MPI_Comm on, bool in_place, BytesSent& bytes_sent, Library& by_library, Ours& by_ours)
        : Takeover(which, on, in_place), bytes_sent_(bytes_sent), library_(by_library), ours_(by_ours) {}

   private:
    int library() override { return library_(); }
    void ours(TakenCommunicator& of) override { ours_(of); }
    std::int64_t bytes() const override { return bytes_sent_(); }

    BytesSent& bytes_sent_;
    Library& library_;
    Ours& ours_;
  };
  return Call(call, comm, is_in_place, bytes_sent, library, ours).run();
}

}  // namespace commpass
