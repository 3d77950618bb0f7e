// Several processes of a node copy the data of a rank on a device, each a part. Private to the runtime.
#pragma once

#include <memory>
#include <vector>

#include "runtime/context.hpp"
#include "runtime/device/copy_groups.hpp"
#include "runtime/device/device_data.hpp"
#include "runtime/device/device_queue.hpp"

namespace commpass {

/// The copies of one rank from and to devices, and its part of the exchange in host memory. Helpers receive the edges
/// of the rank that they help, and open its memory.
class SharedCopies {
 public:
  /// Collective. Buffers must outlive this on the rank that has them.
  /// @param copies  processes for one rank, 2 or more
  /// @throws Error, the same on every rank
  SharedCopies(const Context& context, const Context::Address& address, const BuffersAndEdges& given, int copies);

  /// The exchange in our buffers.
  BuffersAndEdges on_host() const { return {sends_.host.get(), sends_.edges, receives_.host.get(), received_, {}}; }
  Bytes bytes() const { return sends_.bytes + receives_.bytes; }
  Rank rank() const { return rank_; }
  /// They copy data of this rank, between two signals.
  const std::vector<Rank>& helpers() const { return helpers_; }
  /// The rank that this rank helps; itself if none.
  Rank helped() const { return helped_; }

  /// Waits for the user's stream, after which the data of this rank may be copied.
  void wait_for_user();
  /// Copies the sends of this rank into its buffer; waits.
  void copy_out() { copy(sends_); }
  /// Copies the edges from this rank to itself.
  void copy_self();
  /// Copies the receives of this rank to their places; waits.
  void copy_in() { copy(receives_); }

 private:
  struct Half;
  struct Role;
  struct Part;
  /// The sends or receives of this rank in our buffer.
  struct Side {
    std::vector<SendEdge> edges;  ///< of receives, too: from the "destination"
    std::vector<LocalCopy> on_device, on_host;
    Ends ends = Ends::reached;  ///< of copies on the device
    Bytes bytes = 0;
    Memory::Buffer host;
  };

  void inform_helpers(const Role& own, const Context::Address& address) const;
  void learn_from_helped(Role& other, const Context::Address& address);
  void add_self(const Role& own);
  std::vector<Part> parts_of(const Role& role, Half Role::*half, const CopyGroups& groups) const;
  void take_side(const std::vector<Role>& roles, Half Role::*half, const CopyGroups& groups, Side& side);
  void copy(const Side& side);

  Rank rank_, helped_;
  std::vector<Rank> helpers_;
  std::optional<Device> device_;  ///< whose memory this rank copies
  std::vector<Memory::Buffer> opened_;
  Side sends_, receives_;
  std::vector<ReceiveEdge> received_;
  std::vector<LocalCopy> self_;
  Ends self_ends_ = Ends::anywhere;
  std::unique_ptr<DeviceQueue> queue_;  ///< null: there is no such device
};

}  // namespace commpass
