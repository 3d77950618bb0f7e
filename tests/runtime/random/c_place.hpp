// A communicator of the C interface, for the exchanges of one trial.
#pragma once

#include "commpass/commpass.h"
#include "runtime/random/place.hpp"

namespace commpass::random_test {

class CPlace {
 public:
  CPlace() = default;
  CPlace(const CPlace&) = delete;
  CPlace& operator=(const CPlace&) = delete;
  ~CPlace() { commpass_comm_free(&comm_); }

  /// With the layout of the place, and a profile. Collective.
  void create(const Place& place);
  commpass_comm comm() const { return comm_; }

  /// @throws Failure with the sentence about it, unless the code is COMMPASS_SUCCESS
  static void require(int code);

 private:
  commpass_comm comm_ = nullptr;
};

}  // namespace commpass::random_test
