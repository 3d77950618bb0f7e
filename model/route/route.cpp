#include "model/route/route.hpp"

#include "model/base/error.hpp"

namespace commpass {

namespace {

NotApplicable not_known() { return {"of this route", "it does not tell which ranks may exchange messages in a stage"}; }

}  // namespace

void Route::way(Rank source, Rank destination, std::span<Rank> after) const {
  const Block block{.source = source, .destination = destination};
  Rank at = source;
  for (std::size_t stage = 0; stage < after.size(); ++stage)
    at = after[stage] = next(block, at, static_cast<int>(stage));
}

std::vector<Rank> Route::peers(Rank, int) const { throw not_known(); }
std::vector<Rank> Route::group(Rank, int) const { throw not_known(); }

std::vector<UniformMessage> Route::uniform_messages(Rank rank, int stage) const {
  std::vector<UniformMessage> messages;
  for (const auto& run : uniform_runs(rank, stage))
    for (int i = 0; i < run.messages; ++i) messages.push_back(run.message(i));
  return messages;
}

}  // namespace commpass
