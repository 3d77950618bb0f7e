// Finds the size up to which a new request for each send is faster than a persistent one: MPI libraries may have a
// short path for small messages that persistent requests do not take.
#include <cmath>
#include <map>
#include <tuple>

#include "calibrate/calibration.hpp"
#include "calibrate/fit/switches.hpp"

namespace commpass {

namespace {

struct Send {
  Level level{};
  Bytes bytes = 0;
  bool is_new = false;
  auto operator<=>(const Send&) const = default;
};

Seconds time_send(Calibration& calibration, const Send& send, int repetitions) {
  calibration.bench.send_anew_up_to(send.is_new ? send.bytes : -1);
  const auto& [first, second] = calibration.pairs(send.level).front();
  return calibration.bench.ping_pong(first, second, send.bytes, repetitions);
}

/// Is a new request faster by 5 %, in the geometric mean over all levels?
bool is_faster(Calibration& calibration, Bytes bytes) {
  std::map<Send, Series> all;
  for (const auto level : calibration.levels)
    for (const bool is_new : {false, true}) all[{level, bytes, is_new}];
  constexpr int rounds = 9;
  calibration.sampler.sample_all(
      all, request_share.end,
      [&](const Send& send, int, int repetitions) { return time_send(calibration, send, repetitions); }, rounds);
  constexpr double gain_min = 0.05;
  double logarithms = 0;
  for (const auto level : calibration.levels)
    logarithms += std::log(all[{level, bytes, true}].time() / all[{level, bytes, false}].time());
  return logarithms < static_cast<double>(calibration.levels.size()) * std::log(1 - gain_min);
}

}  // namespace

void measure_new_sends(Calibration& calibration) {
  calibration.progress("new requests");
  constexpr Bytes smallest = 8, largest = 8192, factor = 4;
  Bytes worth = 0;
  for (Bytes bytes = smallest; bytes <= largest && is_faster(calibration, bytes); bytes *= factor) {
    worth = bytes;
    if (calibration.sampler.is_late(request_share.end)) break;
  }
  auto& new_send_bytes = calibration.machine.operations.new_send_bytes;
  if (worth > 0)
    new_send_bytes = bisect(worth, factor * worth, [&](Bytes bytes) {
      return calibration.sampler.has_spent(request_share.end) || !is_faster(calibration, bytes);
    });
  calibration.bench.send_anew_up_to(new_send_bytes.value_or(-1));
}

}  // namespace commpass
