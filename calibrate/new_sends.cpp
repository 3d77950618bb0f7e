// Up to how many bytes a new request for each send takes less than a persistent one: MPI libraries may have a shorter
// way for small messages, which persistent requests do not take.
#include <cmath>
#include <map>
#include <tuple>

#include "calibrate/bisect.hpp"
#include "calibrate/calibration.hpp"

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

/// Does a new request take clearly less, over all levels?
bool is_worth_it(Calibration& calibration, Bytes bytes) {
  std::map<Send, Series> all;
  for (const auto level : calibration.levels)
    for (const bool is_new : {false, true}) all[{level, bytes, is_new}];
  constexpr int rounds = 9;
  calibration.sampler.sample_all(
      all, request_share.end,
      [&](const Send& send, int, int repetitions) { return time_send(calibration, send, repetitions); }, rounds);
  constexpr double least_gain = 0.05;
  double logarithms = 0;
  for (const auto level : calibration.levels)
    logarithms += std::log(all[{level, bytes, true}].time() / all[{level, bytes, false}].time());
  return logarithms < static_cast<double>(calibration.levels.size()) * std::log(1 - least_gain);
}

}  // namespace

void measure_new_sends(Calibration& calibration) {
  calibration.progress("new requests");
  constexpr Bytes smallest = 8, largest = 8192, factor = 4;
  Bytes worth = 0;
  for (Bytes bytes = smallest; bytes <= largest && is_worth_it(calibration, bytes); bytes *= factor) {
    worth = bytes;
    if (calibration.sampler.is_late(request_share.end)) break;
  }
  auto& new_send_bytes = calibration.machine.operations.new_send_bytes;
  if (worth > 0)
    new_send_bytes = bisect(worth, factor * worth, [&](Bytes bytes) {
      return calibration.sampler.has_spent(request_share.end) || !is_worth_it(calibration, bytes);
    });
  calibration.bench.send_anew_up_to(new_send_bytes.value_or(-1));
}

}  // namespace commpass
