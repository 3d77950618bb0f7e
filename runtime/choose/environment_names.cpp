#include "runtime/choose/environment_names.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/ranks.hpp"
#include "selector/choose/nearest.hpp"

namespace commpass {

namespace {

/// @param parse  parse_strategy or parse_sparse_strategy
template <class Parse>
std::string fitting_name(MPI_Comm comm, const Layout& layout, const Environment& environment, const char* variable,
                         const std::optional<std::string>& named, Parse parse) {
  const auto name = broadcast(comm, named.value_or(""));
  if (name.empty()) return {};
  const auto nearest = nearest_applicable(parse(name), layout);
  auto fitting = nearest ? to_string(*nearest) : std::string();
  if (fitting != name && environment.verbose && rank_in(comm) == 0)
    tell_misfit(variable, name, layout.describe(), fitting);
  return fitting;
}

}  // namespace

EnvironmentNames fitting_names(MPI_Comm comm, const Layout& layout, const Environment& environment) {
  EnvironmentNames names;
  names.strategy = fitting_name(comm, layout, environment, "COMMPASS_STRATEGY", environment.strategy, parse_strategy);
  names.sparse = fitting_name(comm, layout, environment, "COMMPASS_SPARSE_STRATEGY", environment.sparse_strategy,
                              parse_sparse_strategy);
  names.alltoallv = fitting_name(comm, layout, environment, "COMMPASS_ALLTOALLV_STRATEGY",
                                 environment.alltoallv_strategy, parse_strategy);
  return names;
}

void tell_misfit(const std::string& variable, const std::string& name, const std::string& where,
                 const std::string& instead) {
  const auto line = fmt::format("commpass: {}={} does not fit {}; {} runs there.\n", variable, name, where,
                                instead.empty() ? "the choice" : instead);
  std::fputs(line.c_str(), stderr);  // fmt::print would throw where stderr is closed
}

}  // namespace commpass
