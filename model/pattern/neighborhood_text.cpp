#include "model/pattern/neighborhood_text.hpp"

#include <fmt/core.h>

#include <cmath>

#include "model/base/error.hpp"
#include "model/base/text.hpp"

namespace commpass {

namespace {

/// The most ranks of a generated grid: its layout takes some 100 MB. Its offsets have at most as many numbers.
constexpr int most_generated_ranks = 1 << 24;
constexpr double most_numbers = 1 << 22;

class Reader {
 public:
  explicit Reader(const std::string& origin) : origin_(origin) {}

  InputError bad(const char* key, const std::string& value, const std::string& remedy) const {
    return {origin_, fmt::format("{}={} is out of range", key, value), remedy};
  }

  Grid grid(const std::string& dims, const std::string& periodic) const {
    Grid grid;
    std::int64_t product = 1;
    for (const auto& piece : split(dims, 'x')) {
      const auto size = parse_number<int>(piece);
      if (!size || *size < 1 || product * *size > most_generated_ranks)
        throw bad("dims", dims, fmt::format("use sizes like 8x8x8, at most {} ranks", most_generated_ranks));
      product *= *size;
      grid.dims.push_back(*size);
    }
    const auto pieces = split(periodic, 'x');
    for (std::size_t k = 0; k < grid.dims.size(); ++k) {
      const auto& own = pieces[pieces.size() == 1 ? 0 : std::min(k, pieces.size() - 1)];
      const bool is_yes = own == "yes" || own == "1";
      if ((!is_yes && own != "no" && own != "0") || (pieces.size() != 1 && pieces.size() != grid.dims.size()))
        throw bad("periodic", periodic, "use yes, no, or 1 or 0 for each dimension, as 1x0x1");
      grid.periodic.push_back(is_yes);
    }
    return grid;
  }

  int number(const char* key, const std::string& value, int least) const {
    constexpr int most = 1 << 20;
    const auto result = parse_number<int>(value);
    if (!result || *result < least || *result > most) throw bad(key, value, fmt::format("use {} to {}", least, most));
    return *result;
  }

  /// How many values a coordinate may have, if all combinations of them are made.
  void limit(const char* key, const std::string& value, double values, std::size_t dimensions) const {
    const auto d = static_cast<double>(dimensions);
    if (d * std::pow(values, d) > most_numbers) throw bad(key, value, "use fewer offsets");
  }

  std::vector<int> offsets(const std::string& value, std::size_t dimensions) const {
    std::vector<int> result;
    for (const auto& offset : split(value, ';')) {
      const auto pieces = split(offset, 'x');
      for (const auto& piece : pieces) {
        const auto step = parse_number<int>(piece);
        if (!step || pieces.size() != dimensions)
          throw bad("offsets", value, "use offsets like 1x0;-1x0, with a number for each dimension");
        result.push_back(*step);
      }
    }
    return result;
  }

 private:
  const std::string& origin_;
};

}  // namespace

Neighborhood parse_neighborhood(const NeighborhoodText& text, const std::string& origin) {
  const Reader reader(origin);
  Neighborhood neighborhood{reader.grid(text.dims, text.periodic), {}, {}};
  const auto d = neighborhood.grid.dimensions();
  int kinds = 0;
  const auto is_given = [&](const std::string& value) {
    const bool is = value != NeighborhoodText::no_value;
    kinds += is;
    return is;
  };
  if (is_given(text.offsets)) neighborhood.offsets = reader.offsets(text.offsets, d);
  if (is_given(text.box)) {
    const int radius = reader.number("box", text.box, 1);
    reader.limit("box", text.box, 2.0 * radius + 1, d);
    neighborhood.offsets = box_offsets(d, radius);
  }
  if (is_given(text.star)) {
    const int radius = reader.number("star", text.star, 1);
    if (2.0 * radius * static_cast<double>(d * d) > most_numbers)
      throw reader.bad("star", text.star, "use fewer offsets");
    neighborhood.offsets = star_offsets(d, radius);
  }
  if (is_given(text.cube)) {
    const int count = reader.number("cube", text.cube, 1);
    reader.limit("cube", text.cube, count, d);
    constexpr int far = 1 << 20;
    neighborhood.offsets = cube_offsets(d, count, reader.number("first", text.first, -far));
  }
  if (kinds != 1) throw InputError(origin, "it needs one of offsets, box, star and cube", "give one of them");
  neighborhood.validate(origin);
  return neighborhood;
}

}  // namespace commpass
