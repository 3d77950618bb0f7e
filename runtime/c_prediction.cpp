// What a strategy would take, from C.
#include <string>
#include <vector>

#include "commpass/commpass.h"
#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/c_support.hpp"
#include "runtime/choose/find_machine.hpp"
#include "selector/choose/baseline.hpp"
#include "selector/choose/profile_note.hpp"
#include "selector/choose/select.hpp"

struct commpass_prediction_state {
  std::string strategy, explanation;
  double seconds = 0;
};

namespace {

using namespace commpass;

std::string text_of(const char* text) { return text ? text : ""; }

Pattern pattern_of(int ranks, int edges, const int* sources, const int* dest, const int64_t* bytes) {
  const char* const place = "commpass_predict";
  if (ranks < 1) throw InputError(place, std::to_string(ranks) + " ranks are none", "give 1 or more");
  if (edges < 0) throw InputError(place, std::to_string(edges) + " edges are no number", "give 0 or more");
  c::require_list(place, sources, edges, "sources");
  c::require_list(place, dest, edges, "destinations");
  c::require_list(place, bytes, edges, "bytes");
  Pattern pattern{ranks, {}};
  for (int i = 0; i < edges; ++i) pattern.edges.push_back({sources[i], dest[i], bytes[i]});
  pattern.validate(place);
  return pattern;
}

/// Of an automatic strategy any of its family is meant.
bool is_meant(const Strategy& named, const Strategy& strategy) {
  return is_automatic(named) ? strategy.route == named.route : strategy == named;
}

/// The named strategy, or the choice, beside direct sends.
commpass_prediction_state predict(const char* profile, const char* layout_text, const Pattern& pattern,
                                  const char* named) {
  if (text_of(layout_text).empty())
    throw InputError("commpass_predict", "there is no layout", "give one such as \"4x8\", nodes x ranks");
  const auto layout = parse_layout(layout_text, pattern.ranks);
  const auto machine = find_profile_here(text_of(profile), layout, read_environment()).machine;
  const auto& direct = baselines().front().strategy;
  std::vector<Strategy> strategies;
  if (!text_of(named).empty()) strategies.push_back(parse_strategy(named));
  if (!strategies.empty() && strategies.front() != direct) strategies.push_back(direct);
  auto ranking = rank_strategies(pattern, layout, machine, CostModel::burst, strategies, {}, RankingDepth::cheapest);
  std::size_t chosen = 0;
  if (!strategies.empty())
    while (!is_meant(strategies.front(), ranking[chosen].strategy)) ++chosen;
  return {to_string(ranking[chosen].strategy), explain_with_note(ranking, chosen, machine, layout, CostModel::burst),
          ranking[chosen].cost.seconds};
}

}  // namespace

int commpass_predict(const char* profile, const char* layout, int ranks, int edges, const int* sources, const int* dest,
                     const int64_t* bytes, const char* strategy, commpass_prediction* prediction) {
  *prediction = nullptr;
  return c::guarded([&] {
    *prediction = new commpass_prediction_state(
        predict(profile, layout, pattern_of(ranks, edges, sources, dest, bytes), strategy));
  });
}

int commpass_predict_generated(const char* profile, const char* layout, const char* pattern, const char* strategy,
                               commpass_prediction* prediction) {
  *prediction = nullptr;
  return c::guarded([&] {
    *prediction = new commpass_prediction_state(predict(profile, layout, generate_pattern(text_of(pattern)), strategy));
  });
}

const char* commpass_prediction_strategy(commpass_prediction prediction) {
  return prediction ? prediction->strategy.c_str() : "";
}
const char* commpass_prediction_explanation(commpass_prediction prediction) {
  return prediction ? prediction->explanation.c_str() : "";
}
double commpass_prediction_seconds(commpass_prediction prediction) { return prediction ? prediction->seconds : -1; }

int commpass_prediction_free(commpass_prediction* prediction) {
  delete *prediction;
  *prediction = nullptr;
  return COMMPASS_SUCCESS;
}
