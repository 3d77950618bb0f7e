// One-shot exchanges between all pairs of ranks: chooses their strategies and keeps what they need.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runtime/alltoall/alltoall_data.hpp"
#include "runtime/alltoall/alltoall_exchange.hpp"
#include "runtime/alltoall/alltoallv.hpp"
#include "runtime/alltoall/arrivals.hpp"
#include "runtime/alltoall/direct_alltoall.hpp"
#include "runtime/alltoall/library_alltoallv.hpp"
#include "runtime/choose/one_shot_chooser.hpp"
#include "runtime/choose/traffic_survey.hpp"
#include "runtime/context.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "selector/choose/alltoall_choice.hpp"

namespace commpass {

/// An exchange is chosen by what all ranks sent in an earlier one (runtime/choose/traffic_survey.hpp): how many bytes,
/// and how many blocks that are not empty. The first is chosen by its hint, or for blocks of 1 KiB of all pairs. The
/// structure of a strategy is made when it is run for the first time. An exchange that is left to the MPI library has
/// none: it is MPI_Alltoallv.
///
/// No rank knows whether the data of other ranks lie on devices. So a survey tells that, too, and where
/// paths of such data have prices, `alltoall` is surveyed for that alone. A path is the same for all ranks as a part of
/// the name of a strategy; but messages are the same by any, and a rank stages data that cannot go by it.
///
/// Those that are started and completed later (StartedAlltoallv) take earlier decisions, and each rank finds their
/// structure alone.
class AlltoallvEngine {
 public:
  /// Collective.
  /// @param freed_later  whose communicators are freed after that of this, also where exchanges keep one or the other
  explicit AlltoallvEngine(std::shared_ptr<const Context> context, std::shared_ptr<const void> freed_later = {});
  ~AlltoallvEngine();
  AlltoallvEngine(const AlltoallvEngine&) = delete;
  AlltoallvEngine& operator=(const AlltoallvEngine&) = delete;

  /// As MPI_Alltoallv, MPI_Alltoall or MPI_Alltoallw, MPI_IN_PLACE as the send buffer among it. Collective. All ranks
  /// know the sizes of MPI_Alltoall, so nothing has to be told. Takes no memory when the strategy and sizes like these
  /// have been run before. Numbers wider than int need a strategy that is ours, or an MPI library with the functions
  /// that end in _c.
  /// @throws InputError if this rank's arguments are wrong, if what it gets is not what its counts say, or there is no
  /// memory on it or, for what it should get, on another; Error. If
  ///   MPI has failed, all later exchanges fail on this rank, as those of other ranks may wait for it.
  void run(const AlltoallCall& call, const AlltoallvOptions& options);

  // The same for a call that is known to be the MPI library's own or a DirectAlltoall, as the last one of its kind, and
  // of MPI_Alltoall with the same size, so that nothing else has to be done. For other ranks both are the same.
  // @return was it such a call?
  bool run_settled(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, const AlltoallvOptions& options);
  bool run_settled(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                   MPI_Datatype sendtype, void* recvbuf, std::span<const int> recvcounts, std::span<const int> rdispls,
                   MPI_Datatype recvtype, const AlltoallvOptions& options);

  /// Is an exchange for which the MPI library's own call is chosen left to its caller, which makes that call?
  void leave_library_calls(bool are_left) { leaves_library_calls_ = are_left; }
  /// Was the last exchange left to its caller? The same on every rank.
  bool was_left() const { return was_left_; }

  /// The choice for an exchange that does not wait (StartedAlltoallv), found without the other ranks.
  struct Begun {
    const std::string* strategy = nullptr;         ///< as long as the engine
    const AlltoallStructure* structure = nullptr;  ///< the same; null: the MPI library runs it
    DataPath path{};                               ///< of data on devices
    std::optional<Seconds> predicted_s{};
    const char* reason = "";  ///< why this strategy
    int tag = 0;
  };
  /// A named strategy, or the decision for similar blocks in exchanges that waited; standard if
  /// there was none. Where ranks start exchanges in the same order, the same on all. @throws InputError, NotApplicable
  Begun begin(const AlltoallvOptions& options, const AlltoallData& data);
  /// Tells that an exchange has failed, after which none can be run: others may wait for its messages.
  [[noreturn]] void fail(const std::exception& error);
  /// Tells what a rank did not get in an exchange, if anything. @throws InputError
  void require_undamaged(const std::optional<AlltoallDamage>& damage);

  MPI_Comm comm() const { return comm_.get(); }
  DeviceBackend::Stream users_stream() const { return context_->stream; }

  /// The strategy of the last exchange that was waited for, in text form.
  const std::string& last_strategy() const { return *last_; }

 private:
  void require_usable(const AlltoallvOptions& options) const;
  void require_path(const AlltoallvOptions& options, const AlltoallData& data);
  std::string place() const;
  int next_tag();
  /// The strategy that the caller or the environment names; empty: none.
  const std::string& name_for(const AlltoallvOptions& options) const;
  /// Blocks, and their class, which is decided by the first blocks that are met of it.
  struct MetBlocks {
    ExchangeClass their_class;
    RandomPattern pattern;
    BlockSizes sizes = BlockSizes::told;
  };
  MetBlocks met(const ExchangeClass& their_class, const RandomPattern& pattern, BlockSizes sizes) const;
  /// The blocks for which is chosen.
  MetBlocks blocks_for(const AlltoallvOptions& options, std::optional<Bytes> block_bytes) const;
  /// A choice.
  struct Chosen {
    const Contender* choice;
    OneShotChooser* trials;              ///< whose trial it is; null: it is none
    bool is_lasting;                     ///< chosen again for such a call, until a survey finds other traffic
    std::int64_t* calls_left = nullptr;  ///< as many times, and counted down; null: always
  };
  Chosen choose(const AlltoallvOptions& options);
  static Chosen another(const Chosen& chosen);
  OneShotChooser& chooser_for(BlockSizes sizes) { return sizes == BlockSizes::equal ? chooser_of_equal_ : chooser_; }
  /// A named strategy.
  struct Named {
    DataPath path;
    /// The strategy that runs without asking the model: that, or a stand-in where nothing has a price; nothing: ask it.
    std::optional<Contender> choice;
  };
  const Named& named_as(const std::string& text);
  /// A strategy that can be run.
  struct Prepared {
    std::shared_ptr<const AlltoallStructure> structure;  ///< null: the MPI library runs it
    DataPath path;
  };
  using Structures = std::map<std::string, Prepared>;  ///< by strategy
  template <class Make>
  const Structures::value_type* structure_by(const std::string& strategy, Make make);
  const Structures::value_type& structure(const std::string& strategy);
  const Structures::value_type& prepare(Chosen& chosen);
  bool share_memory();
  bool all_ranks(bool is_so);
  /// The same without the other ranks. @return null where there are too many ranks for that
  const Structures::value_type* structure_alone(const std::string& strategy);
  struct Unwaited;
  Unwaited choose_alone(const AlltoallvOptions& options, std::optional<Bytes> block_bytes);
  void survey_if_due(int interval);
  void survey();
  void survey_devices();
  void complete_surveys();
  void forget_strays() noexcept;
  void announce_arrival() {
    if (ranks_ > 1) arrivals_.announce(comm_.get());
  }
  std::optional<AlltoallDamage> leave_to_library();
  std::optional<AlltoallDamage> run_directly(const AlltoallCall& call);

  /// Calls of MPI_Alltoall of one size, or of MPI_Alltoallv, that the MPI library or a DirectAlltoall runs whatever
  /// else they are given.
  struct Settled {
    const std::string* strategy = nullptr;  ///< as the engine's; null: there are no such calls
    const std::string* named = nullptr;     ///< by the caller; empty: none
    std::optional<PlannerMode> planner{};
    int survey_interval = 0;
    Bytes count = 0;  ///< of MPI_Alltoall, elements that are received
    MPI_Datatype sendtype = MPI_DATATYPE_NULL, recvtype = MPI_DATATYPE_NULL;  ///< which cannot be freed
    std::int64_t* calls_left = nullptr;                                       ///< before a trial; null: there is none
    bool is_direct = false;                                                   ///< no call of the library
    Bytes sent_element = 0, received_element = 0;                             ///< of direct ones, bytes
    const void *sendbuf = nullptr, *recvbuf = nullptr;  ///< the last buffers, which were in host memory
  };
  bool is_settled(Settled& settled, const void* sendbuf, const void* recvbuf, const AlltoallvOptions& options);
  template <class Library>
  void run_settled(const Settled& settled, const DirectAlltoall::Side& sends, const DirectAlltoall::Side& receives,
                   const char* name, Library library);
  bool may_go_directly(const AlltoallCall& call, const Structures::value_type& run) const;
  void settle(const AlltoallCall& call, const AlltoallvOptions& options, const Chosen& chosen,
              const Structures::value_type& run, bool is_direct);
  /// How many calls there are for each that is surveyed; 0: none is.
  int survey_interval_of(const Contender& choice, bool is_by_library) const;

  std::shared_ptr<const Context> context_;
  std::shared_ptr<const void> freed_later_;
  int ranks_;
  OwnCommunicator comm_;
  const std::string no_strategy_{};
  const std::string* last_ = &no_strategy_;  ///< the key of a structure, if there was one
  AlltoallData data_;
  LibraryAlltoall library_;
  std::unique_ptr<NodeStreams> streams_;  ///< of calls that wait; null: not needed yet, or there is no memory
  bool may_share_memory_;                 ///< the same on every rank
  DirectAlltoall direct_;
  AlltoallExchange exchange_;
  OneShotChooser chooser_, chooser_of_equal_;  ///< of exchanges whose blocks differ, and of those whose blocks do not
  std::map<std::string, Named> named_;
  Structures structures_;
  TrafficSurvey survey_, device_survey_;  ///< of exchanges whose blocks differ, and of those whose blocks do not
  Arrivals arrivals_;                     ///< of all ranks in calls that are left to the library
  Settled settled_{}, settled_of_equal_{};
  std::optional<MetBlocks> blocks_;  ///< what the last survey has found
  bool has_device_prices_ = false;   ///< have paths of data on devices prices? The same on every rank
  DeviceUse devices_{};              ///< what the last survey has found, if they have
  std::int64_t calls_with_own_tags_, runs_ = 0;
  bool has_failed_ = false, leaves_library_calls_ = false, was_left_ = false;
};

}  // namespace commpass
