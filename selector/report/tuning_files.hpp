// Files that MPI libraries read their choice of algorithms from, and what such a file says.
#pragma once

#include <string>

#include "model/base/json_fwd.hpp"
#include "selector/choose/tuning.hpp"
#include "selector/report/document.hpp"

namespace commpass {

/// The dynamic rules of Open MPI's coll/tuned. Sizes in it are those of all blocks of a rank, as Open MPI counts them.
/// @param context  the origin of the choice, which comments hold
std::string open_mpi_rules(const Tuning& tuning, const ReportContext& context);

/// The rules that MPICH has without a file: a file replaces those of all collectives. The text of a file in JSON, or
/// the contents of libmpich.so, which holds them.
/// @param path  for errors
/// @throws InputError if there are none, or none of MPI_Alltoall
Json mpich_own_rules(const std::string& contents, const std::string& path);

/// MPICH's own rules with other ones of MPI_Alltoall. MPICH skips comments in JSON.
/// @param own  mpich_own_rules
std::string mpich_rules(const Tuning& tuning, const Json& own, const ReportContext& context);

/// The rules that differ from the library's own choice.
Document document_of(const Tuning& tuning, const ReportContext& context);

}  // namespace commpass
