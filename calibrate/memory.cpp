// Costs of memory: our copies, loops over values, additions, and derived datatypes of MPI.
#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "calibrate/calibration.hpp"
#include "calibrate/fit/fit.hpp"
#include "calibrate/operation_timing.hpp"

namespace commpass {

namespace {

constexpr Bytes buffer_bytes = Bytes{1} << 20;  // what packing touches, so that caches hold it as in an exchange

/// For times of many pieces, which are long. A simulated clock does not see them and would ask for more repetitions.
constexpr int repetitions_of_pieces_max = 20;

/// As many pieces as the buffer holds with their gaps, so that a constant cost of MPI does not count.
int pieces_of(Bytes piece_bytes) {
  constexpr Bytes pieces_max = 512;
  return static_cast<int>(std::min(pieces_max, buffer_bytes / (2 * piece_bytes)));
}

/// Times sizes from 8 bytes on and fits a line.
/// @param time  called with bytes and repetitions
template <class Time>
Line time_sizes(Calibration& calibration, double share, Bytes largest, Bytes factor, Time time, int divisor_of(Bytes)) {
  std::map<Bytes, Series> times;
  for (Bytes size = 8; size <= largest; size *= factor) times[size];
  calibration.sampler.sample_all(times, share,
                                 [&](Bytes bytes, int, int repetitions) { return time(bytes, repetitions); });
  auto points = points_of(times);
  for (auto& [bytes, seconds] : points) seconds /= divisor_of(bytes);
  return fit_line(points);
}

}  // namespace

void measure_copies(Calibration& calibration) {
  calibration.progress("local copies");
  const std::vector<std::byte> from(buffer_bytes, std::byte{1});
  std::vector<std::byte> to(buffer_bytes);
  const auto time = [&](Bytes bytes, int repetitions) {
    return time_local_copy(calibration.comm.get(), from, to, bytes, repetitions);
  };
  const auto line = time_sizes(calibration, copy_share.end, buffer_bytes, 4, time, [](Bytes) { return 1; });
  auto& machine = calibration.machine;
  machine.copy_block_s = line.alpha_s;
  if (line.beta_s_per_byte > 0) machine.copy_rate_bytes_per_s = 1 / line.beta_s_per_byte;
  else calibration.not_measured("local.copy_rate_bytes_per_s: copies take no measurable time");
}

void measure_value_loops(Calibration& calibration) {
  calibration.progress("loops over values");
  constexpr Bytes value_bytes_max = 128;  // the bytes of larger values dominate
  const std::vector<std::byte> from(buffer_bytes, std::byte{1});
  std::vector<std::byte> to(buffer_bytes / 2);
  const auto time = [&](Bytes bytes, int repetitions) {
    return time_value_loop(calibration.comm.get(), from, to, bytes, pieces_of(bytes),
                           std::min(repetitions_of_pieces_max, repetitions));
  };
  calibration.machine.value_run_s =
      time_sizes(calibration, value_share.end, value_bytes_max, 2, time, pieces_of).alpha_s;
}

void measure_reductions(Calibration& calibration) {
  calibration.progress("additions");
  const std::vector<double> values(buffer_bytes / sizeof(double), 1);
  std::vector<double> sums(values.size());
  const auto time = [&](Bytes bytes, int repetitions) {
    return time_addition(calibration.comm.get(), std::as_bytes(std::span(values)),
                         std::as_writable_bytes(std::span(sums)), bytes, repetitions);
  };
  const auto line = time_sizes(calibration, reduction_share.end, buffer_bytes, 4, time, [](Bytes) { return 1; });
  if (line.beta_s_per_byte > 0) calibration.machine.reduction_rate_bytes_per_s = 1 / line.beta_s_per_byte;
  else calibration.not_measured("local.reduction_rate_bytes_per_s: additions take no measurable time");
}

void measure_datatypes(Calibration& calibration) {
  calibration.progress("derived datatypes");
  std::vector<std::byte> scattered(buffer_bytes, std::byte{1}), packed(buffer_bytes / 2);
  constexpr Bytes piece_bytes_max = Bytes{16} << 10;
  const auto time = [&](Bytes bytes, int repetitions) {
    return time_datatype(calibration.comm.get(), scattered, packed, bytes, pieces_of(bytes),
                         std::min(repetitions_of_pieces_max, repetitions));
  };
  const auto line = time_sizes(calibration, datatype_share.end, piece_bytes_max, 4, time, pieces_of);
  constexpr double memory_rate_max = 1e13;  // bytes per second; above it, as in a simulator, the clock alone shows
  if (line.beta_s_per_byte * memory_rate_max < 1)
    return calibration.not_measured(
        "local.datatype_rate_bytes_per_s, datatype_block_s: packing a derived datatype takes no measurable time");
  calibration.machine.datatype_rate_bytes_per_s = 1 / line.beta_s_per_byte;
  calibration.machine.datatype_block_s = line.alpha_s;
}

}  // namespace commpass
