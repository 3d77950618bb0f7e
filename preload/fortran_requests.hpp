// Calls of requests from Fortran as those of C, where some requests may have plans. Private to message_fortran.cpp.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "preload/fortran_arguments.hpp"
#include "preload/planned_requests.hpp"

namespace commpass::fortran {

/// Statuses of a call. Those of Fortran are given back.
class Statuses {
 public:
  /// @param given  of Fortran, one or several, perhaps those that are ignored
  Statuses(const void* caller, MPI_Fint* given, std::size_t count)
      : given_(given), in_c_(is_ignored(caller, given) ? 0 : count) {}

  MPI_Status* in_c() { return in_c_.empty() ? MPI_STATUSES_IGNORE : in_c_.data(); }
  /// The first ones.
  void give(std::size_t count) const {
    constexpr std::size_t status_size = sizeof(MPI_Status) / sizeof(MPI_Fint);
    for (std::size_t i = 0; i < count && i < in_c_.size(); ++i)
      PMPI_Status_c2f(&in_c_[i], given_ + i * status_size);  // NOLINT: as Fortran's array
  }

 private:
  static bool is_ignored(const void* caller, const MPI_Fint* given) {
    static const void* const one = address_of("mpi_fortran_status_ignore_", caller);
    static const void* const several = address_of("mpi_fortran_statuses_ignore_", caller);
    return given == one || given == several;
  }
  MPI_Fint* given_;
  std::vector<MPI_Status> in_c_;
};

/// Requests of a call. Those of Fortran are set when it ends.
class Handles {
 public:
  Handles(const MPI_Fint* count, MPI_Fint* given) : Handles(static_cast<std::size_t>(*count), given) {}
  explicit Handles(MPI_Fint* given) : Handles(std::size_t{1}, given) {}
  ~Handles() {
    for (std::size_t i = 0; i < in_c_.size(); ++i) given_[i] = PMPI_Request_c2f(in_c_[i]);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  MPI_Request* in_c() { return in_c_.data(); }
  std::size_t size() const { return in_c_.size(); }

 private:
  Handles(std::size_t count, MPI_Fint* given) : given_(given) {
    for (std::size_t i = 0; i < count; ++i) in_c_.push_back(PMPI_Request_f2c(given[i]));
  }
  MPI_Fint* given_;
  std::vector<MPI_Request> in_c_;
};

/// Fortran counts from 1.
inline void count_from_1(MPI_Fint* index) {
  if (*index != MPI_UNDEFINED) ++*index;
}
inline std::size_t completed_of(MPI_Fint completed) {
  return completed == MPI_UNDEFINED ? 0 : static_cast<std::size_t>(completed);
}

inline void start_in_c(MPI_Fint* request, MPI_Fint* ierr) {
  return_code(ierr, planned::start(Handles(request).in_c()));
}
inline void start_all_in_c(const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* ierr) {
  return_code(ierr, planned::start_all(*count, Handles(count, requests).in_c()));
}
inline void wait_in_c(const void* caller, MPI_Fint* request, MPI_Fint* status, MPI_Fint* ierr) {
  Statuses statuses(caller, status, 1);
  return_code(ierr, planned::wait(Handles(request).in_c(), statuses.in_c()));
  statuses.give(1);
}
inline void wait_all_in_c(const void* caller, const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* given,
                          MPI_Fint* ierr) {
  Handles handles(count, requests);
  Statuses statuses(caller, given, handles.size());
  return_code(ierr, planned::wait_all(*count, handles.in_c(), statuses.in_c()));
  statuses.give(handles.size());
}
inline void wait_any_in_c(const void* caller, const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* index,
                          MPI_Fint* status, MPI_Fint* ierr) {
  Statuses statuses(caller, status, 1);
  return_code(ierr, planned::wait_any(*count, Handles(count, requests).in_c(), index, statuses.in_c()));
  count_from_1(index);
  statuses.give(1);
}
inline void test_in_c(const void* caller, MPI_Fint* request, MPI_Fint* flag, MPI_Fint* status, MPI_Fint* ierr) {
  Statuses statuses(caller, status, 1);
  return_code(ierr, planned::test(Handles(request).in_c(), flag, statuses.in_c()));
  if (*flag) statuses.give(1);
}
inline void test_all_in_c(const void* caller, const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* flag,
                          MPI_Fint* given, MPI_Fint* ierr) {
  Handles handles(count, requests);
  Statuses statuses(caller, given, handles.size());
  return_code(ierr, planned::test_all(*count, handles.in_c(), flag, statuses.in_c()));
  if (*flag) statuses.give(handles.size());
}
inline void test_any_in_c(const void* caller, const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* index,
                          MPI_Fint* flag, MPI_Fint* status, MPI_Fint* ierr) {
  Statuses statuses(caller, status, 1);
  return_code(ierr, planned::test_any(*count, Handles(count, requests).in_c(), index, flag, statuses.in_c()));
  if (!*flag) return;
  count_from_1(index);
  statuses.give(1);
}
/// @param complete  planned::wait_some or test_some
template <class Complete>
void some_in_c(const void* caller, Complete complete, const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* completed,
               MPI_Fint* indices, MPI_Fint* given, MPI_Fint* ierr) {
  Handles handles(count, requests);
  Statuses statuses(caller, given, handles.size());
  return_code(ierr, complete(*count, handles.in_c(), completed, indices, statuses.in_c()));
  for (std::size_t i = 0; i < completed_of(*completed); ++i) ++indices[i];
  statuses.give(completed_of(*completed));
}
inline void get_status_in_c(const void* caller, const MPI_Fint* request, MPI_Fint* flag, MPI_Fint* status,
                            MPI_Fint* ierr) {
  Statuses statuses(caller, status, 1);
  return_code(ierr, planned::get_status(PMPI_Request_f2c(*request), flag, statuses.in_c()));
  if (*flag) statuses.give(1);
}
inline void free_in_c(MPI_Fint* request, MPI_Fint* ierr) { return_code(ierr, planned::free(Handles(request).in_c())); }

}  // namespace commpass::fortran
