#include "runtime/random/case.hpp"

#include <fmt/core.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/random/trial.hpp"
#include "runtime/random/watch.hpp"

namespace commpass::random_test {

namespace {

/// The exchanges of a case, as one rank runs them. Draws by `common` are the same on all ranks, draws by
/// `own` are not.
class Case {
 public:
  Case(const Switches& switches, std::uint64_t key, int rank)
      : switches_(switches), key_(key), common_(key), own_(key_of(key, 1 + rank)) {}

  void run() {
    try {
      run_all();
    } catch (const std::exception&
                 error) {  // here, where nothing has been destroyed yet: that would wait for the other ranks
      fail(error.what());
    }
  }

 private:
  int count() const { return static_cast<int>(trials_.size()); }

  void run_all() {
    set_up();
    const int repetitions = 1 + common_.small(3);
    mixed_ = switches_.with("mixed-order") && common_.one_in(2);
    crossed_ = mixed_ && switches_.with("cross-order") && common_.one_in(2);
    const bool drops = switches_.with("drop") && common_.one_in(3),
               places_first = switches_.with("drop") && common_.one_in(3);
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      const bool last = repetition + 1 == repetitions;
      start(repetition);
      if (last && places_first) {
        step("destroys the communicators");
        for (auto& place : places_) place.communicator.reset();
      }
      std::vector<int> dropped;
      for (const int number : common_.order(count()))
        if (last && drops && common_.one_in(2)) dropped.push_back(number);
      complete(dropped, places_first);
    }
    tear_down();
  }

  void step(const std::string& what) { watch_step(what); }
  void step(int number, const char* what) {
    const auto& trial = *trials_[static_cast<std::size_t>(number)];
    watch_step(fmt::format("exchange {} ({}), {}", number, what, trial.describe()));
  }

  void set_up() {
    const int places = 1 + (switches_.with("several") ? common_.small(3) / 2 + common_.small(5) / 4 : 0);
    for (int i = 0; i < places; ++i) {
      step("makes a communicator");
      make_place(places_.emplace_back(), switches_, key_of(key_, -1 - i));
    }
    const int trials = switches_.with("several") ? 1 + common_.small(5) : 1;
    for (int i = 0; i < trials; ++i) {
      auto& place = places_[static_cast<std::size_t>(common_.small(places))];
      auto& trial = trials_.emplace_back();
      if (place.parent == MPI_COMM_NULL) continue;
      Draw draw(key_of(place.key, i));
      const auto kind = draw.pick(switches_.kinds);
      trial = make_trial(place, kind, draw.next());
    }
    if (switches_.with("drop") && common_.one_in(4))
      for (auto& place : places_)
        if (place.communicator) move_over(place.communicator);
  }

  /// Those that all ranks start together keep their order, others begin when a rank likes; exchanges are planned while
  /// others are in flight.
  void start(int repetition) {
    auto order = common_.order(count());
    if (repetition == 0) {
      for (const int number : order) with(number, "is planned", [](Trial& trial) { trial.plan(); });
      for (const int number : order) with(number, "tries strategies", [&](Trial& trial) { try_strategies(trial); });
    }
    const auto is_free = [&](int number) {
      const auto& trial = trials_[static_cast<std::size_t>(number)];
      return !trial || trial->manner == Manner::persistent;
    };
    std::vector<int> free, together;
    for (const int number : order) (is_free(number) ? free : together).push_back(number);
    own_.shuffle(free);
    while (!free.empty() || !together.empty()) {
      auto& next = together.empty() || (!free.empty() && own_.one_in(2)) ? free : together;
      with(next.back(), "is prepared", [&](Trial& trial) { trial.prepare(repetition); });
      with(next.back(), "starts", [&](Trial& trial) {
        trial.begin(repetition);
        trial.is_in_flight = trial.manner != Manner::blocking;
        if (own_.one_in(8)) trial.move_handle();  // NOLINT: sometimes
      });
      next.pop_back();
      if (own_.one_in(3)) test_some();
    }
  }

  /// Where trials that the exchange may have are under way, or over, when it meets others.
  static void try_strategies(Trial& trial) {
    constexpr int times_max = 60;
    const bool may_try =
        trial.place.tries && trial.manner == Manner::persistent && trial.strategy.starts_with("chosen");
    if (may_try) trial.run_together(Draw(key_of(trial.key, 1)).small(times_max));
  }

  /// Runs an action, after which a failure or a hang is known to be in it.
  template <class Action>
  void with(int number, const char* what, Action action) {
    auto& trial = trials_[static_cast<std::size_t>(number)];
    if (!trial) return;
    step(number, what);
    try {
      action(*trial);
    } catch (...) {
      step(number, what);  // its strategy is known now
      throw;
    }
  }

  void finish(int number, bool drop) {
    with(number, drop ? "is dropped" : "completes", [&](Trial& trial) {
      if (!trial.is_in_flight) return;
      trial.is_in_flight = false;
      if (drop) trial.drop();
      else trial.complete();
    });
  }

  void test_some() {
    for (int count_of_tests = own_.small(4); count_of_tests > 0; --count_of_tests) {
      const int number = own_.small(count());
      auto& trial = trials_[static_cast<std::size_t>(number)];
      if (trial && trial->is_in_flight) with(number, "is tested", [](Trial& its) { its.test(); });
    }
  }

  /// Exchanges that may be completed in any order: the number of the place, and whether they are persistent. Only ranks
  /// that complete each group in the same order are sure to be safe from each other where routes have several stages
  /// and others do not move on.
  std::vector<std::vector<int>> groups() {
    std::vector<std::vector<int>> result(2 * places_.size());
    for (const int number : common_.order(count())) {
      const auto& trial = trials_[static_cast<std::size_t>(number)];
      if (!trial || !trial->is_in_flight) continue;
      std::size_t group = 0;
      while (&places_[group] != &trial->place) ++group;
      result[2 * group + (trial->manner == Manner::persistent ? 0 : 1)].push_back(number);
    }
    std::vector<int> all;
    for (std::size_t group = 0; group < result.size(); ++group) {
      if (group % 2 == 1 || mixed_) own_.shuffle(result[group]);
      all.insert(all.end(), result[group].begin(), result[group].end());
    }
    if (!crossed_) return result;
    own_.shuffle(all);
    return {all};
  }

  /// @param places_gone  their communicators are freed with the last handle: all ranks have to destroy these in the
  /// same order
  void complete(const std::vector<int>& dropped, bool places_gone) {
    const auto is_dropped = [&](int number) { return std::ranges::find(dropped, number) != dropped.end(); };
    test_some();
    if (own_.one_in(3)) poll([&](int number) { return !is_dropped(number) || !places_gone; });
    for (const auto& group : groups())
      for (const int number : group) {
        if (is_dropped(number) && places_gone) continue;
        if (own_.one_in(4)) test_some();
        finish(number, is_dropped(number));
      }
  }

  /// Tests all that is in flight by turns until the needed ones are complete. Exchanges that others destroy only at the
  /// end may not be needed before that.
  template <class Needed>
  void poll(Needed needed) {
    std::vector<int> rest;
    for (const int number : own_.order(count()))
      if (const auto& trial = trials_[static_cast<std::size_t>(number)]; trial && trial->is_in_flight)
        rest.push_back(number);
    while (std::ranges::any_of(rest, needed)) {
      std::erase_if(rest, [&](int number) {
        bool complete = false;
        with(number, "is polled", [&](Trial& trial) { complete = trial.test(); });
        return complete;
      });
      sched_yield();
    }
  }

  /// In the same order on all ranks, since communicators and windows are freed together.
  void tear_down() {
    for (const int number : common_.order(count())) {
      with(number, "is destroyed", [](Trial& trial) {
        if (trial.is_in_flight) trial.drop();
      });
      trials_[static_cast<std::size_t>(number)].reset();
    }
    step("destroys the communicators");
    for (auto& place : places_) place.communicator.reset();
  }

  const Switches& switches_;
  std::uint64_t key_;
  Draw common_, own_;
  bool mixed_ = false, crossed_ = false;
  std::deque<Place> places_;
  std::vector<std::unique_ptr<Trial>> trials_;
};

}  // namespace

void run_case(const Switches& switches, std::int64_t number) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  watch_case(fmt::format("random_exchanges: seed {}, case {}, rank {} of {}", switches.seed, number, rank, ranks),
             switches.command(ranks, number), switches.seconds_a_case);
  Case(switches, key_of({static_cast<std::int64_t>(switches.seed), number, ranks}), rank).run();
}

}  // namespace commpass::random_test
