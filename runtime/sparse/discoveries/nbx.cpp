// nbx: synchronous sends; a rank whose sends have all been received enters a reduction, and when that is complete, all
// messages of all ranks have been received. The reduction takes the place of the paper's barrier: it waits for
// all ranks, too, and carries the tally. Source: sparse dynamic data exchange paper (Geyko et al.) §IV-B, algorithm 2;
// Hoefler, Siebert, Lumsdaine 2010.
#include "runtime/mpi/nonblocking_reduction.hpp"
#include "runtime/sparse/discovery.hpp"
#include "runtime/sparse/probed_mail.hpp"

namespace commpass {

namespace {

class NbxStage final : public DiscoveryStage {
 public:
  explicit NbxStage(const StageContext& context)
      : context_(context), mail_(context.comm, context.tag, context.largest_piece, context.limits) {}

  void begin(std::span<const Outgoing> parcels, const Tally& tally) override {
    tally_ = tally.numbers();
    mail_.send(parcels, ProbedMail::Mode::synchronous);
  }

  bool progress(bool may_reduce) override {
    if (!found_all_) {
      // Complete before the last look for messages: messages of all ranks can be found now.
      const bool complete = reduction_.started() && reduction_.test();
      mail_.receive();
      if (!reduction_.started() && may_reduce && mail_.all_sent())
        reduction_.start_tally(context_.comm, tally_, *context_.combine);
      found_all_ = complete;
    }
    return found_all_ && mail_.all_received();
  }

  std::vector<Parcel> take() override { return mail_.take(); }
  Failures failures() const override { return Tally::of(reduction_.result()).failures; }
  std::optional<Tally> combined() const override { return Tally::of(reduction_.result()); }

 private:
  StageContext context_;
  std::vector<std::int64_t> tally_;
  ProbedMail mail_;
  NonblockingReduction reduction_;
  bool found_all_ = false;
};

}  // namespace

std::unique_ptr<DiscoveryStage> make_nbx_stage(const StageContext& context) {
  return std::make_unique<NbxStage>(context);
}

}  // namespace commpass
