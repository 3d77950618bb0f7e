// Several processes of a node copy the data of a rank on a device, each its part: who copies and exchanges what.
// Private to the runtime.
#pragma once

#include <memory>
#include <vector>

#include "runtime/context.hpp"
#include "runtime/device/copy_groups.hpp"
#include "runtime/device/device_data.hpp"
#include "runtime/device/device_queue.hpp"

namespace commpass {

/// Of one rank: what it copies from and to devices, and the exchange in host memory that is left. Helpers learn the
/// edges of the rank that they help, and open its memory.
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
  /// Whom this rank tells when its data may be copied, and who tell it that theirs have come.
  const std::vector<Rank>& helpers() const { return helpers_; }
  /// Whom this rank helps; itself if nobody.
  Rank helped() const { return helped_; }

  /// Waits until the data of this rank may be copied.
  void let_go();
  /// Copies what this rank sends into its buffer; waits.
  void copy_out() { copy(sends_); }
  /// Copies what this rank sends to itself.
  void copy_self();
  /// Copies what this rank has got to where it belongs; waits.
  void copy_in() { copy(receives_); }

 private:
  struct Half;
  struct Role;
  struct Part;
  /// What this rank sends, or what it receives, in our buffer.
  struct Side {
    std::vector<SendEdge> edges;  ///< also of what is received: from the "destination"
    std::vector<LocalCopy> on_device, on_host;
    Ends ends = Ends::reached;  ///< of those on the device
    Bytes bytes = 0;
    Memory::Buffer host;
  };

  void tell_helpers(const Role& own, const Context::Address& address) const;
  void ask_helped(Role& other, const Context::Address& address);
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
