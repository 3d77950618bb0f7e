// Does the MPI library take the algorithms that a tuning file of ours names? Under Open MPI this program stands in for
// the functions of its algorithms; under MPICH with UCX it counts the messages of a call.
#include <dlfcn.h>
#include <fmt/core.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "selector/report/tuning_files.hpp"

namespace {

/// What the latest call was seen to do.
std::string seen_algorithm;
int sent_messages = 0;

constexpr int skipped = 77;

template <class Function>
Function next_of(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));  // NOLINT
}

using commpass::Bytes, commpass::LibraryFunction;

/// Rules that use each algorithm, and the library's own choice, which none of the prices here would give.
commpass::Tuning all_algorithms(const std::string& library) {
  commpass::Tuning tuning{.library = library, .ranks = {}};
  const auto offers = commpass::offered_algorithms(library, LibraryFunction::alltoall),
             of_alltoallv = commpass::offered_algorithms(library, LibraryFunction::alltoallv);
  for (const int ranks : {3, 5}) {
    commpass::TunedRanks tuned{.ranks = ranks};
    for (std::size_t i = 0; i < offers.size(); ++i)
      tuned.alltoall.push_back({.bytes_from = i == 0 ? 0 : Bytes{4} << 4 * i,
                                .algorithm = offers[(i + static_cast<std::size_t>(ranks)) % offers.size()]});
    tuned.alltoall.push_back({.bytes_from = Bytes{4} << 4 * offers.size()});
    if (!of_alltoallv.empty()) tuned.alltoallv = of_alltoallv[ranks == 3 ? 0 : 1];
    tuning.ranks.push_back(std::move(tuned));
  }
  return tuning;
}

const commpass::TunedRanks* rules_of(const commpass::Tuning& tuning, int ranks) {
  const commpass::TunedRanks* found = nullptr;
  for (const auto& tuned : tuning.ranks)
    if (tuned.ranks <= ranks) found = &tuned;
  return found;
}

commpass::LibraryAlgorithm expected_alltoall(const commpass::Tuning& tuning, int ranks, int bytes) {
  const auto own = commpass::library_algorithm(tuning.library, LibraryFunction::alltoall, ranks, bytes);
  const auto* const tuned = rules_of(tuning, ranks);
  if (!tuned) return own;
  // Open MPI counts the bytes of all blocks, and keeps the bounds of the number of ranks that has the rules.
  const bool counts_all = tuning.library.starts_with("Open MPI");
  const Bytes size = counts_all ? Bytes{bytes} * ranks : bytes, unit = counts_all ? tuned->ranks : 1;
  auto expected = own;
  for (const auto& rule : tuned->alltoall)
    if (rule.bytes_from * unit <= size) expected = rule.algorithm.value_or(own);
  return expected;
}

commpass::LibraryAlgorithm expected_alltoallv(const commpass::Tuning& tuning, int ranks) {
  const auto own = commpass::library_algorithm(tuning.library, LibraryFunction::alltoallv, ranks, 0);
  const auto* const tuned = rules_of(tuning, ranks);
  return tuned ? tuned->alltoallv.value_or(own) : own;
}

/// Messages of a rank in MPICH's algorithms. The scattered one sends to itself, too.
int messages_of(const commpass::LibraryAlgorithm& algorithm, int ranks) {
  if (algorithm.name.starts_with("scattered")) return ranks;
  if (algorithm.name == "pairwise") return ranks - 1;
  int rounds = 0;
  while (1 << rounds < ranks) ++rounds;
  return rounds;
}

class Check {
 public:
  explicit Check(const commpass::Tuning& tuning) : tuning_(tuning) {}

  void alltoall(MPI_Comm comm, int bytes) {
    const int ranks = size_of(comm);
    std::vector<char> sent(static_cast<std::size_t>(ranks * bytes)), received(sent.size());
    begin();
    MPI_Alltoall(sent.data(), bytes, MPI_CHAR, received.data(), bytes, MPI_CHAR, comm);
    compare("MPI_Alltoall", expected_alltoall(tuning_, ranks, bytes), ranks, bytes);
  }
  void alltoallv(MPI_Comm comm, int bytes) {
    const int ranks = size_of(comm);
    std::vector<char> sent(static_cast<std::size_t>(ranks * bytes)), received(sent.size());
    std::vector<int> counts(static_cast<std::size_t>(ranks), bytes), places(counts.size());
    for (int i = 0; i < ranks; ++i) places[static_cast<std::size_t>(i)] = i * bytes;
    begin();
    MPI_Alltoallv(sent.data(), counts.data(), places.data(), MPI_CHAR, received.data(), counts.data(), places.data(),
                  MPI_CHAR, comm);
    compare("MPI_Alltoallv", expected_alltoallv(tuning_, ranks), ranks, bytes);
  }
  int wrong() const { return wrong_; }
  int calls() const { return calls_; }
  int messages() const { return messages_; }

 private:
  static int size_of(MPI_Comm comm) {
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    return ranks;
  }
  static void begin() {
    seen_algorithm.clear();
    sent_messages = 0;
  }
  void compare(const char* function, const commpass::LibraryAlgorithm& expected, int ranks, int bytes) {
    ++calls_;
    messages_ += sent_messages;
    const bool counts = !tuning_.library.starts_with("Open MPI");
    const bool is_right = counts ? sent_messages == messages_of(expected, ranks) : seen_algorithm == expected.name;
    if (is_right) return;
    ++wrong_;
    fmt::print(stderr, "{} of {} B on {} ranks: {} was expected, not {}\n", function, bytes, ranks, expected.name,
               counts ? fmt::format("that of {} messages", sent_messages) : "'" + seen_algorithm + "'");
  }

  const commpass::Tuning& tuning_;
  int wrong_ = 0, calls_ = 0, messages_ = 0;
};

std::string path_of_library() {
  Dl_info info{};
  return dladdr(dlsym(RTLD_NEXT, "PMPI_Init"), &info) != 0 ? info.dli_fname : "";
}

/// @return whether the library reads it
bool write_rules(const std::string& version, const std::string& path, commpass::Tuning& tuning) {
  if (version.starts_with("Open MPI v4.1")) {
    tuning = all_algorithms("Open MPI 4.1");
    commpass::write_file(path, commpass::open_mpi_rules(tuning, {{"profile", "none"}}));
    setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 1);
    setenv("OMPI_MCA_coll_tuned_dynamic_rules_filename", path.c_str(), 1);
    return true;
  }
  if (version.find("MPICH Version:\t4.") != std::string::npos || version.starts_with("MPICH Version:      4.")) {
    tuning = all_algorithms("MPICH 4");
    const auto library = path_of_library();
    const auto own = commpass::mpich_own_rules(commpass::read_file(library), library);
    commpass::write_file(path, commpass::mpich_rules(tuning, own, {{"profile", "none"}}));
    setenv("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", path.c_str(), 1);
    return true;
  }
  return false;
}

std::string library_version() {
  std::string version(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  version.resize(static_cast<std::size_t>(length));
  return version;
}

}  // namespace

// The algorithms of Open MPI, which its component calls by these names.
#define SEE(function, algorithm)                                                                                      \
  extern "C" int function(void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h, void* i, void* j) { \
    static const auto next = next_of<decltype(&function)>(#function);                                                 \
    seen_algorithm = algorithm;                                                                                       \
    return next(a, b, c, d, e, f, g, h, i, j);                                                                        \
  }
SEE(ompi_coll_base_alltoall_intra_bruck, "modified Bruck")
SEE(ompi_coll_base_alltoall_intra_basic_linear, "linear")
SEE(ompi_coll_base_alltoall_intra_linear_sync, "linear with synchronised windows")
SEE(ompi_coll_base_alltoall_intra_pairwise, "pairwise")
SEE(ompi_coll_base_alltoall_intra_two_procs, "exchange of two ranks")
SEE(ompi_coll_base_alltoallv_intra_basic_linear, "linear")
SEE(ompi_coll_base_alltoallv_intra_pairwise, "pairwise")

// By which MPICH sends.
extern "C" void* ucp_tag_send_nbx(void* end, const void* bytes, std::size_t count, std::uint64_t tag,
                                  const void* parameters) {
  static const auto next = next_of<decltype(&ucp_tag_send_nbx)>("ucp_tag_send_nbx");
  ++sent_messages;
  return next(end, bytes, count, tag, parameters);
}

int main(int argc, char** argv) try {
  const auto version = library_version();
  const auto path = fmt::format("tuning-{}-{}", static_cast<int>(getpid()), argc > 1 ? argv[1] : "rules");
  commpass::Tuning tuning;
  const bool is_read = write_rules(version, path, tuning);
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Check check(tuning);
  for (int count = 3; is_read && count <= ranks; ++count) {  // on two ranks all algorithms have the same messages
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED, rank, &comm);
    if (comm == MPI_COMM_NULL) continue;
    for (const int bytes : {1, 15, 16, 63, 64, 65, 255, 256, 1023, 1024, 16383, 16384, 65536}) {
      check.alltoall(comm, bytes);
      if (!offered_algorithms(tuning.library, LibraryFunction::alltoallv).empty()) check.alltoallv(comm, bytes);
    }
    MPI_Comm_free(&comm);
  }
  MPI_Finalize();
  if (is_read) unlink(path.c_str());
  if (!is_read) {
    if (rank == 0) fmt::print("skipped: no tuning file is written for {}\n", version.substr(0, version.find('\n')));
    return skipped;
  }
  const bool counts = !tuning.library.starts_with("Open MPI");
  if (counts && check.calls() > 0 && check.messages() == 0) {
    if (rank == 0) fmt::print("skipped: this MPICH sends by another library than UCX\n");
    return skipped;
  }
  if (rank == 0 && check.wrong() == 0) fmt::print("{} calls ran as the file says\n", check.calls());
  return check.wrong() == 0 ? 0 : 1;
} catch (const commpass::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
