#include "runtime/random/c_place.hpp"

#include <fmt/core.h>

#include <cstdlib>

#include "runtime/random/image.hpp"

namespace commpass::random_test {

void CPlace::create(const Place& place) {
  setenv("COMMPASS_LAYOUT", place.layout_text.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): there are no threads
  const int code =
      commpass_comm_create(place.parent, place.profile.empty() ? "tuolumne" : place.profile.c_str(), &comm_);
  unsetenv("COMMPASS_LAYOUT");  // NOLINT(concurrency-mt-unsafe)
  require(code);
}

void CPlace::require(int code) {
  if (code != COMMPASS_SUCCESS) throw Failure(fmt::format("code {}: {}", code, commpass_error_text()));
}

}  // namespace commpass::random_test
