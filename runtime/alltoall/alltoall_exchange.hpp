// Runs one exchange between all pairs of ranks, by a structure that was made before.
#pragma once

#include <mpi.h>

#include <optional>
#include <span>
#include <string>

#include "runtime/alltoall/alltoall_data.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/execute/immediate_requests.hpp"
#include "runtime/execute/node_streams.hpp"
#include "runtime/execute/send_limits.hpp"
#include "runtime/mpi/agreement.hpp"

namespace commpass {

/// Errors of an exchange that has run to its end.
struct AlltoallDamage {
  std::string sentence;  ///< without place and remedy
  int error_class;       ///< MPI's

  /// A message with other bytes than it should have. @param what  it brings @param others  are wrong, too
  static AlltoallDamage of_message(Rank from, const std::string& what, Bytes expected, Bytes got, int others);
  static AlltoallDamage of_self(Bytes sent, Bytes expected);
};

/// An exchange as batches of immediate requests: first those that tell the sizes of forwarded blocks, one for each
/// stage that forwards; then those of the structure.
class AlltoallRequests final : public BatchRequests {
 public:
  /// @param comm    ours, for this alone, and alive as long as this
  /// @param limits  of sends in flight; further sends wait until earlier ones have arrived
  explicit AlltoallRequests(MPI_Comm comm, SendLimits limits = {});

  /// Takes what memory a structure needs whatever the sizes are. @throws std::bad_alloc
  void make_room(const AlltoallStructure& structure, NodeStreams* streams);
  /// Another exchange, see AlltoallExchange::run. @throws std::bad_alloc
  void assign(const AlltoallStructure& structure, AlltoallData& data, int tag, NodeStreams* streams);
  /// Of the last exchange.
  std::optional<AlltoallDamage> damage() const;
  Bytes slot_bytes() const { return places_.slot_bytes(); }

  std::size_t batches() const override;
  void begin(std::size_t batch) override;
  std::span<MPI_Request> requests() override;
  MPI_Status* statuses() override { return requests_.statuses(); }
  bool move_on() override;
  bool are_complete(const char* call, int code) override;
  void end(std::size_t batch) override;
  void abandon() noexcept override;

 private:
  using Message = AlltoallStructure::Message;
  /// The first of the messages that were not as they should be, and how many there are.
  struct Wrong {
    const Message* message = nullptr;
    Bytes expected = 0, got = 0;
    int count = 0;
  };

  void tell_sizes(std::size_t stage);
  void start_data(std::size_t batch);
  void take_in(std::size_t batch);
  bool is_streamed(const Message& message) const { return streams_ && streams_->reach(message.peer); }
  void receive(const Message& message, const AlltoallPlaces::Incoming& incoming);
  void stream(std::span<const Message> outgoing);
  void send_next(std::span<const Message> messages);
  void post_sends();
  bool is_sent(const Message& message) const;
  const AlltoallPlaces::Outgoing& outgoing_of(const Message& message) const;
  void send(const Message& message, bool is_synchronous);

  MPI_Comm comm_;
  SendLimits limits_;
  const AlltoallStructure* structure_ = nullptr;
  int tag_ = 0;
  std::size_t told_stages_ = 0;  ///< in which sizes are told
  AlltoallPlaces places_;
  ImmediateRequests requests_;
  bool are_requests_complete_ = true;
  NodeStreams* streams_ = nullptr;  ///< of the exchange; null: all messages are requests
  std::vector<Bytes> got_;          ///< of the batch, by received message; of those that are streamed
  bool are_streams_complete_ = true;
  RareProbe probe_;
  bool is_telling_ = false;                            ///< does the batch tell sizes?
  std::span<const Message> waiting_;                   ///< of the batch, those that have not been sent,
  std::span<const AlltoallPlaces::Outgoing> leaving_;  ///< and the data of all of them, where it sends these
  Wrong wrong_;
};

/// Runs exchanges one after another, in two phases: the sizes of blocks that are forwarded go ahead, stage by stage,
/// and with them every rank knows all that it will hold; then the data go. (In the TuNA paper §III-B, sizes and data
/// take turns in each round; apart they cost no more, and those of all rounds of a stage go at once.) Blocks at their
/// destination have no sizes to be told: a route without forwarding sends none, nor does it where all are equal.
///
/// Of the blocks in a message, those that end there must be as large as the receiver's counts say. If the message has
/// another length, these are not unpacked, but forwarded blocks, at its beginning and its end, go on. A rank that
/// has no memory for the blocks that it forwards takes them in, loses them and sends empty messages in their place. So
/// no rank waits, and the receivers of these blocks find out.
class AlltoallExchange {
 public:
  /// @param comm  ours, used only here, and alive as long as this
  explicit AlltoallExchange(MPI_Comm comm, const SendLimits& limits = {})
      : AlltoallExchange(insist([&] { return std::make_unique<AlltoallRequests>(comm, limits); })) {}

  /// Takes what memory a structure needs whatever the sizes are. @throws std::bad_alloc
  void make_room(const AlltoallStructure& structure, NodeStreams* streams = nullptr) {
    requests_.make_room(structure, streams);
  }

  /// Collective. Blocks to oneself are copied.
  /// @param data  that has begun; to the others, and this rank, as many bytes as these receive
  /// @param tag   the first of two; strayed messages of an exchange whose counts disagree do not meet others if these
  /// have other tags
  /// @param streams  take the messages within the node, on all ranks alike; null: MPI does
  /// @return what this rank did not get, if anything
  /// @throws MpiError; then nothing more comes into the user's buffers, and no other exchange may be run
  std::optional<AlltoallDamage> run(const AlltoallStructure& structure, AlltoallData& data, int tag = 1,
                                    NodeStreams* streams = nullptr) {
    start(structure, data, tag, streams);
    return finish();
  }

  /// The same without waiting: the data must live until it is complete.
  void start(const AlltoallStructure& structure, AlltoallData& data, int tag, NodeStreams* streams = nullptr) {
    requests_.assign(structure, data, tag, streams);
    executor_.start();
  }
  bool test() { return executor_.test(); }
  std::optional<AlltoallDamage> finish() {
    executor_.wait();
    return requests_.damage();
  }

  /// Bytes of the slots of the last exchange.
  Bytes slot_bytes() const { return requests_.slot_bytes(); }

 private:
  explicit AlltoallExchange(std::unique_ptr<AlltoallRequests> requests)
      : requests_(*requests), executor_(std::move(requests)) {}

  AlltoallRequests& requests_;
  Executor executor_;
};

}  // namespace commpass
