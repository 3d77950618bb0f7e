// All of Commpass that runs on MPI, in C++. In C: commpass/commpass.h; without MPI: commpass/predict.hpp.
#pragma once

#if __cplusplus < 202002L
#error "Commpass needs C++20: compile with -std=c++20"
#else

#include "model/base/error.hpp"      // IWYU pragma: export
#include "runtime/call_error.hpp"    // IWYU pragma: export
#include "runtime/communicator.hpp"  // IWYU pragma: export

#endif
