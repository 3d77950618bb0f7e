// How far a profile is to be trusted, as its calibration found.
#pragma once

#include <string>

namespace commpass {

enum class Trust { good, usable, none };
inline constexpr const char* trust_names[] = {"good", "usable", "do not trust"};  ///< in this order
inline const char* name_of(Trust trust) { return trust_names[static_cast<int>(trust)]; }

struct Verdict {
  Trust trust = Trust::good;
  double uncertainty = 0;  ///< predicted times that differ by less than this part of the shorter are ties
  std::string why;         ///< a sentence without its full stop
  std::string remedy;      ///< empty where none is needed
  bool operator==(const Verdict&) const = default;
};

}  // namespace commpass
