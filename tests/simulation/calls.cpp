// What calls take besides their messages, on simulated clusters: nothing. Their processors are charged for messages,
// copies and the library's collectives alone.
#include "calibrate/calibration.hpp"

namespace commpass {

void measure_calls(Calibration& calibration) {
  calibration.not_measured("operations.batch_s, batch_once_s, discovery_s: calls take no time of simulated processors");
}

}  // namespace commpass
