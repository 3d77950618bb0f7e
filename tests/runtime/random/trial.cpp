#include "runtime/random/trial.hpp"

#include <fmt/core.h>

namespace commpass::random_test {

namespace {

enum Use : std::int64_t { sent, received };

}  // namespace

std::string Trial::describe() const {
  return fmt::format("kind {}, strategy {}, machine {}, layout {}", name_of(kind),
                     strategy.empty() ? "chosen" : strategy, place.profile.empty() ? "drawn" : place.profile,
                     place.layout_text);
}

std::uint64_t Trial::sent_key(Rank rank, int repetition) const {
  return key_of(key_of(key_of(key, repetition), rank), sent);
}
std::uint64_t Trial::received_key(Rank rank, int repetition) const {
  return key_of(key_of(key_of(key, repetition), rank), received);
}

std::unique_ptr<Trial> make_trial(Place& place, Kind kind, std::uint64_t key) {
  switch (kind) {
    case Kind::neighbor: return make_neighbor_trial(place, key);
    case Kind::indexed: return make_indexed_trial(place, key);
    case Kind::reduction: return make_reduction_trial(place, key);
    case Kind::alltoallv_init: return make_persistent_alltoallv_trial(place, key);
    case Kind::alltoallv:
    case Kind::alltoall:
    case Kind::c_alltoallv:
    case Kind::c_alltoall:
    case Kind::start_alltoallv:
    case Kind::start_alltoall:
    case Kind::start_alltoallw:
    case Kind::c_ialltoallv:
    case Kind::c_ialltoall: return make_alltoall_trial(place, kind, key);
    case Kind::sparse_alltoallv:
    case Kind::sparse_alltoall:
    case Kind::start_sparse_alltoallv:
    case Kind::start_sparse_alltoall: return make_sparse_trial(place, kind, key);
    case Kind::cartesian:
    case Kind::cartesian_init: return make_cartesian_trial(place, kind, key);
    case Kind::c_alltoallv_crs:
    case Kind::c_alltoall_crs: return make_c_sparse_trial(place, kind, key);
  }
  return nullptr;
}

}  // namespace commpass::random_test
