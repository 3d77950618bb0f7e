#include "bindings/petsc/forest_operations.hpp"

#include <petsc/private/sfimpl.h>

#include <algorithm>
#include <array>

#include "runtime/mpi/message_type.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

MPI_Comm comm_of(PetscSF forest) { return PetscObjectComm(reinterpret_cast<PetscObject>(forest)); }

PetscErrorCode bytes_of(MPI_Datatype unit, Bytes& bytes) {
  MPI_Aint lower = 0, extent = 0;
  PetscCallMPI(MPI_Type_get_extent(unit, &lower, &extent));
  bytes = extent;
  return 0;
}

struct SharedCommunicator {
  MPI_Comm comm = MPI_COMM_NULL;
  std::weak_ptr<Communicator> communicator = {};
};

/// The Communicator of all star forests on one communicator of PETSc, which lives as long as a forest holds it.
/// Collective if there is none yet. @throws Error, the same on every rank
std::shared_ptr<Communicator> shared_communicator(MPI_Comm comm) {
  static auto& all =
      *new std::vector<SharedCommunicator>;  // not destroyed: PETSc may be finalized after static objects
  // MPI may reuse the handle of a freed communicator, whose forests no longer hold their Communicator.
  std::erase_if(all, [](const SharedCommunicator& one) { return one.communicator.expired(); });
  const auto found = std::ranges::find(all, comm, &SharedCommunicator::comm);
  if (found != all.end()) return found->communicator.lock();
  auto made = std::make_shared<Communicator>(comm);
  all.push_back({comm, made});
  return made;
}

/// The type of the numbers of a unit, if MPI combines them.
/// @param number  MPI_DATATYPE_NULL: none that is known here
PetscErrorCode number_of(MPI_Datatype unit, MPI_Datatype& number) {
  number = MPI_DATATYPE_NULL;
  for (const MPI_Datatype one : {MPIU_SCALAR, MPIU_REAL, MPIU_INT, MPI_INT}) {
    PetscInt numbers = 0;
    PetscCall(MPIPetsc_Type_compare_contig(unit, one, &numbers));
    if (numbers == 0) continue;
    number = one;
    return 0;
  }
  return 0;
}

/// @param numbers  of a unit
Addition addition(MPI_Datatype number, Bytes numbers, MPI_Op op) {
  return [number, numbers, op](const void* values, void* sums, std::int64_t count) {
    const Bytes units_max = largest_mpi_count / numbers;
    Bytes number_bytes = 0;
    if (bytes_of(number, number_bytes) != 0) throw Error("star forest of type commpass: MPI does not know a type.");
    for (Bytes begin = 0; begin < count; begin += units_max) {
      const auto at = begin * numbers * number_bytes;
      COMMPASS_MPI_CALL(MPI_Reduce_local, static_cast<const std::byte*>(values) + at,
                        static_cast<std::byte*>(sums) + at,
                        static_cast<int>(std::min(units_max, count - begin) * numbers), number, op);
    }
  };
}

bool is_on_device(const ForestOperation& operation) {
  return PetscMemTypeDevice(operation.root_memory) || PetscMemTypeDevice(operation.leaf_memory);
}

}  // namespace

/// In their order.
PetscErrorCode ForestOperations::directions_of(const ForestOperation& operation,
                                               std::span<const Direction>& directions) const {
  static constexpr std::array fetch{Direction::to_roots, Direction::to_leaves};
  static constexpr std::array sums{Direction::sums_to_roots};
  const std::span<const Direction> all(fetch);
  directions = operation.kind == Kind::fetch ? all : operation.kind == Kind::reduce ? all.first(1) : all.last(1);
  // With indices of 8 bytes, pairs are two of them, and no pair of MPI's.
  const bool is_of_pairs = operation.op == MPI_MAXLOC || operation.op == MPI_MINLOC;
  if (!settings.sums_on_the_way || operation.kind != Kind::reduce || operation.op == MPI_REPLACE || is_of_pairs)
    return 0;
  int is_commutative = 0;
  MPI_Datatype number = MPI_DATATYPE_NULL;
  PetscCallMPI(MPI_Op_commutative(operation.op, &is_commutative));
  PetscCall(number_of(operation.unit, number));
  if (is_commutative && number != MPI_DATATYPE_NULL) directions = sums;
  return 0;
}

UnitExchanges& ForestOperations::exchanges(Direction direction, Bytes unit_bytes) {
  for (auto& one : exchanges_)
    if (one.direction() == direction && one.unit_bytes() == unit_bytes) return one;
  return exchanges_.emplace_back(direction, unit_bytes);
}

bool ForestOperations::is_any_planned() const {
  return std::ranges::any_of(exchanges_, [](const UnitExchanges& one) { return one.is_planned(); });
}

std::string ForestOperations::description() const {
  std::string text;
  for (const auto& one : exchanges_) text += one.description();
  return text;
}

void ForestOperations::reset() {
  exchanges_.clear();
  wiring_.reset();
  is_left_to_basic_ = false;
}

PetscErrorCode ForestOperations::wire_once(PetscSF forest, bool is_device_memory) {
  if (wiring_ || is_left_to_basic_) return 0;
  auto wiring = std::make_unique<ForestWiring>();
  PetscCall(wire(forest, *wiring));
  enum { leaves_rank, is_of_device };
  std::array<int, 2> any{wiring->leaves.edges.empty() ? 0 : 1, is_device_memory ? 1 : 0};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, any.data(), any.size(), MPI_INT, MPI_MAX, comm_of(forest)));
  is_left_to_basic_ = !any[leaves_rank] || any[is_of_device];
  if (is_left_to_basic_) return 0;
  wiring_ = std::move(wiring);
  if (!communicator_) communicator_ = shared_communicator(comm_of(forest));
  return 0;
}

/// Decides the same on all ranks, since their counts are equal.
PetscErrorCode ForestOperations::is_for_us(PetscSF forest, const ForestOperation& operation, Bytes unit_bytes,
                                           std::span<const Direction> directions, bool& is_ours) {
  is_ours = false;
  PetscMPIInt ranks = 0;
  PetscCallMPI(MPI_Comm_size(comm_of(forest), &ranks));
  if (ranks == 1 || unit_bytes <= 0 || is_left_to_basic_) return 0;
  bool recurs = true, has_room = true;
  for (const auto direction : directions) {
    auto& counted = exchanges(direction, unit_bytes);
    recurs = counted.count() > settings.after && recurs;
    has_room = counted.has_room() && has_room;
  }
  if (!recurs || !has_room) return 0;
  if (operation.kind == Kind::fetch && is_fetch_in_flight(unit_bytes)) return 0;
  PetscCall(wire_once(forest, is_on_device(operation)));
  if (wiring_ && is_on_device(operation))
    SETERRQ(comm_of(forest), PETSC_ERR_SUP,
            "star forest of type commpass: an exchange was planned in host memory, and this one is in a device's; use "
            "-sf_type basic");
  is_ours = wiring_ != nullptr;
  return 0;
}

/// The values return at the end of a fetch. Two fetches of one unit size may deadlock: a rank without roots and leaves
/// cannot distinguish them, and may end them in another order.
bool ForestOperations::is_fetch_in_flight(Bytes unit_bytes) const {
  return std::ranges::any_of(
      in_flight_, [&](const InFlight& one) { return one.kind == Kind::fetch && one.unit_bytes == unit_bytes; });
}

/// The first one, if a rank without roots and leaves has several equal ones.
std::vector<ForestOperations::InFlight>::iterator ForestOperations::find(const ForestOperation& operation,
                                                                         Bytes unit_bytes,
                                                                         std::span<const Direction> directions) {
  return std::ranges::find_if(in_flight_, [&](const InFlight& one) {
    return one.kind == operation.kind && one.roots == operation.roots && one.leaves == operation.leaves &&
           one.unit_bytes == unit_bytes && one.directions.front() == directions.front();
  });
}

PetscErrorCode ForestOperations::begin(PetscSF forest, const ForestOperation& operation, bool& is_begun) {
  Bytes unit_bytes = 0;
  PetscCall(bytes_of(operation.unit, unit_bytes));
  std::span<const Direction> directions;
  PetscCall(directions_of(operation, directions));
  PetscCall(is_for_us(forest, operation, unit_bytes, directions, is_begun));
  if (!is_begun) return 0;
  InFlight flight{operation.kind, operation.roots, operation.leaves, unit_bytes, directions, nullptr, nullptr};
  for (const auto direction : directions) {
    auto& taken = exchanges(direction, unit_bytes).take(*wiring_, *communicator_, settings.strategy);
    (flight.out ? flight.back : flight.out) = &taken;
  }
  PetscCall(pack_and_start(operation, flight));
  in_flight_.push_back(flight);
  return 0;
}

PetscErrorCode ForestOperations::end(const ForestOperation& operation, bool& is_ended) {
  Bytes unit_bytes = 0;
  PetscCall(bytes_of(operation.unit, unit_bytes));
  std::span<const Direction> directions;
  PetscCall(directions_of(operation, directions));
  const auto found = find(operation, unit_bytes, directions);
  is_ended = found != in_flight_.end();
  if (!is_ended) return 0;
  PetscCall(wait_and_unpack(operation, *found));
  for (const auto direction : directions) exchanges(direction, unit_bytes).give_back();
  in_flight_.erase(found);
  return 0;
}

PetscErrorCode ForestOperations::pack_and_start(const ForestOperation& operation, InFlight& flight) {
  const auto& side = operation.kind == Kind::bcast ? wiring_->roots : wiring_->leaves;
  const void* const array = operation.kind == Kind::bcast ? operation.roots : operation.leaves;
  PetscCall(bcast(side.packing, operation.unit, array, flight.out->sent.get(), MPI_REPLACE));
  if (flight.directions.front() == Direction::sums_to_roots) {
    MPI_Datatype number = MPI_DATATYPE_NULL;
    Bytes number_bytes = 0;
    PetscCall(number_of(operation.unit, number));
    PetscCall(bytes_of(number, number_bytes));
    flight.out->start_sums(operation.roots, addition(number, flight.unit_bytes / number_bytes, operation.op));
  } else {
    flight.out->start();
  }
  // Local edges come first, as with type basic, so that sums have the same bits.
  switch (operation.kind) {
    case Kind::bcast:
      PetscCall(bcast(wiring_->inner, operation.unit, operation.roots, operation.leaves, operation.op));
      break;
    case Kind::reduce:
      PetscCall(reduce(wiring_->inner, operation.unit, operation.leaves, operation.roots, operation.op));
      break;
    case Kind::fetch:
      PetscCall(fetch_and_op(wiring_->inner, operation.unit, operation.roots, operation.leaves, operation.fetched,
                             operation.op));
      break;
  }
  return 0;
}

PetscErrorCode ForestOperations::wait_and_unpack(const ForestOperation& operation, InFlight& flight) {
  const auto &roots = wiring_->roots, &leaves = wiring_->leaves;
  flight.out->wait();
  if (flight.directions.front() == Direction::sums_to_roots) return 0;
  const void* const received = flight.out->received.get();
  switch (operation.kind) {
    case Kind::bcast:
      PetscCall(reduce(leaves.packing, operation.unit, received, operation.leaves, operation.op));
      break;
    case Kind::reduce: PetscCall(reduce(roots.packing, operation.unit, received, operation.roots, operation.op)); break;
    case Kind::fetch:
      PetscCall(fetch_and_op(roots.packing, operation.unit, operation.roots, received, flight.back->sent.get(),
                             operation.op));
      flight.back->start();
      flight.back->wait();
      PetscCall(reduce(leaves.packing, operation.unit, flight.back->received.get(), operation.fetched, MPI_REPLACE));
      break;
  }
  return 0;
}

}  // namespace commpass
