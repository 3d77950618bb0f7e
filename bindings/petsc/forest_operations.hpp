// The operations of a star forest of type commpass, and their state.
#pragma once

#include <petscsf.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bindings/petsc/forest_wiring.hpp"
#include "bindings/petsc/unit_exchanges.hpp"

namespace commpass {

struct ForestSettings {
  PetscInt after = 16;           ///< exchanges by type basic before planning, for each unit size and direction
  std::string strategy = {};     ///< empty: the cheapest
  bool sums_on_the_way = false;  ///< may reductions combine values where they meet, in another order than basic?
};

/// The arguments of PetscSFBcastBegin and its like.
struct ForestOperation {
  enum class Kind { bcast, reduce, fetch };
  Kind kind = Kind::bcast;
  MPI_Datatype unit = MPI_DATATYPE_NULL;
  PetscMemType root_memory = PETSC_MEMTYPE_HOST, leaf_memory = PETSC_MEMTYPE_HOST;
  void *roots = nullptr, *leaves = nullptr;  ///< the operation does not write the one that it only reads
  void* fetched = nullptr;
  MPI_Op op = MPI_OP_NULL;
};

class ForestOperations {
 public:
  ForestSettings settings = {};

  /// Counts an operation, and begins it unless it is left to basic. Collective.
  /// @return `is_begun`: did it begin here?
  PetscErrorCode begin(PetscSF forest, const ForestOperation& operation, bool& is_begun);
  /// Ends an operation that began here. @return `is_ended`: was there one?
  PetscErrorCode end(const ForestOperation& operation, bool& is_ended);

  bool is_any_in_flight() const { return !in_flight_.empty(); }
  bool is_any_planned() const;
  std::string description() const;
  /// Frees the graph and its plans. Collective if there are plans.
  void reset();

 private:
  struct InFlight {
    ForestOperation::Kind kind;
    const void *roots, *leaves;
    Bytes unit_bytes;
    std::span<const Direction> directions;
    BufferedExchange *out, *back;  ///< back: of a fetch, else null
  };
  using Kind = ForestOperation::Kind;

  UnitExchanges& exchanges(Direction direction, Bytes unit_bytes);
  PetscErrorCode directions_of(const ForestOperation& operation, std::span<const Direction>& directions) const;
  PetscErrorCode is_for_us(PetscSF forest, const ForestOperation& operation, Bytes unit_bytes,
                           std::span<const Direction> directions, bool& is_ours);
  bool is_fetch_in_flight(Bytes unit_bytes) const;
  PetscErrorCode wire_once(PetscSF forest, bool is_on_device);
  std::vector<InFlight>::iterator find(const ForestOperation& operation, Bytes unit_bytes,
                                       std::span<const Direction> directions);
  PetscErrorCode pack_and_start(const ForestOperation& operation, InFlight& flight);
  PetscErrorCode wait_and_unpack(const ForestOperation& operation, InFlight& flight);

  std::unique_ptr<ForestWiring> wiring_ = {};        ///< null before the first exchange that is not left to basic
  bool is_left_to_basic_ = false;                    ///< the ranks agreed on basic for all operations
  std::shared_ptr<Communicator> communicator_ = {};  ///< outlives a reset of the graph
  std::vector<UnitExchanges> exchanges_ = {};
  std::vector<InFlight> in_flight_ = {};
};

}  // namespace commpass
