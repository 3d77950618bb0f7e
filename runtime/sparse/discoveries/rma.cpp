// rma: every message is put into a slot that its sender has at its receiver. When all ranks have flushed, which a
// non-blocking reduction tells, a rank looks through its slots. Constant sizes only.
// Source: sparse dynamic data exchange paper (Geyko et al.) §IV-C, algorithm 3; with passive targets in place of
// fences.
#include <algorithm>

#include "runtime/mpi/nonblocking_reduction.hpp"
#include "runtime/sparse/discovery.hpp"
#include "runtime/sparse/probed_mail.hpp"
#include "runtime/sparse/slot_window.hpp"

namespace commpass {

namespace {

class RmaStage final : public DiscoveryStage {
 public:
  explicit RmaStage(const StageContext& context) : context_(context) {}

  void begin(std::span<const Outgoing> parcels, const Tally& tally) override {
    messages_.clear();
    tally_ = tally.numbers();
    for (const auto& parcel : parcels)
      messages_.push_back({parcel.peer, SlotWindow::stamp(context_.window_exchange, parcel.bytes)});
  }

  bool progress(bool may_reduce) override {
    if (!reduction_.started()) {
      // Only one exchange puts at a time. When those before it are complete here, all ranks have taken the messages of
      // two exchanges before it out of the slots.
      if (!may_reduce) return false;
      put_all();
      reduction_.start_tally(context_.comm, tally_, *context_.combine);
    }
    return reduction_.test();
  }

  std::vector<Parcel> take() override {
    std::vector<Parcel> result;
    for (const auto& [peer, bytes] : context_.window->find(context_.window_exchange)) {
      auto memory = memory_if_any(std::ssize(bytes));
      if (memory) std::ranges::copy(bytes, memory.get());
      result.push_back({peer, memory, {memory.get(), memory ? bytes.size() : 0}});
    }
    return result;
  }
  Failures failures() const override { return Tally::of(reduction_.result()).failures; }
  std::optional<Tally> combined() const override { return Tally::of(reduction_.result()); }

 private:
  struct Stamped {
    Rank peer = 0;
    std::vector<std::byte> bytes;
  };

  /// Puts that exceed the limits of messages in flight wait until those before them are complete.
  void put_all() {
    auto waiting = std::span(messages_);
    do {
      const auto count = context_.limits.posted_at_once(waiting, [](const Stamped& message) { return message.peer; });
      for (const auto& [peer, stamped] : waiting.first(count))
        context_.window->put(context_.window_exchange, peer, stamped);
      context_.window->flush();
      waiting = waiting.subspan(count);
    } while (!waiting.empty());
  }

  StageContext context_;
  std::vector<std::int64_t> tally_;
  std::vector<Stamped> messages_;
  NonblockingReduction reduction_;
};

}  // namespace

std::unique_ptr<DiscoveryStage> make_rma_stage(const StageContext& context) {
  return std::make_unique<RmaStage>(context);
}

}  // namespace commpass
