#include "calibrate/sampling.hpp"

#include <array>

#include "model/median.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

bool Series::settled() const {
  constexpr std::size_t least = 9;
  constexpr double precision = 0.03;
  if (samples.size() < least) return false;
  const auto interval = lower_quartile_interval(samples);
  return interval.high - interval.low <= precision * time();
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
  constexpr std::size_t enough = 5;  // series, to tell a burst of interference from one late message
  constexpr double far = 1.3;
  if (sampled.size() < enough) return;
  std::vector<double> ratios;
  std::size_t fewest = sampled.front()->samples.size();
  for (const auto* series : sampled) {
    const std::vector before(series->samples.begin(), series->samples.end() - 1);
    ratios.push_back(series->samples.back() / lower_quartile(before));
    fewest = std::min(fewest, before.size());
  }
  // Where as much is spoilt as is not, that is how things are.
  if (median(std::move(ratios)) <= far || forgotten >= fewest) return;
  ++forgotten;
  ++disturbed_rounds_;
  for (auto* series : sampled) series->samples.pop_back();
}

}  // namespace commpass
