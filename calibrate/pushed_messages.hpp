// Exchanges whose messages go through memory that the ranks of a node share.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <map>
#include <optional>
#include <tuple>

#include "calibrate/calibration.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/rank_data.hpp"

namespace commpass {

/// Plans such exchanges, and times them. Every function is collective, and returns the same on all ranks.
class PushedMessages {
 public:
  struct Times {
    Seconds posting = 0;  ///< until the median rank has started the exchange
    Seconds all = 0;      ///< until the last rank has all
  };

  explicit PushedMessages(Calibration& calibration) : calibration_(calibration), comm_(calibration.comm.get()) {}

  /// One message each way between the first `count` pairs of a level: the means of the repetitions.
  Times pairs(Level level, std::size_t count, Bytes bytes, int repetitions);
  /// `messages` from each rank to its partners on a level in turn, on the instance of the first pair: likewise.
  Times among_partners(Level level, Bytes bytes, int messages, int repetitions);
  /// Do these go through memory of the node? Not where it has too little.
  bool are_pushed(Level level, Bytes bytes, int messages);

 private:
  struct Kept {
    RankData data;
    Exchange exchange;
  };
  Kept& of_pairs(Level level, std::size_t count, Bytes bytes);
  Kept& of_partners(Level level, Bytes bytes, int messages);
  Kept* find(Level level, std::size_t count, Bytes bytes, int messages);
  Kept& keep(Level level, std::size_t count, Bytes bytes, int messages, const Pattern& pattern);
  Times time(Kept& kept, int repetitions);

  Calibration& calibration_;
  MPI_Comm comm_;
  std::optional<Communicator> communicator_;                         ///< from the first exchange on
  std::map<std::tuple<Level, std::size_t, Bytes, int>, Kept> kept_;  ///< exchanges keep addresses of their buffers
};

}  // namespace commpass
