// rma: every message is put into a slot that its sender has at its receiver. When all ranks have flushed, which a
// non-blocking reduction tells, a rank looks through its slots. Constant sizes only.
// Source: sparse dynamic data exchange paper (Geyko et al.) §IV-C, algorithm 3; with passive targets in place of fences.
#include "runtime/discovery.hpp"
#include "runtime/nonblocking_reduction.hpp"
#include "runtime/slot_window.hpp"

namespace commpass {

namespace {

class RmaStage final : public DiscoveryStage {
 public:
  explicit RmaStage(const StageContext& context) : context_(context) {}

  void begin(std::span<const Outgoing> parcels, const Tally& tally) override {
    tally_ = tally.numbers();
    context_.window->begin();
    for (const auto& parcel : parcels) context_.window->put(parcel);
  }

  bool progress(bool may_reduce) override {
    if (!reduction_.started()) {
      if (!may_reduce) return false;
      context_.window->flush();
      reduction_.start_tally(context_.comm, std::move(tally_), *context_.combine);
    }
    return reduction_.test();
  }

  std::vector<Parcel> take() override { return context_.window->take(context_.constant_bytes); }
  bool any_failed() const override { return Tally::of(reduction_.result()).failures > 0; }
  std::optional<Tally> combined() const override { return Tally::of(reduction_.result()); }

 private:
  StageContext context_;
  std::vector<std::int64_t> tally_;
  NonblockingReduction reduction_;
};

}  // namespace

std::unique_ptr<DiscoveryStage> make_rma_stage(const StageContext& context) { return std::make_unique<RmaStage>(context); }

}  // namespace commpass
