// What a star forest of type commpass keeps beside what type basic keeps of it, and how its operations run.
#pragma once

#include <petscsf.h>

#include <memory>
#include <string>
#include <vector>

#include "bindings/petsc/forest_wiring.hpp"
#include "bindings/petsc/unit_exchanges.hpp"

namespace commpass {

struct ForestSettings {
  PetscInt after = 16;        ///< so many exchanges of units of one size in one direction are left to basic first
  std::string strategy = {};  ///< empty: what is cheapest
};

/// The arguments of PetscSFBcastBegin and its like.
struct ForestOperation {
  enum class Kind { bcast, reduce, fetch };
  Kind kind = Kind::bcast;
  MPI_Datatype unit = MPI_DATATYPE_NULL;
  PetscMemType root_memory = PETSC_MEMTYPE_HOST, leaf_memory = PETSC_MEMTYPE_HOST;
  void *roots = nullptr, *leaves = nullptr;  ///< that which the kind of operation only reads is not written
  void* fetched = nullptr;
  MPI_Op op = MPI_OP_NULL;
};

class ForestOperations {
 public:
  ForestSettings settings = {};

  /// Begins an operation, unless it is left to basic: then it only counts it. Collective.
  /// @return `is_begun`: is it ours?
  PetscErrorCode begin(PetscSF forest, const ForestOperation& operation, bool& is_begun);
  /// Ends one that is ours. @return `is_ended`: was there one?
  PetscErrorCode end(const ForestOperation& operation, bool& is_ended);

  bool is_any_in_flight() const { return !in_flight_.empty(); }
  bool is_any_planned() const;
  std::string description() const;
  /// Forgets the graph and its plans. Collective where something is planned.
  void reset();

 private:
  struct InFlight {
    ForestOperation::Kind kind;
    const void *roots, *leaves;
    Bytes unit_bytes;
    BufferedExchange *out, *back;  ///< back: of a fetch, else null
  };
  using Kind = ForestOperation::Kind;

  UnitExchanges& exchanges(Direction direction, Bytes unit_bytes);
  PetscErrorCode is_for_us(PetscSF forest, const ForestOperation& operation, Bytes unit_bytes, bool& is_ours);
  bool is_fetch_in_flight(Bytes unit_bytes) const;
  PetscErrorCode wire_once(PetscSF forest, bool is_on_device);
  std::vector<InFlight>::iterator find(const ForestOperation& operation, Bytes unit_bytes);
  PetscErrorCode pack_and_start(const ForestOperation& operation, InFlight& flight);
  PetscErrorCode wait_and_unpack(const ForestOperation& operation, InFlight& flight);

  std::unique_ptr<ForestWiring> wiring_ = {};        ///< none before the first exchange that is not left to basic
  bool is_left_to_basic_ = false;                    ///< all of it, as the ranks have agreed
  std::shared_ptr<Communicator> communicator_ = {};  ///< kept when the graph is reset
  std::vector<UnitExchanges> exchanges_ = {};
  std::vector<InFlight> in_flight_ = {};
};

}  // namespace commpass
