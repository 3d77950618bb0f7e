// Machines, layouts and patterns that many tests use.
#pragma once

#include <gtest/gtest.h>

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "model/base/error.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/pattern/pattern.hpp"
#include "model/route/catalogue.hpp"
#include "model/schedule/schedule.hpp"

namespace commpass::test {

inline constexpr Bytes no_limit = std::numeric_limits<Bytes>::max();

inline void set_channel(Machine& machine, Level level, Channel channel) {
  machine.host.by_level[level] = std::move(channel);
}

/// One protocol for all sizes, whose further messages take alpha, too.
inline Channel one_protocol(Seconds alpha_s, double beta_s_per_byte) {
  return {{Protocol{"all", no_limit, alpha_s, beta_s_per_byte, alpha_s}}};
}

/// Costs like those of a small cluster: two protocols between nodes, and an injection rate.
inline Machine small_cluster() {
  Machine machine;
  machine.name = "test";
  set_channel(machine, standard_level::socket, {{Protocol{"eager", no_limit, 4e-7, 1e-10, 2e-7}}});
  set_channel(machine, standard_level::network,
              {{Protocol{"short", 512, 2e-6, 1e-9, 1e-6}, Protocol{"eager", no_limit, 4e-6, 2e-10, 2e-6}}});
  machine.levels[standard_level::node].up_rate_bytes_per_s = 1e10;
  machine.copy_rate_bytes_per_s = 1e10;
  machine.copy_block_s = 2e-8;
  return machine;
}

/// Everything costs something, receiving other than sending, and nodes share what they send and get.
inline Machine cluster_of_two_protocols() {
  Machine machine;
  machine.name = "test";
  Protocol near{"eager", no_limit, 4e-7, 1e-10, 1e-7}, small{"eager", 4096, 2e-6, 1e-9, 5e-7},
      large{"rendezvous", no_limit, 6e-6, 2e-10, 2e-6};
  near.alpha_receive_s = 2e-7;
  small.alpha_receive_s = large.alpha_receive_s = 1e-6;
  large.beta_receive_s_per_byte = 3e-10;
  set_channel(machine, standard_level::socket, {{near}, 1e-9, 2e10});
  set_channel(machine, standard_level::network, {{small, large}, 1e-9});
  auto& node = machine.levels[standard_level::node];
  node.up_rate_bytes_per_s = node.down_rate_bytes_per_s = 1e10;
  machine.copy_rate_bytes_per_s = 1e10;
  machine.copy_block_s = 2e-8;
  return machine;
}

/// Every pair of ranks sends `bytes` to each other; none to itself.
inline Pattern alltoall(int ranks, Bytes bytes) {
  Pattern pattern{ranks, {}};
  for (Rank i = 0; i < ranks; ++i)
    for (Rank j = 0; j < ranks; ++j)
      if (i != j) pattern.edges.push_back({i, j, bytes});
  return pattern;
}

inline Schedule schedule_of(const std::string& strategy, const Layout& layout, const Pattern& pattern) {
  const auto parsed = parse_strategy(strategy);
  return make_schedule(*make_route(parsed, layout, pattern), parsed.window, pattern, parsed.coalescing);
}

/// A layout of one of many kinds. `draw(n)` gives a number in 0 … n−1.
template <class Draw>
Layout draw_layout(int ranks, Draw draw) {
  std::vector<int> node_of(static_cast<std::size_t>(ranks)), socket_of(node_of.size());
  const int kind = draw(5), nodes = 1 + draw(ranks), sockets = 1 + draw(3);
  for (Rank rank = 0; rank < ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    switch (kind) {
      case 0: node_of[r] = 0; break;             // one node
      case 1: node_of[r] = rank; break;          // one rank a node
      case 2: node_of[r] = rank / nodes; break;  // in order, the last node smaller
      case 3: node_of[r] = rank % nodes; break;  // round-robin
      default: node_of[r] = draw(nodes);         // scattered and uneven
    }
    socket_of[r] = draw(sockets);
  }
  return Layout(node_of, socket_of);
}

/// A sparse pattern with edges to oneself, empty edges and several edges of one pair among others. In every other one
/// some edges have the same bytes.
template <class Draw>
Pattern draw_pattern(int ranks, int edges_max, Draw draw) {
  Pattern pattern{ranks, {}};
  const auto draw_bytes = [&] { return draw(5) == 0 ? 0 : draw(3000); };
  for (int edges = draw(edges_max + 1); edges > 0; --edges)
    pattern.edges.push_back({draw(ranks), draw(ranks), draw_bytes()});
  if (draw(2) == 0) return pattern;
  const std::array<Bytes, 3> bytes_of_payload{draw_bytes(), draw_bytes(), draw_bytes()};
  for (auto& edge : pattern.edges)
    if (const auto payload = draw(4); payload < 3) {
      edge.payload = payload;
      edge.bytes = bytes_of_payload[static_cast<std::size_t>(payload)];
    }
  return pattern;
}

/// The pattern in which no two edges have the same bytes.
inline Pattern without_sharing(Pattern pattern) {
  for (auto& edge : pattern.edges) edge.payload = no_payload;
  return pattern;
}

/// What the catalogue suggests, each also with the windows 1, 3 and unlimited if it takes one, dimensions that fit
/// badly, small chunks, and staggered messages.
inline std::vector<Strategy> strategies_for(const Layout& layout) {
  std::vector<Strategy> result;
  const auto add = [&](Strategy strategy) {
    for (const int rounds : {strategy.window.rounds, 0, 1, 3}) {
      strategy.window = {rounds};
      if (!catalogue_row(strategy.route).malformed(strategy).empty()) continue;
      if (std::ranges::find(result, strategy) == result.end()) result.push_back(strategy);
    }
  };
  for (const auto& strategy : suggest_strategies(layout)) add(strategy);
  add(parse_strategy("two-step"));
  add(parse_strategy("local-then-node"));
  add(parse_strategy("stfw,n=1"));
  add(parse_strategy("stfw,dims=3x2x5x7"));
  if (layout.ranks() >= 5) add(parse_strategy("tuna,radix=5"));
  if (layout.ranks() == layout.nodes() * layout.max_ppn()) {  // several local digits need even nodes
    add(parse_strategy("two-step,local=2x3x5x7,node=3x2x7x5"));
    add(parse_strategy("local-then-node,local=3x2x7x5"));
  }
  if (layout.max_ppn() >= 3) add(parse_strategy("tuna-node,radix=3"));
  for (const auto* text : {"two-step,node=3x2x7x5", "local-then-node,node=2x5x7x3", "three-step", "split,cap=700",
                           "standard,staggered", "standard,large-first", "two-step,staggered",
                           "stfw,dims=3x2x5x7,staggered", "split,cap=999,staggered", "stfw,dims=3x2x5x7,placed"})
    add(parse_strategy(text));
  return result;
}

/// The message of the Error that `action` throws; empty if it throws none. Anything else is a failure.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not an Error of Commpass: " << error.what();
  }
  return {};
}

/// One sentence that holds all of `parts`.
inline void expect_sentence(const std::string& message, const std::vector<std::string>& parts) {
  ASSERT_FALSE(message.empty()) << "no error was thrown; expected one about " << (parts.empty() ? "" : parts.front());
  EXPECT_EQ(message.back(), '.') << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_NE(message.find("; "), std::string::npos) << "what, then the remedy: " << message;
  for (const auto& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
}

/// A directory of its own, gone with its contents at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "commpass-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary directory");
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string path(const std::string& name = {}) const {
    return name.empty() ? path_.string() : (path_ / name).string();
  }
  std::string write(const std::string& name, const std::string& contents) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << contents;
    return path(name);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      result.push_back(entry.path().filename().string());
    std::ranges::sort(result);
    return result;
  }

 private:
  std::filesystem::path path_;
};

inline std::string contents_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// A memory device of Linux (its minor number: null 3, zero 5, full 7) whose loss would do no harm; empty if there is
/// none. Root, who could replace that of the machine, gets one of its own.
inline std::string device(const TemporaryDirectory& directory, const std::string& name, unsigned minor) {
  constexpr unsigned memory_devices = 1;
  const auto path = geteuid() == 0 ? directory.path(name) : "/dev/" + name;
  if (geteuid() == 0 && mknod(path.c_str(), S_IFCHR | S_IRUSR | S_IWUSR, makedev(memory_devices, minor)) != 0)
    return {};
  return access(path.c_str(), R_OK | W_OK) == 0 && std::fstream(path).is_open() ? path : std::string();
}

/// Feeds `parse` with damaged copies of `text`: every one must be accepted or refused with an Error.
template <class Parse>
void expect_robust(const std::string& text, Parse parse, int rounds = 2000) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  const std::string likely = "0123456789.-+eE,:;xX=@{}[]\"\n\r\t %\\/nulltrueNaNinf";
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string damaged = text;
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const auto place = below(damaged.size() + 1);
      const char other = below(2) == 0 ? static_cast<char>(below(256)) : likely[below(likely.size())];
      switch (below(5)) {
        case 0: damaged.insert(place, 1, other); break;
        case 1:
          if (place < damaged.size()) damaged.erase(place, 1 + below(8));
          break;
        case 2: damaged.resize(place); break;
        case 3: damaged.insert(place, damaged.substr(0, below(damaged.size() + 1)).substr(0, 40)); break;
        default:
          if (place < damaged.size()) damaged[place] = other;
      }
    }
    try {
      parse(damaged);
    } catch (const Error&) {
      ++refused;
    } catch (const std::exception& error) {
      FAIL() << "round " << round << ": " << error.what() << "\n" << damaged;
    }
  }
  EXPECT_GT(refused, 0) << "nothing was ever refused";
}

}  // namespace commpass::test
