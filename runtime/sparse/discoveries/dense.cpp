// dense: every rank sends a size to each possible peer of this stage, and then its data: no rank probes.
#include <algorithm>

#include "runtime/mpi/message_type.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/sparse/discovery.hpp"
#include "runtime/sparse/probed_mail.hpp"

namespace commpass {

namespace {

class AlltoallStage final : public DiscoveryStage {
 public:
  explicit AlltoallStage(const StageContext& context)
      : context_(context), peers_(context_.peers), sends_(context.comm, context.tag, context.limits) {}
  ~AlltoallStage() override {
    if (mpi_is_usable()) cancel_receives(requests_);
  }
  AlltoallStage(const AlltoallStage&) = delete;
  AlltoallStage& operator=(const AlltoallStage&) = delete;

  void begin(std::span<const Outgoing> parcels, const Tally& tally) override {
    failures_ = tally.failures;
    announced_.assign(peers_.size(), {});
    announcements_.assign(peers_.size(), {nothing, failures_.sum});
    for (const auto& parcel : parcels)
      announcements_[position_of(parcel.peer)].bytes = static_cast<Bytes>(parcel.bytes.size());
    std::size_t messages = peers_.size();
    for (const auto& parcel : parcels) messages += pieces_of(static_cast<Bytes>(parcel.bytes.size()));
    requests_.reserve(peers_.size());
    sends_.reserve(messages);
    // From here on nothing takes memory.
    for (std::size_t i = 0; i < peers_.size(); ++i)
      COMMPASS_MPI_CALL(MPI_Irecv, &announced_[i], sizeof(Announcement), MPI_BYTE, peers_[i], context_.tag,
                        context_.comm, &requests_.emplace_back(MPI_REQUEST_NULL));
    for (std::size_t i = 0; i < peers_.size(); ++i) sends_.add(&announcements_[i], sizeof(Announcement), peers_[i]);
    // The data follow at once: messages of one sender stay in order, and sizes were the first.
    for (const auto& parcel : parcels)
      in_pieces(static_cast<Bytes>(parcel.bytes.size()),
                [&](Bytes begin, int count) { sends_.add(parcel.bytes.data() + begin, count, parcel.peer); });
    sends_.begin(LimitedSends::Mode::standard);
  }

  bool progress(bool) override {
    if (!sends_.all_have_begun()) sends_.progress();
    if (!sizes_known_) {
      int done = 1;
      if (!peers_.empty())
        COMMPASS_MPI_CALL(MPI_Testall, static_cast<int>(peers_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
      if (!done) return false;
      make_room();
      sizes_known_ = true;
      receive_data();
    }
    int done = 1;
    if (!requests_.empty())
      COMMPASS_MPI_CALL(MPI_Testall, static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0 && sends_.progress();
  }

  std::vector<Parcel> take() override { return std::move(parcels_); }
  Failures failures() const override { return failures_; }

 private:
  /// What a peer is going to send.
  struct Announcement {
    Bytes bytes = 0;
    std::int64_t failures = 0;
  };
  static constexpr Bytes nothing = -1;

  std::size_t position_of(Rank peer) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(peers_, peer) - peers_.begin());
  }

  template <class Action>
  void in_pieces(Bytes bytes, Action action) const {
    for (Bytes begin = 0; begin < bytes; begin += context_.largest_piece)
      action(begin, static_cast<int>(std::min(context_.largest_piece, bytes - begin)));
  }

  std::size_t pieces_of(Bytes bytes) const {
    return static_cast<std::size_t>((bytes + context_.largest_piece - 1) / context_.largest_piece);
  }

  /// For arrivals, so that receiving them takes no memory but their own.
  void make_room() {
    std::size_t parcels = 0, pieces = 0;
    for (const auto& announced : announced_) {
      if (announced.bytes == nothing) continue;
      ++parcels;
      pieces += pieces_of(announced.bytes);
    }
    parcels_.reserve(parcels);
    requests_.reserve(requests_.size() + pieces);
  }

  void receive_data() {
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      const auto& [bytes, failures] = announced_[i];
      failures_.add(failures);
      if (bytes == nothing) continue;
      const auto memory = memory_if_any(bytes);
      parcels_.push_back({peers_[i], memory, {memory.get(), memory ? static_cast<std::size_t>(bytes) : 0}});
      const Rank peer = peers_[i];
      in_pieces(bytes, [&](Bytes begin, int count) {
        auto* const request = &requests_.emplace_back(MPI_REQUEST_NULL);
        if (memory)
          COMMPASS_MPI_CALL(MPI_Irecv, memory.get() + begin, count, MPI_BYTE, peer, context_.tag, context_.comm,
                            request);
        else receive_and_discard(count, peer, context_.tag, context_.comm, request);
      });
    }
  }

  StageContext context_;
  const std::vector<Rank>& peers_;
  Failures failures_;
  std::vector<Announcement> announced_, announcements_;  // received, sent
  std::vector<MPI_Request> requests_;                    // receives, of the announcements first
  LimitedSends sends_;
  std::vector<Parcel> parcels_;
  bool sizes_known_ = false;
};

}  // namespace

std::unique_ptr<DiscoveryStage> make_alltoall_stage(const StageContext& context) {
  return std::make_unique<AlltoallStage>(context);
}

}  // namespace commpass
