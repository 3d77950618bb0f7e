// Values of each process that rank 0 reads.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "runtime/mpi/agreement.hpp"

namespace commpass {

/// Values of one process, to be read by another one of the same program in the same order.
class PackedValues {
 public:
  PackedValues() = default;
  explicit PackedValues(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class Value>
  void put(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);  // NOLINT: its bytes
  }
  template <class Value>
  void put_list(std::span<const Value> values) {
    put(values.size());
    for (const auto& value : values) put(value);
  }
  void put_text(const std::string& text) { put_list(std::span<const char>(text)); }

  template <class Value>
  Value get() {
    Value value{};
    std::memcpy(static_cast<void*>(&value), bytes_.data() + read_, sizeof value);
    read_ += sizeof value;
    return value;
  }
  template <class Value>
  std::vector<Value> get_list() {
    std::vector<Value> values(get<std::size_t>());
    for (auto& value : values) value = get<Value>();
    return values;
  }
  std::string get_text() {
    const auto letters = get_list<char>();
    return {letters.begin(), letters.end()};
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = {};
  std::size_t read_ = 0;
};

/// Rank 0 opens the parcels of all ranks, its own first, one at a time. A failure there occurs when all have sent.
template <class Open>
void collect(MPI_Comm comm, const PackedValues& own, Open open) {
  constexpr int tag = 0;
  int rank = 0, ranks = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &ranks);
  if (rank > 0) {
    // Rank 0 holds no parcels that it is not reading yet.
    PMPI_Ssend(own.bytes().data(), static_cast<int>(own.bytes().size()), MPI_BYTE, 0, tag, comm);
    return;
  }
  Failure failure;
  attempt(failure, [&] { open(0, PackedValues(own.bytes())); });
  for (int from = 1; from < ranks; ++from) {
    MPI_Status status;
    int size = 0;
    PMPI_Probe(from, tag, comm, &status);
    PMPI_Get_count(&status, MPI_BYTE, &size);
    std::string bytes;
    attempt(failure, [&] { bytes.resize(static_cast<std::size_t>(size)); });
    // Without memory for it, it is cut, which is an error that is no news.
    PMPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
    attempt(failure, [&] { open(from, PackedValues(std::move(bytes))); });
  }
  if (failure) throw Error(failure.sentence);
}

/// Gathers the texts that ranks pack. Collective, and all ranks fail if one does.
template <class Pack, class Open>
void gather(MPI_Comm comm, Pack pack, Open open) {
  PackedValues own;
  all_or_none(comm, [&] { own = pack(); });
  all_or_none(comm, [&] { collect(comm, own, open); });
}

}  // namespace commpass
