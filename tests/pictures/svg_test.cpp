// The SVG writer: escapes, numbers, axes, bitmaps.
#include "pictures/svg.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

#include "model/base/error.hpp"
#include "pictures/axis.hpp"

namespace commpass {
namespace {

TEST(EscapeXml, LeavesNothingThatXmlTakesForItsOwn) {
  EXPECT_EQ(escape_xml("a<b & \"c\">d"), "a&lt;b &amp; &quot;c&quot;&gt;d");
  EXPECT_EQ(escape_xml("α 3×"), "α 3×");
}

TEST(EscapeXml, ReplacesBytesThatAreNotXmlCharacters) {
  EXPECT_EQ(escape_xml(std::string("a\0b\x01\x1f", 5)), "a?b??");
  EXPECT_EQ(escape_xml("\xff\xc3"), "??");       // no UTF-8
  EXPECT_EQ(escape_xml("\xc0\x80"), "??");       // overlong
  EXPECT_EQ(escape_xml("\xed\xa0\x80"), "???");  // a surrogate
  EXPECT_EQ(escape_xml("\xef\xbf\xbe"), "???");  // U+FFFE
  EXPECT_EQ(escape_xml("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
}

TEST(SvgNumber, IsShortAndNeverAnythingElse) {
  EXPECT_EQ(svg_number(1), "1");
  EXPECT_EQ(svg_number(1.5), "1.5");
  EXPECT_EQ(svg_number(0.126), "0.13");
  EXPECT_EQ(svg_number(-0.001), "0");
  EXPECT_EQ(svg_number(100), "100");
  EXPECT_EQ(svg_number(std::numeric_limits<double>::infinity()), "0");
}

TEST(Shorten, CutsBetweenCharacters) {
  EXPECT_EQ(shorten("short", 10, 100), "short");
  const auto cut = shorten("ααααααααααααα", 10, 40);
  EXPECT_TRUE(cut.ends_with("…"));
  EXPECT_EQ(escape_xml(cut), cut);
  EXPECT_LE(text_width(cut, 10), 40);
}

/// The coordinates of a path of absolute lines: x and y, alternately.
std::vector<double> coordinates_of(std::string data) {
  for (char& c : data)
    if (c == 'M' || c == 'L') c = ' ';
  std::istringstream in(data);
  std::vector<double> all;
  for (double number = 0; in >> number;) all.push_back(number);
  return all;
}

TEST(Overlays, StayWithinTheirRectangle) {
  for (const int overlay : {1, 2}) {
    Svg svg("id", "title", "description", 100);
    svg.mark(10.5, 20, 17, 9.25, {1, overlay});
    const auto body = std::move(svg).finish(50, Document()).body;
    const auto begin = body.find("d=\"M");
    ASSERT_NE(begin, std::string::npos) << body;
    const auto numbers = coordinates_of(body.substr(begin + 3, body.find('"', begin + 3) - begin - 3));
    ASSERT_GE(numbers.size(), 8U) << "of several lines: " << body;
    for (std::size_t i = 0; i < numbers.size(); i += 2) {
      EXPECT_GE(numbers[i], 10.5);
      EXPECT_LE(numbers[i], 27.5);
      EXPECT_GE(numbers[i + 1], 20);
      EXPECT_LE(numbers[i + 1], 29.25);
    }
    const double rises = (numbers[3] - numbers[1]) * (numbers[2] - numbers[0]);
    EXPECT_EQ(rises < 0, overlay == 1) << "up, on paper, is less";
  }
}

TEST(Overlays, AreThoseOfTheLook) {
  for (const auto& [overlay, mark] : {std::pair(0, ""), {3, "h.01"}, {4, "M10 21H30"}}) {
    Svg svg("id", "title", "description", 100);
    svg.mark(10, 20, 20, 10, {1, overlay}, "told");
    const auto body = std::move(svg).finish(50, Document()).body;
    EXPECT_EQ(body.find("class=\"overlay\"") == std::string::npos, overlay == 0) << body;
    EXPECT_NE(body.find(mark), std::string::npos) << body;
    EXPECT_EQ(body.find("<title>told</title>"), body.rfind("<title>")) << "once, where the pointer meets it";
  }
}

TEST(Axis, PutsValuesBetweenItsPixels) {
  const Axis axis{Scale::log2, 8, 512, 0, 60};
  EXPECT_DOUBLE_EQ(axis.at(8), 0);
  EXPECT_DOUBLE_EQ(axis.at(64), 30);
  EXPECT_DOUBLE_EQ(axis.at(512), 60);
  const Axis down{Scale::linear, 0, 10, 100, 0};
  EXPECT_DOUBLE_EQ(down.at(2.5), 75);
  EXPECT_DOUBLE_EQ((Axis{Scale::log10, 3, 3, 0, 10}.at(3)), 5);
}

TEST(Axis, HasRoundTicks) {
  EXPECT_EQ((Axis{Scale::log2, 8, 128, 0, 1}.ticks(8)), (std::vector<double>{8, 16, 32, 64, 128}));
  EXPECT_EQ((Axis{Scale::log2, 8, 128, 0, 1}.ticks(3)), (std::vector<double>{8, 32, 128}));
  EXPECT_EQ((Axis{Scale::log2, 5, 7, 0, 1}.ticks(8)), (std::vector<double>{5, 7}));
  EXPECT_EQ((Axis{Scale::linear, 0, 100, 0, 1}.ticks(5)), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ((Axis{Scale::log10, 1, 100, 0, 1}.ticks(9)), (std::vector<double>{1, 2, 5, 10, 20, 50, 100}));
}

TEST(Axis, HasTicksOfAnyRangeAndNotMoreThanAllowed) {
  for (const auto scale : {Scale::linear, Scale::log2, Scale::log10})
    for (const double first : {1e-7, 3e-4, 1.0, 700.0})
      for (const double factor : {1.3, 2.0, 7.0, 1e3, 1e9}) {
        const Axis axis{scale, first, first * factor, 0, 1};
        const auto ticks = axis.ticks(8);
        EXPECT_LE(ticks.size(), 9U) << first << " " << factor;
        EXPECT_GE(ticks.size(), scale == Scale::log2 ? 1U : 2U) << first << " " << factor;
        for (const auto tick : ticks) {
          EXPECT_GE(tick, first * (1 - 1e-6));
          EXPECT_LE(tick, first * factor * (1 + 1e-6));
        }
      }
}

TEST(Base64, FollowsTheStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe"), "//4=");
}

/// The data of a chunk, whose checksum must be right.
std::string chunk(const std::string& png, const std::string& type) {
  const auto place = png.find(type);
  EXPECT_NE(place, std::string::npos);
  const auto number = [&](std::size_t from) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8U | static_cast<unsigned char>(png[from + i]);
    return value;
  };
  const auto size = number(place - 4);
  const auto body = png.substr(place, 4 + size);
  EXPECT_EQ(number(place + 4 + size),
            crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
  return body.substr(4);
}

TEST(Png, HoldsItsPixels) {
  std::array<Rgb, png_colors> palette{};
  palette[15] = {1, 2, 3};
  const std::vector<std::uint8_t> pixels{1, 2, 3, 4, 5, 15};
  const auto file = png(3, 2, pixels, palette);
  EXPECT_EQ(file.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(chunk(file, "IHDR"), std::string("\0\0\0\3\0\0\0\2\4\3\0\0\0", 13));
  EXPECT_EQ(chunk(file, "PLTE").substr(45), "\1\2\3");
  EXPECT_EQ(chunk(file, "IEND"), "");
  const auto packed = chunk(file, "IDAT");
  std::string lines(6, '\0');
  uLongf size = lines.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(lines.data()), &size, reinterpret_cast<const Bytef*>(packed.data()),
                       packed.size()),
            Z_OK);
  EXPECT_EQ(lines, std::string("\0\x12\x30\0\x45\xf0", 6));
}

TEST(Png, RefusesPixelsThatAreNoRectangle) {
  const std::array<Rgb, png_colors> palette{};
  EXPECT_THROW(png(2, 2, std::vector<std::uint8_t>(3), palette), Error);
  EXPECT_THROW(png(0, 2, {}, palette), Error);
}

}  // namespace
}  // namespace commpass
