// The line by which a command that takes long shows that it is alive.
#include "selector/commands/progress_line.hpp"

#include <gtest/gtest.h>

#include "model/pattern/generate.hpp"
#include "model/support.hpp"
#include "selector/choose/pricing_progress.hpp"
#include "selector/choose/select.hpp"

namespace commpass {
namespace {

using std::chrono_literals::operator""ms;

std::string written(std::FILE* file) {
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

TEST(ProgressLine, IsWrittenAgainAndErasedAtTheEnd) {
  auto* file = std::tmpfile();
  std::atomic<int> texts = 0;
  {
    const ProgressLine line(
        true, [&](double seconds) { return seconds >= 0 ? std::to_string(++texts) : "never"; }, 1ms, 1ms, file);
    while (texts < 3) std::this_thread::yield();
  }
  const auto text = written(file);
  EXPECT_EQ(text.find("\r\x1b[K1\r\x1b[K2\r\x1b[K3"), 0U) << text;
  EXPECT_TRUE(text.ends_with("\r\x1b[K")) << text;
}

TEST(ProgressLine, IsNotWrittenOfWorkThatIsShortOrHidden) {
  auto *soon_over = std::tmpfile(), *hidden = std::tmpfile();
  const auto text = [](double) { return std::string("here"); };
  { const ProgressLine line(true, text, 100000ms, 1ms, soon_over); }
  {
    const ProgressLine line(false, text, 0ms, 1ms, hidden);
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_EQ(written(soon_over), "");
  EXPECT_EQ(written(hidden), "");
}

TEST(PricingProgress, CountsRequestedAndPricedStrategies) {
  auto& progress = pricing_progress();
  const auto asked = progress.asked.load(), priced = progress.priced.load();
  const std::vector strategies{parse_strategy("standard"), parse_strategy("standard,window=1"),
                               parse_strategy("two-step")};
  rank_strategies(test::alltoall(4, 8), Layout::with_ppn(4, 2), test::small_cluster(), CostModel::burst, strategies);
  EXPECT_EQ(progress.asked - asked, 3);
  EXPECT_EQ(progress.priced - priced, 3);
  EXPECT_NE(describe_pricing(3.2).find(" strategies, 3 s"), std::string::npos) << describe_pricing(3.2);
}

}  // namespace
}  // namespace commpass
