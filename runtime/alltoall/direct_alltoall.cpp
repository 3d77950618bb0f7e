#include "runtime/alltoall/direct_alltoall.hpp"

#include <fmt/core.h>

#include "runtime/execute/memory.hpp"

namespace commpass {

std::optional<AlltoallDamage> DirectAlltoall::run(NodeStreams& streams, Rank rank, MPI_Comm comm, const Side& sends,
                                                  const Side& receives) {
  // Not all ranks begin with the same one.
  const auto for_others = [&, ranks = static_cast<Rank>(got_.size())](auto act) {
    for (Rank peer = rank + 1; peer < ranks; ++peer) act(peer);
    for (Rank peer = 0; peer < rank; ++peer) act(peer);
  };
  streams.begin_exchange();
  for_others([&](Rank peer) {
    if (const auto bytes = sends.bytes(peer); bytes > 0) streams.send(peer, sends.at(peer), bytes);
  });
  for_others([&](Rank peer) {
    auto& got = got_[static_cast<std::size_t>(peer)] = 0;
    if (const auto bytes = receives.bytes(peer); bytes > 0) streams.receive(peer, receives.at(peer), bytes, got);
  });
  const auto to_self = sends.bytes(rank);
  got_[static_cast<std::size_t>(rank)] = to_self;
  if (to_self > 0 && to_self == receives.bytes(rank)) copy_bytes(sends.at(rank), receives.at(rank), to_self);
  streams.wait(comm);
  for (Rank peer = 0; peer < static_cast<Rank>(got_.size()); ++peer)
    if (got_[static_cast<std::size_t>(peer)] != receives.bytes(peer)) return damage(rank, sends, receives);
  return {};
}

std::optional<AlltoallDamage> DirectAlltoall::damage(Rank rank, const Side& sends, const Side& receives) const {
  int wrong = 0;
  Rank first = 0;
  for (Rank peer = static_cast<Rank>(got_.size()) - 1; peer >= 0; --peer)
    if (peer != rank && got_[static_cast<std::size_t>(peer)] != receives.bytes(peer)) {
      ++wrong;
      first = peer;
    }
  if (wrong == 0) return AlltoallDamage::of_self(sends.bytes(rank), receives.bytes(rank));
  return AlltoallDamage::of_message(first, fmt::format("what rank {} gets from rank {}", rank, first),
                                    receives.bytes(first), got_[static_cast<std::size_t>(first)], wrong - 1);
}

}  // namespace commpass
