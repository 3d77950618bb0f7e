// Stand-in for runtime/device/cuda_library.cpp on simulated clusters: devices whose memory is host memory, and whose
// copies cost the rank that begins them what the cluster's description says.
#include "simulation/devices.hpp"

#include <cstring>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>

#include "runtime/device/gpu_library.hpp"
#include "simulation/work.hpp"

namespace simulation {

namespace s4u = simgrid::s4u;

void copy_device(int node, int device, double bytes, int processes) {
  const auto& devices = cluster().devices;
  s4u::this_actor::sleep_for(devices.copy_alpha_s);
  auto* const host = s4u::Host::by_name(device_host(node, device));
  std::vector<s4u::ExecPtr> copies;
  for (int i = 0; i < processes; ++i) {
    copies.push_back(s4u::this_actor::exec_init(bytes / processes + devices.copy_start_bytes));
    copies.back()->set_host(host)->set_bound(devices.process_rate_bytes_per_s)->start();
  }
  for (auto& copy : copies) copy->wait();
}

}  // namespace simulation

namespace commpass {

namespace {

class SimulatedDevices final : public DeviceBackend {
 public:
  const char* name() const override { return "simulated"; }
  bool is_known_to_mpi() const override { return false; }
  int count() const override { return simulation::cluster().devices.per_node; }
  DeviceIdentity identify(int device) const override { return {"simulated device", std::to_string(device)}; }
  void make_current(int) override {}
  std::optional<int> device_of(const void* address) const override {
    const auto found = find(address);
    return found == memory_.end() ? std::nullopt : std::optional(found->second.device);
  }
  bool is_one_allocation(const void* address, Bytes bytes) const override {
    const auto found = find(address);
    return found != memory_.end() && find(static_cast<const std::byte*>(address) + bytes - 1) == found;
  }
  std::byte* allocate(int device, Bytes bytes) override {
    auto* const memory = new std::byte[static_cast<std::size_t>(bytes)];
    memory_[memory] = {device, bytes};
    return memory;
  }
  void deallocate(int, std::byte* memory) noexcept override {
    memory_.erase(memory);
    delete[] memory;
  }
  std::byte* allocate_pinned(int, Bytes bytes) override { return new std::byte[static_cast<std::size_t>(bytes)]; }
  void free_pinned(int, std::byte* memory) noexcept override { delete[] memory; }
  Stream make_stream(int) override { return this; }
  void free_stream(int, Stream) noexcept override {}
  Event make_event(int) override { return this; }
  void free_event(int, Event) noexcept override {}
  void copy(int device, std::span<const LocalCopy> copies, Stream) override {
    for (const auto& [from, to, bytes] : copies) {
      if (bytes == 0) continue;
      std::memcpy(to, from, bytes);
      if (device_of(from) && device_of(to)) charge_within(static_cast<double>(bytes));
      else simulation::copy_device(own_node(), device, static_cast<double>(bytes));
    }
  }
  std::string why_no_kernel(int) override { return "simulated: there is no kernel."; }
  void copy_by_kernel(int, std::span<const LocalCopy>, Stream) override {}
  void add_by_kernel(int, std::span<const LocalCopy>, NumberType, Stream) override {}
  void record(int, Event, Stream) override {}
  void wait_in_stream(int, Stream, Event) override {}
  void synchronize(int, Stream) override {}
  DeviceHandle share(int, const void*) override { throw DeviceError("simulated: processes share no memory."); }
  std::byte* open(int, const DeviceHandle&) override { throw DeviceError("simulated: processes share no memory."); }
  void close(int, std::byte*) noexcept override {}

 private:
  struct Allocation {
    int device = 0;
    Bytes bytes = 0;
  };
  using Memory = std::map<const std::byte*, Allocation>;

  Memory::const_iterator find(const void* address) const {
    const auto* const at = static_cast<const std::byte*>(address);
    auto next = memory_.upper_bound(at);
    if (next == memory_.begin()) return memory_.end();
    --next;
    return at < next->first + next->second.bytes ? next : memory_.end();
  }
  static int own_node() { return simulation::place_of(simgrid::s4u::this_actor::get_host()->get_name()).node; }
  static void charge_within(double bytes) {
    const auto& devices = simulation::cluster().devices;
    simgrid::s4u::this_actor::sleep_for(devices.own_copy_s + bytes / devices.own_copy_rate_bytes_per_s);
  }

  Memory memory_;
};

}  // namespace

DeviceBackend* cuda_backend(LoadedLibrary::Open) {
  if (simulation::cluster().devices.per_node == 0) return nullptr;
  static SimulatedDevices devices;
  return &devices;
}

}  // namespace commpass
