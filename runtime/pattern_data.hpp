// What the ranks of a measurement send to each other: bytes by which every mistake shows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/pattern.hpp"
#include "runtime/plan.hpp"
#include "selector/arguments.hpp"

namespace commpass {

/// The pattern that rank 0 reads, on every rank.
/// @throws InputError, the same on every rank
Pattern share_pattern(const PatternArguments& arguments, Rank rank, int ranks);

/// The edges of one rank and their buffers, in rank order without gaps.
struct Data {
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  std::vector<std::byte> send_buffer, receive_buffer;
};

/// What a rank sends, filled in, and room for what it gets.
Data data_of(const Pattern& pattern, Rank rank);

/// Is in the receive buffer what must be there?
/// @return a sentence about the first wrong byte, or nothing
std::string verify(const Data& data, Rank rank, const std::string& strategy);

}  // namespace commpass
