#include "calibrate/sampling.hpp"

#include <algorithm>
#include <array>

#include "model/median.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

bool Series::settled() const {
  constexpr std::size_t samples_min = 9, equal_min = 3;
  constexpr double precision = 0.03, equal = precision / 10;
  if (samples.size() >= equal_min && is_within(equal, std::ranges::min(samples), std::ranges::max(samples)))
    return true;
  if (samples.size() < samples_min) return false;
  const auto interval = lower_quartile_interval(samples);
  return interval.high - interval.low <= precision * time();
}

std::vector<SizePoint> points_of(const std::map<Bytes, Series>& times) {
  std::vector<SizePoint> points;
  for (const auto& [bytes, series] : times) points.push_back({bytes, series.time()});
  return points;
}

Seconds median_over_ranks(MPI_Comm comm, std::optional<Seconds> mine) {
  constexpr Seconds none = -1;
  const auto seconds = mine.value_or(none);
  std::vector<double> all(at(ranks_in(comm)));
  COMMPASS_MPI_CALL(MPI_Allgather, &seconds, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, comm);
  std::erase(all, none);
  return median(std::move(all));
}

Sampler::Sampler(MPI_Comm comm, Seconds budget_s) : comm_(comm), begin_(MPI_Wtime()), budget_s_(budget_s) {}

Seconds Sampler::agree_on(Seconds seconds) {
  std::array<Seconds, 2> agreed{seconds, elapsed()};
  COMMPASS_MPI_CALL(MPI_Bcast, agreed.data(), static_cast<int>(agreed.size()), MPI_DOUBLE, 0, comm_);
  now_s_ = agreed[1];
  constexpr double overtime_ratio = 0.1;
  constexpr Seconds overtime_s = 1;
  if (ends_with_budget_ && now_s_ > (1 + overtime_ratio) * budget_s_ + overtime_s) throw NoTimeLeft();
  return agreed[0];
}

bool Sampler::has_spent(double share) const {
  int over = spent() >= share;
  COMMPASS_MPI_CALL(MPI_Bcast, &over, 1, MPI_INT, 0, comm_);
  return over != 0;
}

void Sampler::forget_if_disturbed(const std::vector<Series*>& sampled, std::size_t& forgotten) {
  constexpr std::size_t series_min = 5;  // to distinguish interference from one late message
  constexpr double disturbed_ratio = 1.3;
  if (sampled.size() < series_min) return;
  std::vector<double> ratios;
  std::size_t fewest = sampled.front()->samples.size();
  for (const auto* series : sampled) {
    const std::vector before(series->samples.begin(), series->samples.end() - 1);
    ratios.push_back(series->samples.back() / lower_quartile(before));
    fewest = std::min(fewest, before.size());
  }
  // If half of the rounds are slow, that is the machine and not interference.
  if (median(std::move(ratios)) <= disturbed_ratio || forgotten >= fewest) return;
  ++forgotten;
  ++disturbed_rounds_;
  for (auto* series : sampled) series->samples.pop_back();
}

}  // namespace commpass
