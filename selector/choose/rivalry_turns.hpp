// How many calls each of two rivals will run, told ahead.
#pragma once

namespace commpass {

/// How many calls of one kind on one communicator each of them runs; not whole where calls are an average.
struct Turns {
  double library = 0, ours = 0, both = 0;
};

/// Those of a Rivalry in which ours takes `ratio` times as long as the library in every call. @param calls  0 or more
Turns turns_of(double calls, double ratio);

}  // namespace commpass
