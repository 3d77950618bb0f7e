#include "runtime/choose/known_wisdom.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/mixed.hpp"
#include "model/pattern/pattern_digest.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

/// Handles of other threads may keep what their trials have found.
std::mutex wisdom_in_use;

std::string machine_text(const Machine& machine) {
  const auto here = fingerprint_here();
  return fmt::format("{}; {}; {} processors; {}", machine.name, here.processor, here.node_processors, here.mpi_library);
}

std::string layout_text(const Layout& layout) {
  std::uint64_t places = 0;
  for (Rank rank = 0; rank < layout.ranks(); ++rank)
    places =
        mixed({places, static_cast<std::uint64_t>(layout.node(rank)), static_cast<std::uint64_t>(layout.socket(rank))});
  for (int node = 0; layout.groups() > 1 && node < layout.nodes(); ++node)
    places = mixed({places, static_cast<std::uint64_t>(layout.group(node))});
  return fmt::format("{} ranks, {:016x}", layout.ranks(), places);
}

void warn_of_wisdom(const Error& error, const char* consequence) {
  std::fputs(fmt::format("commpass: {} {}\n", error.what(), consequence).c_str(), stderr);
}

/// May the strategy of an entry run here? A file may be from another version.
bool runs_here(const std::string& text, const Layout& layout) {
  const auto strategy = parse_strategy(text);
  return catalogue_row(strategy.route).inapplicable(strategy, layout).empty() && !is_automatic(strategy) &&
         strategy.path.is_host() && (strategy.route != "mpi" || NeighborhoodCollective::is_available());
}

}  // namespace

KnownWisdom know_wisdom(MPI_Comm comm, const std::string& file, const Layout& layout, const Machine& machine) {
  KnownWisdom known;
  all_or_none(comm, [&] {
    if (rank_in(comm) != 0 || file.empty()) return;
    known.machine = machine_text(machine);
    known.layout = layout_text(layout);
    known.file = file;
    try {
      known.wisdom = read_wisdom(file);
      known.is_used = true;
    } catch (const Error& error) {
      warn_of_wisdom(error, "Until then nothing is known from it, and nothing kept.");
    }
  });
  int is_used = known.is_used ? 1 : 0;
  COMMPASS_MPI_CALL(MPI_Bcast, &is_used, 1, MPI_INT, 0, comm);
  known.is_used = is_used != 0;
  return known;
}

WisdomKey wisdom_key(MPI_Comm comm, const KnownWisdom& known, std::span<const SendEdge> sends, bool are_transposed) {
  PatternDigest mine, all;
  all_or_none(comm, [&] {
    std::map<std::pair<Bytes, Bytes>, int> sharers;
    for (const auto& edge : sends) ++sharers[{edge.offset, edge.bytes}];
    for (const auto& edge : sends)
      if (edge.bytes > 0) mine.add(rank_in(comm), edge.destination, edge.bytes, sharers[{edge.offset, edge.bytes}]);
  });
  COMMPASS_MPI_CALL(MPI_Reduce, mine.sums.data(), all.sums.data(), static_cast<int>(mine.sums.size()), MPI_UINT64_T,
                    MPI_SUM, 0, comm);
  WisdomKey key;
  all_or_none(comm, [&] {
    if (rank_in(comm) == 0) key = {known.machine, known.layout, all.text() + (are_transposed ? ", transposed" : "")};
  });
  return key;
}

std::optional<Decision> recall(MPI_Comm comm, const KnownWisdom& known, const WisdomKey& key, const Layout& layout,
                               PlannerMode planner) {
  const auto known_here = [&]() -> std::vector<Decision> {
    const std::scoped_lock lock(wisdom_in_use);
    const auto* entry = known.wisdom.find(key, planner);
    if (!entry || !runs_here(entry->strategy, layout)) return {};
    Decision decision{{.strategy = entry->strategy, .measured_s = entry->seconds}};
    if (entry->new_requests) decision.requests = RequestLife::immediate;
    decision.explanation =
        fmt::format("{}: it was measured before on such a pattern as the fastest{}, and took {}.\n", entry->strategy,
                    entry->new_requests ? ", with new requests each time" : "", format_seconds(entry->seconds));
    return {std::move(decision)};
  };
  auto decisions = decided_by_rank_0(comm, known_here);
  return decisions.empty() ? std::nullopt : std::optional(std::move(decisions.front()));
}

void keep_wisdom(KnownWisdom& known, const WisdomKey& key, const Decision& decision) {
  const std::scoped_lock lock(wisdom_in_use);
  if (known.file.empty() || !decision.measured_s) return;
  const WisdomEntry entry{key, decision.strategy, decision.requests == RequestLife::immediate, decision.how.planner,
                          *decision.measured_s};
  known.wisdom.learn(entry);
  try {
    add_wisdom(known.file, entry);
  } catch (const Error& error) {
    warn_of_wisdom(error, "Measurements are not kept.");
    known.file.clear();
  }
}

}  // namespace commpass
