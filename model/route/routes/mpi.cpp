// mpi: the exchange is left to the MPI library's own collective, that of neighbourhoods or, called once, MPI_Alltoallv.
// Its ways are those of standard, all messages in flight at once; what the call takes beyond them is a parameter of the
// machine.
#include <fmt/core.h>

#include "model/machine/machine.hpp"
#include "model/route/catalogue.hpp"

namespace commpass {

namespace {
namespace mpi {

/// Another route's ways, which the library goes.
class LibraryRoute final : public Route {
 public:
  explicit LibraryRoute(std::unique_ptr<Route> way) : way_(std::move(way)), stages_(way_->stages()) {
    for (auto& stage : stages_) {
      stage.label += ", by the MPI library";
      stage.by_library = true;
    }
  }

  const std::vector<StageInfo>& stages() const override { return stages_; }
  Rank next(const Block& block, Rank at, int stage) const override { return way_->next(block, at, stage); }
  void next_of_each(std::span<const Block> blocks, std::span<const Rank> at, int stage,
                    std::span<Rank> to) const override {
    way_->next_of_each(blocks, at, stage, to);
  }
  bool next_of_ends(std::span<const BlockEnds> ends, std::span<const Rank> at, int stage,
                    std::span<Rank> to) const override {
    return way_->next_of_ends(ends, at, stage, to);
  }
  int round(Rank from, Rank to, int stage) const override { return way_->round(from, to, stage); }
  std::vector<UniformRun> uniform_runs(Rank rank, int stage) const override { return way_->uniform_runs(rank, stage); }

 private:
  std::unique_ptr<Route> way_;
  std::vector<StageInfo> stages_;
};

std::unique_ptr<Route> make(const Strategy& strategy, const Layout& layout, const PatternTables& tables) {
  return std::make_unique<LibraryRoute>(standard_row().make(strategy, layout, tables));
}

std::string malformed(const Strategy& strategy) {
  if (!strategy.window.unlimited()) return "the library decides how many messages are in flight, so it takes no window";
  if (strategy.path.is_shared) return "the library moves all messages, so it is not shared";
  return strategy.coalescing == Coalescing::staggered
             ? "the library decides which blocks share a message, so it is not staggered"
             : "";
}

std::string lacks(const Machine& machine, Usage usage) {
  const auto call = library_call(machine.operations, usage);
  if (call.call_s) return {};
  return fmt::format("profile {} has no {}: calibrate", machine.name, call.key);
}

std::vector<Strategy> suggest(const Layout& layout) {
  if (layout.ranks() == 1) return {};  // the same as standard
  return {{"mpi", {}, {}}};
}

}  // namespace mpi
}  // namespace

CatalogueRow mpi_row() {
  using namespace mpi;
  return {.name = "mpi",
          .usage = "mpi",
          .summary =
              "the MPI library's own collective: that of neighbourhoods, or MPI_Alltoallv for an exchange that is "
              "called once",
          .source = "MPI standard 4.0 §6.8 and 8.6 to 8.8",
          .parameters = {},
          .default_window = {},
          .malformed = malformed,
          .make = make,
          .suggest = suggest,
          .lacks = lacks};
}

}  // namespace commpass
