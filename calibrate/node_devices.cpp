// Finds the devices that ranks see, and which of them each rank uses.
#include <algorithm>
#include <array>
#include <span>

#include "calibrate/devices.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

constexpr std::size_t devices_max = 64;
using Text = std::array<char, 64>;

Text text_of(const std::string& text) {
  Text result{};
  text.copy(result.data(), result.size() - 1);
  return result;
}

/// The devices of a rank, as all ranks get them.
struct Seen {
  std::array<Text, devices_max> places{};
  int count = 0;
  int are_known_to_mpi = 0;
  Text kind{}, name{};  ///< of its first device

  std::optional<int> number_of(const Text& place) const {
    const auto* const end = places.begin() + count;
    const auto* const found = std::find(places.begin(), end, place);
    return found == end ? std::nullopt : std::optional(static_cast<int>(found - places.begin()));
  }
};

/// The devices of one kind.
Seen look_for_devices(const DeviceBackend& backend) {
  Seen seen;
  const int count = std::min(backend.count(), static_cast<int>(devices_max));
  for (; seen.count < count; ++seen.count) {
    const auto identity = backend.identify(seen.count);
    seen.places[at(seen.count)] = text_of(backend.name() + (" " + identity.place));
    if (seen.count == 0) seen.name = text_of(identity.name);
  }
  seen.kind = text_of(backend.name());
  seen.are_known_to_mpi = backend.is_known_to_mpi();
  return seen;
}

/// The devices that ranks of a node see, each once, in the order of ranks.
std::vector<Text> places_on(std::span<const Rank> ranks, const std::vector<Seen>& all) {
  std::vector<Text> result;
  for (const Rank rank : ranks) {
    const auto& seen = all[at(rank)];
    for (int i = 0; i < seen.count; ++i) {
      const auto& place = seen.places[at(i)];
      if (std::ranges::find(result, place) == result.end()) result.push_back(place);
    }
  }
  return result;
}

/// The device of a rank by its share of its node's devices if it sees that one, else the first that it sees.
std::optional<int> own_number(const Layout& layout, Rank rank, const std::vector<Seen>& all) {
  const auto& seen = all[at(rank)];
  if (seen.count == 0) return {};
  const auto ranks = layout.ranks_of(layout.node(rank));
  const auto places = places_on(ranks, all);
  const auto before = static_cast<std::size_t>(std::ranges::find(ranks, rank) - ranks.begin());
  return seen.number_of(places[before * std::min(places.size(), ranks.size()) / ranks.size()]).value_or(0);
}

int largest_node(const Layout& layout) {
  int largest = 0;
  for (int node = 1; node < layout.nodes(); ++node)
    if (layout.ppn(node) > layout.ppn(largest)) largest = node;
  return largest;
}

}  // namespace

NodeDevices find_node_devices(MPI_Comm comm, const Layout& layout) {
  NodeDevices devices;
  DeviceBackend* backend = nullptr;
  Seen mine;
  std::vector<Seen> all(at(layout.ranks()));
  try {
    all_or_none(comm, [&] {
      const auto kinds = all_device_backends();
      if (kinds.empty()) return;
      backend = kinds.front();
      mine = look_for_devices(*backend);
    });
  } catch (const Error& error) {  // the same on every rank
    devices.why_none = error.what();
    return devices;
  }
  COMMPASS_MPI_CALL(MPI_Allgather, &mine, static_cast<int>(sizeof mine), MPI_BYTE, all.data(),
                    static_cast<int>(sizeof mine), MPI_BYTE, comm);
  const Rank rank = rank_in(comm);
  const auto ranks = layout.ranks_of(largest_node(layout));
  const auto places = places_on(ranks, all);
  devices.count = static_cast<int>(places.size());
  if (places.empty()) {
    devices.why_none = "no device was found";
    return devices;
  }
  for (const Rank other : ranks)
    if (all[at(other)].number_of(places.front())) devices.sharers.push_back(other);
  const auto& first = all[at(devices.sharers.front())];
  devices.kind = first.kind.data();
  devices.name = first.name.data();
  if (const auto number = mine.number_of(places.front()); number && std::ranges::count(devices.sharers, rank) > 0)
    devices.first = Device{backend, *number};
  if (const auto number = own_number(layout, rank, all)) devices.own = Device{backend, *number};
  devices.have_all_one = std::ranges::all_of(all, [](const Seen& seen) { return seen.count > 0; });
  devices.are_known_to_mpi = std::ranges::all_of(all, [](const Seen& seen) { return seen.are_known_to_mpi != 0; });
  return devices;
}

}  // namespace commpass
