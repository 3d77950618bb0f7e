// An exchange of typed blocks: those with gaps are packed before it and unpacked after it. Private to the runtime.
#pragma once

#include "runtime/execute/batch_requests.hpp"
#include "runtime/mpi/typed_blocks.hpp"

namespace commpass {

/// Requests for the bytes of these blocks.
class PackedRequests final : public RequestsAround {
 public:
  TypedBlocks sends, receives;
  const void* send_buffer = nullptr;  ///< the user's, as the next one
  void* receive_buffer = nullptr;

  ~PackedRequests() override { drop(); }
  bool are_in_flight() const { return are_in_flight_; }
  Bytes packed_bytes() const { return sends.packed_bytes() + receives.packed_bytes(); }

 private:
  void before() override {
    are_in_flight_ = true;
    sends.pack(send_buffer);
  }
  void after() override {
    receives.unpack(receive_buffer);
    are_in_flight_ = false;
  }

  bool are_in_flight_ = false;
};

}  // namespace commpass
