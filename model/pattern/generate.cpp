#include "model/pattern/generate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <random>
#include <unordered_set>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/nearest_names.hpp"
#include "model/base/text.hpp"
#include "model/pattern/neighborhood_text.hpp"

namespace commpass {

namespace {

/// mt19937_64 is the same in every standard library; its distributions are not, so these are ours.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// A double in [0, 1).
  double fraction() {
    constexpr int mantissa_bits = 53;
    return std::ldexp(static_cast<double>(engine_() >> (64 - mantissa_bits)), -mantissa_bits);
  }
  /// An integer in 0 … limit−1.
  std::int64_t below(std::int64_t limit) {
    const auto value = static_cast<std::int64_t>(fraction() * static_cast<double>(limit));
    return std::min(value, limit - 1);
  }
  /// A standard normal deviate (Box and Muller 1958).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - fraction()));
    return radius * std::cos(2 * std::numbers::pi * fraction());
  }

 private:
  std::mt19937_64 engine_;
};

/// The keys and values of one generator text, checked against the generator's table.
class Values {
 public:
  Values(const Generator& generator, const std::string& origin, const std::string& arguments, std::int64_t most_edges)
      : origin_(origin), most_edges_(most_edges) {
    for (const auto& argument : arguments.empty() ? std::vector<std::string>{} : split(arguments, ',')) {
      const auto equals = argument.find('=');
      const auto key = argument.substr(0, equals);
      std::vector<std::string> known;
      for (const auto& each : generator.keys) known.emplace_back(each.name);
      const bool is_known = std::ranges::find(known, key) != known.end();
      // No value has an '=': "ranks=4 bytes=8" lacks a comma.
      if (equals == std::string::npos || !is_known || argument.find('=', equals + 1) != std::string::npos) {
        const auto near = is_known ? "" : did_you_mean(key, known);
        throw InputError(origin, "'" + argument + "' is not understood",
                         near + (near.empty() ? "use " : "Use ") + usage(generator));
      }
      if (!values_.try_emplace(key, argument.substr(equals + 1)).second)
        throw InputError(origin, "'" + key + "' is given twice", "give it once");
    }
    for (const auto& key : generator.keys) {
      const std::string fallback = key.default_value;
      if (!values_.contains(key.name) && fallback.empty())
        throw InputError(origin, fmt::format("'{}' is missing", key.name), "use " + usage(generator));
      values_.try_emplace(key.name, fallback);
    }
  }

  static std::string usage(const Generator& generator) {
    std::string text = std::string(generator.name) + ":";
    for (const auto& key : generator.keys)
      text +=
          fmt::format("{}{}={}", text.back() == ':' ? "" : ",", key.name, *key.default_value ? key.default_value : "…");
    return text;
  }

  std::int64_t integer(const std::string& key, std::int64_t least, std::int64_t most) const {
    const auto value = parse_number<std::int64_t>(values_.at(key));
    if (!value || *value < least || *value > most)
      throw bad(key, fmt::format("use a whole number from {} to {}", least, most));
    return *value;
  }
  int ranks() const { return static_cast<int>(integer("ranks", 1, most_pattern_ranks)); }
  std::uint64_t seed() const {
    return static_cast<std::uint64_t>(integer("seed", 0, std::numeric_limits<std::int64_t>::max()));
  }
  Bytes bytes() const {
    const auto& text = values_.at("bytes");
    const auto value = parse_bytes(text);
    constexpr Bytes largest = Bytes{1} << 40;
    if (!value) {
      const auto [what, remedy] = size_problem(text);
      throw InputError(origin_, "bytes=" + text + " " + what, remedy);
    }
    if (*value > largest) throw bad("bytes", "use at most 1TiB");
    return *value;
  }
  double number(const std::string& key, double above, double most) const {
    const auto value = parse_number<double>(values_.at(key));
    if (!value || !(*value > above && *value <= most))
      throw bad(key, fmt::format("use a number above {}, at most {}", above, most));
    return *value;
  }
  std::vector<int> dimensions(const std::string& key) const {
    std::vector<int> sizes;
    std::int64_t product = 1;
    for (const auto& piece : split(values_.at(key), 'x')) {
      const auto size = parse_number<int>(piece);
      if (!size || *size < 1 || product * *size > most_pattern_ranks)
        throw bad(key, fmt::format("use sizes like 8x8x8, of at most {} ranks", most_pattern_ranks));
      product *= *size;
      sizes.push_back(*size);
    }
    return sizes;
  }
  const std::string& text(const std::string& key) const { return values_.at(key); }
  const std::string& origin() const { return origin_; }
  std::string word(const std::string& key, std::initializer_list<const char*> allowed) const {
    const auto& value = values_.at(key);
    const std::vector<std::string> words(allowed.begin(), allowed.end());
    if (std::ranges::find(words, value) != words.end()) return value;
    throw InputError(origin_, fmt::format("'{}' is no value of {}", value, key), "use " + either_of(words));
  }
  void limit(std::int64_t edges) const {
    if (edges > most_edges_)
      throw InputError(origin_, "it has too many edges", fmt::format("use at most {}", most_edges_));
  }

 private:
  InputError bad(const std::string& key, const std::string& remedy) const {
    return {origin_, fmt::format("{}={} is out of range", key, values_.at(key)), remedy};
  }
  std::string origin_;
  std::int64_t most_edges_;
  std::map<std::string, std::string> values_;
};

/// Every rank sends to every other rank a block of a size that `draw` gives.
template <class Draw>
Pattern dense(const Values& values, Draw draw) {
  const std::int64_t ranks = values.ranks();
  values.limit(ranks * (ranks - 1));
  Pattern pattern{static_cast<int>(ranks), {}};
  pattern.edges.reserve(static_cast<std::size_t>(ranks * (ranks - 1)));
  for (Rank source = 0; source < ranks; ++source)
    for (Rank destination = 0; destination < ranks; ++destination)
      if (source != destination) pattern.edges.push_back({source, destination, draw()});
  return pattern;
}

Bytes rounded(double value) { return static_cast<Bytes>(std::llround(std::max(0.0, value))); }

Pattern alltoall(const Values& values) {
  return dense(values, [bytes = values.bytes()] { return bytes; });
}

Pattern uniform(const Values& values) {
  return dense(values,
               [bytes = values.bytes(), random = Random(values.seed())]() mutable { return random.below(bytes + 1); });
}

Pattern normal(const Values& values) {
  // Mean S/2 and deviation S/6, so that 99.7 % lie in 0…S; the rest is cut there.
  const auto bytes = static_cast<double>(values.bytes());
  constexpr double deviations_in_range = 6;
  return dense(values, [bytes, random = Random(values.seed())]() mutable {
    return rounded(std::min(bytes, bytes / 2 + random.normal() * bytes / deviations_in_range));
  });
}

double power_law_exponent(const Values& values) {
  constexpr double largest_exponent = 100;
  return values.number("exponent", 1, largest_exponent);
}

Pattern power_law(const Values& values) {
  // Inverse transform of the Pareto distribution with smallest value 1, cut at S.
  const auto bytes = static_cast<double>(values.bytes());
  const double exponent = power_law_exponent(values);
  return dense(values, [bytes, exponent, random = Random(values.seed())]() mutable {
    return rounded(std::min(bytes, std::pow(1 - random.fraction(), -1 / (exponent - 1))));
  });
}

std::string distribution_of(const Values& values) { return values.word("sizes", {"uniform", "normal", "power-law"}); }

Pattern alltoallv(const Values& values) {
  const auto sizes = distribution_of(values);
  return sizes == "uniform" ? uniform(values) : sizes == "normal" ? normal(values) : power_law(values);
}

/// The mean of the n-th powers (n is 1 or 2) of the sizes that `alltoallv` draws.
double moment_of_blocks(const Values& values, int n) {
  const auto largest = static_cast<double>(values.bytes());
  const auto distribution = distribution_of(values);
  constexpr double uniform_square = 1.0 / 3, normal_square = 1.0 / 4 + 1.0 / 36;
  if (distribution != "power-law")
    return n == 1 ? largest / 2 : largest * largest * (distribution == "uniform" ? uniform_square : normal_square);
  if (largest < 1) return 0;
  // 1 + the integral from 1 to S of n·xⁿ⁻¹ times the chance x^(1−e) that a size is above x.
  const double power = n + 1 - power_law_exponent(values);
  return 1 + n * (std::abs(power) < 1e-9 ? std::log(largest) : (std::pow(largest, power) - 1) / power);
}

RaggedAlltoall ragged(const Values& values) {
  const double mean = moment_of_blocks(values, 1);
  return {values.ranks(), mean, mean > 0 ? moment_of_blocks(values, 2) / (mean * mean) - 1 : 0};
}

/// The exchanges of a parallel FFT in the TuNA paper §VI-A, whose problem sizes are no multiples of P². A complex
/// number is two FP64 values. What a rank keeps, a block of the size of its others, is left out here as everywhere.
Pattern fft(const Values& values) {
  const std::int64_t ranks = values.ranks();
  values.limit(ranks * (ranks - 1));
  constexpr Bytes value = 8;
  Pattern pattern{static_cast<int>(ranks), {}};
  const auto send = [&](std::int64_t source, std::int64_t destinations, Bytes bytes) {
    for (std::int64_t destination = 0; destination < destinations; ++destination)
      if (destination != source)
        pattern.edges.push_back({static_cast<Rank>(source), static_cast<Rank>(destination), bytes});
  };
  if (values.word("problem", {"n1", "n2"}) == "n1") {
    // N₁ = ⌈0.78125·P⌉·⌈0.625·P⌉·8 values: ranks below ⌈0.625·P⌉ fill their first ⌈0.78125·P⌉ blocks with 8 values
    // each.
    const std::int64_t filled = (25 * ranks + 31) / 32, workers = (5 * ranks + 7) / 8;
    for (std::int64_t source = 0; source < workers; ++source) send(source, filled, 8 * value);
  } else {
    // N₂ = ((P−1)·32 + 8)·P complex numbers: blocks of 64 values, but of 16 from the last rank.
    for (std::int64_t source = 0; source < ranks; ++source) send(source, ranks, (source + 1 < ranks ? 64 : 16) * value);
  }
  return pattern;
}

/// Every rank sends the same bytes to all others.
Pattern allgather(const Values& values) {
  auto pattern = alltoall(values);
  for (auto& edge : pattern.edges) edge.payload = 0;
  return pattern;
}

/// What "payload=" asks for: the payload of all edges of a rank.
Payload payload_of_rank(const Values& values) {
  return values.word("payload", {"own", "same"}) == "same" ? 0 : no_payload;
}

Pattern random_sparse(const Values& values) {
  const std::int64_t ranks = values.ranks();
  const std::int64_t degree = values.integer("degree", 0, ranks - 1);
  const Bytes bytes = values.bytes();
  const Payload payload = payload_of_rank(values);
  values.limit(ranks * degree);
  Random random(values.seed());
  Pattern pattern{static_cast<int>(ranks), {}};
  for (Rank source = 0; source < ranks; ++source) {
    // Floyd's sampling of `degree` distinct destinations among the ranks−1 others.
    std::unordered_set<std::int64_t> chosen;
    std::vector<std::int64_t> destinations;
    for (std::int64_t i = ranks - 1 - degree; i < ranks - 1; ++i) {
      const auto draw = random.below(i + 1);
      const auto pick = chosen.contains(draw) ? i : draw;
      chosen.insert(pick);
      destinations.push_back(pick < source ? pick : pick + 1);  // skip the source itself
    }
    std::ranges::sort(destinations);
    for (const auto destination : destinations)
      pattern.edges.push_back({source, static_cast<Rank>(destination), bytes, payload});
  }
  return pattern;
}

Pattern stencil(const Values& values) {
  const auto sizes = values.dimensions("dims");
  const bool faces_only = values.word("points", {"faces", "box"}) == "faces";
  const bool periodic = values.word("periodic", {"yes", "no"}) == "yes";
  const Bytes bytes = values.bytes();
  const Payload payload = payload_of_rank(values);
  const auto dimensions = sizes.size();
  std::int64_t ranks = 1, offsets = 1;
  for (const int size : sizes) {
    ranks *= size;
    offsets *= 3;  // −1, 0, 1 in each dimension
    values.limit(ranks * offsets);
  }

  Pattern pattern{static_cast<int>(ranks), {}};
  for (Rank source = 0; source < ranks; ++source) {
    for (std::int64_t offset = 0; offset < offsets; ++offset) {
      // The first dimension varies fastest, in ranks as in offsets.
      std::int64_t destination = 0, weight = 1, rest_of_source = source, rest_of_offset = offset;
      int nonzero = 0;
      bool inside = true;
      for (std::size_t d = 0; d < dimensions; ++d) {
        const auto size = static_cast<std::int64_t>(sizes[d]);
        const auto step = rest_of_offset % 3 - 1;
        auto coordinate = rest_of_source % size + step;
        nonzero += step != 0;
        inside = inside && (periodic || (coordinate >= 0 && coordinate < size));
        coordinate = (coordinate + size) % size;
        destination += coordinate * weight;
        weight *= size;
        rest_of_source /= size;
        rest_of_offset /= 3;
      }
      const bool wanted = nonzero == 1 || (nonzero > 1 && !faces_only);
      if (wanted && inside) pattern.edges.push_back({source, static_cast<Rank>(destination), bytes, payload});
    }
  }
  return pattern;
}

CartesianPattern cartesian_of(const Values& values) {
  const auto text = [&](const char* key) { return values.text(key); };
  auto neighborhood = parse_neighborhood(
      {text("dims"), text("periodic"), text("offsets"), text("box"), text("star"), text("cube"), text("first")},
      values.origin());
  const auto blocks = static_cast<double>(neighborhood.offsets.size()) + 1;  // of a rank, as often as they may be sent
  if (constexpr double most_bytes = 1e18; blocks * static_cast<double>(values.bytes()) > most_bytes)
    throw InputError(values.origin(), "what a rank sends is beyond an integer", "use fewer bytes or offsets");
  auto sizes = NeighborBytes::equal(neighborhood, values.bytes(), payload_of_rank(values) != no_payload);
  return {std::move(neighborhood), std::move(sizes)};
}

Pattern cartesian(const Values& values) {
  const auto made = cartesian_of(values);
  const std::int64_t ranks = made.neighborhood.grid.ranks();
  if (ranks > most_pattern_ranks)
    throw InputError(values.origin(), "its grid has too many ranks for a pattern with edges",
                     fmt::format("use at most {}, or 'predict', which makes none", most_pattern_ranks));
  values.limit(ranks * made.neighborhood.size());
  return pattern_of(made.neighborhood, made.sizes);
}

struct Maker {
  Generator generator;
  Pattern (*make)(const Values&);
};

const std::vector<Maker>& makers() {
  static const GeneratorKey ranks{"ranks", "", "number of ranks"};
  static const GeneratorKey bytes{"bytes", "", "size of a block, 512 or 16KiB"};
  static const GeneratorKey largest{"bytes", "", "largest block S"};
  static const GeneratorKey payload{"payload", "own",
                                    "own: every block has its own bytes; same: a rank sends the same bytes to all"};
  static const GeneratorKey seed{"seed", "1", "start of the random numbers"};
  static const GeneratorKey exponent{"exponent", "2", "density of size s falls as s^-exponent"};
  static const std::vector<Maker> table{
      {{"alltoall", "every rank sends S bytes to every other rank", {ranks, bytes}}, alltoall},
      {{"allgather", "every rank sends the same S bytes to every other rank", {ranks, bytes}}, allgather},
      {{"uniform", "every rank to every other rank, sizes uniform in 0…S", {ranks, largest, seed}}, uniform},
      {{"normal", "every rank to every other rank, sizes normal around S/2, deviation S/6", {ranks, largest, seed}},
       normal},
      {{"power-law",
        "every rank to every other rank, few large and many small sizes",
        {ranks, largest, exponent, seed}},
       power_law},
      {{"alltoallv",
        "one of these three; 'predict' takes it for an exchange that is called once, in closed form by their mean and "
        "variance",
        {ranks, largest, {"sizes", "uniform", "uniform, normal or power-law"}, exponent, seed}},
       alltoallv},
      {{"random",
        "every rank sends S bytes to some others, drawn at random",
        {ranks, bytes, {"degree", "", "destinations of a rank"}, payload, seed}},
       random_sparse},
      {{"fft",
        "the exchange of a parallel FFT, problem sizes of the TuNA paper §VI-A",
        {ranks,
         {"problem", "n1",
          "n1: 64 B from the first 0.625·P ranks to the first 0.78125·P; n2: 512 B from all to all, but 128 B from the "
          "last"}}},
       fft},
      {{"stencil",
        "neighbours on a grid of ranks",
        {{"dims", "", "sizes of the grid, 8x8x8"},
         bytes,
         {"points", "faces", "faces: 2 a dimension; box: corners too"},
         {"periodic", "yes", "wrap around: yes or no"},
         payload}},
       stencil},
      {{"cartesian",
        "every rank of a grid to ranks at the same offsets, the last dimension fastest; of very many ranks 'predict' "
        "takes it in closed form",
        {{"dims", "", "sizes of the grid, 8x8x8"},
         bytes,
         {"offsets", "none", "these: 1x0;-1x0"},
         {"box", "none", "the most steps in each dimension"},
         {"star", "none", "the most steps in one dimension"},
         {"cube", "none",
          "the number of values in each dimension, from 'first' up, and the rank itself if that is among them"},
         {"first", "-1", "least value of cube"},
         {"periodic", "yes", "wrap around: yes, no, or for each dimension 1x0x1"},
         payload}},
       cartesian},
  };
  return table;
}

}  // namespace

const std::vector<Generator>& generators() {
  static const std::vector<Generator> table = [] {
    std::vector<Generator> result;
    for (const auto& maker : makers()) result.push_back(maker.generator);
    return result;
  }();
  return table;
}

Pattern generate_pattern(const std::string& text, std::int64_t most_edges) {
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  std::vector<std::string> known;
  for (const auto& [generator, make] : makers()) {
    known.emplace_back(generator.name);
    if (name != generator.name) continue;
    const std::string arguments = colon == std::string::npos ? "" : text.substr(colon + 1);
    auto pattern = make(Values(generator, "generator " + text, arguments, most_edges));
    pattern.validate("generator " + text);
    return pattern;
  }
  const auto near = did_you_mean(name, known);
  throw InputError("generator " + text, "there is no kind '" + name + "'",
                   near.empty() ? "use one of " + join(known, ", ") : near + "'commpass patterns' lists all");
}

namespace {

/// The checked values of a text of one kind, of any number of edges; nothing for texts of other kinds.
std::optional<Values> values_of(const std::string& kind, const std::string& text) {
  if (!text.starts_with(kind + ":")) return std::nullopt;
  const auto& maker = *std::ranges::find_if(makers(), [&](const auto& m) { return m.generator.name == kind; });
  return Values(maker.generator, "generator " + text, text.substr(kind.size() + 1),
                std::numeric_limits<std::int64_t>::max());
}

}  // namespace

std::optional<Alltoall> parse_alltoall(const std::string& text) {
  const auto values = values_of("alltoall", text);
  return values ? std::optional(Alltoall{values->ranks(), values->bytes()}) : std::nullopt;
}

std::optional<CartesianPattern> parse_cartesian(const std::string& text) {
  const auto values = values_of("cartesian", text);
  return values ? std::optional(cartesian_of(*values)) : std::nullopt;
}

std::optional<RaggedAlltoall> parse_alltoallv(const std::string& text) {
  const auto values = values_of("alltoallv", text);
  return values ? std::optional(ragged(*values)) : std::nullopt;
}

}  // namespace commpass
