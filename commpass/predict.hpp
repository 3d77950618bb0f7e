// Patterns, machine profiles, and what each strategy costs: all of Commpass that needs no MPI.
#pragma once

#if __cplusplus < 202002L
#error "Commpass needs C++20: compile with -std=c++20"
#else

#include "model/base/error.hpp"               // IWYU pragma: export
#include "model/machine/profile.hpp"          // IWYU pragma: export
#include "model/pattern/matrix_pattern.hpp"   // IWYU pragma: export
#include "model/pattern/metis_partition.hpp"  // IWYU pragma: export
#include "selector/predict.hpp"               // IWYU pragma: export

#endif
