#include "doctor/findings.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/base/format.hpp"
#include "model/base/text.hpp"

namespace commpass {

namespace {

Finding good(std::string subject, std::string text) { return {std::move(subject), State::good, std::move(text), {}}; }

Finding library(const MpiFacts& mpi, int ranks) {
  if (mpi.launched_ranks > 0 && mpi.launched_ranks != ranks)
    return {"MPI library", State::stop,
            fmt::format("{}; the launcher started {} ranks ({}), and MPI sees {}", mpi.library, mpi.launched_ranks,
                        mpi.launcher, ranks),
            "use the mpirun of this library, or build Commpass with the launcher's"};
  return good("MPI library", mpi.library);
}

Finding transport(const MpiFacts& mpi) {
  std::vector<std::string> settings;
  for (const auto& [name, value] : mpi.settings) settings.push_back(fmt::format("{} {}", name, value));
  return good("transport", settings.empty() ? "the library does not tell" : join(settings, ", "));
}

Finding single_copies(const Facts& facts) {
  switch (facts.mpi.single_copies) {
    case SingleCopies::allowed: return good("single copies", "ranks of a host may read each other's memory");
    case SingleCopies::not_tried:
      return good("single copies", "not tried: no two ranks share a host (start it under mpirun)");
    case SingleCopies::refused: break;
  }
  const auto scope = facts.host.ptrace_scope;
  return {"single copies", State::attention,
          "refused: large messages within a host are copied twice" +
              (scope && *scope > 0 ? fmt::format(" (kernel.yama.ptrace_scope is {})", *scope) : std::string()),
          scope && *scope > 0
              ? "have an administrator set kernel.yama.ptrace_scope to 0, or allow ptrace in the container"
              : "allow ptrace in the container (capability SYS_PTRACE)"};
}

Finding threads(const MpiFacts& mpi) {
  constexpr const char* names[] = {"single", "funneled", "serialized", "multiple"};
  return good("threads", fmt::format("MPI_THREAD_{} at most",
                                     names[std::clamp(mpi.thread_level, 0, static_cast<int>(std::size(names)) - 1)]));
}

/// What the ranks of one host may use together.
struct Crowd {
  int ranks = 0;
  std::set<int> cpus;
  std::map<int, int> pinned;  ///< ranks that are bound to this processor alone
  int unbound = 0;            ///< ranks that may move
};

std::vector<Crowd> crowds_of(const Facts& facts) {
  std::vector<Crowd> crowds(static_cast<std::size_t>(facts.layout.nodes()));
  for (std::size_t i = 0; i < facts.ranks.size(); ++i) {
    const auto& rank = facts.ranks[i];
    auto& crowd = crowds[static_cast<std::size_t>(facts.layout.node(static_cast<Rank>(i)))];
    ++crowd.ranks;
    crowd.cpus.insert(rank.cpus.begin(), rank.cpus.end());
    if (rank.cpus.size() == 1) ++crowd.pinned[rank.cpus.front()];
    else ++crowd.unbound;
  }
  return crowds;
}

Finding ranks_per_core(const Facts& facts, const std::vector<Crowd>& crowds) {
  for (const auto& crowd : crowds) {
    const auto cpus = crowd.cpus.empty() ? facts.host.cpus : static_cast<int>(crowd.cpus.size());
    const auto usable = facts.host.quota ? std::min(*facts.host.quota, static_cast<double>(cpus)) : cpus;
    if (cpus > 0 && crowd.ranks > usable)
      return {"ranks per core", State::stop,
              fmt::format("{} ranks share {:.3g} processors of a host and take turns", crowd.ranks, usable),
              "start fewer ranks a host: times of ranks that take turns are the scheduler's"};
    for (const auto& [cpu, bound] : crowd.pinned)
      if (bound > 1)
        return {"ranks per core", State::stop, fmt::format("{} ranks are bound to processor {}", bound, cpu),
                "bind each rank to a core of its own (mpirun --bind-to core)"};
  }
  return good("ranks per core", "each rank has a processor of its own");
}

Finding binding(const std::vector<Crowd>& crowds) {
  const auto moves = [](const Crowd& crowd) { return crowd.unbound > 0 && crowd.ranks > 1; };
  if (const auto found = std::ranges::find_if(crowds, moves); found != crowds.end())
    return {"binding", State::attention,
            fmt::format("{} of the {} ranks of a host may move between processors, so that launches differ",
                        found->unbound, found->ranks),
            "bind them (mpirun --bind-to core, srun --cpu-bind=cores)"};
  return good("binding", crowds.size() == 1 && crowds.front().ranks == 1 ? "one rank needs none"
                                                                         : "each rank is bound to one processor");
}

Finding load(const Facts& facts) {
  constexpr double little = 0.1, much = 0.5;
  double most = 0;
  for (const auto& rank : facts.ranks) most = std::max(most, rank.others);
  auto text = fmt::format("other programs keep {:.2f} processors busy", most);
  if (facts.host.load) text += fmt::format(" (load average {:.2f})", *facts.host.load);
  if (most < little) return good("load", text);
  return {"load", most < much ? State::attention : State::stop, text,
          "stop them, or ask the scheduler for nodes of your own"};
}

Finding noise(const Facts& facts) {
  constexpr double little = 0.03, much = 0.15;
  double lost = 0;
  Seconds longest = 0;
  std::size_t worst = 0;
  for (std::size_t rank = 0; rank < facts.ranks.size(); ++rank) {
    const auto& noise = facts.ranks[rank].noise;
    if (noise.lost > lost) worst = rank;
    lost = std::max(lost, noise.lost);
    longest = std::max(longest, noise.longest);
  }
  const auto text = fmt::format("rank {} loses {:.1f} % of its time to other work; at most {} at once", worst,
                                100 * lost, format_seconds(longest));
  if (lost < little) return good("noise", text);
  return {"noise", lost < much ? State::attention : State::stop, text,
          "stop other programs, leave a core to the system, or measure later"};
}

Finding frequency(const Facts& facts) {
  if (facts.host.governor.empty()) return good("frequency", "the system does not tell");
  if (std::ranges::none_of(facts.ranks, &RankFacts::saves_power)) return good("frequency", facts.host.governor);
  return {"frequency", State::attention, fmt::format("a governor changes it (here '{}')", facts.host.governor),
          "have an administrator choose 'performance' (cpupower frequency-set -g performance)"};
}

Finding clock(Seconds resolution) {
  constexpr Seconds coarse = 1e-6;
  const auto text = fmt::format("readings differ by {} at least", format_seconds(resolution));
  if (resolution < coarse) return good("clock", text);
  return {"clock", State::attention, text, "use a kernel whose clock source is tsc"};
}

Finding devices(const DeviceFacts& devices) {
  if (devices.kind.empty()) return good("devices", "none");
  auto text = fmt::format("{} of {}: {}", devices.names.size(), devices.kind, join(devices.names, ", "));
  if (devices.trouble.empty()) return good("devices", text + "; one kernel copies many blocks");
  return {"devices", State::attention, fmt::format("{}; blocks are copied one by one: {}", text, devices.trouble),
          "send few large blocks, or pack them yourself"};
}

Finding device_memory(const MpiFacts& mpi) {
  if (!mpi.takes_device_memory) return good("device memory", "the MPI library cannot be asked; taken as: no");
  return good("device memory", *mpi.takes_device_memory ? "MPI takes it" : "MPI does not take it");
}

Finding profile(const ProfileFacts& profile) {
  if (!profile.problem.empty())
    return {"profile", State::attention, profile.problem, "choose or calibrate another one"};
  if (profile.choice == ProfileChoice::built_in)
    return {"profile", State::attention,
            fmt::format("none is named and none was measured on this machine: programs take the built-in '{}', which "
                        "knows nothing of it",
                        profile.name),
            "calibrate ('mpirun -n N commpass calibrate')"};
  auto text = profile.name;
  const bool is_found = profile.choice == ProfileChoice::measured_here;
  if (is_found) text += ", which was measured on this machine (none is named)";
  const auto warning = is_found ? text + "; " + profile.warning : profile.warning;
  if (profile.age_days) text += fmt::format(", {:.0f} days old", *profile.age_days);
  if (!profile.verdict.empty()) text += fmt::format(", {}", profile.verdict);
  if (!profile.warning.empty()) return {"profile", State::attention, warning, "calibrate here"};
  constexpr double old_days = 365;
  if (profile.age_days && *profile.age_days > old_days) return {"profile", State::attention, text, "calibrate again"};
  return good("profile", text);
}

/// Small messages now, and when the profile was measured.
Finding messages(const Facts& facts) {
  if (facts.paces.empty()) return good("messages", "not timed: one rank alone (start it under mpirun)");
  // A profile of another machine is told of in a line of its own.
  const auto warning = facts.profile.warning.empty() ? pace_warning(facts.profile.pace, facts.paces) : std::string();
  if (warning.empty()) return good("messages", describe_pace(facts.paces));
  return {"messages", State::attention, warning, "launch again; if it stays so, calibrate again"};
}

Finding messages_in_flight(const FlightFacts& flight) {
  constexpr const char* subject = "in flight";
  if (flight.messages == 0) return good(subject, "not tried: all ranks are on one node");
  if (!flight.late)
    return good(subject, fmt::format("{} messages of each rank to other nodes at once come in time", flight.messages));
  const auto& late = *flight.late;
  return {subject, State::attention,
          fmt::format("with {} messages of each rank to other nodes at once {} of {} exchanges took {} longer, as if "
                      "messages were lost and sent again after a timer",
                      late.messages, late.late, late.of, format_seconds(late.late_s)),
          fmt::format("calibrate here, or set COMMPASS_LIMITS=messages_off_node={}", std::max(1, late.most_in_time))};
}

Finding large_blocks(const std::optional<LargeBlocks>& timed) {
  constexpr const char* subject = "large blocks";
  if (!timed) return good(subject, "not timed");
  constexpr double decisive_ratio = 2;
  const auto here_s = timed->as_here.time_s, kept_s = timed->keeps_all.time_s;
  const auto what = fmt::format("{} blocks of {} are allocated, written and freed in {}", LargeBlocks::blocks,
                                format_bytes(static_cast<double>(LargeBlocks::block_bytes)), format_seconds(here_s));
  if (here_s < decisive_ratio * kept_s) return good(subject, what);
  return {subject, State::attention,
          fmt::format("{}, and in {} where glibc keeps freed memory: else it returns large blocks to the system, and "
                      "takes {} page faults to have them again",
                      what, format_seconds(kept_s), timed->as_here.page_faults),
          fmt::format("set MALLOC_MMAP_THRESHOLD_={} MALLOC_TRIM_THRESHOLD_={} for programs that free large blocks and "
                      "allocate them again, on all ranks",
                      mmap_threshold, trim_threshold)};
}

/// For programs and people.
Cell cell_of(State state) {
  switch (state) {
    case State::good: return {"good", "ok"};
    case State::attention: return {"attention", "note"};
    case State::stop: break;
  }
  return {"stop", "STOP"};
}

/// "[0 1 2 | 3 4 5]": the ranks of a node, by socket.
std::string row_of(const Layout& layout, int node) {
  constexpr std::size_t shown = 16;
  std::string row = "[";
  const auto ranks = layout.ranks_of(node);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) row += layout.socket(ranks[i]) == layout.socket(ranks[i - 1]) ? " " : " | ";
    if (i == shown) return row + fmt::format("… {} more]", ranks.size() - shown);
    row += std::to_string(ranks[i]);
  }
  return row + "]";
}

}  // namespace

std::vector<Finding> judge(const Facts& facts) {
  const auto crowds = crowds_of(facts);
  return {library(facts.mpi, facts.layout.ranks()),
          transport(facts.mpi),
          single_copies(facts),
          threads(facts.mpi),
          good("processor", facts.host.processor.empty() ? "the system does not tell" : facts.host.processor),
          ranks_per_core(facts, crowds),
          binding(crowds),
          load(facts),
          noise(facts),
          frequency(facts),
          clock(facts.clock_resolution),
          devices(facts.devices),
          device_memory(facts.mpi),
          profile(facts.profile),
          messages(facts),
          messages_in_flight(facts.flight),
          large_blocks(facts.large_blocks)};
}

bool may_measure(const std::vector<Finding>& findings) {
  return std::ranges::none_of(findings, [](const Finding& finding) { return finding.state == State::stop; });
}

std::string picture(const Layout& layout) {
  constexpr int shown = 8;
  auto text = fmt::format("{}\n", layout.describe());
  for (int node = 0; node < std::min(shown, layout.nodes()); ++node)
    text += fmt::format("  node {:<3} {}\n", node, row_of(layout, node));
  if (layout.nodes() > shown) text += fmt::format("  … and {} nodes more\n", layout.nodes() - shown);
  return text;
}

Document document_of(const std::vector<Finding>& findings, const Layout& layout) {
  Document document;
  document.facts({{"may_measure", may_measure(findings)}, {"layout", layout.describe()}});
  Table table{"findings",
              {{.key = {}, .width = -5, .gap = 0},
               {.key = "subject", .width = -15, .gap = 1},
               {"state"},
               {.key = "text", .width = -1, .gap = 1},
               {"remedy"}}};
  for (const auto& [subject, state, text, remedy] : findings) {
    auto& row = table.add({cell_of(state), subject, cell_of(state), text, remedy});
    if (!remedy.empty()) row.below = fmt::format("{:<21} -> {}\n", "", remedy);
  }
  document.add(std::move(table));
  document.text("\n" + picture(layout) +
                (may_measure(findings) ? "\nThis is a good moment to measure.\n"
                                       : "\nDo not measure now: see the lines with STOP.\n"));
  return document;
}

}  // namespace commpass
