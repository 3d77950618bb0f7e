// Measures the halo exchange of an array, beside a derived datatype for each direction.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <functional>

#include "measure/time_exchanges.hpp"
#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "runtime/choose/selection.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"
#include "selector/choose/halo_choice.hpp"

namespace commpass {

namespace {

std::vector<int> numbers_in(const std::string& text, const char* place) {
  std::vector<int> numbers;
  for (const auto& piece : split(text, 'x')) {
    const auto number = parse_number<int>(piece);
    if (!number) throw InputError(place, fmt::format("'{}' is no number", piece), "use numbers with x between");
    numbers.push_back(*number);
  }
  return numbers;
}

/// The array of one rank. The value of a cell follows from its place in the array of all ranks.
class Cells {
 public:
  Cells(const Grid& grid, const HaloArray& array, Rank rank)
      : grid_(grid), array_(array), place_(grid.coordinates(rank)), cells_(at(array.bytes())) {}

  std::byte* data() { return cells_.data(); }
  std::span<std::byte> all() { return cells_; }

  /// Gives own cells their values, and those of the halo a value that no cell has.
  void fill() {
    for_each([&](std::size_t cell, const std::vector<int>& at) { set(cell, is_own(at) ? value_of(at) : untouched); });
  }
  /// @return the number of cells that are wrong after an exchange
  int wrong() const {
    int count = 0;
    for_each([&](std::size_t cell, const std::vector<int>& at) {
      const auto wanted = exists(at) ? value_of(at) : untouched;
      const auto* const begin = cells_.data() + cell * static_cast<std::size_t>(array_.cell_bytes);
      if (!std::all_of(begin, begin + array_.cell_bytes, [&](std::byte byte) { return byte == wanted; })) ++count;
    });
    return count;
  }

 private:
  static constexpr std::byte untouched{0};

  void set(std::size_t cell, std::byte value) {
    std::fill_n(cells_.data() + cell * at(array_.cell_bytes), array_.cell_bytes, value);
  }
  bool is_own(const std::vector<int>& at) const {
    for (std::size_t k = 0; k < at.size(); ++k)
      if (at[k] < 0 || at[k] >= array_.extent[k]) return false;
    return true;
  }
  int global(const std::vector<int>& at, std::size_t k) const { return place_[k] * array_.extent[k] + at[k]; }
  bool exists(const std::vector<int>& at) const {
    for (std::size_t k = 0; k < at.size(); ++k)
      if (!grid_.periodic[k] && (global(at, k) < 0 || global(at, k) >= grid_.dims[k] * array_.extent[k])) return false;
    return true;
  }
  std::byte value_of(const std::vector<int>& at) const {
    constexpr unsigned prime = 131, values = 255;
    unsigned value = 1;
    for (std::size_t k = 0; k < at.size(); ++k)
      value = value * prime + static_cast<unsigned>(modulo(global(at, k), grid_.dims[k] * array_.extent[k]));
    return static_cast<std::byte>(1 + value % values);
  }
  /// Calls action(index of the cell, its coordinates) for all cells. Coordinates of own cells begin at 0.
  template <class Action>
  void for_each(Action action) const {
    const auto d = array_.extent.size();
    std::vector<int> at(d);
    for (std::size_t k = 0; k < d; ++k) at[k] = -array_.depth[k];
    for (std::size_t cell = 0;; ++cell) {
      action(cell, at);
      std::size_t k = d;
      while (k > 0 && ++at[k - 1] == array_.extent[k - 1] + array_.depth[k - 1]) {
        at[k - 1] = -array_.depth[k - 1];
        --k;
      }
      if (k == 0) return;
    }
  }

  const Grid& grid_;
  const HaloArray& array_;
  std::vector<int> place_;
  std::vector<std::byte> cells_;
};

/// The baseline that applications write: a message of a derived datatype for each direction.
class PlainLoop {
 public:
  PlainLoop(const Grid& grid, const HaloArray& array, Rank rank) {
    MPI_Type_contiguous(static_cast<int>(array.cell_bytes), MPI_BYTE, &cell_);
    const std::vector<int> at_once(grid.dimensions(), 0);
    for (const auto& message : halo_messages(grid, rank, array, at_once, 0)) {
      auto back = message.direction;
      for (auto& step : back) step = -step;
      messages_.push_back({grid.relative(rank, message.direction).value_or(MPI_PROC_NULL),
                           grid.relative(rank, back).value_or(MPI_PROC_NULL), type_of(array, message.sent),
                           type_of(array, message.received)});
    }
  }
  PlainLoop(const PlainLoop&) = delete;
  PlainLoop& operator=(const PlainLoop&) = delete;
  ~PlainLoop() {
    for (auto& message : messages_) {
      MPI_Type_free(&message.sent);
      MPI_Type_free(&message.received);
    }
    MPI_Type_free(&cell_);
  }

  void run(std::byte* cells) {
    requests_.clear();
    int tag = 0;
    for (const auto& [to, from, sent, received] : messages_)
      COMMPASS_MPI_CALL(MPI_Irecv, cells, 1, received, from, ++tag, MPI_COMM_WORLD, &requests_.emplace_back());
    tag = 0;
    for (const auto& [to, from, sent, received] : messages_)
      COMMPASS_MPI_CALL(MPI_Isend, cells, 1, sent, to, ++tag, MPI_COMM_WORLD, &requests_.emplace_back());
    COMMPASS_MPI_CALL(MPI_Waitall, static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  struct OfDirection {
    Rank to, from;
    MPI_Datatype sent, received;
  };

  MPI_Datatype type_of(const HaloArray& array, const HaloRegion& region) const {
    std::vector<int> whole, sizes;
    for (std::size_t k = 0; k < array.extent.size(); ++k) {
      whole.push_back(array.size(k));
      sizes.push_back(region.end[k] - region.begin[k]);
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    COMMPASS_MPI_CALL(MPI_Type_create_subarray, static_cast<int>(whole.size()), whole.data(), sizes.data(),
                      region.begin.data(), MPI_ORDER_C, cell_, &type);
    COMMPASS_MPI_CALL(MPI_Type_commit, &type);
    return type;
  }

  MPI_Datatype cell_ = MPI_DATATYPE_NULL;
  std::vector<OfDirection> messages_;
  std::vector<MPI_Request> requests_;
};

/// Reads the extent of an array, "100x100x100", and the depth of its halo, a number for all dimensions or one for each.
HaloArray parse_halo(const std::string& extent, const std::string& depth, Bytes cell_bytes, const Grid& grid) {
  HaloArray array{numbers_in(extent, "--halo"), numbers_in(depth, "--depth"), cell_bytes};
  if (array.depth.size() == 1) array.depth.resize(grid.dimensions(), array.depth.front());
  array.validate(grid, "--halo");
  return array;
}

}  // namespace

CallReport measure_halo(const Measurement& measurement, const CartesianPattern& pattern) {
  const auto& grid = pattern.neighborhood.grid;
  HaloArray array;
  all_or_none(MPI_COMM_WORLD, [&] {
    array = parse_halo(measurement.arguments.halo, measurement.arguments.depth, std::ranges::max(pattern.sizes.bytes),
                       grid);
  });
  const Rank rank = rank_in(MPI_COMM_WORLD);
  Communicator communicator(MPI_COMM_WORLD, measurement.machine, {measurement.layout});
  std::vector<HaloCandidate> candidates;
  all_or_none(MPI_COMM_WORLD, [&] {
    candidates = rank_halos(grid, array, communicator.layout(), measurement.machine, measurement.model,
                            paths_of_host_data(communicator.layout(), measurement.machine));
    std::ranges::sort(candidates, {}, &HaloCandidate::name);  // the same order on every rank
  });
  Cells cells(grid, array, rank);
  CallReport report;
  std::vector<HaloExchange> exchanges;
  for (const auto& candidate : candidates) {
    auto stages = candidate.stages;
    for (auto& stage : stages) ++stage;
    exchanges.push_back(
        communicator.halo_exchange(grid, array, cells.data(), {stages, measurement.model, candidate.path.is_shared}));
    report.rows.push_back(
        {fmt::format("{} ({} messages)", candidate.name(), candidate.messages), candidate.predicted_s, 0});
  }
  exchanges.push_back(communicator.halo_exchange(grid, array, cells.data(), {{}, measurement.model}));
  PlainLoop loop(grid, array, rank);
  std::vector<TimedExchange> runs;
  for (auto& exchange : exchanges) runs.push_back(timed(exchange, cells.all()));
  runs.push_back({[&] { loop.run(cells.data()); }, cells.all()});
  for (const auto& run : runs) {
    cells.fill();
    run.run();
    const int wrong = cells.wrong();
    agree(MPI_COMM_WORLD, wrong > 0 ? fmt::format("halo: rank {} has {} wrong cells.", rank, wrong) : "");
  }
  const auto times = time_exchanges(runs, WarmUp::none, measurement);
  if (rank != 0) return report;
  auto time = times.begin();
  for (auto& row : report.rows) row.measured_s = (time++)->median;
  const auto& chosen = exchanges.back().strategy();
  const auto index = std::ranges::find(candidates, chosen, &HaloCandidate::name) - candidates.begin();
  report.chosen = report.rows[at(index)].name;
  report.chosen_s = (time++)->median;
  report.baseline_kind = "Without Commpass";
  report.baselines.push_back({"a message for each direction, by a derived datatype", {}, time->median});
  report.context = {
      {"profile", measurement.machine.name},
      {"layout", communicator.layout().describe()},
      {"grid", describe(grid)},
      {"cells of a rank", fmt::format("{}, with a halo of {}", join(array.extent, "x"), join(array.depth, "x"))},
      {"model", name_of(measurement.model)}};
  return report;
}

}  // namespace commpass
