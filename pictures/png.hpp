// Small bitmaps as PNG (ISO/IEC 15948), and bytes as text (base64, RFC 4648 §4).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace commpass {

struct Rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
};
inline constexpr int png_colors = 16;

/// @param pixels   row by row, each below png_colors
/// @param palette  its first colour is transparent
/// @throws Error unless the pixels are width × height, and both are above 0
std::string png(int width, int height, std::span<const std::uint8_t> pixels,
                const std::array<Rgb, png_colors>& palette);

std::string base64(std::string_view bytes);

}  // namespace commpass
