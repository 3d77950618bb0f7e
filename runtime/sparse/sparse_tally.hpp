// What the ranks tell each other about their sparse exchanges, so that the next one is chosen by it, and the MPI
// operation that combines it.
#pragma once

#include <mpi.h>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "selector/choose/sparse_choice.hpp"

namespace commpass {

/// Ranks that have failed, added up: those that had before an exchange began, of which every rank hears when it is
/// complete; and those that could not keep blocks that they forward, for lack of memory, of which the ranks hear that
/// may miss something.
struct Failures {
  static constexpr std::int64_t at_start = 1, underway = std::int64_t{1} << 32;
  std::int64_t sum = 0;

  bool any() const { return sum != 0; }
  bool any_at_start() const { return sum % underway != 0; }
  bool any_underway() const { return sum >= underway; }
  void add(std::int64_t kind) { sum += kind; }
  /// As one rank that passes on what it has heard.
  Failures as_one() const { return {(any_at_start() ? at_start : 0) + (any_underway() ? underway : 0)}; }
};

/// What one rank contributes, and, combined over the ranks, what all have: sums of some numbers, the largest of others.
struct Tally {
  Failures failures;
  std::int64_t repeating = 0;  ///< ranks that send several messages to one rank, of exchanges with messages of one size
  SparseTraffic statistics;
  /// The sizes of messages that all should have: the largest, and the smallest times −1. Of a rank without messages, as
  /// here.
  std::int64_t largest_bytes = std::numeric_limits<std::int64_t>::min(),
               smallest_bytes_negated = std::numeric_limits<std::int64_t>::min();

  static constexpr std::size_t sums = 2 + SparseTraffic::sum_count, maxima = SparseTraffic::maximum_count + 2;
  static_assert(sums + maxima == SparseTraffic::told_besides + SparseTraffic::sum_count + SparseTraffic::maximum_count,
                "as many as are priced");
  /// As numbers, first those that are added up.
  std::vector<std::int64_t> numbers() const;
  static Tally of(std::span<const std::int64_t> numbers);

  void set_bytes(Bytes bytes) {
    largest_bytes = bytes;
    smallest_bytes_negated = -bytes;
  }
  bool has_bytes() const { return largest_bytes >= 0; }
  bool has_different_bytes() const { return has_bytes() && largest_bytes != -smallest_bytes_negated; }
};

/// How tallies are combined: some of their numbers are added up, of the others the largest is found.
class TallyOperation {
 public:
  TallyOperation();
  ~TallyOperation();
  TallyOperation(const TallyOperation&) = delete;
  TallyOperation& operator=(const TallyOperation&) = delete;

  MPI_Datatype type() const { return type_; }  ///< one whole tally
  MPI_Op operation() const { return operation_; }
  /// As MPI wants it.
  static void combine(void* in, void* in_and_out, int* tallies, MPI_Datatype* type);

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op operation_ = MPI_OP_NULL;
};

}  // namespace commpass
