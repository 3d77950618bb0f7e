#include "bindings/petsc/shared_communicator.hpp"

#include <algorithm>
#include <vector>

#include "runtime/communicator.hpp"

namespace commpass {

namespace {

struct Shared {
  MPI_Comm comm = MPI_COMM_NULL;
  std::weak_ptr<Communicator> communicator = {};
};

}  // namespace

std::shared_ptr<Communicator> shared_communicator(MPI_Comm comm) {
  static auto& all = *new std::vector<Shared>;  // never destroyed: PETSc may be finalized after static objects
  // MPI may give the handle of one that was freed to another one; but who held its Communicator is gone then, too.
  std::erase_if(all, [](const Shared& one) { return one.communicator.expired(); });
  const auto found = std::ranges::find(all, comm, &Shared::comm);
  if (found != all.end()) return found->communicator.lock();
  auto made = std::make_shared<Communicator>(comm);
  all.push_back({comm, made});
  return made;
}

}  // namespace commpass
