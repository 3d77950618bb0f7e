// Known errors of MPI libraries in collectives of neighbourhoods, which commpass doctor tries on the library at hand.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "selector/report/document.hpp"

namespace commpass {

/// A case of its own launch, since a library may end the program.
struct MpiBugCase {
  std::string_view name;
  int ranks;  ///< that try it
  std::string_view calls, neighborhood;
  std::string_view issues;    ///< public ones that tell of it
  std::string_view wrong_in;  ///< versions that were tried
};

inline constexpr std::array<MpiBugCase, 11> mpi_bug_cases{{
    {"grid-blocking", 2, "MPI_Neighbor_alltoall(v,w)", "periodic grid of 1 x 2 x 1", "pmodels/mpich 2194",
     "MPICH 4.0.2"},
    {"grid-nonblocking", 2, "MPI_Ineighbor_alltoall(v,w)", "periodic grid of 1 x 2 x 1",
     "open-mpi/ompi 14430, pmodels/mpich 2194", "Open MPI 4.1.4, MPICH 4.0.2"},
    {"grid-persistent", 2, "MPI_Neighbor_alltoall(v,w)_init", "periodic grid of 1 x 2 x 1",
     "open-mpi/ompi 14430, pmodels/mpich 2194", "Open MPI 4.1.4, MPICH 4.0.2"},
    {"graph-blocking", 2, "MPI_Neighbor_alltoall(v,w)", "two edges between two ranks", "pmodels/mpich 7945",
     "MPICH 4.0.2"},
    {"graph-nonblocking", 2, "MPI_Ineighbor_alltoall(v,w)", "two edges between two ranks", "pmodels/mpich 7945",
     "MPICH 4.0.2"},
    {"graph-persistent", 2, "MPI_Neighbor_alltoall(v,w)_init", "two edges between two ranks", "pmodels/mpich 7945",
     "MPICH 4.0.2"},
    {"star-blocking", 3, "MPI_Neighbor_alltoallw", "star", "pmodels/mpich 6233", "MPICH 4.0.2"},
    {"star-nonblocking", 3, "MPI_Ineighbor_alltoallw", "star", "pmodels/mpich 6233", "MPICH 4.0.2"},
    {"star-persistent", 3, "MPI_Neighbor_alltoallw_init", "star", "pmodels/mpich 6233", "MPICH 4.0.2"},
    {"fortran-blocking", 2, "MPI_Neighbor_alltoallw of Fortran", "more neighbours than ranks", "open-mpi/ompi 13790",
     "Open MPI 4.1.4"},
    {"fortran-nonblocking", 2, "MPI_Ineighbor_alltoallw of Fortran", "more neighbours than ranks",
     "open-mpi/ompi 13790, 5459", "Open MPI 4.1.4"},
}};
/// The case that no library gets wrong, of the most ranks: do launches work?
inline constexpr MpiBugCase no_mpi_bug{"none", 3, "", "", "", ""};

/// nothing for other names
std::optional<MpiBugCase> find_mpi_bug_case(std::string_view name);

enum class BugResult {
  right,
  wrong,     ///< other bytes than MPI says
  ended,     ///< the program ended before it told: it crashed, or MPI gave an error
  late,      ///< it did not end in time
  not_tried  ///< the library, or libcommpass-mpi, has no such calls here
};

struct BugTrial {
  BugResult result = BugResult::not_tried;
  std::vector<std::string> wrong_calls{};
  std::string library{};  ///< name and version, as the ranks tell
};

// What rank 0 of a launch prints, and how it is read.
std::string to_text(const BugTrial& trial);
/// @param text  all that the launch printed, perhaps with other lines
BugTrial parse_bug_trial(std::string_view text);

struct TriedBug {
  MpiBugCase bug;
  BugTrial alone;
  std::optional<BugTrial> preloaded{};  ///< with libcommpass-mpi; nothing: it is right without
};

/// In a word of people and of JSON.
std::string_view word_of(BugResult result);

bool is_all_right(const std::vector<TriedBug>& tried);

/// @param launcher  its words, with blanks between
Document document_of(const std::vector<TriedBug>& tried, const std::string& library, const std::string& launcher);

}  // namespace commpass
