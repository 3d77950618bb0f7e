// bench packing: how fast are blocks put together, against one copy of as many bytes, and against copies of the same
// blocks in order? And how long do loops take that add values to others, against loops that copy them?
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "bench/options.hpp"
#include "bench/statistics.hpp"
#include "bench/stopwatch.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "runtime/execute/memory.hpp"
#include "runtime/indexed/value_runs.hpp"

namespace commpass::bench {
namespace {

constexpr std::size_t smallest_block = 8, largest_block = std::size_t{64} << 10;
constexpr std::size_t counted_block = 256;  ///< the summary is over blocks of this size and more

/// The copies with which a stage packs its blocks into messages to several ranks: a message gets every `messages`-th
/// block. All of the source is copied, once, and no two blocks of a message lie one after another.
std::vector<LocalCopy> pack_stage(const std::byte* source, std::byte* target, std::size_t total, std::size_t block) {
  constexpr std::size_t messages = 8;
  const auto blocks = total / block;
  std::vector<LocalCopy> copies;
  for (std::size_t message = 0; message < messages; ++message)
    for (std::size_t i = message; i < blocks; i += messages) {
      copies.push_back({source + i * block, target, block});
      target += block;
    }
  return copies;
}

/// The same bytes in blocks that lie one after another at both ends: what a processor makes of blocks of this size at
/// best. (It may copy many KiB at once twice as fast as in pieces, by instructions that do not pay for less.)
std::vector<LocalCopy> copy_in_order(const std::byte* source, std::byte* target, std::size_t total, std::size_t block) {
  std::vector<LocalCopy> copies;
  for (std::size_t at = 0; at + block <= total; at += block) copies.push_back({source + at, target + at, block});
  return copies;
}

struct Measured {
  Seconds packing = 0, memcpy = 0, in_order = 0;
};

/// Medians of all, taken in turn, so that a disturbance hits all alike.
Measured compare(std::span<const LocalCopy> copies, const LocalCopy& whole, std::span<const LocalCopy> in_order,
                 int repetitions) {
  // Small totals many times in a sample, for the clock.
  constexpr std::size_t sample_bytes = std::size_t{1} << 20;
  const auto turns = std::max<std::size_t>(1, sample_bytes / whole.bytes);
  const auto seconds_of_one = [turns](std::span<const LocalCopy> what) {
    return seconds_of([&] {
             for (std::size_t i = 0; i < turns; ++i) local_copy(what);
           }) /
           static_cast<double>(turns);
  };
  std::vector<Seconds> packing, memcpy, ordered;
  for (int i = 0; i < repetitions; ++i) {
    packing.push_back(seconds_of_one(copies));
    memcpy.push_back(seconds_of_one({&whole, 1}));
    ordered.push_back(seconds_of_one(in_order));
  }
  return {median(std::move(packing)), median(std::move(memcpy)), median(std::move(ordered))};
}

/// Times of one run of a loop over runs of values, every other one of an array.
struct RunTimes {
  Seconds copied = 0, doubles = 0, integers = 0;
};

RunTimes times_of_runs(std::span<const std::byte> source, std::span<std::byte> target, std::size_t total,
                       std::size_t run, int repetitions) {
  constexpr std::size_t runs_min = 1 << 16;  // in a sample, for the clock
  const auto count = total / (2 * run), turns = std::max<std::size_t>(1, runs_min / count);
  ValueRuns runs;
  for (std::size_t i = 0; i < count; ++i)
    runs.push_back({static_cast<std::int64_t>(2 * i), static_cast<std::int64_t>(i), 1});
  const auto bytes = static_cast<Bytes>(run);
  const auto seconds_of_a_run = [&](auto loop) {
    return seconds_of([&] {
             for (std::size_t i = 0; i < turns; ++i) loop();
           }) /
           static_cast<double>(turns * count);
  };
  const auto add_numbers = [&](const Addition& add) {
    return seconds_of_a_run([&] { add_values(runs, bytes, source.data(), target.data(), add); });
  };
  const auto doubles = addition_of<double>(bytes / static_cast<Bytes>(sizeof(double))),
             integers = addition_of<std::int32_t>(bytes / static_cast<Bytes>(sizeof(std::int32_t)));
  std::vector<Seconds> copied, of_doubles, of_integers;
  for (int i = 0; i < repetitions; ++i) {
    copied.push_back(seconds_of_a_run([&] { copy_values(runs, bytes, source.data(), target.data()); }));
    of_doubles.push_back(add_numbers(doubles));
    of_integers.push_back(add_numbers(integers));
  }
  return {median(std::move(copied)), median(std::move(of_doubles)), median(std::move(of_integers))};
}

/// Adds to the cases, and gives the times of additions over those of copies for large runs: their median.
double compare_additions(const OutputOptions& options, std::span<const std::byte> source, std::span<std::byte> target,
                         Json& cases) {
  constexpr std::size_t large_run = 512;
  const int repetitions = options.quick ? 20 : 100;  // NOLINT: some
  if (!options.json)
    fmt::print("\n{:>10} {:>10} {:>12} {:>14} {:>8} {:>14} {:>8}\n", "total", "run", "copy ns", "add doubles ns",
               "ratio", "add int32 ns", "ratio");
  std::vector<double> ratios;
  for (const std::size_t total : {std::size_t{64} << 10, std::size_t{1} << 20, std::size_t{32} << 20})
    for (std::size_t run = smallest_block; run <= std::min(largest_block, total / 4); run *= 8) {
      const auto [copied, doubles, integers] = times_of_runs(source, target, total, run, repetitions);
      if (run >= large_run) ratios.insert(ratios.end(), {doubles / copied, integers / copied});
      const auto ns = [](Seconds seconds) { return 1e9 * seconds; };
      if (!options.json)
        fmt::print("{:>10} {:>10} {:>12.2f} {:>14.2f} {:>8.2f} {:>14.2f} {:>8.2f}\n",
                   format_bytes(static_cast<double>(total)), format_bytes(static_cast<double>(run)), ns(copied),
                   ns(doubles), doubles / copied, ns(integers), integers / copied);
      cases.push_back({{"total_bytes", total},
                       {"run_bytes", run},
                       {"copy_s", copied},
                       {"addition_of_doubles_s", doubles},
                       {"addition_of_int32_s", integers}});
    }
  return median(std::move(ratios));
}

Json packing(const OutputOptions& options) {
  struct Total {
    std::size_t bytes;
    int repetitions;
  };
  // From within the nearest cache to beyond all caches of today's processors.
  const int times = options.quick ? 1 : 5;
  const std::array totals{Total{std::size_t{16} << 10, 200 * times}, Total{std::size_t{256} << 10, 200 * times},
                          Total{std::size_t{4} << 20, 50 * times}, Total{std::size_t{64} << 20, 10 * times}};
  std::vector<std::byte> source(totals.back().bytes, std::byte{1}), target(totals.back().bytes, std::byte{2});
  if (!options.json)
    fmt::print("{:>10} {:>10} {:>14} {:>14} {:>10} {:>14} {:>10}\n", "total", "block", "packing", "memcpy", "fraction",
               "in order", "fraction");
  Json json;
  double least = std::numeric_limits<double>::infinity(), least_of_blocks = least;
  for (const auto& total : totals)
    for (std::size_t block = smallest_block; block <= std::min(largest_block, total.bytes); block *= 2) {
      const auto copies = pack_stage(source.data(), target.data(), total.bytes, block);
      const auto in_order = copy_in_order(source.data(), target.data(), total.bytes, block);
      const auto measured = compare(copies, {source.data(), target.data(), total.bytes}, in_order, total.repetitions);
      const double fraction = measured.memcpy / measured.packing,
                   fraction_of_blocks = measured.in_order / measured.packing;
      if (block >= counted_block) {
        least = std::min(least, fraction);
        least_of_blocks = std::min(least_of_blocks, fraction_of_blocks);
      }
      const auto rate = [&](Seconds seconds) {
        return format_bytes(static_cast<double>(total.bytes) / seconds) + "/s";
      };
      if (!options.json)
        fmt::print("{:>10} {:>10} {:>14} {:>14} {:>10.2f} {:>14} {:>10.2f}\n",
                   format_bytes(static_cast<double>(total.bytes)), format_bytes(static_cast<double>(block)),
                   rate(measured.packing), rate(measured.memcpy), fraction, rate(measured.in_order),
                   fraction_of_blocks);
      json["cases"].push_back({{"total_bytes", total.bytes},
                               {"block_bytes", block},
                               {"packing_s", measured.packing},
                               {"memcpy_s", measured.memcpy},
                               {"in_order_s", measured.in_order},
                               {"fraction_of_memcpy", fraction},
                               {"fraction_of_memcpy_of_blocks", fraction_of_blocks}});
    }
  const double ratio = compare_additions(options, source, target, json["additions"]);
  json["summary"] = {{"fraction_of_memcpy", least},
                     {"fraction_of_memcpy_of_blocks", least_of_blocks},
                     {"addition_over_copy_of_large_runs", ratio}};
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  using namespace commpass::bench;
  commpass::Command command{
      "bench-packing",
      "How fast blocks are packed into messages, against one copy of as many bytes, and copies of the same blocks in "
      "order; and how long loops take that add values, against loops that copy them."};
  OutputOptions options;
  return run_benchmark(command, argc, argv, "packing", options, [&] { return packing(options); });
}
