#include "runtime/sparse/sparse_tally.hpp"

#include "runtime/mpi/mpi_error.hpp"

#include <algorithm>
#include <cstdint>

namespace commpass {

std::vector<std::int64_t> Tally::numbers() const {
  const auto& s = statistics;
  return {failures.sum,
          repeating,
          s.messages,
          s.bytes,
          s.network_messages,
          s.nodes_reached,
          s.messages_max,
          s.bytes_max,
          s.network_messages_max,
          s.nodes_reached_max,
          s.received_messages_max,
          s.received_bytes_max,
          s.node_bytes_max,
          largest_bytes,
          smallest_bytes_negated};
}

Tally Tally::of(std::span<const std::int64_t> n) {
  return {{n[0]}, n[1], {n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11], n[12]}, n[13], n[14]};
}

namespace {

constexpr int tally_numbers = static_cast<int>(Tally::sums + Tally::maxima);

}  // namespace

TallyOperation::TallyOperation() {
  COMMPASS_MPI_CALL(MPI_Type_contiguous, tally_numbers, MPI_INT64_T, &type_);
  COMMPASS_MPI_CALL(MPI_Type_commit, &type_);
  constexpr int commutes = 1;
  COMMPASS_MPI_CALL(MPI_Op_create, combine, commutes, &operation_);
}

TallyOperation::~TallyOperation() {
  if (!mpi_is_usable()) return;
  if (operation_ != MPI_OP_NULL) MPI_Op_free(&operation_);
  if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
}

void TallyOperation::combine(void* in, void* in_and_out, int* tallies, MPI_Datatype*) {
  const auto* from = static_cast<const std::int64_t*>(in);
  auto* to = static_cast<std::int64_t*>(in_and_out);
  for (int tally = 0; tally < *tallies; ++tally)
    for (int i = 0; i < tally_numbers; ++i, ++from, ++to)
      *to = static_cast<std::size_t>(i) < Tally::sums ? *to + *from : std::max(*to, *from);
}

}  // namespace commpass
