// Strategies of exchanges whose sizes nobody knows before: rank 0 decides for a class of them, and all keep it.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "model/cost/survey_interval.hpp"
#include "model/types.hpp"

namespace commpass {

/// Exchanges that are alike to about a factor of two in all that matters: logarithms, by integer arithmetic from
/// numbers that all ranks have. So the class is the same on every rank, on whatever processor it runs and however it
/// was compiled; prices, which are not, are rank 0's alone.
using ExchangeClass = std::array<int, 6>;

struct OneShotChoice {
  std::string strategy;
  std::optional<Seconds> predicted_s{};           ///< of the exchange for which it was decided
  int survey_interval = longest_survey_interval;  ///< see there
};

/// Pricing takes rank 0 up to a second, for which all wait. So a class that is new runs as the nearest one that is
/// decided, until there have been so many of its exchanges that pricing takes 10 % of their time; and a class that is
/// farther away sooner: a fourth of them for each factor of two.
class OneShotChooser {
 public:
  /// @param comm  ours, alive as long as this
  explicit OneShotChooser(MPI_Comm comm) : comm_(comm) {}

  /// Decides, on rank 0 alone, for the class of that number among those that are to be decided.
  using Price = std::function<OneShotChoice(std::size_t number)>;

  /// What a class runs. Collective; all ranks ask for the same, in the same order. It may not be asked again for an
  /// exchange: it counts. Takes no memory for a class that was asked for before and is not decided now.
  /// @param family  among which strategies is chosen
  /// @throws Error, the same on every rank, if pricing fails
  const OneShotChoice& choose(const std::string& family, const ExchangeClass& wanted, const Price& price);

  /// Decides for several classes at once. Collective. @throws Error, the same on every rank
  void decide(const std::string& family, std::span<const ExchangeClass> classes, const Price& price);

  /// What is decided for the class, or for the nearest; null: nothing is. Without the other ranks.
  const OneShotChoice* nearest(const std::string& family, const ExchangeClass& wanted) const;

 private:
  struct Decided {
    OneShotChoice choice;
    std::int64_t patience = 0;  ///< exchanges of a neighbouring class before that is priced
  };
  using Decisions = std::map<ExchangeClass, Decided>;
  struct Family {
    Decisions decided;
    std::map<ExchangeClass, std::int64_t> asked;  ///< how often, of classes that are not decided
  };
  static Decisions::const_iterator nearest_in(const Decisions& decided, const ExchangeClass& wanted);

  MPI_Comm comm_;
  std::map<std::string, Family> families_;
};

}  // namespace commpass
