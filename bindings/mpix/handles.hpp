// The handles of libcommpass-mpix, their lives and their errors. Private.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "bindings/mpix/mpi_advance.h"
#include "commpass/commpass.h"

namespace commpass::mpix {

/// An error of a call: a class of MPI, and a sentence.
struct Refusal {
  int error_class;
  std::string sentence;
};

/// @throws Refusal for a code of the C interface that is no success
void check(int code);
/// @throws Refusal for a code of MPI that is no success
void check_mpi(int code);

/// Prints a line. @return the error class
int report(const char* function, const Refusal& refusal);

/// Runs an action; a Refusal becomes its error class.
template <class Action>
int run(const char* function, Action action) {
  try {
    action();
    return MPI_SUCCESS;
  } catch (const Refusal& refusal) {
    return report(function, refusal);
  } catch (const std::bad_alloc&) {
    return report(function, {MPI_ERR_NO_MEM, "There is not enough memory."});
  }
}

struct Neighbors {
  std::vector<int> sources, destinations;
};

struct CommunicatorHandle : MPIX_Comm {
  std::unique_ptr<Neighbors> neighbors{};  ///< of MPIX_Dist_graph_create_adjacent, else null
  int tag = 0;
};

struct RequestHandle : MPIX_Request {
  commpass_exchange exchange = nullptr;
};

struct InfoHandle : MPIX_Info {};

}  // namespace commpass::mpix

struct _MPIX_Topo {  // NOLINT: its name in the interface
  commpass::mpix::Neighbors neighbors;
};

namespace commpass::mpix {

/// Handles that are alive, in the order in which they were made. A pointer that is none of them is not followed.
template <class Handle, class Given>
class Handles {
 public:
  Given* add(std::unique_ptr<Handle> handle) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(handle));
    return all_.back().get();
  }
  bool contains(const Given* given) {
    const std::lock_guard lock(mutex_);
    return find(given) != all_.end();
  }
  /// @throws Refusal
  Handle& get(const Given* given, int error_class, const char* what) {
    const std::lock_guard lock(mutex_);
    const auto found = find(given);
    if (found != all_.end()) return **found;
    throw Refusal{error_class, std::string(what) + (given ? ": it is none that is alive" : ": it is NULL") +
                                   "; give one that was made and not freed."};
  }
  /// @throws Refusal
  std::unique_ptr<Handle> take(Given** given, int error_class, const char* what) {
    if (!given) throw Refusal{error_class, std::string(what) + ": its address is NULL; give it."};
    get(*given, error_class, what);
    const std::lock_guard lock(mutex_);
    const auto found = find(*given);
    auto taken = std::move(*found);
    all_.erase(found);
    *given = nullptr;
    return taken;
  }
  std::vector<std::unique_ptr<Handle>> take_all() {
    const std::lock_guard lock(mutex_);
    return std::exchange(all_, {});
  }

 private:
  auto find(const Given* given) {
    return std::ranges::find_if(all_, [&](const auto& each) { return each.get() == given; });
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Handle>> all_;
};

inline Handles<CommunicatorHandle, MPIX_Comm> communicators;
inline Handles<RequestHandle, MPIX_Request> requests;
inline Handles<_MPIX_Topo, MPIX_Topo> topologies;
inline Handles<InfoHandle, MPIX_Info> infos;

/// Frees all at MPI_Finalize. Called before the first handle is made. @throws Refusal where MPI is not running
void begin();

inline CommunicatorHandle& require(const MPIX_Comm* comm) { return communicators.get(comm, MPI_ERR_COMM, "MPIX_Comm"); }

/// Where a handle will be put, which is NULL until then. @throws Refusal
template <class Handle>
void prepare(Handle** place) {
  if (!place) throw Refusal{MPI_ERR_ARG, "The address for the result is NULL; give it."};
  *place = nullptr;
}

/// That of a communicator of the program, made by the first call that needs it: collective. It lives as long as that
/// communicator, whatever becomes of its MPIX_Comm. @throws Refusal
commpass_comm engine_of(MPI_Comm comm);

/// @throws Refusal for ranks that the communicator does not have; MPI_COMM_NULL: for negative ones
Neighbors make_neighbors(MPI_Comm comm, int indegree, const int* sources, int outdegree, const int* destinations);

}  // namespace commpass::mpix
