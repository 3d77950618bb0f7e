#include "runtime/choose/environment_names.hpp"

#include <fmt/core.h>

#include <cstdio>

#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_library.hpp"
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

/// Where the MPI library does not say that it takes device memory, data on devices is staged.
std::optional<std::string> as_mpi_can(const std::optional<std::string>& named) {
  if (!named) return named;
  auto strategy = parse_strategy(*named);
  if (strategy.path.kind != DataPath::Kind::device || takes_cuda_memory().value_or(false) ||
      takes_hip_memory().value_or(false))
    return named;
  strategy.path.kind = DataPath::Kind::staged;
  return to_string(strategy);
}

}  // namespace

EnvironmentNames fitting_names(MPI_Comm comm, const Layout& layout, const Environment& environment) {
  EnvironmentNames names;
  const auto for_mpi = [&](const char* variable, const std::optional<std::string>& named) {
    auto strategy = as_mpi_can(named);
    if (strategy != named && environment.verbose && rank_in(comm) == 0)
      tell_misfit(variable, *named, "an MPI library that does not take device memory", *strategy);
    return strategy;
  };
  const auto strategy = for_mpi("COMMPASS_STRATEGY", environment.strategy);
  const auto alltoallv = for_mpi("COMMPASS_ALLTOALLV_STRATEGY", environment.alltoallv_strategy);
  names.strategy = fitting_name(comm, layout, environment, "COMMPASS_STRATEGY", strategy, parse_strategy);
  names.sparse = fitting_name(comm, layout, environment, "COMMPASS_SPARSE_STRATEGY", environment.sparse_strategy,
                              parse_sparse_strategy);
  names.alltoallv = fitting_name(comm, layout, environment, "COMMPASS_ALLTOALLV_STRATEGY", alltoallv, parse_strategy);
  return names;
}

void tell_misfit(const std::string& variable, const std::string& name, const std::string& where,
                 const std::string& instead) {
  const auto line = fmt::format("commpass: {}={} does not fit {}; {} runs there.\n", variable, name, where,
                                instead.empty() ? "the choice" : instead);
  std::fputs(line.c_str(), stderr);  // fmt::print would throw where stderr is closed
}

}  // namespace commpass
