#include "selector/report/tuning_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/readable_json.hpp"
#include "model/base/text.hpp"

namespace commpass {

namespace {

/// Lines of a comment.
std::string origin_of(const Tuning& tuning, const ReportContext& context, const std::string& mark) {
  std::string text =
      fmt::format("{}Choices of Commpass among the algorithms of {}, by predicted times.\n", mark, tuning.library);
  for (const auto& [key, value] : context) append(text, "{}{}: {}\n", mark, key, escape_control_characters(value));
  return text;
}

/// Of coll/tuned (ompi/mca/coll/base/coll_base_functions.h).
constexpr int open_mpi_alltoall = 3, open_mpi_alltoallv = 4;
/// Its number for the choice of the library.
constexpr const char* open_mpi_own = "0";

std::string open_mpi_rule(std::int64_t bytes, const std::optional<LibraryAlgorithm>& algorithm,
                          const std::string& remark) {
  return fmt::format("{} {} 0 0  # {}: {}\n", bytes, algorithm ? algorithm->tuning_name : open_mpi_own, remark,
                     algorithm ? algorithm->name : "as Open MPI chooses");
}

std::string open_mpi_rules_of(const TunedRanks& tuned) {
  auto text = fmt::format("{}  # ranks and more\n{}  # sizes\n", tuned.ranks, tuned.alltoall.size());
  for (const auto& rule : tuned.alltoall)
    text += open_mpi_rule(rule.bytes_from * tuned.ranks, rule.algorithm,
                          fmt::format("blocks of {} B and more", rule.bytes_from));
  return text;
}

/// The key whose value has the rules of MPI_Alltoall without MPI_IN_PLACE.
constexpr const char *mpich_alltoall = "collective=alltoall", *mpich_intra = "comm_type=intra",
                     *mpich_not_in_place = "is_sendbuf_inplace=no";

bool has_alltoall(const Json& rules) {
  const auto* found = &rules;
  for (const auto* key : {mpich_alltoall, mpich_intra, mpich_not_in_place})
    if (found) found = found->is_object() ? found->find(key) : nullptr;
  return found != nullptr;
}

/// @param own  the subtree that MPICH has
Json mpich_sizes(const std::vector<TuningRule>& rules, const Json& own) {
  auto sizes = Json::object();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto key =
        i + 1 < rules.size() ? fmt::format("avg_msg_size<={}", rules[i + 1].bytes_from - 1) : "avg_msg_size=any";
    if (!rules[i].algorithm) sizes[key] = own;
    else sizes[key]["algorithm=" + rules[i].algorithm->tuning_name] = Json::object();
  }
  return sizes;
}

}  // namespace

std::string open_mpi_rules(const Tuning& tuning, const ReportContext& context) {
  const bool has_alltoallv =
      std::ranges::any_of(tuning.ranks, [](const TunedRanks& tuned) { return tuned.alltoallv.has_value(); });
  auto text = origin_of(tuning, context, "# ");
  append(text, "{}  # collectives\n{}  # MPI_Alltoall\n{}  # numbers of ranks\n", has_alltoallv ? 2 : 1,
         open_mpi_alltoall, tuning.ranks.size() + 1);
  const auto fewer_ranks = fmt::format("0  # ranks and more\n1  # sizes\n{}", open_mpi_rule(0, {}, "any blocks"));
  text += fewer_ranks;
  for (const auto& tuned : tuning.ranks) text += open_mpi_rules_of(tuned);
  if (!has_alltoallv) return text;
  append(text, "{}  # MPI_Alltoallv\n{}  # numbers of ranks\n{}", open_mpi_alltoallv, tuning.ranks.size() + 1,
         fewer_ranks);
  for (const auto& tuned : tuning.ranks)
    append(text, "{}  # ranks and more\n1  # sizes\n{}", tuned.ranks, open_mpi_rule(0, tuned.alltoallv, "any blocks"));
  return text;
}

Json mpich_own_rules(const std::string& contents, const std::string& path) {
  const std::string remedy =
      "name libmpich.so of MPICH 4, or a file with all its rules (src/mpi/coll/coll_selection or "
      "maint/tuning/coll/mpir/generic.json of its source)";
  constexpr std::string_view begin = "{\"collective=";
  if (contents.find_first_not_of(" \t\r\n") != std::string::npos &&
      contents[contents.find_first_not_of(" \t\r\n")] == '{') {
    auto rules = Json::parse(contents, path, remedy);
    if (has_alltoall(rules)) return rules;
    throw InputError(path, "it has no rules of MPI_Alltoall", remedy);
  }
  // A library holds several: those of the device name no algorithms.
  for (auto at = contents.find(begin); at != std::string::npos; at = contents.find(begin, at + 1)) {
    const auto end = contents.find('\0', at);
    if (end == std::string::npos) break;
    auto rules = Json::parse_or_null(std::string_view(contents).substr(at, end - at));
    if (has_alltoall(rules)) return rules;
  }
  throw InputError(path, "it holds no rules of MPICH", remedy);
}

std::string mpich_rules(const Tuning& tuning, const Json& own, const ReportContext& context) {
  const auto& own_alltoall = own[mpich_alltoall][mpich_intra][mpich_not_in_place];
  auto ranks = Json::object();
  const TunedRanks* last = nullptr;
  for (const auto& tuned : tuning.ranks) {
    // MPICH 4.0 takes "comm_size<8" for 8 ranks, too, where it follows a condition of the call.
    ranks[fmt::format("comm_size<={}", tuned.ranks - 1)] =
        last ? mpich_sizes(last->alltoall, own_alltoall) : own_alltoall;
    last = &tuned;
  }
  ranks["comm_size=any"] = last ? mpich_sizes(last->alltoall, own_alltoall) : own_alltoall;
  auto rules = own;
  rules[mpich_alltoall][mpich_intra][mpich_not_in_place] = std::move(ranks);
  auto origin = origin_of(tuning, context, "   ");
  for (auto at = origin.find("*/"); at != std::string::npos; at = origin.find("*/")) origin.replace(at, 2, "* /");
  return "/*\n" + origin + "*/\n" + readable(rules);
}

Document document_of(const Tuning& tuning, const ReportContext& context) {
  Document document(context);
  Table table{"rules",
              {{"ranks", "ranks", 7},
               {"bytes_from", "blocks from", 11},
               {"algorithm", "algorithm", -1},
               {"gain_bytes", "at", 9},
               {"library", "instead of", -1},
               {"exceeded_limit", "which exceeds", -1},
               {"library_s", "predicted", 10},
               {"seconds", "with it", 10}}};
  bool has_alltoallv = false;
  for (const auto& tuned : tuning.ranks) {
    has_alltoallv = has_alltoallv || tuned.alltoallv;
    for (const auto& rule : tuned.alltoall)
      if (rule.algorithm)
        table.add({tuned.ranks, bytes_cell(rule.bytes_from), rule.algorithm->name, bytes_cell(rule.gain_bytes),
                   rule.library_name, rule.exceeded_limit ? Cell(rule.exceeded_limit) : Cell(),
                   seconds_cell(rule.library_s), seconds_cell(rule.seconds)});
  }
  const bool has_rules = !table.rows.empty() || has_alltoallv;
  document.add(std::move(table));
  Table alltoallv{"alltoallv", {{"ranks", "ranks", 7}, {"algorithm", "algorithm of MPI_Alltoallv", -1}}};
  for (const auto& tuned : tuning.ranks)
    if (tuned.alltoallv) alltoallv.add({tuned.ranks, tuned.alltoallv->name});
  if (has_alltoallv) document.add(std::move(alltoallv));
  if (!has_rules)
    document.paragraph(fmt::format(
        "{} takes the fastest of its algorithms by itself, as far as this profile can tell.\n", tuning.library));
  return document;
}

}  // namespace commpass
