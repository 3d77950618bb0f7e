#include "calibrate/fit/counterparts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/route/strategy.hpp"

namespace commpass {
namespace {

/// Counterparts of algorithms without a parameter.
const std::map<std::string, std::string> plain_counterparts{
    {"direct-nonblocking", "standard"},
    {"linear", "standard"},
    {"pmpi-alltoallv", "standard"},
    {"burst-host", "standard"},
    {"direct-pairwise", "standard,window=1"},
    {"pairwise", "standard,window=1"},
    {"modified-bruck", "tuna,radix=2"},
    {"node-aware-nonblocking", "two-step"},
    {"node-aware-pairwise", "two-step,window=1"},
    {"mpix-alltoallv", "two-step"},
    {"mpix-alltoall", "two-step"},
    {"hierarchical-nonblocking", "multi-leader,leaders=1"},
    {"hierarchical-pairwise", "multi-leader,leaders=1,window=1"},
    {"mpi-alltoallv-device", "standard@device"},
    {"isend-irecv-device", "standard@device"},
    {"nonblocking-device", "standard@device"},
    {"direct-device", "standard@device"},
    {"burst-device", "standard@device"},
    {"pairwise-device", "standard,window=1@device"},
    {"mpi-alltoallv-staged", "standard@staged"},
    {"isend-irecv-staged", "standard@staged"},
    {"direct-staged", "standard@staged"}};
const std::map<std::string, std::string> sparse_counterparts{{"direct-allreduce", "direct+allreduce"},
                                                             {"direct-nbx", "direct+nbx"},
                                                             {"two-step-allreduce", "two-step+allreduce"},
                                                             {"two-step-nbx", "two-step+nbx"},
                                                             {"rma", "direct+rma"}};

}  // namespace

std::string counterpart(const MeasuredAlgorithm& algorithm, const MeasuredCase& of) {
  const auto &name = algorithm.name, &parameter = algorithm.parameter;
  const bool is_sparse = of.pattern.starts_with("sdde");
  const auto& counterparts = is_sparse ? sparse_counterparts : plain_counterparts;
  if (const auto found = counterparts.find(name); found != counterparts.end()) return found->second;
  if (is_sparse) return {};
  const int groups = groups_of(algorithm);
  const auto is_form_of = [&](const std::string& stem) {
    return groups > 0 && (name == stem + "-nonblocking" || name == stem + "-pairwise");
  };
  const char* const window = name.ends_with("pairwise") ? ",window=1" : "";
  if (name == "tuna" && parameter == "best radix") return "tuna,radix=auto";
  if (is_form_of("multileader")) return fmt::format("multi-leader,leaders={}{}", groups, window);
  if (is_form_of("locality-aware") && of.ppn % groups == 0)
    return fmt::format("stfw,dims={}x{}{}", of.ppn / groups, groups * of.nodes, window);
  // More processes than these wait only.
  if (name == "node-aware-staged" && parameter == "processes=8 aggregation=node") return "three-step@staged";
  if (is_of_library(name)) return {};
  try {
    return to_string(parse_strategy(name));
  } catch (const InputError&) {
    return {};
  }
}

int groups_of(const MeasuredAlgorithm& algorithm) {
  for (const std::string key : {"groups=", "leaders="})
    if (algorithm.parameter.starts_with(key))
      return parse_number<int>(std::string_view(algorithm.parameter).substr(key.size())).value_or(0);
  return 0;
}

bool is_of_library(const std::string& algorithm) {
  return algorithm == "mpi" || algorithm.starts_with("pmpi") || algorithm.starts_with("library-default") ||
         algorithm.starts_with("mpi-");
}

}  // namespace commpass
