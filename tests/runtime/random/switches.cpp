#include "runtime/random/switches.hpp"
#include "model/base/format.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "model/base/error.hpp"
#include "model/base/text.hpp"

namespace commpass::random_test {

namespace {

struct KindName {
  Kind kind;
  const char* name;
};
constexpr std::array kind_names{KindName{Kind::neighbor, "neighbor"},
                                KindName{Kind::indexed, "indexed"},
                                KindName{Kind::alltoallv_init, "alltoallv_init"},
                                KindName{Kind::alltoallv, "alltoallv"},
                                KindName{Kind::alltoall, "alltoall"},
                                KindName{Kind::c_alltoallv, "c_alltoallv"},
                                KindName{Kind::c_alltoall, "c_alltoall"},
                                KindName{Kind::start_alltoallv, "start_alltoallv"},
                                KindName{Kind::start_alltoall, "start_alltoall"},
                                KindName{Kind::start_alltoallw, "start_alltoallw"},
                                KindName{Kind::c_ialltoallv, "c_ialltoallv"},
                                KindName{Kind::c_ialltoall, "c_ialltoall"},
                                KindName{Kind::sparse_alltoallv, "sparse_alltoallv"},
                                KindName{Kind::sparse_alltoall, "sparse_alltoall"},
                                KindName{Kind::start_sparse_alltoallv, "start_sparse_alltoallv"},
                                KindName{Kind::start_sparse_alltoall, "start_sparse_alltoall"},
                                KindName{Kind::c_alltoallv_crs, "c_alltoallv_crs"},
                                KindName{Kind::c_alltoall_crs, "c_alltoall_crs"},
                                KindName{Kind::cartesian, "cartesian"},
                                KindName{Kind::cartesian_init, "cartesian_init"},
                                KindName{Kind::reduction, "reduction"}};

struct Feature {
  const char* name;
  const char* meaning;
};
constexpr std::array features{
    Feature{"mixed-order", "ranks complete persistent exchanges in different orders"},
    Feature{"cross-order", "and exchanges of different kinds and communicators, too"},
    Feature{"rma", "direct+rma by name in exchanges that are started, and equal sizes by the automatic choice"},
    Feature{"in-place", "MPI_IN_PLACE"},
    Feature{"gaps", "datatypes with gaps or in another order"},
    Feature{"lower-bound", "and with a negative lower bound"},
    Feature{"mpi", "the strategy mpi"},
    Feature{"automatic", "strategies that are not named"},
    Feature{"trials", "communicators whose exchanges try strategies that are not named"},
    Feature{"drop", "handles that are destroyed in flight, and before their communicator or after it"},
    Feature{"parts", "communicators of some ranks, and in another order"},
    Feature{"several", "several exchanges in flight"}};

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    if (end > begin) names.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

template <class Number>
Number number_of(const std::string& name, const std::string& text) {
  const auto number = parse_number<Number>(text);
  if (!number) throw InputError(name + " " + text, "it is no number", "give one");
  return *number;
}

}  // namespace

const char* name_of(Kind kind) { return std::ranges::find(kind_names, kind, &KindName::kind)->name; }

std::string help() {
  std::string text =
      "random_exchanges [--seed S] [--cases N] [--first C] [--kinds A,B…] [--without F,G…] [--timeout SECONDS] "
      "[--verbose]\n"
      "Random exchanges of all kinds at once, checked byte by byte; under mpirun, on any number of ranks.\nKinds:\n";
  for (const auto& kind : kind_names) text += fmt::format("  {}\n", kind.name);
  text += "Features:\n";
  for (const auto& feature : features) text += fmt::format("  {:12} {}\n", feature.name, feature.meaning);
  return text;
}

std::string Switches::command(int ranks, std::int64_t number) const {
  auto text = fmt::format("mpirun -n {} {} --seed {} --first {} --cases 1", ranks, program, seed, number);
  if (kinds.size() < kind_names.size()) {
    text += " --kinds ";
    for (const auto kind : kinds) text += fmt::format("{}{}", kind == kinds.front() ? "" : ",", name_of(kind));
  }
  if (!without.empty()) text += fmt::format(" --without {}", join(without, ","));
  return text;
}

Switches parse_switches(int argc, char** argv) {
  Switches switches;
  switches.program = argv[0];
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--verbose") {
      switches.verbose = true;
      continue;
    }
    if (i + 1 == argc) throw InputError(name, "there is no such switch, or it has no value", "see --help");
    const std::string value = argv[++i];
    if (name == "--seed") switches.seed = number_of<std::uint64_t>(name, value);
    else if (name == "--cases") switches.cases = number_of<std::int64_t>(name, value);
    else if (name == "--first") switches.first = number_of<std::int64_t>(name, value);
    else if (name == "--timeout") switches.seconds_a_case = number_of<unsigned>(name, value);
    else if (name == "--kinds") {
      for (const auto& kind : names_in(value)) {
        const auto* const found = std::ranges::find_if(kind_names, [&](const auto& row) { return row.name == kind; });
        if (found == kind_names.end()) throw InputError("--kinds " + kind, "there is no such kind", "see --help");
        switches.kinds.push_back(found->kind);
      }
    } else if (name == "--without") {
      for (const auto& feature : names_in(value)) {
        if (std::ranges::none_of(features, [&](const auto& row) { return row.name == feature; }))
          throw InputError("--without " + feature, "there is no such feature", "see --help");
        switches.without.insert(feature);
      }
    } else {
      throw InputError(name, "there is no such switch", "see --help");
    }
  }
  if (switches.kinds.empty())
    for (const auto& row : kind_names) switches.kinds.push_back(row.kind);
  return switches;
}

}  // namespace commpass::random_test
