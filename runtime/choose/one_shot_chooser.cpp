#include "runtime/choose/one_shot_chooser.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "model/text.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

/// By how many factors of two classes differ, in what they differ most.
int distance(const ExchangeClass& a, const ExchangeClass& b) {
  int most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

constexpr std::int64_t most_patience = 1 << 16;

/// After so many exchanges pricing a class like this takes a tenth of their time.
std::int64_t patience_for(Seconds pricing, Seconds exchange) {
  constexpr double most_part = 0.1;
  const double wanted = std::ceil(pricing / (most_part * std::max(exchange, 1e-12)));
  return static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(most_patience)));
}

/// The same for a class that is farther away.
std::int64_t patience_at(int distance, std::int64_t of_neighbour) {
  constexpr int most_shift = 62;
  return of_neighbour >> std::min(2 * (distance - 1), most_shift);
}

/// What rank 0 tells besides the name of a strategy.
struct Numbers {
  Seconds predicted_s = 0;
  std::int64_t patience = 0, survey_interval = 0, has_prediction = 0;
};
static_assert(std::is_trivially_copyable_v<Numbers>);

constexpr char candidate_separator = ';';

}  // namespace

OneShotChooser::Decisions::const_iterator OneShotChooser::nearest_in(const Decisions& decided,
                                                                     const ExchangeClass& wanted) {
  if (const auto found = decided.find(wanted); found != decided.end()) return found;
  return std::ranges::min_element(decided, {}, [&](const auto& entry) { return distance(entry.first, wanted); });
}

const OneShotChoice* OneShotChooser::nearest(const std::string& family, const ExchangeClass& wanted) const {
  const auto found = families_.find(family);
  if (found == families_.end() || found->second.decided.empty()) return nullptr;
  return &nearest_in(found->second.decided, wanted)->second.choice;
}

const OneShotChoice& OneShotChooser::choose(const std::string& name, const ExchangeClass& wanted, const Price& price) {
  auto& family = insist([&]() -> auto& { return families_[name]; });
  if (!family.decided.empty()) {
    const auto& [near, decided] = *nearest_in(family.decided, wanted);
    if (near == wanted) return decided.choice;
    const auto asked = ++insist([&]() -> auto& { return family.asked[wanted]; });
    if (asked < patience_at(distance(near, wanted), decided.patience)) return decided.choice;
  }
  decide(name, std::span(&wanted, 1), price);
  family.asked.erase(wanted);
  return family.decided.at(wanted).choice;
}

void OneShotChooser::decide(const std::string& family, std::span<const ExchangeClass> classes, const Price& price) {
  assemble(comm_);
  std::string names;
  std::vector<Numbers> numbers;
  all_or_none(comm_, [&] {
    numbers.resize(classes.size());
    if (rank_in(comm_) != 0) return;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const double begin = MPI_Wtime();
      const auto choice = price(i);
      const Seconds pricing = MPI_Wtime() - begin;
      if (i > 0) names += candidate_separator;
      names += choice.strategy;
      numbers[i] = {choice.predicted_s.value_or(0), patience_for(pricing, choice.predicted_s.value_or(0)),
                    choice.survey_interval, choice.predicted_s.has_value()};
    }
  });
  names = broadcast(comm_, names);
  COMMPASS_MPI_CALL(MPI_Bcast, numbers.data(), static_cast<int>(numbers.size() * sizeof(Numbers)), MPI_BYTE, 0, comm_);
  insist([&] {
    const auto strategies = split(names, candidate_separator);
    for (std::size_t i = 0; i < classes.size(); ++i) {
      OneShotChoice choice{std::string(strategies[i]), {}, static_cast<int>(numbers[i].survey_interval)};
      if (numbers[i].has_prediction) choice.predicted_s = numbers[i].predicted_s;
      families_[family].decided.try_emplace(classes[i], Decided{std::move(choice), numbers[i].patience});
    }
  });
}

}  // namespace commpass
