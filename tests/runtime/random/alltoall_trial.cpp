// All-to-alls that are called once, from C++ and from C, with other counts in each repetition; and planned ones.
#include <cstdlib>

#include "commpass/commpass.h"
#include "runtime/random/alltoall_problem.hpp"
#include "runtime/random/c_place.hpp"
#include "runtime/random/persistent_trial.hpp"
#include "runtime/random/strategies.hpp"

namespace commpass::random_test {

namespace {

bool is_equal(Kind kind) { return kind == Kind::alltoall || kind == Kind::c_alltoall; }
bool is_c(Kind kind) { return kind == Kind::c_alltoallv || kind == Kind::c_alltoall; }

class AlltoallTrial : public Trial {
 public:
  AlltoallTrial(Place& its_place, Kind its_kind, std::uint64_t its_key)
      : Trial(its_place, its_kind, Manner::blocking, its_key) {}

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
    const auto sent_before = filled(sent_key(place.rank, repetition), sends.buffer_bytes);
    auto sent = sent_before;
    auto received = problem.in_place ? sent : filled(received_key(place.rank, repetition), receives.buffer_bytes);
    const auto expected =
        problem.expected(place.rank, received, [&](Rank source) { return sent_key(source, repetition); });
    call(problem, sends, problem.in_place ? MPI_IN_PLACE : sent.data() + sends.origin, receives,
         received.data() + receives.origin);
    if (options_.strategy.empty() && !is_c(kind)) strategy = "chosen " + place.communicator->last_alltoallv_strategy();
    require_equal("the receive buffer", received, expected);
    require_equal("the send buffer", sent, sent_before);
  }

 private:
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
