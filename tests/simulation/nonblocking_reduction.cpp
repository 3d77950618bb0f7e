// Stand-in for runtime/mpi/nonblocking_reduction.cpp on simulated clusters, where MPI_Ibarrier is no barrier and
// MPI_Iallreduce sends a message for every pair of ranks. These are the algorithms of MPI libraries for small numbers,
// made of messages that are charged as all others are: recursive doubling, and for scattered sums recursive halving.
// Ranks beyond a power of two hand their numbers to a neighbour and get the result from it.
//
// A reduction moves on when it is tested, and while its rank waits for a request (costs.cpp), as in MPI libraries; not
// while its rank computes or is in another call.
#include "runtime/mpi/nonblocking_reduction.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "model/base/types.hpp"
#include "runtime/mpi/in_flight.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/sparse/sparse_tally.hpp"
#include "simulation/pending_reductions.hpp"

namespace commpass {

namespace {

using Combine = void (*)(const std::int64_t* from, std::int64_t* to, std::size_t count);

void add(const std::int64_t* from, std::int64_t* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
}

void combine_tallies(const std::int64_t* from, std::int64_t* to, std::size_t) {
  int tallies = 1;
  TallyOperation::combine(const_cast<std::int64_t*>(from), to, &tallies, nullptr);
}

/// Some of the numbers: [begin, end).
struct Part {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
};

/// One exchange with a peer; an empty part is not sent.
struct Step {
  Rank peer = 0;
  Part sent, received;
  bool is_result = false;  ///< received numbers replace the present ones instead of being combined with them
};

/// The largest power of two of ranks take part: the odd one of each of the first pairs, and all beyond these.
struct Participants {
  int pairs = 0, count = 1;

  explicit Participants(int ranks) {
    while (2 * count <= ranks) count *= 2;
    pairs = ranks - count;
  }
  bool has(Rank rank) const { return rank >= 2 * pairs || rank % 2 == 1; }
  bool is_paired(Rank rank) const { return rank < 2 * pairs; }
  int number_of(Rank rank) const { return is_paired(rank) ? rank / 2 : rank - pairs; }
  Rank rank_of(int number) const { return number < pairs ? 2 * number + 1 : number + pairs; }
  /// The ranks for which a participant and those before it stand.
  int ranks_before(int number) const { return number < pairs ? 2 * number : number + pairs; }
};

/// What a rank does between handing over to it and handing back.
template <class Steps>
std::vector<Step> with_neighbours(const Participants& participants, Rank rank, Part all, Part result_of_pair_mate,
                                  Part own_result, Steps between) {
  if (!participants.has(rank)) return {{rank + 1, all, {}}, {rank + 1, {}, own_result, true}};
  std::vector<Step> steps;
  if (participants.is_paired(rank)) steps.push_back({rank - 1, {}, all});
  between(steps);
  if (participants.is_paired(rank)) steps.push_back({rank - 1, result_of_pair_mate, {}});
  return steps;
}

std::vector<Step> doubling(Rank rank, int ranks, std::size_t count) {
  const Participants participants(ranks);
  const Part all{0, count};
  return with_neighbours(participants, rank, all, all, all, [&](std::vector<Step>& steps) {
    for (int distance = 1; distance < participants.count; distance *= 2)
      steps.push_back({participants.rank_of(participants.number_of(rank) ^ distance), all, all});
  });
}

std::vector<Step> halving(Rank rank, int ranks, std::size_t each) {
  const Participants participants(ranks);
  const auto part_of = [&](int first, int last) {
    return Part{each * static_cast<std::size_t>(participants.ranks_before(first)),
                each * static_cast<std::size_t>(participants.ranks_before(last))};
  };
  const auto own = [&](Rank of) {
    return Part{each * static_cast<std::size_t>(of), each * static_cast<std::size_t>(of + 1)};
  };
  return with_neighbours(participants, rank, {0, each * static_cast<std::size_t>(ranks)}, own(rank - 1), own(rank),
                         [&](std::vector<Step>& steps) {
                           const int number = participants.number_of(rank);
                           for (int distance = participants.count / 2; distance > 0; distance /= 2) {
                             const int first = number / (2 * distance) * 2 * distance, middle = first + distance,
                                       last = middle + distance;
                             const auto lower = part_of(first, middle), upper = part_of(middle, last);
                             const bool is_lower = number < middle;
                             steps.push_back({participants.rank_of(number ^ distance), is_lower ? upper : lower,
                                              is_lower ? lower : upper});
                           }
                         });
}

/// The engine of sparse exchanges stays below it.
int own_tag(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  COMMPASS_MPI_CALL(MPI_Comm_get_attr, comm, MPI_TAG_UB, &value, &found);
  return *static_cast<int*>(value);
}

/// In an unnamed namespace, for the simulator loads the program once for each rank, and all would share the variable of
/// an inline function with external linkage.
class Reduction {
 public:
  /// @param result_at  where in the numbers the result begins
  Reduction(MPI_Comm comm, std::vector<std::int64_t> numbers, Combine combine, std::vector<Step> steps,
            std::size_t result_at)
      : comm_(comm),
        tag_(own_tag(comm)),
        numbers_(std::move(numbers)),
        incoming_(numbers_.size()),
        combine_(combine),
        steps_(std::move(steps)),
        result_at_(result_at) {
    if (!is_complete()) in_order().push_back(this);
    move_on();
  }
  ~Reduction() { std::erase(in_order(), this); }
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;

  /// Those that are not complete, as they were started. On one communicator they go one after another, so that the
  /// messages of a pair of ranks, which all have one tag, are those of the reduction that both are at.
  static std::vector<Reduction*>& in_order() {
    static std::vector<Reduction*> running;
    return running;
  }

  /// Those that wait for no other of their communicator.
  static std::vector<Reduction*> first_in_order() {
    std::vector<Reduction*> first;
    for (auto* const reduction : in_order())
      if (std::ranges::find(first, reduction->comm_, &Reduction::comm_) == first.end()) first.push_back(reduction);
    return first;
  }

  /// Looks for messages of those before it, then of its own. @return true when it is complete
  bool move_on() {
    while (!is_complete()) {
      auto* const first = *std::ranges::find(in_order(), comm_, &Reduction::comm_);
      auto& messages = first->begin_step();
      int done = 0;
      COMMPASS_MPI_CALL(MPI_Testall, static_cast<int>(messages.size()), messages.data(), &done, MPI_STATUSES_IGNORE);
      if (!done) return false;
      first->end_step();
    }
    return true;
  }

  /// The messages of the step that it is at, started if they were not.
  std::array<MPI_Request, 2>& begin_step() {
    if (std::exchange(is_begun_, true)) return messages_;
    const auto& [peer, sent, received, is_result] = steps_[next_];
    const auto bytes = [](Part part) { return static_cast<int>(part.size() * sizeof(std::int64_t)); };
    if (received.size() > 0)
      COMMPASS_MPI_CALL(MPI_Irecv, incoming_.data(), bytes(received), MPI_BYTE, peer, tag_, comm_, &messages_[0]);
    if (sent.size() > 0)
      COMMPASS_MPI_CALL(MPI_Isend, numbers_.data() + sent.begin, bytes(sent), MPI_BYTE, peer, tag_, comm_,
                        &messages_[1]);
    return messages_;
  }

  /// Takes in the step that it is at, whose messages are complete.
  void end_step() {
    const auto& [peer, sent, received, is_result] = steps_[next_++];
    auto* const to = numbers_.data() + received.begin;
    if (is_result) std::copy_n(incoming_.data(), received.size(), to);
    else if (received.size() > 0) combine_(incoming_.data(), to, received.size());
    is_begun_ = false;
    if (is_complete()) std::erase(in_order(), this);
  }

  bool is_complete() const { return next_ == steps_.size(); }
  std::span<const std::int64_t> result(std::size_t count) const {
    return std::span(numbers_).subspan(result_at_, count);
  }

 private:
  MPI_Comm comm_;
  int tag_;
  std::vector<std::int64_t> numbers_, incoming_;
  Combine combine_;
  std::vector<Step> steps_;
  std::size_t result_at_, next_ = 0;
  bool is_begun_ = false;
  std::array<MPI_Request, 2> messages_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace

struct NonblockingReduction::Running : Reduction {
  using Reduction::Reduction;
};

NonblockingReduction::NonblockingReduction() = default;

NonblockingReduction::~NonblockingReduction() {
  if (!mpi_is_usable()) return;
  while (running_ && !running_->move_on()) continue;
}

void NonblockingReduction::start_tally(MPI_Comm comm, std::vector<std::int64_t> tally, const TallyOperation&) {
  const auto count = tally.size();
  result_.resize(count);
  running_ = std::make_unique<Running>(comm, std::move(tally), combine_tallies,
                                       doubling(rank_in(comm), ranks_in(comm), count), 0);
}

void NonblockingReduction::start_sum(MPI_Comm comm, std::span<const std::int64_t> numbers) {
  const auto count = numbers.size();
  result_.resize(count);
  running_ = std::make_unique<Running>(comm, std::vector(numbers.begin(), numbers.end()), add,
                                       doubling(rank_in(comm), ranks_in(comm), count), 0);
}

void NonblockingReduction::start_scattered_sum(MPI_Comm comm, std::vector<std::int64_t> numbers) {
  const auto each = numbers.size() / static_cast<std::size_t>(ranks_in(comm));
  const int rank = rank_in(comm);
  result_.resize(each);
  running_ = std::make_unique<Running>(comm, std::move(numbers), add, halving(rank, ranks_in(comm), each),
                                       each * static_cast<std::size_t>(rank));
}

void NonblockingReduction::start_barrier(MPI_Comm comm) { start_sum(comm, std::vector<std::int64_t>{0}); }

bool NonblockingReduction::test() {
  if (!running_->move_on()) return false;
  std::ranges::copy(running_->result(result_.size()), result_.begin());
  return true;
}

// Whatever a test has found slows down the simulator from then on (costs.cpp), so the messages are waited for.
void NonblockingReduction::wait() {
  if (must_poll()) return wait_until([&] { return test(); });
  while (!running_->is_complete()) simulation::wait_for_pending_message();
  test();
}

}  // namespace commpass

void simulation::start_pending_messages(std::vector<MPI_Request*>& messages) {
  if (commpass::Reduction::in_order().empty()) return;
  for (auto* const reduction : commpass::Reduction::first_in_order())
    for (auto& message : reduction->begin_step())
      if (message != MPI_REQUEST_NULL) messages.push_back(&message);
}

void simulation::end_complete_steps() {
  for (auto* const reduction : commpass::Reduction::first_in_order()) {
    const auto& messages = reduction->begin_step();
    if (std::ranges::all_of(messages, [](MPI_Request message) { return message == MPI_REQUEST_NULL; }))
      reduction->end_step();
  }
}
