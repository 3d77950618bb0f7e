// dense: every rank sends a size to everyone to whom it might send in this stage, and then what it has: nobody probes.
#include <algorithm>

#include "runtime/discovery.hpp"
#include "runtime/mpi_error.hpp"
#include "runtime/probed_mail.hpp"

namespace commpass {

namespace {

class DenseStage final : public DiscoveryStage {
 public:
  explicit DenseStage(const StageContext& context) : context_(context), peers_(context_.peers), failed_(false) {}
  ~DenseStage() override {
    if (!mpi_is_usable()) return;
    for (auto& request : requests_)
      if (request != MPI_REQUEST_NULL) {
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
  }
  DenseStage(const DenseStage&) = delete;
  DenseStage& operator=(const DenseStage&) = delete;

  void begin(std::span<const Outgoing> parcels, const Tally& tally) override {
    failed_ = tally.failures > 0;
    announced_.assign(peers_.size(), {});
    announcements_.assign(peers_.size(), {nothing, failed_});
    for (const auto& parcel : parcels) announcements_[position_of(parcel.peer)].bytes = static_cast<Bytes>(parcel.bytes.size());
    for (std::size_t i = 0; i < peers_.size(); ++i)
      COMMPASS_MPI_CALL(MPI_Irecv, &announced_[i], sizeof(Announcement), MPI_BYTE, peers_[i], context_.tag, context_.comm, &requests_.emplace_back(MPI_REQUEST_NULL));
    for (std::size_t i = 0; i < peers_.size(); ++i)
      COMMPASS_MPI_CALL(MPI_Isend, &announcements_[i], sizeof(Announcement), MPI_BYTE, peers_[i], context_.tag, context_.comm, &requests_.emplace_back(MPI_REQUEST_NULL));
    // The data follow at once: messages of one sender stay in order, and sizes were the first.
    for (const auto& parcel : parcels)
      in_pieces(static_cast<Bytes>(parcel.bytes.size()), [&](Bytes begin, int count) {
        COMMPASS_MPI_CALL(MPI_Isend, parcel.bytes.data() + begin, count, MPI_BYTE, parcel.peer, context_.tag, context_.comm, &requests_.emplace_back(MPI_REQUEST_NULL));
      });
  }

  bool progress(bool) override {
    if (!sizes_known_) {
      int done = 1;
      if (!peers_.empty()) COMMPASS_MPI_CALL(MPI_Testall, static_cast<int>(peers_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
      if (!done) return false;
      sizes_known_ = true;
      receive_data();
    }
    int done = 1;
    if (!requests_.empty()) COMMPASS_MPI_CALL(MPI_Testall, static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  }

  std::vector<Parcel> take() override { return std::move(parcels_); }
  bool any_failed() const override { return failed_; }

 private:
  /// What a peer is going to send.
  struct Announcement {
    Bytes bytes = 0;
    std::int64_t failed = 0;
  };
  static constexpr Bytes nothing = -1;

  std::size_t position_of(Rank peer) const { return static_cast<std::size_t>(std::ranges::lower_bound(peers_, peer) - peers_.begin()); }

  template <class Action>
  void in_pieces(Bytes bytes, Action action) const {
    for (Bytes begin = 0; begin < bytes; begin += context_.largest_piece) action(begin, static_cast<int>(std::min(context_.largest_piece, bytes - begin)));
  }

  void receive_data() {
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      const auto& [bytes, failed] = announced_[i];
      failed_ = failed_ || failed != 0;
      if (bytes == nothing) continue;
      const auto memory = memory_for(bytes);
      parcels_.push_back({peers_[i], memory, {memory.get(), static_cast<std::size_t>(bytes)}});
      const Rank peer = peers_[i];
      in_pieces(bytes, [&](Bytes begin, int count) {
        COMMPASS_MPI_CALL(MPI_Irecv, memory.get() + begin, count, MPI_BYTE, peer, context_.tag, context_.comm, &requests_.emplace_back(MPI_REQUEST_NULL));
      });
    }
  }

  StageContext context_;
  const std::vector<Rank>& peers_;
  bool failed_;
  std::vector<Announcement> announced_, announcements_;  // received, sent
  std::vector<MPI_Request> requests_;                    // receives of the announcements first
  std::vector<Parcel> parcels_;
  bool sizes_known_ = false;
};

}  // namespace

std::unique_ptr<DiscoveryStage> make_dense_stage(const StageContext& context) { return std::make_unique<DenseStage>(context); }

}  // namespace commpass
