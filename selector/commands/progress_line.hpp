// A line on stderr for commands that take long: the current step, until it is over.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace commpass {

/// Writes a text again and again in the same line while it lives, and erases it at its end.
class ProgressLine {
 public:
  using Duration = std::chrono::milliseconds;
  static constexpr Duration usual_patience{2000}, usual_interval{500};

  /// @param is_shown  false: nothing is written
  /// @param text      the text to write, given the seconds so far; called on another thread
  /// @param patience  before the first text
  ProgressLine(bool is_shown, std::function<std::string(double seconds)> text, Duration patience = usual_patience,
               Duration interval = usual_interval, std::FILE* file = stderr);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void run(const std::function<std::string(double)>& text, Duration patience, Duration interval);

  std::FILE* file_;
  std::mutex access_;
  std::condition_variable over_;
  bool is_over_ = false, is_written_ = false;
  std::thread writer_;
};

/// Of a command that prices strategies by the edges of a pattern.
std::string describe_pricing(double seconds);

}  // namespace commpass
