/* Ranks of MPICH that wait keep their cores, so that where there are more ranks than cores, the one they wait for does
 * not run. In a program that has this function, or is preloaded with it, a look at the network that finds nothing lets
 * others run: MPICH on UCX, as Debian builds it, looks there in every call that waits, and finds this function first.
 * Open MPI has mpi_yield_when_idle. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void* worker);

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*of_library)(void*);
  if (!of_library) *(void**)&of_library = dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned progress = of_library(worker);
  if (progress == 0) sched_yield();
  return progress;
}
