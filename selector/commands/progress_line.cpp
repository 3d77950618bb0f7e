#include "selector/commands/progress_line.hpp"

#include <fmt/core.h>

#include <system_error>
#include <utility>

#include "selector/choose/pricing_progress.hpp"

namespace commpass {

namespace {
constexpr auto* erase_line = "\r\x1b[K";
}

ProgressLine::ProgressLine(bool is_shown, std::function<std::string(double)> text, Duration patience, Duration interval,
                           std::FILE* file)
    : file_(file) {
  if (!is_shown) return;
  try {
    writer_ = std::thread([this, text = std::move(text), patience, interval] { run(text, patience, interval); });
  } catch (const std::system_error&) {  // NOLINT: where there are no threads, nothing is shown
  }
}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard lock(access_);
    is_over_ = true;
  }
  over_.notify_one();
  if (writer_.joinable()) writer_.join();
  if (!is_written_) return;
  std::fputs(erase_line, file_);
  std::fflush(file_);
}

void ProgressLine::run(const std::function<std::string(double)>& text, Duration patience, Duration interval) {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(access_);
  for (auto pause = patience; !over_.wait_for(lock, pause, [this] { return is_over_; }); pause = interval) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    std::fputs((erase_line + text(elapsed.count())).c_str(), file_);
    std::fflush(file_);
    is_written_ = true;
  }
}

std::string describe_pricing(double seconds) {
  const auto& progress = pricing_progress();
  const auto priced = progress.priced.load(), asked = progress.asked.load();
  if (asked == 0) return fmt::format("preparing, {:.0f} s", seconds);
  return fmt::format("priced {} of {} strategies, {:.0f} s", priced, asked, seconds);
}

}  // namespace commpass
