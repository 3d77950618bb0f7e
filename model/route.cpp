#include "model/route.hpp"

#include "model/error.hpp"

namespace commpass {

namespace {

NotApplicable not_known() { return {"of this route", "it does not tell which ranks may exchange messages in a stage"}; }

}  // namespace

std::vector<Rank> Route::peers(Rank, int) const { throw not_known(); }
std::vector<Rank> Route::groups(int) const { throw not_known(); }

}  // namespace commpass
