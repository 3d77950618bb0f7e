#include "pictures/svg.hpp"

#include <zlib.h>

#include "model/base/error.hpp"

namespace commpass {

namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFFU);
  return bytes;
}

/// Length, type, data, and the checksum of type and data.
std::string chunk(const std::string& type, const std::string& data) {
  const auto body = type + data;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(static_cast<std::uint32_t>(sum));
}

std::string deflate(const std::string& bytes) {
  auto size = compressBound(bytes.size());
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                bytes.size(), Z_BEST_COMPRESSION) != Z_OK)
    throw Error("a bitmap could not be compressed");
  packed.resize(size);
  return packed;
}

}  // namespace

std::string png(int width, int height, std::span<const std::uint8_t> pixels,
                const std::array<Rgb, png_colors>& palette) {
  const auto columns = static_cast<std::size_t>(width), rows = static_cast<std::size_t>(height);
  if (width < 1 || height < 1 || pixels.size() != columns * rows) throw Error("a bitmap has not its pixels");
  const char four_bits_indexed[] = {4, 3, 0, 0, 0};  // depth, colour type, compression, filter, interlace
  std::string colors;
  for (const auto& color : palette)
    colors += {static_cast<char>(color.red), static_cast<char>(color.green), static_cast<char>(color.blue)};
  std::string lines;
  for (std::size_t y = 0; y < rows; ++y) {
    lines += '\0';  // no filter
    for (std::size_t x = 0; x < columns; x += 2) {
      const unsigned left = pixels[y * columns + x], right = x + 1 < columns ? pixels[y * columns + x + 1] : 0U;
      lines += static_cast<char>(left << 4U | right);
    }
  }
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR", big_endian(static_cast<std::uint32_t>(width)) + big_endian(static_cast<std::uint32_t>(height)) +
                           std::string(four_bits_indexed, sizeof four_bits_indexed)) +
         chunk("PLTE", colors) + chunk("tRNS", std::string(1, '\0')) + chunk("IDAT", deflate(lines)) +
         chunk("IEND", "");
}

std::string base64(std::string_view bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t b = 0; b < 3; ++b)
      three = three << 8U | (i + b < bytes.size() ? static_cast<unsigned char>(bytes[i + b]) : 0U);
    for (std::size_t d = 0; d < 4; ++d) text += i + d <= bytes.size() ? digits[three >> (18 - 6 * d) & 63U] : '=';
  }
  return text;
}

}  // namespace commpass
