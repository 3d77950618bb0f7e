#include "model/base/text.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace commpass {
namespace {

TEST(PrintBytes, IsReadBackExactly) {
  EXPECT_EQ(print_bytes(0), "0");
  EXPECT_EQ(print_bytes(1000), "1000");
  EXPECT_EQ(print_bytes(16384), "16KiB");
  EXPECT_EQ(print_bytes(Bytes{5} << 20), "5MiB");
  EXPECT_EQ(print_bytes(Bytes{4096} << 30), "4096GiB");
  for (const Bytes bytes : {1, 1023, 1024, 1025, 1 << 20, (1 << 20) + 1024})
    EXPECT_EQ(parse_bytes(print_bytes(bytes)), bytes);
}

TEST(ControlCharacters, AreEscapedAndNothingElseIs) {
  EXPECT_EQ(escape_control_characters("a\nb\tc\x1b[0m\r\x7f"), "a\\nb\\tc\\x1b[0m\\x0d\\x7f");
  for (const std::string plain : {"", " ", "~", "\\n", "\xc3\xa9", "\xff", "µs"}) {
    EXPECT_EQ(escape_control_characters(plain), plain);
    EXPECT_FALSE(has_control_characters(plain)) << plain;
  }
  for (const std::string& text : {std::string(1, '\0'), std::string("a\x1f"), std::string("\x7f")})
    EXPECT_TRUE(has_control_characters(text));
}

TEST(Sizes, AreReadWithBinaryUnits) {
  EXPECT_EQ(parse_bytes("512"), 512);
  EXPECT_EQ(parse_bytes("512B"), 512);
  EXPECT_EQ(parse_bytes("16KiB"), 16 * 1024);
  EXPECT_EQ(parse_bytes("4MiB"), 4 * 1024 * 1024);
  EXPECT_EQ(parse_bytes("2GiB"), Bytes{2} << 30);
  EXPECT_EQ(parse_bytes("0"), 0);
}

TEST(Sizes, AreReadWithDecimalUnitsFractionsAndPowersOfTen) {
  EXPECT_EQ(parse_bytes("16kB"), 16000);
  EXPECT_EQ(parse_bytes("16KB"), 16000);
  EXPECT_EQ(parse_bytes("16kb"), 16000);
  EXPECT_EQ(parse_bytes("2MB"), 2000000);
  EXPECT_EQ(parse_bytes("3GB"), Bytes{3000000000});
  EXPECT_EQ(parse_bytes("1TB"), Bytes{1000000000000});
  EXPECT_EQ(parse_bytes("1TiB"), Bytes{1} << 40);
  EXPECT_EQ(parse_bytes("16kib"), 16 * 1024);
  EXPECT_EQ(parse_bytes("16 KiB"), 16 * 1024);
  EXPECT_EQ(parse_bytes("1.5KiB"), 1536);
  EXPECT_EQ(parse_bytes("0.001kB"), 1);
  EXPECT_EQ(parse_bytes("4.35kB"), 4350) << "exactly, not by floating point";
  EXPECT_EQ(parse_bytes("1e3"), 1000);
  EXPECT_EQ(parse_bytes("1E+3"), 1000);
  EXPECT_EQ(parse_bytes("1.5e3"), 1500);
  EXPECT_EQ(parse_bytes("2000e-3KiB"), 2048);
  EXPECT_EQ(parse_bytes("0.0"), 0);
  EXPECT_EQ(parse_bytes("0e999"), 0);
  EXPECT_EQ(parse_bytes("9223372036854775807"), std::numeric_limits<Bytes>::max());
  EXPECT_EQ(parse_bytes("922337203685477580.7e1"), std::numeric_limits<Bytes>::max());
}

TEST(Sizes, ThatAreNotClearAreNotRead) {
  const std::tuple<const char*, const char*, const char*> bad[] = {
      {"", "is no size", "512"},
      {"B", "is no size", "16KiB"},
      {"KiB", "is no size", "16kB"},
      {"-1", "is no size", "512"},
      {"+1", "is no size", "512"},
      {".5KiB", "is no size", "512"},
      {"1.", "is no size", "512"},
      {"16k", "is ambiguous", "16KiB (powers of 1024) or 16kB (powers of 1000)"},
      {"16K", "is ambiguous", "16KiB (powers of 1024) or 16kB (powers of 1000)"},
      {"1.5M", "is ambiguous", "1.5MiB (powers of 1024) or 1.5MB (powers of 1000)"},
      {"2g", "is ambiguous", "2GiB (powers of 1024) or 2GB (powers of 1000)"},
      {"1KiBB", "'KiBB'", "KiB"},
      {"1e", "'e'", "KiB"},
      {"8-64", "'-64'", "KiB"},
      {"16 bytes", "'bytes'", "KiB"},
      {"0.1KiB", "is no whole number of bytes", "write one"},
      {"1e-1", "is no whole number of bytes", "write one"},
      {"9223372036854775808", "is too large", "at most"},
      {"9223372036854775807KiB", "is too large", "at most"},
      {"8388608TiB", "is too large", "at most"},
      {"1e300", "is too large", "at most"},
      {"1e99999999999999999999", "is too large", "at most"},
      {"1.5e18KiB", "is too large", "at most"}};
  for (const auto& [text, what, remedy] : bad) {
    EXPECT_FALSE(parse_bytes(text)) << text;
    const auto problem = size_problem(text);
    EXPECT_NE(problem.what.find(what), std::string::npos) << text << ": " << problem.what;
    EXPECT_NE(problem.remedy.find(remedy), std::string::npos) << text << ": " << problem.remedy;
  }
}

TEST(Numbers, AreTheWholeText) {
  EXPECT_EQ(parse_number<int>("42"), 42);
  EXPECT_EQ(parse_number<int>("-42"), -42);
  for (const auto* text : {"", " 1", "1 ", "1x", "+1", "0x10", "2147483648", "1.0"})
    EXPECT_FALSE(parse_number<int>(text)) << text;
}

TEST(Pieces, LieBetweenSeparators) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(split(",", ','), (std::vector<std::string>{"", ""}));
}

TEST(Formatting, HasThreeDigits) {
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(16 * 1024), "16 KiB");
  EXPECT_EQ(format_bytes(1.5 * 1024 * 1024), "1.5 MiB");
  EXPECT_EQ(format_seconds(0), "0 s");
  EXPECT_EQ(format_seconds(3.214e-6), "3.21 us");
  EXPECT_EQ(format_seconds(0.0015), "1.5 ms");
  EXPECT_EQ(format_seconds(250e-9), "250 ns");
  EXPECT_EQ(format_seconds(12), "12 s");
  EXPECT_EQ(format_seconds(1), "1 s");
  EXPECT_EQ(format_seconds(1e-3), "1 ms");
  EXPECT_EQ(format_seconds(1e-6), "1 us");
  EXPECT_EQ(format_seconds(123.4e-9), "123 ns");
  EXPECT_EQ(format_seconds(-9e-6), "-9 us") << "a library may be faster";
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1 KiB");
  EXPECT_EQ(format_bytes(3.0 * 1024 * 1024 * 1024 * 1024 * 1024), "3072 TiB");
  EXPECT_EQ(format_seconds(-9e-6), "-9 us");
  EXPECT_EQ(format_seconds(-0.25), "-250 ms");
}

TEST(Formatting, IsShortForNumbersOfAnySize) {
  EXPECT_EQ(format_seconds(123456), "123456 s");
  EXPECT_EQ(format_seconds(1e300), "1e+300 s");
  EXPECT_EQ(format_seconds(-1e300), "-1e+300 s");
  EXPECT_EQ(format_seconds(1e-300), "1e-291 ns");
  EXPECT_EQ(format_bytes(1e300), "9.09e+287 TiB");
  EXPECT_EQ(format_fixed(1.566, 2), "1.57");
  EXPECT_EQ(format_fixed(12.4, 0, true), "+12");
  EXPECT_EQ(format_fixed(-12.4, 0, true), "-12");
  EXPECT_EQ(format_fixed(1e300, 2), "1e+300");
  EXPECT_EQ(format_fixed(-1e300, 0, true), "-1e+300");
}

TEST(Text, TellsSharesBeyondAHundredPercentAsFactors) {
  EXPECT_EQ(format_share(0.075), "7.5 %");
  EXPECT_EQ(format_share(0.38), "38 %");
  EXPECT_EQ(format_share(1), "100 %");
  EXPECT_EQ(format_share(1.5), "2.5 times");
  EXPECT_EQ(format_share(357.41), "358 times");
  EXPECT_EQ(format_error(0.125), "+12.5 %");
  EXPECT_EQ(format_error(-0.5), "-50.0 %");
  EXPECT_EQ(format_error(9), "10 times");
}

TEST(Text, WrapsTextsWiderThanItsColumns) {
  const std::string word(30, 'x'), wide(text_columns + 20, 'y');
  EXPECT_EQ(wrap_lines(word + " " + word + "\n\nend"), word + " " + word + "\n\nend");
  EXPECT_EQ(wrap_lines("  " + word + " " + word + " " + word + " " + word + "\n"),
            "  " + word + " " + word + " " + word + "\n    " + word + "\n");
  EXPECT_EQ(wrap_lines("a " + wide + " b"), "a\n  " + wide + "\n  b") << "a word stays whole";
  const std::string line(text_columns - 6, 'z');
  EXPECT_EQ(wrap_lines(line + " by 38 %)."), line + " by\n  38 %).") << "a number stays with its unit";
  std::string accents;
  for (std::size_t i = 0; i < text_columns / 2; ++i) accents += "é ";
  accents.pop_back();
  EXPECT_EQ(wrap_lines(accents), accents) << "characters count, not bytes";
}

}  // namespace
}  // namespace commpass
