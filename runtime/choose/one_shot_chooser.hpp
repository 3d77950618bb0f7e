// Strategies of exchanges whose sizes are not known before: rank 0 decides for a class of them, and all keep it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/base/types.hpp"
#include "runtime/choose/decision.hpp"
#include "selector/choose/exchange_class.hpp"
#include "selector/choose/trial_pace.hpp"

namespace commpass {

/// The same for calls, which are timed only where the context lets them be. The same on every rank.
HowToChoose how_to_try_calls(const Context& context, std::optional<PlannerMode> planner,
                             std::optional<Seconds> seconds);

/// Writes the timed strategies on stderr, on rank 0 if COMMPASS_VERBOSE asks for it.
/// @param what  the kind of exchange
std::function<void(const std::string& text)> telling_of_trials(const Context& context, const char* what);

/// Returns on all ranks at about the same time, and makes progress on exchanges in flight meanwhile: so begins a trial.
/// Collective.
void begin_together(MPI_Comm comm);

/// Pricing takes rank 0 up to a second, for which all wait. So a class that is new runs as the nearest one that is
/// decided, until pricing takes at most 10 % of the time of its exchanges so far; and a class that is
/// farther away sooner: a fourth of them for each factor of two.
///
/// Where timing is asked for, exchanges of a class that is decided are the trials (TrialTimer) of those that may be the
/// fastest for it; the result stays. They end as soon as more time is lost than was given. With `adaptive` there are
/// exchanges between rounds of trials, which run the decided strategy (TrialPace).
class OneShotChooser {
 public:
  /// @param comm     ours, alive as long as this
  /// @param tell     of rank 0: is given the timed strategies, for people; nothing: the text is not wanted
  explicit OneShotChooser(MPI_Comm comm, std::function<void(const std::string& text)> tell = {})
      : comm_(comm), tell_(std::move(tell)) {}

  /// Decides, on rank 0 alone, for the class of that number among those that are to be decided. If timing is asked for,
  /// its contenders are timed, the baseline first.
  using Price = std::function<Decision(std::size_t number)>;

  /// What a class runs. Collective; all ranks ask for the same, in the same order. It may not be asked again for an
  /// exchange: it counts. Takes no memory for a class that was asked for before and is not decided now.
  /// @param family  among which strategies is chosen
  /// @throws Error, the same on every rank, if pricing fails
  const Contender& choose(const std::string& family, const ExchangeClass& wanted, const Price& price,
                          const HowToChoose& how = {});
  /// Is the exchange a trial for which was chosen last? Then all ranks begin it together, and note what it took when it
  /// is complete. One that is not noted is tried again.
  bool is_trial() const { return tried_ != nullptr; }
  /// Does the time of the trial count?
  bool is_warm() const { return tried_->trials->is_warm(); }
  /// Is the last choice made again for the class, whatever else is chosen, as long as it is asked for alike?
  bool is_lasting() const { return is_lasting_; }
  /// As many times if it is lasting; null: always. The caller, in place of choose(), counts exchanges down to 0, as all
  /// ranks do. Valid until the next trial.
  std::int64_t* calls_left() const { return calls_left_; }
  /// Notes the time of this rank. The choice for it may be gone then. Collective. @throws MpiError
  void note(Seconds seconds);
  /// For a trial that cannot be run, as all ranks have found: the replacement, which may be another trial.
  /// Collective. @throws MpiError
  const Contender& choose_another();

  /// Decides for several classes at once. Collective. @throws Error, the same on every rank
  void decide(const std::string& family, std::span<const ExchangeClass> classes, const Price& price,
              const HowToChoose& how = {});

  /// Forgets all decisions. Contenders that were given are gone then.
  void forget() {
    families_.clear();
    tried_ = nullptr;
  }

  /// The decision for the class, or for the nearest; null: there is none. Without the other ranks.
  const Contender* nearest(const std::string& family, const ExchangeClass& wanted) const;

 private:
  struct Decided : Decision {
    std::optional<TrialTimer> trials{};  ///< of the contenders, while they are timed
    std::unique_ptr<TrialPace> pace{};   ///< of these trials, if they wait for calls
    std::int64_t calls_left = 0;         ///< before the next trial
  };
  using Decisions = std::map<ExchangeClass, Decided>;
  struct Family {
    Decisions decided;
    std::map<ExchangeClass, std::int64_t> asked;  ///< how often, of classes that are not decided
  };
  const Contender& run_of(Decided& decided, PlannerMode planner);
  void begin_trials(Decided& decided);
  void end_paced(Decided& decided, std::span<const Seconds> times);
  void end_round(Decided& decided);
  static Decisions::const_iterator nearest_in(const Decisions& decided, const ExchangeClass& wanted);

  MPI_Comm comm_;
  std::function<void(const std::string& text)> tell_;
  std::map<std::string, Family> families_;
  Decided* tried_ = nullptr;
  Seconds tried_at_s_ = 0;
  std::int64_t* calls_left_ = nullptr;
  bool is_lasting_ = false;
};

}  // namespace commpass
