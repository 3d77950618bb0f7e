// What moving bytes within the memory of a rank costs: our copies, loops over values, and derived datatypes of MPI.
#include <algorithm>
#include <map>
#include <vector>

#include "calibrate/calibration.hpp"
#include "calibrate/fit/fit.hpp"
#include "calibrate/memory_timing.hpp"

namespace commpass {

namespace {

constexpr Bytes buffer_bytes = Bytes{1} << 20;  // as much as packing touches: caches see it, as they do in an exchange

std::vector<SizePoint> points_of(const std::map<Bytes, Series>& all, double divisor_of_bytes(Bytes)) {
  std::vector<SizePoint> points;
  for (const auto& [bytes, series] : all) points.push_back({bytes, series.time() / divisor_of_bytes(bytes)});
  return points;
}

/// Repetitions of what has many pieces: these take long; a simulated clock does not see it and would ask for more.
constexpr int enough_of_many = 20;

/// As many pieces as the buffer holds with their gaps, so many that what MPI does once for all does not count.
int pieces_of(Bytes piece_bytes) {
  constexpr Bytes most = 512;
  return static_cast<int>(std::min(most, buffer_bytes / (2 * piece_bytes)));
}

}  // namespace

void measure_copies(Calibration& calibration) {
  calibration.progress("local copies");
  const std::vector<std::byte> from(buffer_bytes, std::byte{1});
  std::vector<std::byte> to(buffer_bytes);
  std::map<Bytes, Series> copies;
  for (Bytes size = 8; size <= buffer_bytes; size *= 4) copies[size];
  calibration.sampler.sample_all(copies, copy_share.end, [&](Bytes bytes, int, int repetitions) {
    return time_local_copy(calibration.comm.get(), from, to, bytes, repetitions);
  });
  const auto line = fit_line(points_of(copies, [](Bytes) { return 1.0; }));
  auto& machine = calibration.machine;
  machine.copy_block_s = line.alpha_s;
  if (line.beta_s_per_byte > 0) machine.copy_rate_bytes_per_s = 1 / line.beta_s_per_byte;
  else calibration.not_measured("local.copy_rate_bytes_per_s: copies take no measurable time");
}

void measure_value_loops(Calibration& calibration) {
  calibration.progress("loops over values");
  constexpr Bytes largest_value = 128;  // small values: of larger ones the bytes count
  const std::vector<std::byte> from(buffer_bytes, std::byte{1});
  std::vector<std::byte> to(buffer_bytes / 2);
  std::map<Bytes, Series> loops;
  for (Bytes size = 8; size <= largest_value; size *= 2) loops[size];
  calibration.sampler.sample_all(loops, value_share.end, [&](Bytes bytes, int, int repetitions) {
    return time_value_loop(calibration.comm.get(), from, to, bytes, pieces_of(bytes),
                           std::min(enough_of_many, repetitions));
  });
  calibration.machine.value_run_s =
      fit_line(points_of(loops, [](Bytes bytes) { return static_cast<double>(pieces_of(bytes)); })).alpha_s;
}

void measure_datatypes(Calibration& calibration) {
  calibration.progress("derived datatypes");
  std::vector<std::byte> scattered(buffer_bytes, std::byte{1}), packed(buffer_bytes / 2);
  constexpr Bytes largest_piece = Bytes{16} << 10;
  std::map<Bytes, Series> packings;
  for (Bytes size = 8; size <= largest_piece; size *= 4) packings[size];
  calibration.sampler.sample_all(packings, datatype_share.end, [&](Bytes bytes, int, int repetitions) {
    return time_datatype(calibration.comm.get(), scattered, packed, bytes, pieces_of(bytes),
                         std::min(enough_of_many, repetitions));
  });
  const auto line = fit_line(points_of(packings, [](Bytes bytes) { return static_cast<double>(pieces_of(bytes)); }));
  constexpr double faster_than_any_memory =
      1e13;  // bytes per second: where packing takes no time, as in a simulator, the clock alone shows
  if (line.beta_s_per_byte * faster_than_any_memory < 1) {
    calibration.not_measured(
        "local.datatype_rate_bytes_per_s, datatype_block_s: packing a derived datatype takes no measurable time");
    return;
  }
  calibration.machine.datatype_rate_bytes_per_s = 1 / line.beta_s_per_byte;
  calibration.machine.datatype_block_s = line.alpha_s;
}

}  // namespace commpass
