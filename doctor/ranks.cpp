#include "doctor/ranks.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <utility>

#include "doctor/other_programs.hpp"
#include "model/cost/demand.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/mpi/launcher.hpp"
#include "runtime/mpi/message_latency.hpp"
#include "runtime/mpi/messages_in_flight.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/mpi/transport.hpp"

namespace commpass {

namespace {

constexpr std::size_t most_cpus = 1024;

/// RankFacts as they travel.
struct Record {
  std::int32_t saves_power = 0;
  std::array<std::uint64_t, most_cpus / 64> cpus{};
  double lost = 0, longest = 0, others = 0;
};

Record pack(const RankFacts& facts) {
  Record record{facts.saves_power, {}, facts.noise.lost, facts.noise.longest, facts.others};
  for (const auto cpu : facts.cpus)
    if (std::cmp_less(cpu, most_cpus))
      record.cpus[static_cast<std::size_t>(cpu) / 64] |= std::uint64_t{1} << (cpu % 64);
  return record;
}

RankFacts unpack(const Record& record) {
  RankFacts facts{{}, {record.lost, record.longest}, record.others, record.saves_power != 0};
  for (std::size_t cpu = 0; cpu < most_cpus; ++cpu)
    if (record.cpus[cpu / 64] >> (cpu % 64) & 1) facts.cpus.push_back(static_cast<int>(cpu));
  return facts;
}

/// Runs the noise test on all ranks at once, and sees what other programs did meanwhile.
void listen(MPI_Comm comm, RankFacts& facts) {
  constexpr Seconds duration = 0.4;
  const OtherPrograms others(comm);
  facts.noise = measure_noise(duration);
  facts.others = others.processors();
}

/// Does the second rank of a host read what the first one has?
SingleCopies try_single_copies(MPI_Comm comm, const OwnCommunicator& host) {
  std::uint64_t secret = 0x636f6d6d70617373;
  struct {
    std::int64_t process;
    std::uint64_t place;
  } first{getpid(), reinterpret_cast<std::uintptr_t>(&secret)};
  COMMPASS_MPI_CALL(MPI_Bcast, &first, sizeof first, MPI_BYTE, 0, host.get());
  auto result = SingleCopies::not_tried;
  if (host.rank() == 1) {
    std::uint64_t copy = 0;
    const iovec here{&copy, sizeof copy}, there{reinterpret_cast<void*>(first.place), sizeof copy};
    const auto read = process_vm_readv(static_cast<pid_t>(first.process), &here, 1, &there, 1, 0);
    result = read == sizeof copy && copy == secret ? SingleCopies::allowed : SingleCopies::refused;
  }
  COMMPASS_MPI_CALL(MPI_Barrier, host.get());  // until then the first one's memory must stay
  int worst = static_cast<int>(result);
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, comm);
  return static_cast<SingleCopies>(worst);
}

/// Of any kind of devices that it can be asked for.
std::optional<bool> takes_device_memory() {
  const auto cuda = takes_cuda_memory(), hip = takes_hip_memory();
  if (!cuda && !hip) return {};
  return cuda.value_or(false) || hip.value_or(false);
}

DeviceFacts look_for_devices() {
  DeviceFacts facts;
  try {
    const auto kinds = all_device_backends();
    if (kinds.empty()) return facts;
    auto& backend = *kinds.front();
    facts.kind = backend.name();
    for (int device = 0; device < backend.count(); ++device) facts.names.push_back(backend.identify(device).name);
    facts.trouble = backend.why_no_kernel(0);
  } catch (const DeviceError& error) {
    facts.trouble = error.what();
  }
  return facts;
}

/// Up to what programs have in flight here.
FlightFacts try_messages_in_flight(MPI_Comm comm, const Layout& layout, const Limits& limits) {
  if (layout.nodes() < 2) return {};
  FlightFacts facts;
  std::vector<CrowdedExchanges> crowded;
  for (int messages = messages_in_flight_min; facts.messages < messages_off_node(limits) && !facts.late;
       messages *= 4) {
    facts.messages = std::min(messages, messages_off_node(limits));
    crowded.push_back({facts.messages, time_messages_in_flight(comm, layout, facts.messages, exchanges_timed)});
    facts.late = find_late_messages(crowded);
  }
  return facts;
}

}  // namespace

Facts examine_ranks(MPI_Comm comm, const Layout& layout, const Machine& machine) {
  const auto host = OwnCommunicator::split_by_node(comm);
  const auto system = read_host();
  RankFacts mine;
  mine.cpus = allowed_cpus();
  mine.saves_power = !system.governor.empty() && system.governor != "performance";
  listen(comm, mine);

  Facts facts{system, layout, {}, {}, {}, {}, clock_resolution()};
  facts.paces = time_message_latencies(OwnCommunicator(comm).get(), layout, machine);
  facts.flight = try_messages_in_flight(OwnCommunicator(comm).get(), layout, machine.limits);
  if (rank_in(comm) == 0) facts.devices = look_for_devices();
  facts.mpi.library = mpi_library();
  facts.mpi.settings = transport_settings();
  COMMPASS_MPI_CALL(MPI_Query_thread, &facts.mpi.thread_level);
  facts.mpi.takes_device_memory = takes_device_memory();
  facts.mpi.single_copies = try_single_copies(comm, host);
  const auto launcher = launcher_of(ranks_in(comm));
  facts.mpi.launcher = launcher.variable;
  facts.mpi.launched_ranks = launcher.ranks;
  facts.mpi.launched_rank = launcher.rank;

  const auto record = pack(mine);
  std::vector<Record> records(rank_in(comm) == 0 ? static_cast<std::size_t>(ranks_in(comm)) : 0);
  COMMPASS_MPI_CALL(MPI_Gather, &record, sizeof record, MPI_BYTE, records.data(), sizeof record, MPI_BYTE, 0, comm);
  std::ranges::transform(records, std::back_inserter(facts.ranks), unpack);
  return facts;
}

}  // namespace commpass
