// Sizes of the dimensions that ranks or nodes are cut into, and the ways to cut them a little differently.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace commpass {

using Dimensions = std::vector<std::int64_t>;

/// Cuts 0 … count−1 into digits. The top size is trimmed to ⌈count / slab⌉ and dimensions of size 1 are dropped.
/// @param sizes  lowest first; their product must reach `count`
/// @throws InputError (without a strategy's name; callers add it) if a size is below 2 or the product too small
std::vector<int> trim_radices(std::span<const int> sizes, std::int64_t count);

/// Why dimensions are too small for `count` `things` ("ranks"), or empty.
std::string too_small(std::span<const std::int64_t> sizes, std::int64_t count, const std::string& things);

/// The neighbours of these dimensions of `count`: one cut in two, two adjacent ones merged or swapped, a factor of two
/// moved from one to the next; then all cuts in two by divisors, of one and of two adjacent ones together. Trimmed,
/// each once, without `sizes` itself.
/// @param sizes  lowest first
/// @throws InputError as trim_radices
std::vector<Dimensions> vary_dimensions(std::span<const std::int64_t> sizes, std::int64_t count);

}  // namespace commpass
