// The one cost function: what a schedule costs on a machine (docs/model.md).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "model/cost/cost_model.hpp"  // IWYU pragma: export
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/route/data_path.hpp"
#include "model/schedule/schedule.hpp"

namespace commpass {

/// What the way to the last finish of a stage is made of.
enum class CostPart { latency, transfer, sharing, receiving, copying, library, staging };
inline constexpr int cost_part_count = 7;
/// For people: "latency (α)", "bytes (β)", …
const char* describe(CostPart part);

struct StageCost {
  std::string label;
  std::int64_t messages_max = 0;  ///< messages that a rank sends, the most over ranks
  Bytes bytes_max = 0;            ///< bytes that a rank sends, the most over ranks
  Seconds seconds = 0;            ///< by which the stage moves the finish of the slowest rank
  std::array<Seconds, cost_part_count>
      parts{};              ///< may sum to more than `seconds`: a way may begin before the last rank enters the stage
  bool is_staging = false;  ///< copies between devices and host memory, of bytes_max at most, in place of messages

  CostPart dominant() const;
};

struct Cost {
  Seconds seconds = 0;
  std::vector<StageCost> stages{};
  double sampling_error = 0;  ///< the part of `seconds` by which a sample may be off; 0: every message was run
};

/// Predicts the seconds of one exchange.
/// @param layout  of as many ranks as the schedule has
/// @param path    where the data is. Staged data has a stage of copies before the exchange and one behind it
/// @throws InputError if the machine has no parameters for a level that the layout has, or, under burst, no price
/// for what the MPI library runs
Cost evaluate(const Schedule& schedule, const Layout& layout, const Machine& machine,
              CostModel model = CostModel::burst, Usage usage = Usage::planned, const DataPath& path = {});

/// What a machine lacks to price messages between ranks of a layout.
struct MissingParameters {
  std::string what;    ///< "it has no parameters for 'network', but the layout has 2 nodes"
  std::string remedy;  ///< "calibrate on ranks of two nodes"
};
/// Nothing if it lacks nothing. An outer level stands in for one that is absent (MemoryChannels::find).
std::optional<MissingParameters> missing_parameters(const Layout& layout, const Machine& machine,
                                                    const DataPath& path = {});

/// @throws InputError if the machine lacks parameters for a layout
void require_parameters(const Layout& layout, const Machine& machine, const DataPath& path = {});

/// What an estimate knows of a pattern: every rank owes every other rank a block, with a probability that depends on
/// whether they share a node.
struct RandomPattern {
  double density_on_node = 1, density_off_node = 1;  ///< these probabilities: messages ÷ pairs of ranks
  double block_bytes = 0;                            ///< of a block, on average
  int ranks_drawn = 256;     ///< the number of ranks whose messages are drawn, at least those of a node; or lone_sender
  double size_variance = 0;  ///< of blocks, in squares of their mean size; 0: all are equal
  bool is_even = false;      ///< does every rank send to as many others? Else each pair is drawn alone

  /// A value of ranks_drawn: one rank alone sends. Other ranks would only add time, since they share rates with it and
  /// send to it. So its price is a lower bound of the price of all ranks, except that later stages draw other blocks,
  /// and pricing it takes a fraction of the time.
  static constexpr int lone_sender = 1;
};

/// The messages of a pattern, in numbers. Only edges with bytes from a rank to another one count.
struct MessageTotals {
  static constexpr std::size_t octaves = 48;  ///< larger messages count as if they were in the last

  std::int64_t on_node = 0, off_node = 0;         ///< within a node, and between two
  double bytes = 0;                               ///< of all of them; a sum that may be beyond an integer
  std::int64_t squares = 0;                       ///< of how many each rank sends, summed up
  std::array<std::int64_t, octaves> of_octave{};  ///< messages of 2^i to 2^(i+1) − 1 bytes

  /// Of what one rank sends. When all is added, so are its squares.
  void add(Rank source, Rank destination, Bytes size, const Layout& layout);
  void add_square();

  /// All but the bytes, to be summed up over ranks.
  using Counts = std::array<std::int64_t, 3 + octaves>;
  Counts counts() const;
  static MessageTotals from(std::span<const std::int64_t, std::tuple_size_v<Counts>> counts, double bytes);
};

/// Does every rank send to about as many others? By integer arithmetic; no, if the squares are not known.
bool is_even(const MessageTotals& totals, const Layout& layout);
/// The variance of sizes in squares of their mean, as if all of an octave were equal. Equal wherever it is calculated,
/// since powers of two are exact.
double size_variance(const MessageTotals& totals);

/// Those of a pattern.
MessageTotals totals_of(const Pattern& pattern, const Layout& layout);

/// The random pattern with these totals. Where there are more messages than pairs of ranks, each pair has one, of more
/// bytes.
RandomPattern random_pattern(const MessageTotals& totals, const Layout& layout);

/// Predicts the exchange of a random pattern without its blocks: from the (coalesced) messages that a node would send
/// in an all-to-all, each with as many of its blocks as a draw gives it. Some nodes are drawn, pattern.ranks_drawn
/// ranks where the layout has them (fewer for very many ranks), and the slowest counts. The draw is the same every time
/// and everywhere. Patterns that are not random are priced as if they were; docs/model.md says how far off that is.
/// The price of an all-to-all, where every block is there, equals that of evaluate() where the address is full, the
/// layout even and in rank order, all nodes alike in their digits, and no stage has more than 64 rounds. Of more, like
/// ones are taken together, which is an estimate for burst; so is the result elsewhere, and for the copies of routes
/// whose lowest digit has two values and of distance routes (tests/model/cost/estimate_test.cpp says how good).
/// @throws InputError as evaluate, NotApplicable if the route has no closed form
Cost estimate(const RandomPattern& pattern, const Route& route, Window window, const Layout& layout,
              const Machine& machine, CostModel model = CostModel::burst, Usage usage = Usage::planned,
              const DataPath& path = {});

}  // namespace commpass
