/* What the tests in C have in common. */
#pragma once

#include <stdio.h>

#include "commpass/commpass.h"

static int rank, ranks, failures;

#define CHECK(condition)                                                                                          \
  do {                                                                                                            \
    if (!(condition)) {                                                                                           \
      fprintf(stderr, "rank %d, line %d: %s is false (%s)\n", rank, __LINE__, #condition, commpass_error_text()); \
      ++failures;                                                                                                 \
    }                                                                                                             \
  } while (0)
