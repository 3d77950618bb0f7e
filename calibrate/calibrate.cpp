#include "calibrate/calibrate.hpp"

#include <fmt/format.h>

#include <random>

#include "calibrate/calibration.hpp"
#include "calibrate/verdict.hpp"
#include "model/error.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/crowd_warning.hpp"
#include "runtime/mpi/fingerprint.hpp"
#include "runtime/mpi/host_names.hpp"
#include "runtime/mpi/surroundings.hpp"
#include "selector/report/profile_origin.hpp"

namespace commpass {

Calibration::Calibration(MPI_Comm user_comm, const Layout& ranks_layout, const CalibrationOptions& user_options)
    : layout(ranks_layout),
      options(user_options),
      comm(user_comm),
      bench(comm.get(), options.largest_bytes),
      sampler(comm.get(), options.budget_s) {
  for (const auto locality : {Locality::socket, Locality::node, Locality::network}) {
    auto& found = pairs_by_locality[static_cast<std::size_t>(locality)] = disjoint_pairs(layout, locality);
    if (found.empty())
      not_measured(fmt::format("host.{}: no two ranks of this layout are so related", name_of(locality)));
    else localities.push_back(locality);
  }
  machine.name = options.name;
}

void Calibration::progress(const std::string& what) const {
  if (comm.rank() == 0 && options.progress) options.progress(what, sampler.spent());
}

Share Share::of(Locality locality, const std::vector<Locality>& all) const {
  const auto until = [&](std::ptrdiff_t localities) {
    return begin + (end - begin) * static_cast<double>(localities) / static_cast<double>(all.size());
  };
  const auto earlier = std::ranges::count_if(all, [&](Locality l) { return l < locality; });
  return {until(earlier), until(earlier + 1)};
}

namespace {

/// A word that tells this calibration from others.
std::string draw_salt() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

/// What is known before anything is timed. Collective.
void begin_provenance(Calibration& calibration) {
  auto& provenance = calibration.provenance;
  provenance.fingerprint = fingerprint_here();
  const auto here = surroundings_here(calibration.layout);
  provenance.mpi_library = here.mpi_library;
  provenance.transport = *here.transport;
  provenance.partition = here.partition;
  provenance.ranks_per_node = here.ranks_per_node;
  provenance.layout = calibration.layout.describe();
  provenance.ranks = calibration.layout.ranks();
  provenance.host_hash = host_hash(host_names(calibration.comm.get()), draw_salt());
  provenance.warning = crowd_warning(calibration.comm.get());
}

}  // namespace

CalibrationResult calibrate(MPI_Comm comm, const Layout& layout, const CalibrationOptions& options) {
  if (layout.ranks() < 2)
    throw InputError("calibrate", "it has one rank, and messages need two", "run 'mpirun -n 2 commpass calibrate …'");
  Calibration calibration(comm, layout, options);
  begin_provenance(calibration);
  if (!calibration.provenance.warning.empty()) calibration.progress(calibration.provenance.warning);
  find_slow_nodes(calibration);
  measure_protocols(calibration);
  for (const auto locality : calibration.localities) find_rendezvous(calibration, locality);
  for (const auto locality : calibration.localities)
    measure_bursts(calibration, locality, burst_share.of(locality, calibration.localities));
  for (const auto locality : calibration.localities) measure_sharing(calibration, locality);
  measure_bus(calibration);
  measure_core(calibration);
  measure_ejection(calibration);
  for (const auto locality : calibration.localities)
    measure_receiving(calibration, locality, receive_share.of(locality, calibration.localities));
  measure_copies(calibration);
  measure_datatypes(calibration);
  measure_operations(calibration);
  measure_neighborhood(calibration);
  measure_alltoallv(calibration);
  hold_to_physics(calibration);
  check_held_out(calibration);

  calibration.machine.verdict = judge(calibration.provenance);
  calibration.provenance.samples = calibration.sampler.count();
  calibration.provenance.disturbed_rounds = calibration.sampler.disturbed_rounds();
  calibration.provenance.elapsed_s = calibration.sampler.elapsed();
  // Rank 0's: dates, clocks and salts differ.
  const auto json = to_json(Profile{calibration.machine, to_json(calibration.provenance)});
  return {parse_profile(broadcast(calibration.comm.get(), json), "calibration"), calibration.provenance.held_out,
          calibration.provenance.slow_nodes, calibration.provenance.measured_again};
}

}  // namespace commpass
