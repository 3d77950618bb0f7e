// Reads the output of other benchmarks: OSU's, Intel's, and tables of microbenchmarks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// A time from the output of a benchmark. `seconds` is one way: half of a round trip.
struct BenchmarkTime {
  enum class Test {
    ping_pong,       ///< one pair, one message
    many_pairs,      ///< `pairs` pairs at once, a message each, both ways in turn
    streams,         ///< `pairs` pairs at once, many messages each one way; seconds of one message
    burst,           ///< `messages` messages to as many ranks, then one from each: half of both
    burst_one_peer,  ///< `messages` messages to one rank, then as many back: half of both
    copy             ///< `pairs` processes copy `bytes` each, at once
  };
  enum class Memory { host, device, to_host, to_device };

  Test test = Test::ping_pong;
  Memory memory = Memory::host;
  std::string level{};    ///< of the profile, between whose instances the messages go
  std::string variant{};  ///< of a table: the pairs or processes
  int pairs = 1, messages = 1;
  Bytes bytes = 0;  ///< of one message, or of the copy of one process
  Seconds seconds = 0;
  std::string where{};  ///< file and line, for messages
};

/// The levels that times may have, innermost first.
inline constexpr const char* imported_levels[] = {"cache", "numa", "socket", "node", "group", "network"};
bool is_imported_level(std::string_view name);
/// "use cache, numa, … or network"
std::string imported_levels_remedy();

/// The level of a benchmark and its pairs, which OSU and IMB do not print: "network", or "networkx28" for 28 pairs.
struct BenchmarkPlace {
  std::string level;
  std::optional<int> pairs{};
};

/// Recognizes the benchmark and reads its times: osu_latency, osu_bw, osu_bibw, osu_mbw_mr,
/// osu_multi_lat; IMB-P2P or IMB-MPI1 PingPong and Multi-PingPong; or a table with the columns test, memory, locality,
/// active_pairs, messages, bytes and seconds (docs/profiles.md, "Import").
/// @param place  nothing for a table, whose rows have a level
/// @throws InputError that names the file and the line, for another format, a cut file, other units or implausible
/// times
std::vector<BenchmarkTime> parse_benchmark(const std::string& text, const std::string& path,
                                           const std::optional<BenchmarkPlace>& place);

}  // namespace commpass
