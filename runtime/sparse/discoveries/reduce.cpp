// reduce and allreduce: the ranks add up how many messages each of them gets, and probe until they have them all. With
// a reduce-scatter a rank gets its own number alone; with an allreduce, the paper's personalized method, those of all.
// Source: sparse dynamic data exchange paper (Geyko et al.) §IV-A, algorithm 1.
#include "runtime/mpi/nonblocking_reduction.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/sparse/discovery.hpp"
#include "runtime/sparse/probed_mail.hpp"

namespace commpass {

namespace {

class ReduceStage final : public DiscoveryStage {
 public:
  ReduceStage(const StageContext& context, bool scatter)
      : context_(context), scatter_(scatter), mail_(context.comm, context.tag, context.largest_piece, context.limits) {
    rank_ = rank_in(context.comm);
    ranks_ = ranks_in(context.comm);
    numbers_.resize(2 * static_cast<std::size_t>(ranks_));
  }

  void begin(std::span<const Outgoing> parcels, const Tally& tally) override {
    // For each rank: messages, failures.
    for (std::size_t i = 0; i < numbers_.size(); ++i) numbers_[i] = i % 2 == 0 ? 0 : tally.failures.sum;
    mail_.send(parcels, ProbedMail::Mode::standard);
    for (const auto& parcel : parcels)
      numbers_[2 * static_cast<std::size_t>(parcel.peer)] += mail_.pieces_of(parcel.bytes.size());
  }

  bool progress(bool may_reduce) override {
    if (!reduction_.started()) {
      if (!may_reduce) return false;
      if (scatter_) reduction_.start_scattered_sum(context_.comm, numbers_);
      else reduction_.start_sum(context_.comm, numbers_);
    }
    // Messages come in while their numbers are on their way.
    const bool is_counted = reduction_.test();
    const auto found = mail_.receive();
    return is_counted && found == own(0) && mail_.all_received() && mail_.all_sent();
  }

  std::vector<Parcel> take() override { return mail_.take(); }
  Failures failures() const override { return {own(1)}; }

 private:
  std::int64_t own(std::size_t number) const {
    return reduction_.result()[(scatter_ ? 0 : 2 * static_cast<std::size_t>(rank_)) + number];
  }

  StageContext context_;
  bool scatter_;
  int rank_ = 0, ranks_ = 0;
  std::vector<std::int64_t> numbers_;
  ProbedMail mail_;
  NonblockingReduction reduction_;
};

}  // namespace

std::unique_ptr<DiscoveryStage> make_reduce_stage(const StageContext& context) {
  return std::make_unique<ReduceStage>(context, true);
}
std::unique_ptr<DiscoveryStage> make_allreduce_stage(const StageContext& context) {
  return std::make_unique<ReduceStage>(context, false);
}

}  // namespace commpass
