#include "model/cost/block_draw.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "model/power.hpp"

namespace commpass {

namespace {

/// In how many pieces `present` of `blocks` blocks lie, if all of them lie in `pieces` pieces of the same length.
std::int64_t pieces_of(std::int64_t present, std::int64_t blocks, std::int64_t pieces) {
  if (present == blocks || pieces == 0) return pieces;
  const double fraction = static_cast<double>(present) / static_cast<double>(blocks);
  const double length = static_cast<double>(blocks) / static_cast<double>(pieces);
  const auto touched = std::llround(static_cast<double>(pieces) * (1 - std::pow(1 - fraction, length)));
  return std::clamp<std::int64_t>(touched, std::min<std::int64_t>(present, 1), present);
}

}  // namespace

Presence::Presence(double density)
    : rare_is_present_(density <= 0.5),
      rare_(rare_is_present_ ? density : 1 - density),
      rate_(std::log1p(-rare_)),
      common_left_(gap()) {}

std::int64_t Presence::of(std::int64_t blocks) {
  constexpr double many = 32;
  if (const double expected = rare_ * static_cast<double>(blocks); expected >= many) {
    const double deviation = std::sqrt(expected * (1 - rare_)) * normal();
    const auto rare = std::clamp<std::int64_t>(std::llround(expected + deviation), 0, blocks);
    return rare_is_present_ ? rare : blocks - rare;
  }
  std::int64_t rare = 0, left = blocks;
  for (; common_left_ < static_cast<double>(left); ++rare) {
    left -= static_cast<std::int64_t>(common_left_) + 1;
    common_left_ = gap();
  }
  common_left_ -= static_cast<double>(left);
  return rare_is_present_ ? rare : blocks - rare;
}

std::int64_t Presence::pass_empty(std::int64_t messages, std::int64_t blocks) {
  if (!rare_is_present_) return 0;
  const double size = static_cast<double>(blocks);
  const double passed = std::min(static_cast<double>(messages), std::floor(common_left_ / size));
  common_left_ -= passed * size;
  return static_cast<std::int64_t>(passed);
}

/// In (0, 1].
double Presence::uniform() {
  constexpr int mantissa_bits = 53, unused_bits = 64 - mantissa_bits;
  return std::ldexp(static_cast<double>((random_() >> unused_bits) + 1), -mantissa_bits);
}

/// Of mean 0 and variance 1, by Box and Muller.
double Presence::normal() {
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

/// How many of the common kind come before the next of the rare kind.
double Presence::gap() {
  return rate_ < 0 ? std::floor(std::log(uniform()) / rate_) : std::numeric_limits<double>::infinity();
}

BlockDraw::BlockDraw(const RandomPattern& pattern, const Layout& layout)
    : layout_(layout),
      is_complete_(pattern.density_on_node == 1 && pattern.density_off_node == 1),
      density_off_node_(pattern.density_off_node),
      on_node_(pattern.density_on_node),
      off_node_(pattern.density_off_node) {}

std::int64_t BlockDraw::of(std::int64_t blocks, Rank from, Rank to) {
  const bool is_on_node = layout_.node(from) == layout_.node(to);
  const auto local = is_on_node ? std::max<std::int64_t>(1, blocks / layout_.nodes()) : 0;
  return on_node_.of(local) + off_node_.of(blocks - local);
}

double BlockDraw::share_present(std::int64_t blocks) const { return 1 - power(1 - density_off_node_, blocks); }

UniformMessage with_blocks(const UniformMessage& full, std::int64_t blocks) {
  auto message = full;
  message.blocks = blocks;
  message.pieces = pieces_of(message.blocks, full.blocks, full.pieces);
  message.final_blocks = std::llround(static_cast<double>(full.final_blocks) * static_cast<double>(message.blocks) /
                                      static_cast<double>(full.blocks));
  message.final_pieces = pieces_of(message.final_blocks, full.final_blocks, full.final_pieces);
  return message;
}

}  // namespace commpass
