// Cartesian neighbourhoods in text: the keys of the generator "cartesian".
#pragma once

#include <string>

#include "model/pattern/neighborhood.hpp"

namespace commpass {

/// The values of these keys; absent ones are `no_value`.
struct NeighborhoodText {
  static constexpr const char* no_value = "none";
  std::string dims, periodic;            ///< "8x8x8"; "yes", "no" or "1x0x1"
  std::string offsets, box, star, cube;  ///< "1x0;-1x0", or a number; one of them
  std::string first;                     ///< of cube: the least coordinate
};

/// @param origin  for errors
/// @throws InputError
Neighborhood parse_neighborhood(const NeighborhoodText& text, const std::string& origin);

}  // namespace commpass
