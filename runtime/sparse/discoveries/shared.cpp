// Any discovery but rma with memory of a node: parcels between ranks of a node go through rings, in which every rank
// tells each possible peer which parcel is its last. The discovery moves the others; there is none where all ranks of a
// stage are on one node.
#include <algorithm>
#include <utility>

#include "runtime/mpi/in_flight.hpp"
#include "runtime/sparse/discovery.hpp"
#include "runtime/sparse/node_mail.hpp"
#include "runtime/sparse/staged_routes.hpp"

namespace commpass {

namespace {

class SharedStage final : public DiscoveryStage {
 public:
  SharedStage(Discovery discovery, const StageContext& context)
      : rings_(*context.post->rings), group_(*context.group), comm_(context.comm), mail_(*context.post) {
    auto far = context;
    far.post = nullptr;
    std::erase_if(far.peers, [&](Rank peer) { return is_near(peer); });
    for (const Rank peer : context.peers)
      if (is_near(peer)) partners_.push_back(group_.in_whole(peer));
    // The same on all ranks of the stage or, if it is dense, on both of each pair.
    const bool is_within_node = discovery == Discovery::dense ? far.peers.empty() : are_all_near();
    if (!is_within_node) far_ = make_stage(discovery, far);
  }

  void begin(std::span<const Outgoing> parcels, const Tally& tally) override {
    std::vector<Outgoing> near, far;
    for (const auto& [peer, bytes] : parcels) {
      if (is_near(peer)) near.push_back({group_.in_whole(peer), bytes});
      else far.push_back({peer, bytes});
    }
    mail_.prepare(partners_, near, tally.failures);
    if (far_) far_->begin(far, tally);
  }

  bool progress(bool may_reduce) override {
    if (far_ && !is_far_complete_) is_far_complete_ = far_->progress(may_reduce);
    // All ranks use the rings in one order, as they start reductions.
    if (may_reduce && !is_near_complete_) is_near_complete_ = mail_.progress();
    const bool is_far_waiting = far_ && !is_far_complete_;
    if (!is_far_waiting && !is_near_complete_) probe_.poll(comm_);
    return is_near_complete_ && !is_far_waiting;
  }

  std::vector<Parcel> take() override {
    if (far_ && !is_far_taken_) {
      far_parcels_ = far_->take();
      is_far_taken_ = true;
    }
    auto& parcels = mail_.parcels();
    parcels.reserve(parcels.size() + far_parcels_.size());
    for (auto& parcel : parcels) parcel.peer = group_.in_group(parcel.peer);
    std::ranges::move(far_parcels_, std::back_inserter(parcels));
    return std::move(parcels);
  }
  Failures failures() const override { return {mail_.failures().sum + (far_ ? far_->failures().sum : 0)}; }
  std::optional<Tally> combined() const override { return far_ ? far_->combined() : std::nullopt; }

 private:
  bool is_near(Rank peer) const { return rings_.reach(group_.in_whole(peer)); }
  bool are_all_near() const {
    const auto& members = group_.members;
    return members.empty() ? rings_.reach_all()
                           : std::ranges::count_if(members, [&](Rank rank) { return rings_.reach(rank); }) + 1 ==
                                 std::ssize(members);
  }

  const NodeRings& rings_;
  const StageGroup& group_;
  MPI_Comm comm_;
  std::vector<Rank> partners_;
  NodeMail mail_;
  std::unique_ptr<DiscoveryStage> far_;  ///< of messages that leave the node; null: there are none
  std::vector<Parcel> far_parcels_;
  bool is_near_complete_ = false, is_far_complete_ = false, is_far_taken_ = false;
  RareProbe probe_;
};

}  // namespace

std::unique_ptr<DiscoveryStage> make_shared_stage(Discovery discovery, const StageContext& context) {
  return std::make_unique<SharedStage>(discovery, context);
}

}  // namespace commpass
