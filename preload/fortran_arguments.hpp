// Arguments of Fortran, as C knows them. Private to the calls from Fortran.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <vector>

namespace commpass::fortran {

/// Where the Fortran library keeps a constant that is known by its address, as the calling object sees it: modules of
/// Python keep that library to themselves.
inline const void* address_of(const char* name, const void* caller) {
  if (const void* const found = dlsym(RTLD_DEFAULT, name)) return found;
  Dl_info of{};
  if (!dladdr(caller, &of)) return nullptr;
  void* const object = dlopen(of.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  const void* const found = object ? dlsym(object, name) : nullptr;
  if (object) dlclose(object);
  return found;
}

/// Buffers as C knows them: MPI_IN_PLACE and MPI_BOTTOM of Fortran are others.
class Buffers {
 public:
  explicit Buffers(const void* caller) : caller_(caller) {}

  void* operator()(void* given) const {
    static std::atomic<const void*> in_place = nullptr, bottom = nullptr;
    if (given && given == known(in_place, "mpi_fortran_in_place_")) return MPI_IN_PLACE;
    return given && given == known(bottom, "mpi_fortran_bottom_") ? MPI_BOTTOM : given;
  }

 private:
  const void* known(std::atomic<const void*>& address, const char* name) const {
    if (!address) address = address_of(name, caller_);
    return address;
  }
  const void* caller_;
};

inline MPI_Datatype type_of(const MPI_Fint* type) { return PMPI_Type_f2c(*type); }
inline MPI_Comm comm_of(const MPI_Fint* comm) { return PMPI_Comm_f2c(*comm); }

/// Of an argument that is not looked at with MPI_IN_PLACE, and may be anything then.
inline MPI_Datatype type_if_used(const void* buffer, const MPI_Fint* type) {
  return buffer == MPI_IN_PLACE ? MPI_DATATYPE_NULL : type_of(type);
}

inline std::vector<MPI_Datatype> types_of(std::size_t count, const void* buffer, const MPI_Fint* types) {
  std::vector<MPI_Datatype> result(count, MPI_DATATYPE_NULL);
  for (std::size_t i = 0; buffer != MPI_IN_PLACE && i < result.size(); ++i) result[i] = PMPI_Type_f2c(types[i]);
  return result;
}

/// Null where the program leaves out the last argument, as it may with mpi_f08.
inline void return_code(MPI_Fint* ierr, int code) {
  if (ierr) *ierr = code;
}

/// The request of a call that has started one.
inline void return_request(MPI_Fint* request, MPI_Request started, MPI_Fint* ierr, int code) {
  if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(started);
  return_code(ierr, code);
}

}  // namespace commpass::fortran
