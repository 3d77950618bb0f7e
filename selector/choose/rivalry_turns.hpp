// How many calls each of two rivals will run, told ahead.
#pragma once

#include "model/base/types.hpp"

namespace commpass {

/// How many calls of one kind on one communicator each of them runs; not whole where calls are an average.
struct Turns {
  double library = 0, ours = 0, both = 0;
  Seconds opening_s = 0;  ///< for the first trial; 0: there is none
};

/// What a call takes by either, and what ranks need to agree on a trial beside it.
struct RivalTimes {
  Seconds library_s, ours_s, agreement_s;
};

/// The turns of a Rivalry whose calls are all alike, with a TrialBudget of its own. @param calls  0 or more
Turns turns_of(double calls, const RivalTimes& times);

}  // namespace commpass
