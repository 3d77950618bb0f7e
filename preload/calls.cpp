// The exchanges of MPI that are taken over or recorded, for C. Each has MPI's own arguments.
#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <cstddef>
#include <span>

#include "preload/call_blocks.hpp"
#include "preload/mended_call.hpp"
#include "preload/neighbor_arguments.hpp"
#include "preload/planned_requests.hpp"
#include "preload/takeover.hpp"

namespace {

using namespace commpass;  // NOLINT(google-build-using-namespace): MPI's functions are in no namespace

template <class Item>
std::span<const Item> of_ranks(const TakenCommunicator& of, const Item* items) {
  return items ? std::span(items, static_cast<std::size_t>(of.ranks)) : std::span<const Item>();
}

}  // namespace

// MPI's own names, and MPI's own parameters: COMMPASS_TAKEN is a function's name for programs, COMMPASS_LIBRARY that by
// which the MPI library still has it, both without their prefix; what a number of elements is, and of bytes or elements
// from where a buffer begins, the macros below say.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

#define COMMPASS_COUNT int
#define COMMPASS_DISPLACEMENT int
#define COMMPASS_TAKEN(name) MPI_##name
#define COMMPASS_LIBRARY(name) PMPI_##name
#include "preload/blocking_calls.hpp"
#include "preload/started_calls.hpp"
#if MPI_VERSION >= 4
#include "preload/persistent_calls.hpp"
#endif

#undef COMMPASS_TAKEN
#undef COMMPASS_LIBRARY
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
#define COMMPASS_TAKEN(name) MPIX_##name
#define COMMPASS_LIBRARY(name) PMPIX_##name
#include "preload/persistent_calls.hpp"
#endif

#if MPI_VERSION >= 4
#undef COMMPASS_COUNT
#undef COMMPASS_DISPLACEMENT
#undef COMMPASS_TAKEN
#undef COMMPASS_LIBRARY
#define COMMPASS_COUNT MPI_Count
#define COMMPASS_DISPLACEMENT MPI_Aint
#define COMMPASS_TAKEN(name) MPI_##name##_c
#define COMMPASS_LIBRARY(name) PMPI_##name##_c
#include "preload/blocking_calls.hpp"
#include "preload/persistent_calls.hpp"
#include "preload/started_calls.hpp"
#endif

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
