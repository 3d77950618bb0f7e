// Which of two ways to run the calls of a kind is faster, from times that all ranks have agreed on. No MPI here.
#pragma once

#include <cstdint>
#include <vector>

namespace commpass {

/// Of the calls of one kind on one communicator: the first ones go to the MPI library, as nobody knows yet whether
/// there will be more; then some run both ways, and what is faster gets those that follow. Since sizes may change, some
/// are run both ways again after eight times as many calls, and so on: at most an eighth of the calls after the first.
///
/// Every rank asks and tells the same, so all decide alike.
class Rivalry {
 public:
  enum class Turn { library, ours, both };

  static constexpr std::int64_t calls_before = 2;  ///< left to the library without asking
  static constexpr int pairs = 6;                  ///< of times that decide; even, see Takeover::run_in_turn
  static constexpr int growth = 8;                 ///< between one decision and the next

  /// Who runs the next call. To be asked once for each.
  Turn next();
  /// Of a call that has been run both ways: the seconds of its slowest rank, in either. The first of a row is not
  /// counted: it plans.
  void add(double library_s, double ours_s);
  /// The median of ours ÷ the library's when it was decided last; 0: not yet.
  double ratio() const { return ratio_; }
  std::int64_t calls() const { return calls_; }

 private:
  std::int64_t calls_ = 0, decides_at_ = calls_before;
  bool is_open_ = false, is_ours_ = false, is_first_ = true;
  double ratio_ = 0;
  std::vector<double> ratios_ = {};
};

}  // namespace commpass
