// Times that other benchmarks have printed: OSU's, Intel's, and tables of microbenchmarks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// One time that a benchmark has printed. `seconds` is one way: half of a round trip.
struct BenchmarkTime {
  enum class Test {
    ping_pong,       ///< one pair, one message
    many_pairs,      ///< `pairs` pairs at once, a message each, both ways in turn and not in step
    streams,         ///< `pairs` pairs at once, many messages each one way; seconds of one of them
    burst,           ///< `messages` messages to as many ranks, then one from each: half of both
    burst_one_peer,  ///< `messages` messages to one rank, then as many back: half of both
    copy             ///< `pairs` processes copy `bytes` each, at once
  };
  enum class Memory { host, device, to_host, to_device };

  Test test = Test::ping_pong;
  Memory memory = Memory::host;
  std::string level{};    ///< between whose instances the ends are: a level of the profile
  std::string variant{};  ///< of a table: which pairs or processes
  int pairs = 1, messages = 1;
  Bytes bytes = 0;  ///< of one message or of what one process copies
  Seconds seconds = 0;
  std::string where{};  ///< file and line, for messages
};

/// The levels that times may be of, innermost first.
inline constexpr const char* imported_levels[] = {"cache", "numa", "socket", "node", "group", "network"};
bool is_imported_level(std::string_view name);
/// "use cache, numa, … or network"
std::string imported_levels_remedy();

/// Where the ranks of a benchmark sat, which OSU and IMB do not print: "network", or "network x 28" for 28 pairs.
struct BenchmarkPlace {
  std::string level;
  std::optional<int> pairs{};
};

/// The times in the output of a benchmark, which is recognised: osu_latency, osu_bw, osu_bibw, osu_mbw_mr,
/// osu_multi_lat; IMB-P2P or IMB-MPI1 PingPong and Multi-PingPong; or a table with the columns test, memory, locality,
/// active_pairs, messages, bytes and seconds (docs/profiles.md, "Import").
/// @param place  nothing: a table, whose rows tell it
/// @throws InputError that names the file and the line, for what is none of these, is cut, has other units, or times
/// that no machine has
std::vector<BenchmarkTime> parse_benchmark(const std::string& text, const std::string& path,
                                           const std::optional<BenchmarkPlace>& place);

}  // namespace commpass
