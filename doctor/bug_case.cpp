#include "doctor/bug_case.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <array>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "doctor/mpi_bugs.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/mpi/ranks.hpp"

#if MPI_VERSION >= 4
#define COMMPASS_PERSISTENT(name) MPI_##name##_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define COMMPASS_PERSISTENT(name) MPIX_##name##_init
#endif

namespace commpass {

namespace {

enum class Way { blocking, nonblocking, persistent };
enum class Form { alltoall, alltoallv, alltoallw };

/// One side of a neighbourhood, whose blocks lie one after another.
struct Side {
  std::vector<int> ranks, counts;
  std::vector<int> values{}, displacements{};
  std::vector<MPI_Aint> bytes{};
  std::vector<MPI_Datatype> types{};

  Side(std::vector<int> given_ranks, std::vector<int> given_counts)
      : ranks(std::move(given_ranks)), counts(std::move(given_counts)) {
    int end = 0;
    counts.reserve(1);  // Open MPI 4.1 refuses null for arrays without elements
    displacements.reserve(1);
    bytes.reserve(1);
    types.reserve(1);
    for (const int count : counts) {
      displacements.push_back(end);
      bytes.push_back(end * static_cast<MPI_Aint>(sizeof(int)));
      types.push_back(MPI_INT);
      end += count;
    }
    values.assign(static_cast<std::size_t>(end), -1);
  }
  int degree() const { return static_cast<int>(ranks.size()); }
};

struct Case {
  MPI_Comm comm;
  Side sends, receives;
  std::vector<int> expected;

  void fill() {
    std::iota(sends.values.begin(), sends.values.end(), first_value(rank_in(MPI_COMM_WORLD)));
    receives.values.assign(receives.values.size(), -1);
  }
  static int first_value(int rank) { return 1000 * rank; }
};

std::vector<int> ones(std::size_t count) { return std::vector<int>(count, 1); }

Case grid_case() {
  const int size = ranks_in(MPI_COMM_WORLD);
  const std::vector<int> sizes{1, size, 1}, are_periodic{1, 1, 1};
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(sizes.size()), sizes.data(), are_periodic.data(), 0, &comm);
  std::vector<int> neighbors;
  for (int dimension = 0; dimension < static_cast<int>(sizes.size()); ++dimension) {
    int below = 0, above = 0;
    MPI_Cart_shift(comm, dimension, 1, &below, &above);
    neighbors.insert(neighbors.end(), {below, above});
  }
  Case made{comm, {neighbors, ones(neighbors.size())}, {neighbors, ones(neighbors.size())}, {}};
  for (int place = 0; place < made.receives.degree(); ++place)  // a block that goes down comes from above
    made.expected.push_back(Case::first_value(neighbors[static_cast<std::size_t>(place)]) + (place ^ 1));
  return made;
}

MPI_Comm graph_of(const std::vector<int>& sources, const std::vector<int>& destinations) {
  const std::vector<int> weights(sources.size() + destinations.size() + 1, 1);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(), weights.data(),
                                 static_cast<int>(destinations.size()), destinations.data(), weights.data(),
                                 MPI_INFO_NULL, 0, &comm);
  return comm;
}

/// Each rank has `times` edges to each: in the order of ranks at the source, by turns at the destination.
Case graph_case(int times) {
  const int size = ranks_in(MPI_COMM_WORLD), rank = rank_in(MPI_COMM_WORLD);
  std::vector<int> sources, destinations, expected;
  for (int i = 0; i < size * times; ++i) {
    destinations.push_back(i / times);
    sources.push_back(i % size);
    expected.push_back(Case::first_value(i % size) + rank * times + i / size);
  }
  const auto comm = graph_of(sources, destinations);
  return {comm, {destinations, ones(destinations.size())}, {sources, ones(sources.size())}, expected};
}

/// Rank 0 sends blocks of 1, 2, … to the others.
Case star_case() {
  const int size = ranks_in(MPI_COMM_WORLD), rank = rank_in(MPI_COMM_WORLD);
  std::vector<int> sources, destinations, in, out, expected;
  for (int other = 1; other < size && rank == 0; ++other) {
    destinations.push_back(other);
    out.push_back(other);
  }
  if (rank > 0) {
    sources = {0};
    in = {rank};
    for (int i = 0; i < rank; ++i) expected.push_back(Case::first_value(0) + rank * (rank - 1) / 2 + i);
  }
  const auto comm = graph_of(sources, destinations);
  return {comm, {destinations, out}, {sources, in}, expected};
}

/// @return has this library such a call?
bool start(Way way, Form form, Case& of, MPI_Request* request) {
  auto& [comm, sends, receives, expected] = of;
  const void* const from = sends.values.data();
  void* const to = receives.values.data();
  switch (form) {
    case Form::alltoall:
      if (way == Way::blocking) MPI_Neighbor_alltoall(from, 1, MPI_INT, to, 1, MPI_INT, comm);
      if (way == Way::nonblocking) MPI_Ineighbor_alltoall(from, 1, MPI_INT, to, 1, MPI_INT, comm, request);
#ifdef COMMPASS_PERSISTENT
      if (way == Way::persistent)
        COMMPASS_PERSISTENT(Neighbor_alltoall)(from, 1, MPI_INT, to, 1, MPI_INT, comm, MPI_INFO_NULL, request);
#endif
      break;
    case Form::alltoallv:
      if (way == Way::blocking)
        MPI_Neighbor_alltoallv(from, sends.counts.data(), sends.displacements.data(), MPI_INT, to,
                               receives.counts.data(), receives.displacements.data(), MPI_INT, comm);
      if (way == Way::nonblocking)
        MPI_Ineighbor_alltoallv(from, sends.counts.data(), sends.displacements.data(), MPI_INT, to,
                                receives.counts.data(), receives.displacements.data(), MPI_INT, comm, request);
#ifdef COMMPASS_PERSISTENT
      if (way == Way::persistent) COMMPASS_PERSISTENT(Neighbor_alltoallv)
      (from, sends.counts.data(), sends.displacements.data(), MPI_INT, to, receives.counts.data(),
       receives.displacements.data(), MPI_INT, comm, MPI_INFO_NULL, request);
#endif
      break;
    case Form::alltoallw:
      if (way == Way::blocking)
        MPI_Neighbor_alltoallw(from, sends.counts.data(), sends.bytes.data(), sends.types.data(), to,
                               receives.counts.data(), receives.bytes.data(), receives.types.data(), comm);
      if (way == Way::nonblocking)
        MPI_Ineighbor_alltoallw(from, sends.counts.data(), sends.bytes.data(), sends.types.data(), to,
                                receives.counts.data(), receives.bytes.data(), receives.types.data(), comm, request);
#ifdef COMMPASS_PERSISTENT
      if (way == Way::persistent) COMMPASS_PERSISTENT(Neighbor_alltoallw)
      (from, sends.counts.data(), sends.bytes.data(), sends.types.data(), to, receives.counts.data(),
       receives.bytes.data(), receives.types.data(), comm, MPI_INFO_NULL, request);
#endif
      break;
  }
#ifndef COMMPASS_PERSISTENT
  if (way == Way::persistent) return false;
#endif
  if (way == Way::persistent) MPI_Start(request);
  if (way != Way::blocking) MPI_Wait(request, MPI_STATUS_IGNORE);
  if (way == Way::persistent) MPI_Request_free(request);
  return true;
}

bool is_wrong_anywhere(const Case& of) {
  int is_wrong = of.receives.values == of.expected ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &is_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return is_wrong != 0;
}

BugTrial try_forms(Case of, Way way, const std::vector<std::pair<Form, const char*>>& forms) {
  BugTrial trial{BugResult::right};
  for (const auto& [form, name] : forms) {
    MPI_Request request = MPI_REQUEST_NULL;
    of.fill();
    if (!start(way, form, of, &request)) return {BugResult::not_tried};
    if (is_wrong_anywhere(of)) trial.wrong_calls.emplace_back(name);
  }
  if (!trial.wrong_calls.empty()) trial.result = BugResult::wrong;
  MPI_Comm_free(&of.comm);
  return trial;
}

/// A function of the MPI library's binding for Fortran, which is no part of programs in C. @return null: none is found
void* find_fortran_function(const char* name) {
#ifdef OPEN_MPI
  constexpr std::array libraries{"libmpi_mpifh.so.40", "libmpi_mpifh.so"};
#else
  constexpr std::array libraries{"libmpichfort.so.12", "libmpifort.so.12", "libmpifort.so"};
#endif
  for (const char* library : libraries)
    if (dlopen(library, RTLD_NOW | RTLD_GLOBAL)) break;
  return dlsym(RTLD_DEFAULT, name);  // of libcommpass-mpi, where that is before it
}

/// With more neighbours than ranks, all of them the rank itself, and a datatype for each.
BugTrial try_fortran(Way way) {
  constexpr int neighbors = 64;
  const std::vector<int> self(neighbors, rank_in(MPI_COMM_WORLD));
  Case of{graph_of(self, self), {self, ones(neighbors)}, {self, ones(neighbors)}, {}};
  of.fill();
  of.expected = of.sends.values;
  std::vector<MPI_Fint> types(neighbors, MPI_Type_c2f(MPI_INT));
  MPI_Fint comm = MPI_Comm_c2f(of.comm), request = 0, error = 0;
  auto& [_, sends, receives, expected] = of;
  if (way == Way::blocking) {
    const auto call =
        reinterpret_cast<void (*)(void*, int*, MPI_Aint*, MPI_Fint*, void*, int*, MPI_Aint*, MPI_Fint*, MPI_Fint*,
                                  MPI_Fint*)>(find_fortran_function("mpi_neighbor_alltoallw_"));
    if (!call) return {BugResult::not_tried};
    call(sends.values.data(), sends.counts.data(), sends.bytes.data(), types.data(), receives.values.data(),
         receives.counts.data(), receives.bytes.data(), types.data(), &comm, &error);
  } else {
    const auto call =
        reinterpret_cast<void (*)(void*, int*, MPI_Aint*, MPI_Fint*, void*, int*, MPI_Aint*, MPI_Fint*, MPI_Fint*,
                                  MPI_Fint*, MPI_Fint*)>(find_fortran_function("mpi_ineighbor_alltoallw_"));
    if (!call) return {BugResult::not_tried};
    call(sends.values.data(), sends.counts.data(), sends.bytes.data(), types.data(), receives.values.data(),
         receives.counts.data(), receives.bytes.data(), types.data(), &comm, &request, &error);
    auto started = MPI_Request_f2c(request);
    MPI_Wait(&started, MPI_STATUS_IGNORE);
  }
  BugTrial trial{is_wrong_anywhere(of) ? BugResult::wrong : BugResult::right};
  MPI_Comm_free(&of.comm);
  return trial;
}

BugTrial try_case(std::string_view name) {
  const auto dash = name.find('-');
  const auto neighborhood = name.substr(0, dash), way_name = dash < name.size() ? name.substr(dash + 1) : name;
  const auto way = way_name == "blocking"      ? Way::blocking
                   : way_name == "nonblocking" ? Way::nonblocking
                                               : Way::persistent;
  const std::vector<std::pair<Form, const char*>> all{
      {Form::alltoall, "alltoall"}, {Form::alltoallv, "alltoallv"}, {Form::alltoallw, "alltoallw"}};
  if (neighborhood == "grid") return try_forms(grid_case(), way, all);
  if (neighborhood == "graph") return try_forms(graph_case(2), way, all);
  if (neighborhood == "star") return try_forms(star_case(), way, {all.back()});
  if (neighborhood == "fortran") return try_fortran(way);
  return {BugResult::right};
}

}  // namespace

int run_mpi_bug_case(std::string_view name) {
  const auto bug = find_mpi_bug_case(name);
  if (!bug) {
    fmt::print(stderr, "commpass: there is no case '{}' of errors of MPI libraries; run commpass doctor --mpi-bugs.\n",
               name);
    return 1;
  }
  MPI_Init(nullptr, nullptr);
  auto trial = ranks_in(MPI_COMM_WORLD) == bug->ranks ? try_case(name) : BugTrial{BugResult::ended};
  trial.library = mpi_library();
  if (rank_in(MPI_COMM_WORLD) == 0) {
    std::fputs(to_text(trial).c_str(), stdout);
    std::fflush(stdout);  // a library that has overwritten memory may still end the program
  }
  MPI_Finalize();
  return 0;
}

}  // namespace commpass
