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

/// The least part of a sender's blocks that shows that the sender has as many as others.
constexpr double least_kept = 1.0 / 16;

/// What the strata of an even sender keep.
struct Kept {
  double on_node, off_node;
};

/// An even sender has as many strata as messages. Their number is whole: else the last one would reach into the next
/// sender, which would send one more message.
Kept kept_of(const RandomPattern& pattern, const Layout& layout) {
  const double ppn = layout.max_ppn(), on_node = pattern.density_on_node * (ppn - 1),
               off_node = pattern.density_off_node * (layout.ranks() - ppn);
  const double strata = std::max(1.0, std::round(on_node + off_node));
  return {std::min(1.0, on_node / strata), std::min(1.0, off_node / strata)};
}

}  // namespace

Presence::Presence(double density, std::optional<double> kept)
    : rare_is_present_(density <= 0.5),
      rare_(rare_is_present_ ? density : 1 - density),
      rate_(std::log1p(-rare_)),
      kept_(rare_is_present_ && kept >= least_kept ? kept : std::nullopt),
      common_left_(gap()) {}

std::int64_t Presence::of(std::int64_t blocks) {
  constexpr double many = 32;
  if (const double expected = rare_ * static_cast<double>(blocks); expected >= many) {
    const double variance = expected * (kept_ ? 1 - *kept_ : 1 - rare_);
    const double deviation = std::sqrt(variance) * random_.normal();
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
double Random::uniform() {
  constexpr int mantissa_bits = 53, unused_bits = 64 - mantissa_bits;
  return std::ldexp(static_cast<double>((random_() >> unused_bits) + 1), -mantissa_bits);
}

/// Of mean 0 and variance 1, by Box and Muller.
double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

/// How many of the common kind come before the next of the rare kind.
double Presence::gap() {
  if (kept_ && rare_ > 0) return even_gap();
  return rate_ < 0 ? std::floor(std::log(random_.uniform()) / rate_) : std::numeric_limits<double>::infinity();
}

/// Of strata that are as long as a sender's blocks are apart, each has one, somewhere; of these some are elsewhere.
double Presence::even_gap() {
  const double length = *kept_ / rare_, last = place_;
  do {
    place_ = std::floor((stratum_++ + random_.uniform()) * length);
  } while (random_.uniform() > *kept_);
  return std::max(0.0, place_ - last - 1);
}

BlockDraw::BlockDraw(const RandomPattern& pattern, const Layout& layout)
    : layout_(layout),
      is_complete_(pattern.density_on_node == 1 && pattern.density_off_node == 1 && pattern.size_variance == 0),
      is_even_(pattern.is_even),
      density_off_node_(pattern.density_off_node),
      block_bytes_(pattern.block_bytes),
      size_variance_(pattern.size_variance),
      on_node_(pattern.density_on_node),
      off_node_(pattern.density_off_node),
      even_on_node_(pattern.density_on_node, kept_of(pattern, layout).on_node),
      even_off_node_(pattern.density_off_node, kept_of(pattern, layout).off_node) {}

double BlockDraw::block_bytes(std::int64_t blocks) {
  if (size_variance_ == 0 || blocks <= 0) return block_bytes_;
  const double variance = std::log1p(size_variance_ / static_cast<double>(blocks));
  return block_bytes_ * std::exp(std::sqrt(variance) * sizes_.normal() - variance / 2);
}

std::int64_t BlockDraw::of(std::int64_t blocks, Rank from, Rank to) {
  const bool is_on_node = layout_.node(from) == layout_.node(to);
  const auto local = is_on_node ? std::max<std::int64_t>(1, blocks / layout_.nodes()) : 0;
  return on_node().of(local) + off_node().of(blocks - local);
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
