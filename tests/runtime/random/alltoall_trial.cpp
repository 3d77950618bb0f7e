// All-to-alls that are called once, waited for at once or started, from C++ and from C, with other counts in each
// repetition; and planned ones.
#include <cstdlib>

#include "commpass/commpass.h"
#include "runtime/random/alltoall_problem.hpp"
#include "runtime/random/c_place.hpp"
#include "runtime/random/persistent_trial.hpp"
#include "runtime/random/strategies.hpp"

namespace commpass::random_test {

namespace {

bool is_equal(Kind kind) {
  return kind == Kind::alltoall || kind == Kind::c_alltoall || kind == Kind::start_alltoall ||
         kind == Kind::c_ialltoall;
}
bool is_started_from_c(Kind kind) { return kind == Kind::c_ialltoallv || kind == Kind::c_ialltoall; }
bool is_c(Kind kind) { return kind == Kind::c_alltoallv || kind == Kind::c_alltoall || is_started_from_c(kind); }
bool is_started(Kind kind) {
  return kind == Kind::start_alltoallv || kind == Kind::start_alltoall || kind == Kind::start_alltoallw ||
         is_started_from_c(kind);
}

class AlltoallTrial : public Trial {
 public:
  AlltoallTrial(Place& its_place, Kind its_kind, std::uint64_t its_key)
      : Trial(its_place, its_kind, is_started(its_kind) ? Manner::started : Manner::blocking, its_key) {}
  ~AlltoallTrial() override { commpass_exchange_free(&c_exchange_); }

  void plan() override {
    if (is_c(kind)) c_.create(place);
  }

  void prepare(int repetition) override {
    Draw draw(key_of(key, repetition));
    problem_.emplace(draw, place, is_equal(kind), true);
    options_ = {draw_strategy(draw, *place.switches, *place.layout, Use::one_shot)};
    strategy = options_.strategy + (problem_->in_place ? " in place" : "");
    if (!is_c(kind) && draw.one_in(4)) options_.block_bytes = static_cast<double>(draw_bytes(draw));
  }

  void begin(int repetition) override {
    const auto& problem = *problem_;
    const auto r = static_cast<std::size_t>(place.rank);
    const auto &sends = problem.sends[r], &receives = problem.receives[r];
    sent_before_ = filled(sent_key(place.rank, repetition), sends.buffer_bytes);
    sent_ = sent_before_;
    received_ = problem.in_place ? sent_ : filled(received_key(place.rank, repetition), receives.buffer_bytes);
    expected_ = problem.expected(place.rank, received_, [&](Rank source) { return sent_key(source, repetition); });
    const void* const sent = problem.in_place ? MPI_IN_PLACE : sent_.data() + sends.origin;
    auto* const received = received_.data() + receives.origin;
    if (is_started(kind)) return start(problem, sends, sent, receives, received);
    call(problem, sends, sent, receives, received);
    if (options_.strategy.empty() && !is_c(kind)) strategy = "chosen " + place.communicator->last_alltoallv_strategy();
    check();
  }

  bool test() override {
    if (exchange_) return exchange_->test();
    int is_complete = 0;
    CPlace::require(commpass_test(c_exchange_, &is_complete));
    return is_complete != 0;
  }
  void complete() override {
    if (exchange_) exchange_->wait();
    else CPlace::require(commpass_wait(c_exchange_));
    commpass_exchange_free(&c_exchange_);
    check();
  }
  void drop() override {
    exchange_.reset();
    commpass_exchange_free(&c_exchange_);
    check();
  }
  void move_handle() override { move_over(exchange_); }

 private:
  void check() const {
    require_equal("the receive buffer", received_, expected_);
    require_equal("the send buffer", sent_, sent_before_);
  }

  void start(const AlltoallProblem& problem, const AlltoallSide& sends, const void* sent, const AlltoallSide& receives,
             void* received) {
    MPI_Datatype send_type = problem.in_place ? MPI_DATATYPE_NULL : *sends.element.type;
    MPI_Datatype receive_type = *receives.element.type;
    const auto r = static_cast<std::size_t>(place.rank);
    const char* const name = options_.strategy.empty() ? nullptr : options_.strategy.c_str();
    // No list has to outlive the call.
    const std::vector<int> send_counts = sends.counts, send_at = sends.displacements, receive_counts = receives.counts,
                           receive_at = receives.displacements;
    switch (kind) {
      case Kind::start_alltoall:
        exchange_.emplace(place.communicator->start_alltoall(sent, send_counts[r], send_type, received,
                                                             receive_counts[r], receive_type, options_));
        break;
      case Kind::start_alltoallw: {
        const auto in_bytes = [](const AlltoallSide& side) {
          auto result = side.displacements;
          for (int& at : result) at *= static_cast<int>(side.element.extent);
          return result;
        };
        const std::vector<MPI_Datatype> send_types(send_counts.size(), send_type),
            receive_types(send_counts.size(), receive_type);
        exchange_.emplace(place.communicator->start_alltoallw(sent, send_counts, in_bytes(sends), send_types, received,
                                                              receive_counts, in_bytes(receives), receive_types,
                                                              options_));
        break;
      }
      case Kind::c_ialltoall:
        CPlace::require(commpass_ialltoall(sent, send_counts[r], send_type, received, receive_counts[r], receive_type,
                                           name, c_.comm(), &c_exchange_));
        break;
      case Kind::c_ialltoallv:
        CPlace::require(commpass_ialltoallv(sent, problem.in_place ? nullptr : send_counts.data(),
                                            problem.in_place ? nullptr : send_at.data(), send_type, received,
                                            receive_counts.data(), receive_at.data(), receive_type, name, c_.comm(),
                                            &c_exchange_));
        break;
      default:
        exchange_.emplace(place.communicator->start_alltoallv(sent, send_counts, send_at, send_type, received,
                                                              receive_counts, receive_at, receive_type, options_));
    }
    if (exchange_ && options_.strategy.empty()) strategy = "chosen " + exchange_->strategy();
  }

  void call(const AlltoallProblem& problem, const AlltoallSide& sends, const void* sent, const AlltoallSide& receives,
            void* received) {
    const auto r = static_cast<std::size_t>(place.rank);
    MPI_Datatype send_type = problem.in_place ? MPI_DATATYPE_NULL : *sends.element.type;
    MPI_Datatype receive_type = *receives.element.type;
    const int send_count = sends.counts[r], receive_count = receives.counts[r];
    const char* name = options_.strategy.empty() ? nullptr : options_.strategy.c_str();
    switch (kind) {
      case Kind::alltoall:
        place.communicator->alltoall(sent, send_count, send_type, received, receive_count, receive_type, options_);
        break;
      case Kind::c_alltoall:
        CPlace::require(
            commpass_alltoall(sent, send_count, send_type, received, receive_count, receive_type, name, c_.comm()));
        break;
      case Kind::c_alltoallv:
        CPlace::require(commpass_alltoallv(sent, problem.in_place ? nullptr : sends.counts.data(),
                                           problem.in_place ? nullptr : sends.displacements.data(), send_type, received,
                                           receives.counts.data(), receives.displacements.data(), receive_type, name,
                                           c_.comm()));
        break;
      default:
        place.communicator->alltoallv(sent, sends.counts, sends.displacements, send_type, received, receives.counts,
                                      receives.displacements, receive_type, options_);
    }
  }

  std::optional<AlltoallProblem> problem_;
  AlltoallvOptions options_;
  CPlace c_;
  Buffer sent_, sent_before_, received_, expected_;
  std::optional<StartedAlltoallv> exchange_;
  commpass_exchange c_exchange_ = nullptr;
};

class PersistentAlltoallvTrial : public PersistentTrial<PersistentAlltoallv> {
 public:
  PersistentAlltoallvTrial(Place& its_place, std::uint64_t its_key, Draw draw)
      : PersistentTrial(its_place, Kind::alltoallv_init, its_key), problem_(draw, its_place, false, false) {
    options_.strategy = draw_strategy(draw, *place.switches, *place.layout, Use::planned);
    strategy = options_.strategy;
    const auto r = static_cast<std::size_t>(place.rank);
    sent_.resize(static_cast<std::size_t>(problem_.sends[r].buffer_bytes));
    received_.resize(static_cast<std::size_t>(problem_.receives[r].buffer_bytes));
  }

  void plan() override {
    const auto r = static_cast<std::size_t>(place.rank);
    const auto &sends = problem_.sends[r], &receives = problem_.receives[r];
    exchange_.emplace(place.communicator->alltoallv_init(
        sent_.data() + sends.origin, sends.counts, sends.displacements, *sends.element.type,
        received_.data() + receives.origin, receives.counts, receives.displacements, *receives.element.type, options_));
    if (options_.strategy.empty()) strategy = "chosen " + exchange_->strategy();
  }

 private:
  Buffer expected(int repetition) const override {
    return problem_.expected(place.rank, received_, [&](Rank source) { return sent_key(source, repetition); });
  }

  AlltoallProblem problem_;
};

}  // namespace

std::unique_ptr<Trial> make_alltoall_trial(Place& place, Kind kind, std::uint64_t key) {
  return std::make_unique<AlltoallTrial>(place, kind, key);
}
std::unique_ptr<Trial> make_persistent_alltoallv_trial(Place& place, std::uint64_t key) {
  return std::make_unique<PersistentAlltoallvTrial>(place, key, Draw(key));
}

}  // namespace commpass::random_test
