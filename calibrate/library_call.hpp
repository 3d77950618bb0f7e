// What a call of the MPI library takes beyond a direct exchange of the same messages.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "calibrate/fit/fit.hpp"
#include "calibrate/sampling.hpp"

namespace commpass {

/// Times exchanges by the library and directly, in turn, and fits the difference.
/// @param benches  with `by_library` and `direct`, both called with repetitions; by the number of messages that each
/// rank sends
/// @param share    of the budget, at which sampling ends
/// @return what the call takes, and what each message takes at either end
template <class Bench>
CallFit fit_library_call(Sampler& sampler, double share, std::multimap<int, Bench>& benches) {
  std::vector<Bench*> numbered;
  std::map<std::pair<std::size_t, bool>, Series> series;  // by number of the bench, and whether by the library
  for (auto& [messages, bench] : benches) {
    for (const bool by_library : {false, true}) series[{numbered.size(), by_library}];
    numbered.push_back(&bench);
  }
  sampler.sample_all(series, share, [&](const auto& key, int, int repetitions) {
    auto& bench = *numbered[key.first];
    return key.second ? bench.by_library(repetitions) : bench.direct(repetitions);
  });
  std::vector<double> messages, direct, by_library;
  for (const auto& bench : benches) {
    const auto number = messages.size();
    messages.push_back(bench.first);
    direct.push_back(series.at({number, false}).time());
    by_library.push_back(series.at({number, true}).time());
  }
  auto fit = fit_call(messages, by_library, direct);
  constexpr double ends = 2;  // every rank sends a message and receives one
  fit.message_s /= ends;
  return fit;
}

}  // namespace commpass
