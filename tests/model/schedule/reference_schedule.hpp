// A scheduler that is slow and obviously right: every block and every memory of every rank is an object of its own.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "model/pattern/pattern.hpp"
#include "model/route/route.hpp"
#include "model/schedule/schedule.hpp"

namespace commpass::test {

struct ReferenceMessage {
  int round = 0;
  Bytes bytes = 0;
  std::vector<std::size_t> blocks;  ///< into ReferenceSchedule::blocks, in the order of the message
  std::uint32_t packed_pieces = 0, unpacked_pieces = 0;
  Bytes unpacked_bytes = 0;
};

struct ReferenceSchedule {
  std::vector<Block> blocks;
  /// By sender, receiver and position among the messages of these two: 0 if they are coalesced.
  std::vector<std::map<std::tuple<Rank, Rank, int>, ReferenceMessage>> stages;
  std::vector<Rank> at_the_end;  ///< of each block
  std::int64_t buffered_blocks_max = 0;
  Bytes buffered_bytes_max = 0;
};

ReferenceSchedule reference_schedule(const Route& route, const Pattern& pattern, Coalescing coalescing);

}  // namespace commpass::test
