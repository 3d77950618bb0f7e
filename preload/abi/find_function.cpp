#include "preload/abi/find_function.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace commpass {

void* find_function(const char* name) {
  if (void* const found = dlsym(RTLD_NEXT, name)) return found;
  // Python loads extensions, and MPI with them, out of sight of all others. MPICH 5.0 has PMPI's names in a library of
  // their own.
  for (const char* library : {"libmpi_abi.so.0", "libpmpi_abi.so.0"})
    if (void* const loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD))
      if (void* const found = dlsym(loaded, name)) return found;
  return nullptr;
}

void* find_function_or_end(const char* name) {
  if (void* const found = find_function(name)) return found;
  std::fprintf(stderr, "commpass: the MPI library has no %s, which libcommpass-mpi-abi needs; run without it.\n", name);
  std::abort();
}

}  // namespace commpass
