// Small bitmaps as PNG (ISO/IEC 15948).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace commpass {

struct Rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
};
inline constexpr int png_colors = 16;

/// @param pixels   row by row, each below png_colors
/// @param palette  of the pixels; the first one is transparent
/// @throws Error if the pixels are not width × height, or a side is 0
std::string png(int width, int height, std::span<const std::uint8_t> pixels,
                const std::array<Rgb, png_colors>& palette);

}  // namespace commpass
