// Calibrations of a machine that is known: what the experiments would give is calculated in their place, and the
// parameters must come out again. One process stands for all ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "calibrate/calibration.hpp"
#include "calibrate/operation_timing.hpp"
#include "calibrate/pushed_messages.hpp"
#include "model/machine/plausibility.hpp"
#include "runtime/mpi/messages_in_flight.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace {
const double* other_clock = nullptr;  // in the place of MPI's
}

extern "C" double MPI_Wtime() { return other_clock ? *other_clock : PMPI_Wtime(); }

namespace commpass {

namespace {

using testing::HasSubstr;

constexpr Bytes no_limit = std::numeric_limits<Bytes>::max();
constexpr double no_rate = std::numeric_limits<double>::infinity();
constexpr double packing_rate = 4e9, packing_block_s = 6e-8;
constexpr Seconds direct_s = 5e-7, direct_message_s = 2e-7;
constexpr Seconds call_s = 3e-7, call_message_s = 4e-8, alltoallv_s = -2e-7, alltoallv_message_s = -1e-8,
                  alltoallv_rank_s = 2e-8;

/// What the experiments ask.
struct World {
  Layout layout;
  Machine machine;
  bool has_windows = true;
  int slow_node = -1;                    ///< none
  Bytes fan_in_unclear_from = no_limit;  ///< larger messages of many senders take up to twice as long, or nothing
  Bytes new_send_bytes = 0;   ///< new requests take half of what persistent ones do up to here, and beyond it more
  int late_every = 3;         ///< of the exchanges with more
  int most_in_flight = 1000;  ///< of more messages some are lost, and
  Seconds timer_s = 0.16;     ///< sent again after this
  double burst_noise = 0;     ///< posting takes by up to this part less or more, the same each time

  double late(Bytes bytes, int messages) const {
    return 1 + burst_noise * std::sin(static_cast<double>(bytes % 97) + 1.7 * messages);
  }

  const Channel& channel(Rank a, Rank b) const { return *machine.host.find(layout.channel_level(a, b)); }
  Seconds alone(Rank a, Rank b, Bytes bytes) const { return lone(channel(a, b).protocol(bytes), bytes); }
  static Seconds lone(const Protocol& protocol, Bytes bytes) {
    return protocol.alpha_s + protocol.beta_s_per_byte * static_cast<double>(bytes);
  }
};
const World* world = nullptr;

Protocol protocol(const char* name, Bytes most, Seconds alpha, double beta, Seconds alpha_next, double beta_next,
                  Seconds alpha_receive, double beta_receive) {
  return {name, most, alpha, beta, alpha_next, beta_next, alpha_receive, beta_receive};
}

Machine known_machine() {
  Machine m;
  m.name = "known";
  auto& host = m.host.by_level;
  host[standard_level::socket] = Channel{{protocol("eager", 4096, 3e-7, 2e-10, 1e-7, 1.5e-10, 8e-8, 5e-10),
                                          protocol("rendezvous", no_limit, 2e-6, 1e-10, 6e-7, 9e-11, 4e-7, 1.5e-10)},
                                         2e-9,
                                         1.2e10,
                                         no_rate,
                                         4097};
  host[standard_level::node] =
      Channel{{protocol("eager", no_limit, 6e-7, 3e-10, 2e-7, 2e-10, 1e-7, 5e-10)}, 0, 6e9, no_rate, 0};
  host[standard_level::network] = Channel{{protocol("short", 512, 1e-6, 1e-9, 5e-7, 8e-10, 3e-7, 1e-9),
                                           protocol("eager", 16384, 2e-6, 4e-10, 7e-7, 3e-10, 4e-7, 5e-10),
                                           protocol("rendezvous", no_limit, 9e-6, 1e-10, 2e-6, 1e-11, 9e-7, 1.8e-10)},
                                          5e-9,
                                          no_rate,
                                          no_rate,
                                          {}};
  m.shared.by_level[standard_level::socket] =
      Channel{{protocol("pushed", no_limit, 1.5e-7, 4e-11, 2e-8, 1.5e-11, 1e-8, 2e-11)}, {}, 8e10};
  m.shared.by_level[standard_level::node] =
      Channel{{protocol("pushed", no_limit, 2.5e-7, 6e-11, 3e-8, 3e-11, 4e-8, 2.5e-11)}, {}, 8e10};
  m.levels[standard_level::node].up_rate_bytes_per_s = 1.1e10;
  m.levels[standard_level::node].down_rate_bytes_per_s = 1.3e10;
  m.levels[standard_level::network].node_share_bytes_per_s = 6e9;
  m.levels[standard_level::node].inside_rate_bytes_per_s = 1.5e10;
  host[standard_level::network]->link_rate_bytes_per_s = 1.05e10;
  m.copy_rate_bytes_per_s = 8e9;
  m.copy_block_s = 4e-8;
  m.value_run_s = 3e-9;
  m.reduction_rate_bytes_per_s = 5e9;
  m.operations.barrier_s = 3e-6;
  m.operations.allreduce_s = 5e-6;
  m.operations.probe_s = 4e-7;
  m.operations.put_s = 7e-7;
  m.operations.fence_s = 6e-6;
  m.operations.window_s = 9e-5;
  return m;
}

}  // namespace

// In place of the experiments.

Bench::Bench(MPI_Comm comm, Bytes, Memory&) : comm_(comm) {}
Seconds Bench::ping_pong(Rank first, Rank second, Bytes bytes, int) {
  const bool is_new = bytes <= new_send_bytes_, is_short = bytes <= world->new_send_bytes;
  return world->alone(first, second, bytes) * (!is_new ? 1 : is_short ? 0.5 : 1.05);
}
std::vector<Seconds> Bench::ping_pongs(std::span<const Pair> pairs, Bytes bytes, int) {
  std::vector<Seconds> times;
  for (const auto& [first, second] : pairs) {
    const bool is_slow =
        world->layout.node(first) == world->slow_node || world->layout.node(second) == world->slow_node;
    times.push_back(world->alone(first, second, bytes) * (is_slow ? 1.5 : 1));
  }
  return times;
}
Seconds Bench::synchronous_ping_pong(Rank first, Rank second, Bytes bytes, Receiving receiving, int) {
  return 1e-6 + world->alone(first, second, bytes) +
         (receiving == Receiving::probed ? world->machine.operations.probe_s.value() : 0);
}
Seconds Bench::burst(Rank sender, std::span<const Rank> receivers, Bytes bytes, int messages, int) {
  const auto& channel = world->channel(sender, receivers.front());
  const auto& used = channel.protocol(bytes);
  const auto size = static_cast<double>(bytes);
  const double queue = receivers.size() == 1 ? messages : 1;
  return World::lone(used, bytes) +
         (messages - 1) * std::max(used.next_seconds(size), size / channel.link_rate_bytes_per_s) +
         channel.gamma_s.value_or(0) * queue * queue / 2;
}
Seconds Bench::posting(Rank sender, std::span<const Rank> receivers, Bytes bytes, int messages, int) {
  return messages * world->late(bytes, messages) *
         world->channel(sender, receivers.front()).protocol(bytes).next_seconds(static_cast<double>(bytes));
}
Seconds Bench::fan_in(std::span<const Rank> senders, Rank receiver, Bytes bytes, int messages, int) {
  const auto& channel = world->channel(senders.front(), receiver);
  const auto& used = channel.protocol(bytes);
  const auto size = static_cast<double>(bytes), count = static_cast<double>(senders.size());
  const double all = messages * count;
  if (bytes >= world->fan_in_unclear_from) return (1 + std::sin(1.7 * messages)) * 1e-4;
  const auto by_senders = std::max(used.next_seconds(size), size / channel.link_rate_bytes_per_s) / count;
  return World::lone(used, bytes) + all * std::max(used.receive_seconds(bytes), by_senders) +
         channel.gamma_s.value_or(0) * all * all / 2;
}
Seconds Bench::both_ways(Rank first, Rank second, Bytes bytes, int messages, int) {
  const auto& channel = world->channel(first, second);
  const auto& used = channel.protocol(bytes);
  const auto size = static_cast<double>(bytes), count = static_cast<double>(messages);
  const Seconds both = used.next_seconds(size) + used.receive_seconds(bytes);
  return std::max(World::lone(used, bytes), both) + (count - 1) * std::max(both, size / channel.link_rate_bytes_per_s) +
         channel.gamma_s.value_or(0) * count * count / 2;
}
Seconds Bench::rings(std::span<const std::vector<Rank>> rings, Bytes bytes, Seconds, int) {
  const auto& layout = world->layout;
  const auto& machine = world->machine;
  const auto& channel = world->channel(rings.front()[0], rings.front()[1]);
  const auto size = static_cast<double>(bytes);
  const auto& node = machine.levels[layout.node_level()];
  const bool between_nodes = layout.channel_level(rings.front()[0], rings.front()[1]) == layout.outermost();
  if (const auto groups = levels_of_groups(layout); !groups.empty() && between_nodes) {
    double shared = layout.max_ppn() * size / node.up_rate_bytes_per_s;
    for (const auto group : groups)
      if (layout.level(rings.front()[0], rings.front()[1]) > group)
        shared =
            std::max(shared, layout.ranks_of_instances(group)[0] * size / machine.levels[group].up_rate_bytes_per_s);
    return channel.protocol(bytes).alpha_s + std::max(channel.protocol(bytes).beta_s_per_byte * size, shared);
  }
  const double of_node = static_cast<double>(rings.size()) * size;
  double shared = between_nodes ? of_node / std::min({node.up_rate_bytes_per_s, node.down_rate_bytes_per_s,
                                                      machine.levels[layout.outermost()].node_share_bytes_per_s})
                                : static_cast<double>(rings.front().size()) * size / channel.aggregate_rate_bytes_per_s;
  for (Level level = 0; !between_nodes && level <= layout.node_level(); ++level) {
    std::map<int, double> ranks;  // by instance
    for (const auto& ring : rings) {
      auto& of_instance = ranks[layout.instance_of(level)[ring.front()]];
      of_instance += static_cast<double>(ring.size());
      shared = std::max(shared, of_instance * size / machine.levels[level].inside_rate_bytes_per_s);
    }
  }
  const auto& used = channel.protocol(bytes);
  return used.alpha_s + std::max(used.beta_s_per_byte * size, shared);
}
Seconds Bench::early_send(Rank sender, Rank receiver, Bytes bytes, Seconds late_s) {
  const auto from = world->channel(sender, receiver).rendezvous_from_bytes;
  return from && bytes >= *from ? late_s : 1e-6;
}
Seconds Bench::streams(std::span<const Rank> senders, std::span<const Rank> receivers, Bytes bytes, Seconds, int) {
  const auto& layout = world->layout;
  const auto& channel = world->channel(senders.front(), receivers.front());
  std::map<std::pair<Level, int>, int> inside;
  std::map<int, int> out_of, into;
  std::map<std::pair<Level, int>, int> out_of_group, into_group;
  double slowest = channel.protocol(bytes).beta_s_per_byte * static_cast<double>(bytes);
  const auto share = [&](int active, double rate) {
    slowest = std::max(slowest, active * static_cast<double>(bytes) / rate);
  };
  const auto& node = world->machine.levels[layout.node_level()];
  for (std::size_t i = 0; i < senders.size(); ++i) {
    const auto level = layout.channel_level(senders[i], receivers[i]);
    if (level <= layout.node_level()) {
      share(++inside[{level, layout.instance_of(level)[senders[i]]}], channel.aggregate_rate_bytes_per_s);
      continue;
    }
    share(++out_of[layout.node(senders[i])], node.up_rate_bytes_per_s);
    share(++into[layout.node(receivers[i])], node.down_rate_bytes_per_s);
    for (const auto group : levels_of_groups(layout)) {
      if (layout.level(senders[i], receivers[i]) <= group) continue;
      const auto rate = world->machine.levels[group].up_rate_bytes_per_s;
      const auto* const instance_of = layout.instance_of(group);
      share(++out_of_group[{group, instance_of[senders[i]]}], rate);
      share(++into_group[{group, instance_of[receivers[i]]}], rate);
    }
  }
  return channel.protocol(bytes).alpha_s + slowest;
}
PushedMessages::Times PushedMessages::pairs(Level level, std::size_t count, Bytes bytes, int) {
  const auto& channel = *world->machine.shared.by_level[level];
  const auto& used = channel.protocol(bytes);
  const double moved = 2 * static_cast<double>(count) * static_cast<double>(bytes);
  return {0, std::max(World::lone(used, bytes), used.alpha_s + moved / channel.aggregate_rate_bytes_per_s)};
}
PushedMessages::Times PushedMessages::among_partners(Level level, Bytes bytes, int messages, int) {
  const auto& used = world->machine.shared.by_level[level]->protocol(bytes);
  const Seconds posting = messages * used.next_seconds(static_cast<double>(bytes));
  return {posting, World::lone(used, bytes) + posting + messages * used.receive_seconds(bytes)};
}
bool PushedMessages::are_pushed(Level level, Bytes, int) { return world->machine.shared.has(level); }
Seconds time_local_copy(MPI_Comm, std::span<const std::byte>, std::span<std::byte>, Bytes bytes, int) {
  return world->machine.copy_block_s.value_or(0) + static_cast<double>(bytes) / world->machine.copy_rate_bytes_per_s;
}
Seconds time_value_loop(MPI_Comm, std::span<const std::byte> from, std::span<std::byte> to, Bytes value_bytes,
                        int values, int) {
  EXPECT_LE(2 * values * value_bytes, std::ssize(from)) << "values and their gaps";
  EXPECT_LE(values * value_bytes, std::ssize(to));
  return values *
         (*world->machine.value_run_s + static_cast<double>(value_bytes) / world->machine.copy_rate_bytes_per_s);
}
Seconds time_addition(MPI_Comm, std::span<const std::byte> from, std::span<std::byte> to, Bytes bytes, int) {
  EXPECT_LE(bytes, std::ssize(from));
  EXPECT_LE(bytes, std::ssize(to));
  EXPECT_EQ(bytes % static_cast<Bytes>(sizeof(double)), 0);
  return *world->machine.value_run_s + static_cast<double>(bytes) / *world->machine.reduction_rate_bytes_per_s;
}
Seconds time_datatype(MPI_Comm, std::span<std::byte> scattered, std::span<std::byte> packed, Bytes piece_bytes,
                      int pieces, int) {
  EXPECT_LE(2 * pieces * piece_bytes, std::ssize(scattered)) << "pieces and their gaps";
  EXPECT_LE(pieces * piece_bytes, std::ssize(packed));
  return pieces * (packing_block_s + static_cast<double>(piece_bytes) / packing_rate);
}
PutWindow::PutWindow(MPI_Comm, std::span<std::byte>) {
  if (!world->has_windows) throw MpiError("MPI_Win_create", MPI_ERR_WIN);
}
PutWindow::~PutWindow() = default;
std::vector<Seconds> time_messages_in_flight(MPI_Comm, const Layout& layout, int messages, int exchanges) {
  EXPECT_GT(layout.nodes(), 1);
  std::vector<Seconds> seconds;
  for (int i = 0; i < exchanges; ++i)
    seconds.push_back(1e-6 * messages +
                      (messages > world->most_in_flight && i % world->late_every == 0 ? world->timer_s : 0));
  return seconds;
}

Seconds time_barrier(MPI_Comm, int) { return world->machine.operations.barrier_s.value(); }
Seconds time_allreduce(MPI_Comm, int) { return world->machine.operations.allreduce_s.value(); }
Seconds time_window(MPI_Comm, std::span<std::byte>, int) { return world->machine.operations.window_s.value(); }
Seconds time_puts(MPI_Comm, const PutWindow&, int puts, int) {
  return world->machine.operations.fence_s.value() + puts * world->machine.operations.put_s.value();
}
CollectiveBench::CollectiveBench(MPI_Comm comm, int messages, const Machine&)
    : comm_(comm), send_(static_cast<std::size_t>(messages)) {}
Seconds CollectiveBench::direct(int) { return direct_s + direct_message_s * static_cast<double>(send_.size()); }
Seconds CollectiveBench::by_library(int) {
  return direct(1) + call_s + 2 * call_message_s * static_cast<double>(send_.size());
}
AlltoallvBench::AlltoallvBench(MPI_Comm comm, const Layout& layout, int messages, Bytes)
    : comm_(comm),
      exchange_(comm_.get()),
      arrivals_(layout.nodes() == 1),
      received_(static_cast<std::size_t>(layout.ranks())),
      send_(static_cast<std::size_t>(messages)) {}
Seconds AlltoallvBench::direct(int) { return direct_s + direct_message_s * static_cast<double>(send_.size()); }
Seconds AlltoallvBench::by_library(int) {
  return direct(1) + alltoallv_s + 2 * alltoallv_message_s * static_cast<double>(send_.size()) +
         alltoallv_rank_s * static_cast<double>(received_.size());
}

namespace {

class KnownMachine : public testing::Test {
 protected:
  explicit KnownMachine(Layout layout = Layout::regular(3, 2, 4)) : world_{std::move(layout), known_machine()} {
    world = &world_;
  }
  ~KnownMachine() override { world = nullptr; }

  World world_;
  CalibrationOptions options_{.name = "known", .budget_s = 1000, .progress = {}};
  std::optional<Calibration> calibration_;

  /// Everything but the parts that need real ranks.
  const Machine& calibrate() {
    auto& c = calibration_.emplace(MPI_COMM_SELF, world_.layout, options_);
    find_slow_nodes(c);
    measure_new_sends(c);
    measure_protocols(c);
    for (const auto level : c.levels) find_rendezvous(c, level);
    for (const auto level : c.levels) measure_bursts(c, level, burst_share.of(level, c.levels));
    for (const auto level : c.levels) measure_sharing(c, level);
    for (const auto level : levels_with_others_within(c.layout)) measure_inside(c, level);
    measure_core(c);
    measure_groups(c);
    measure_ejection(c);
    for (const auto level : c.levels) measure_receiving(c, level, receive_share.of(level, c.levels));
    measure_copies(c);
    measure_value_loops(c);
    measure_reductions(c);
    measure_datatypes(c);
    measure_operations(c);
    measure_neighborhood(c);
    measure_alltoallv(c);
    measure_messages_in_flight(c);
    hold_to_physics(c);
    const auto near = levels_within_nodes(c.levels, c.layout);
    for (const auto level : near) measure_node_memory(c, level, memory_share.of(level, near));
    EXPECT_LT(c.sampler.spent(), 0.5) << "nothing takes time here, whatever builds it";
    return c.machine;
  }
  std::vector<std::string> reasons() const { return calibration_->provenance.not_measured; }
};

void expect_near(double found, double expected, const std::string& what) {
  EXPECT_NEAR(found, expected, 1e-5 * std::abs(expected)) << what;
}

void expect_protocols(const Channel& channel, const Channel& expected) {
  ASSERT_EQ(channel.protocols.size(), expected.protocols.size());
  for (std::size_t i = 0; i < expected.protocols.size(); ++i) {
    const auto &protocol = channel.protocols[i], &known = expected.protocols[i];
    EXPECT_EQ(protocol.name, known.name);
    EXPECT_EQ(protocol.max_bytes, known.max_bytes);
    expect_near(protocol.alpha_s, known.alpha_s, "alpha");
    expect_near(protocol.beta_s_per_byte, known.beta_s_per_byte, "beta");
    expect_near(protocol.alpha_next_s, known.alpha_next_s, "alpha_next");
    expect_near(protocol.beta_next_s_per_byte.value(), *known.beta_next_s_per_byte, "beta_next");
    expect_near(protocol.alpha_receive_s.value(), *known.alpha_receive_s, "alpha_receive");
    expect_near(protocol.beta_receive_s_per_byte.value(), *known.beta_receive_s_per_byte, "beta_receive");
  }
}

/// Levels and their messages, where all of them can be seen.
void expect_levels(const Machine& found, const Machine& truth) {
  ASSERT_EQ(found.levels.size(), truth.levels.size());
  for (Level l = 0; l <= truth.outermost(); ++l) {
    SCOPED_TRACE(truth.name_of(l));
    EXPECT_EQ(found.name_of(l), truth.name_of(l));
    for (const auto rate : {&MachineLevel::up_rate_bytes_per_s, &MachineLevel::down_rate_bytes_per_s,
                            &MachineLevel::inside_rate_bytes_per_s, &MachineLevel::node_share_bytes_per_s})
      if (std::isfinite(truth.levels[l].*rate)) expect_near(found.levels[l].*rate, truth.levels[l].*rate, "shared");
      else EXPECT_TRUE(std::isinf(found.levels[l].*rate));
    if (!truth.host.has(l)) continue;
    ASSERT_TRUE(found.host.by_level[l]);
    const auto &channel = *found.host.by_level[l], &expected = *truth.host.by_level[l];
    expect_protocols(channel, expected);
    EXPECT_NEAR(channel.gamma_s.value_or(0), expected.gamma_s.value_or(0), 1e-5 * expected.gamma_s.value_or(0) + 1e-15);
    EXPECT_EQ(channel.rendezvous_from_bytes, expected.rendezvous_from_bytes);
    if (l == truth.outermost()) expect_near(channel.link_rate_bytes_per_s, expected.link_rate_bytes_per_s, "link");
    else expect_near(channel.aggregate_rate_bytes_per_s, expected.aggregate_rate_bytes_per_s, "rate");
  }
}

TEST_F(KnownMachine, IsFoundAgain) {
  const auto& found = calibrate();
  const auto& truth = world_.machine;
  expect_levels(found, truth);
  for (const auto level : {standard_level::socket, standard_level::node}) {
    SCOPED_TRACE("memory of a node, " + truth.name_of(level));
    ASSERT_TRUE(found.shared.has(level));
    expect_protocols(*found.shared.by_level[level], *truth.shared.by_level[level]);
    expect_near(found.shared.by_level[level]->aggregate_rate_bytes_per_s,
                truth.shared.by_level[level]->aggregate_rate_bytes_per_s, "rate");
  }
  expect_near(found.copy_rate_bytes_per_s, truth.copy_rate_bytes_per_s, "copies");
  expect_near(found.copy_block_s.value_or(-1), *truth.copy_block_s, "a block");
  expect_near(found.value_run_s.value_or(-1), *truth.value_run_s, "a run of values");
  expect_near(found.reduction_rate_bytes_per_s.value_or(-1), *truth.reduction_rate_bytes_per_s, "additions");
  expect_near(found.datatype_rate_bytes_per_s.value(), packing_rate, "datatypes");
  expect_near(found.datatype_block_s.value(), packing_block_s, "a piece of a datatype");
  const auto &operations = found.operations, &known = truth.operations;
  EXPECT_EQ(operations.ranks, world_.layout.ranks());
  expect_near(operations.barrier_s.value(), *known.barrier_s, "barrier");
  expect_near(operations.allreduce_s.value(), *known.allreduce_s, "allreduce");
  expect_near(operations.probe_s.value(), *known.probe_s, "probe");
  expect_near(operations.put_s.value(), *known.put_s, "put");
  expect_near(operations.fence_s.value(), *known.fence_s, "fence");
  expect_near(operations.window_s.value(), *known.window_s, "window");
  expect_near(operations.neighbor_alltoall_s.value(), call_s, "the neighbourhood collective");
  expect_near(operations.neighbor_alltoall_message_s.value(), call_message_s, "its messages");
  expect_near(operations.alltoallv_s.value(), alltoallv_s + alltoallv_rank_s * world_.layout.ranks(), "MPI_Alltoallv");
  expect_near(operations.alltoallv_rank_s.value(), alltoallv_rank_s, "its visits");
  expect_near(operations.alltoallv_message_s.value(), alltoallv_message_s, "its messages");
  EXPECT_THAT(reasons(),
              testing::ElementsAre(HasSubstr(
                  "levels.network.host.rendezvous_from_bytes: a send of 4194304 bytes does not wait for its receive")));
  const auto& provenance = calibration_->provenance;
  EXPECT_GE(provenance.ping_pong_sizes, 3 * 40);
  EXPECT_LT(provenance.ping_pong_sizes, 3 * 70);
  EXPECT_EQ(provenance.ping_pong_unsettled, 0);
  EXPECT_EQ(provenance.ping_pong_outliers, 0);
  EXPECT_EQ(provenance.fits.size(), 6U);
  ASSERT_EQ(provenance.sharing.size(), 4U) << "within a socket, within a node, out of one, into one";
  for (const auto& sweep : provenance.sharing) {
    SCOPED_TRACE(sweep.parameter);
    const auto& channel = *found.host.by_level[found.level(sweep.level)];
    const auto& protocol = channel.protocol(sweep.bytes);
    const double rate = sweep.parameter == "levels.node.up_rate_bytes_per_s"
                            ? found.levels[standard_level::node].up_rate_bytes_per_s
                        : sweep.parameter == "levels.node.down_rate_bytes_per_s"
                            ? found.levels[standard_level::node].down_rate_bytes_per_s
                            : channel.aggregate_rate_bytes_per_s;
    EXPECT_EQ(sweep.pairs.front(), 1);
    ASSERT_EQ(sweep.pairs.size(), sweep.seconds.size());
    ASSERT_EQ(sweep.pairs.size(), sweep.interval_s.size());
    for (std::size_t i = 0; i < sweep.pairs.size(); ++i) {
      const auto bytes = static_cast<double>(sweep.bytes);
      expect_near(sweep.seconds[i],
                  std::max(protocol.alone_seconds(bytes), protocol.alpha_s + sweep.pairs[i] * bytes / rate),
                  std::to_string(sweep.pairs[i]) + " pairs");
      EXPECT_LE(sweep.interval_s[i].low, sweep.seconds[i]);
      EXPECT_GE(sweep.interval_s[i].high, sweep.seconds[i]);
    }
  }
  EXPECT_TRUE(provenance.slow_nodes.empty());
  EXPECT_GE(calibration_->sampler.count(), 9 * provenance.ping_pong_sizes);
}

void expect_lines_of(const std::vector<Protocol>& found, const std::vector<Protocol>& truth) {
  ASSERT_EQ(found.size(), truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    EXPECT_EQ(found[i].max_bytes, truth[i].max_bytes);
    expect_near(found[i].alpha_s, truth[i].alpha_s, "alpha");
    expect_near(found[i].beta_s_per_byte, truth[i].beta_s_per_byte, "beta");
  }
}

TEST_F(KnownMachine, HasProtocolsThatHoldForAnOctaveOnly) {
  world_.machine.host.by_level[1]->protocols = {
      protocol("short", 512, 8e-7, 2.4e-10, 1e-7, 8e-11, 5e-8, 5e-10),
      protocol("eager", 1000, 1.7e-6, 1.5e-10, 1e-7, 8e-11, 5e-8, 5e-10),
      protocol("rendezvous", no_limit, 3.4e-6, 6e-11, 1e-7, 4e-11, 5e-8, 5e-10)};
  expect_lines_of(calibrate().host.by_level[1]->protocols, world_.machine.host.by_level[1]->protocols);
}

// No drawn size lies in the second one, in which messages are faster than just below it.
TEST_F(KnownMachine, HasAProtocolThatIsMetOnlyOnTheWayToASwitch) {
  world_.machine.host.by_level[0]->protocols = {
      protocol("short", 16384, 2e-7, 1.5e-10, 1e-7, 1e-10, 5e-8, 5e-10),
      protocol("eager", 20000, 6e-7, 5.8e-11, 1e-7, 4e-11, 5e-8, 5e-10),
      protocol("rendezvous", no_limit, 1.7e-6, 3.7e-11, 1e-7, 3e-11, 5e-8, 5e-10)};
  expect_lines_of(calibrate().host.by_level[0]->protocols, world_.machine.host.by_level[0]->protocols);
}

TEST_F(KnownMachine, WhoseLibraryHasAShortWayForNewSendsTakesItUpToTheLastByte) {
  EXPECT_FALSE(calibrate().operations.new_send_bytes) << "where it has none";
  for (const Bytes bytes : {Bytes{8}, Bytes{100}, Bytes{256}, Bytes{4095}}) {
    world_.new_send_bytes = bytes;
    const auto& found = calibrate();
    EXPECT_EQ(found.operations.new_send_bytes, bytes);
    const auto& protocols = found.host.find(standard_level::node)->protocols;
    ASSERT_EQ(protocols.size(), 2U) << bytes;
    EXPECT_EQ(protocols[0].max_bytes, bytes) << "and prices are those of the sends that run";
    expect_near(protocols[0].alpha_s, 3e-7, "half of it");
    expect_near(protocols[1].alpha_s, 6e-7, "all of it");
  }
  world_.new_send_bytes = 7;
  EXPECT_FALSE(calibrate().operations.new_send_bytes) << "less than any message is";
}

class TwoNodes : public KnownMachine {
 protected:
  TwoNodes() : KnownMachine(Layout::regular(2, 1, 1)) {}
};

TEST_F(TwoNodes, OfOneRankShowTheQueueInABurstAndSayWhatTheyCannotShow) {
  const auto& found = calibrate();
  EXPECT_NEAR(found.host.find(standard_level::network)->gamma_s.value_or(-1), 5e-9, 1e-13)
      << "one receiver has them all";
  const auto& protocols = found.host.find(standard_level::network)->protocols;
  const auto& known = world_.machine.host.find(standard_level::network)->protocols;
  ASSERT_EQ(protocols.size(), known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {  // by messages each way: no other rank sends
    expect_near(protocols[i].alpha_receive_s.value(), *known[i].alpha_receive_s, known[i].name);
    expect_near(protocols[i].beta_receive_s_per_byte.value(), *known[i].beta_receive_s_per_byte, known[i].name);
  }
  EXPECT_TRUE(std::isinf(found.levels[standard_level::node].up_rate_bytes_per_s));
  EXPECT_TRUE(std::isinf(found.levels[standard_level::node].down_rate_bytes_per_s));
  EXPECT_THAT(reasons(),
              testing::UnorderedElementsAre(HasSubstr("levels.socket.host: needs two ranks"),
                                            HasSubstr("levels.node.host: needs two ranks"),
                                            HasSubstr("levels.network.host.rendezvous_from_bytes"),
                                            HasSubstr("levels.node.up_rate_bytes_per_s: needs two disjoint pairs"),
                                            HasSubstr("levels.node.inside_rate_bytes_per_s: needs three ranks"),
                                            HasSubstr("levels.node.down_rate_bytes_per_s: needs three nodes")));
}

TEST_F(KnownMachine, ThatTakesInAllThatOthersInjectHasNoLimitOfItsOwn) {
  world_.machine.levels[standard_level::network].node_share_bytes_per_s = std::numeric_limits<double>::infinity();
  world_.machine.levels[standard_level::node].down_rate_bytes_per_s = 2e10;  // of 2.2e10 that two nodes inject
  EXPECT_TRUE(std::isinf(calibrate().levels[standard_level::node].down_rate_bytes_per_s));
  EXPECT_THAT(reasons(),
              testing::Contains("levels.node.down_rate_bytes_per_s: a node takes in all that 2 others inject"));
  world_.machine.levels[standard_level::node].down_rate_bytes_per_s = 1.9e10;
  expect_near(calibrate().levels[standard_level::node].down_rate_bytes_per_s, 1.9e10, "less than 0.9 of that");
}

TEST_F(KnownMachine, WhoseCoreIsWhatOneNodeGetsHasNoLimitIntoIt) {
  world_.machine.levels[standard_level::node].down_rate_bytes_per_s =
      3 * world_.machine.levels[standard_level::network].node_share_bytes_per_s;  // all that the network moves
  EXPECT_TRUE(std::isinf(calibrate().levels[standard_level::node].down_rate_bytes_per_s));
  EXPECT_THAT(reasons(),
              testing::Contains("levels.node.down_rate_bytes_per_s: a node takes in all that the network moves"));
}

TEST_F(KnownMachine, WhoseNodesTakeInLessThanTheySendHasACoreThatIsNoLimit) {
  world_.machine.levels[standard_level::network].node_share_bytes_per_s = std::numeric_limits<double>::infinity();
  world_.machine.levels[standard_level::node].down_rate_bytes_per_s = 7e9;  // of 1.1e10 that each sends
  const auto& found = calibrate();
  expect_near(found.levels[standard_level::node].down_rate_bytes_per_s, 7e9, "ejection");
  EXPECT_TRUE(std::isinf(found.levels[standard_level::network].node_share_bytes_per_s));
}

/// Of eight pairs between a node and the three others, six are as many on each.
class FourNodesOfEight : public KnownMachine {
 protected:
  FourNodesOfEight() : KnownMachine(Layout::regular(4, 1, 8)) {
    auto& m = world_.machine;
    m.levels[standard_level::network].node_share_bytes_per_s = m.levels[standard_level::node].down_rate_bytes_per_s =
        m.levels[standard_level::node].up_rate_bytes_per_s = std::numeric_limits<double>::infinity();
  }
  static constexpr double of_one_ = 1e10;  // what a rank's messages move at
};

TEST_F(FourNodesOfEight, ReachALimitThatOnlyAllPairsDo) {
  world_.machine.levels[standard_level::node].down_rate_bytes_per_s = 7 * of_one_;
  const auto& found = calibrate();
  expect_near(found.levels[standard_level::node].down_rate_bytes_per_s, 7 * of_one_, "ejection");
  EXPECT_TRUE(std::isinf(found.levels[standard_level::node].up_rate_bytes_per_s));
  EXPECT_TRUE(std::isinf(found.levels[standard_level::network].node_share_bytes_per_s))
      << "all nodes at once get what each can";
}

TEST_F(FourNodesOfEight, ReachALimitThatIsHardlyOne) {
  world_.machine.levels[standard_level::node].up_rate_bytes_per_s = 7.6 * of_one_;
  const auto& found = calibrate();
  expect_near(found.levels[standard_level::node].up_rate_bytes_per_s, 7.6 * of_one_, "injection");
  EXPECT_TRUE(std::isinf(found.levels[standard_level::node].down_rate_bytes_per_s));
}

// Three ranks send to one node as much as it takes in: the senders do not limit all pairs out of one.
TEST_F(FourNodesOfEight, DoNotTakeTheRateOfReceiversForThatOfASender) {
  world_.machine.levels[standard_level::node].down_rate_bytes_per_s = 2.8 * of_one_;
  const auto& found = calibrate();
  expect_near(found.levels[standard_level::node].down_rate_bytes_per_s, 2.8 * of_one_, "ejection");
  EXPECT_TRUE(std::isinf(found.levels[standard_level::node].up_rate_bytes_per_s));
  EXPECT_THAT(reasons(),
              testing::Contains("levels.node.up_rate_bytes_per_s: what one node sends is what others take in"));
}

TEST_F(FourNodesOfEight, DoNotTakeTheRateOfASenderForThatOfReceivers) {
  world_.machine.levels[standard_level::node].up_rate_bytes_per_s = 2.8 * of_one_;
  const auto& found = calibrate();
  expect_near(found.levels[standard_level::node].up_rate_bytes_per_s, 2.8 * of_one_, "injection");
  EXPECT_TRUE(std::isinf(found.levels[standard_level::node].down_rate_bytes_per_s));
}

class NumaDomains : public KnownMachine {
 protected:
  NumaDomains() : KnownMachine(parse_layout("node=3,socket=2,numa=2,core=4")) {
    auto& m = world_.machine;
    auto node = m.levels[standard_level::node];
    node.inside_rate_bytes_per_s = 2e10;
    m.levels = {{.name = "numa"}, {.name = "socket", .inside_rate_bytes_per_s = 1.5e10}, node, m.levels.back()};
    auto& host = m.host.by_level;
    host[2] = host[1];
    host[1] = Channel{{protocol("eager", no_limit, 4.5e-7, 2.5e-10, 1.5e-7, 1.8e-10, 9e-8, 5e-10)}, 0, 8e9, no_rate, 0};
  }
};

TEST_F(NumaDomains, AreALevelOfTheMachineThatIsFound) {
  expect_levels(calibrate(), world_.machine);
  EXPECT_EQ(calibration_->provenance.messages.front().level, "numa");
}

class Groups : public KnownMachine {
 protected:
  Groups() : KnownMachine(Layout::regular(2, 2, 4, 3)) {
    world_.machine.levels[standard_level::network].node_share_bytes_per_s =
        world_.machine.levels[standard_level::node].down_rate_bytes_per_s = std::numeric_limits<double>::infinity();
    world_.machine.levels[standard_level::group].up_rate_bytes_per_s =
        world_.machine.levels[standard_level::group].down_rate_bytes_per_s =
            1.5e10;  // of 2.2e10 that the nodes of one send
  }
};

TEST_F(Groups, ShowWhatTheirLinksMoveAndNoLimitElsewhere) {
  const auto& found = calibrate();
  expect_near(found.levels[standard_level::group].up_rate_bytes_per_s, 1.5e10, "group");
  expect_near(found.levels[standard_level::node].up_rate_bytes_per_s, 1.1e10, "injection");
  EXPECT_TRUE(std::isinf(found.levels[standard_level::network].node_share_bytes_per_s));
  EXPECT_TRUE(std::isinf(found.levels[standard_level::node].down_rate_bytes_per_s))
      << "the links into the receiver's group were full";
  EXPECT_THAT(reasons(),
              testing::Contains(HasSubstr("levels.network.node_share_bytes_per_s: what groups of nodes share")));
}

TEST_F(Groups, WhoseLinksMoveAllHaveNoLimit) {
  world_.machine.levels[standard_level::group].up_rate_bytes_per_s =
      world_.machine.levels[standard_level::group].down_rate_bytes_per_s = 2.2e10;
  EXPECT_TRUE(std::isinf(calibrate().levels[standard_level::group].up_rate_bytes_per_s));
  EXPECT_THAT(
      reasons(),
      testing::Contains("levels.group.up_rate_bytes_per_s: all nodes of a group at once send as much as each alone"));
}

class RacksOfPods : public KnownMachine {
 protected:
  RacksOfPods() : KnownMachine(parse_layout("pod=2,rack=2,node=2,socket=2,core=4")) {
    auto& m = world_.machine;
    auto node = m.levels[standard_level::node];
    node.down_rate_bytes_per_s = no_rate;
    m.levels = {m.levels.front(), node, {.name = "rack"}, {.name = "pod"}, {.name = "network"}};
    m.levels[2].up_rate_bytes_per_s = m.levels[2].down_rate_bytes_per_s = 1.5e10;  // of 2.2e10 that two nodes send
    m.levels[3].up_rate_bytes_per_s = m.levels[3].down_rate_bytes_per_s = 2e10;    // of 3e10 that two racks send
    std::swap(m.host.by_level[standard_level::network], m.host.by_level[m.outermost()]);
  }
};

TEST_F(RacksOfPods, EachShowWhatTheirLinksMove) { expect_levels(calibrate(), world_.machine); }

TEST_F(KnownMachine, WithoutLimitsOrWindowsSaysSo) {
  for (auto& channel : world_.machine.host.by_level)
    if (channel) channel->aggregate_rate_bytes_per_s = std::numeric_limits<double>::infinity();
  world_.machine.levels[standard_level::node].up_rate_bytes_per_s =
      world_.machine.levels[standard_level::node].down_rate_bytes_per_s =
          world_.machine.levels[standard_level::network].node_share_bytes_per_s =
              world_.machine.levels[standard_level::node].inside_rate_bytes_per_s =
                  std::numeric_limits<double>::infinity();
  world_.has_windows = false;
  const auto& found = calibrate();
  EXPECT_TRUE(std::isinf(found.levels[standard_level::node].up_rate_bytes_per_s));
  EXPECT_FALSE(found.operations.put_s || found.operations.fence_s || found.operations.window_s);
  EXPECT_TRUE(found.operations.probe_s);
  EXPECT_THAT(
      reasons(),
      testing::IsSupersetOf(
          {testing::Matcher<std::string>(HasSubstr("levels.node.up_rate_bytes_per_s: not reached by 8 pairs")),
           testing::Matcher<std::string>(HasSubstr("levels.node.down_rate_bytes_per_s: not reached by 8 pairs")),
           testing::Matcher<std::string>(
               HasSubstr("levels.socket.host.aggregate_rate_bytes_per_s: not reached by 2 pairs")),
           testing::Matcher<std::string>(HasSubstr("operations.put_s, fence_s, window_s: "))}));
}

TEST_F(KnownMachine, WhoseRatesAreBeyondItsMemoryHasNone) {
  world_.machine.copy_rate_bytes_per_s = 1e9;  // of 8 ranks: less than what a socket or the bus is said to move
  const auto& found = calibrate();
  EXPECT_TRUE(std::isinf(found.host.find(standard_level::socket)->aggregate_rate_bytes_per_s));
  EXPECT_TRUE(std::isinf(found.levels[standard_level::node].inside_rate_bytes_per_s));
  EXPECT_THAT(reasons(),
              testing::Contains(HasSubstr("levels.node.inside_rate_bytes_per_s: found to be more than the copies")));
}

TEST_F(KnownMachine, WhoseBurstsAreNoiseHasNothingOfThemAndSaysSo) {
  world_.burst_noise = 0.9;
  const auto& found = calibrate();
  for (const auto level : {standard_level::socket, standard_level::node, standard_level::network})
    for (const auto& protocol : found.host.find(level)->protocols) {
      if (!protocol.beta_next_s_per_byte) {
        EXPECT_EQ(protocol.alpha_next_s, protocol.alpha_s) << "absent";
      }
      EXPECT_LE(protocol.alpha_next_s, protocol.alpha_s);
    }
  EXPECT_THAT(implausible(found, world_.layout.max_ppn()), testing::IsEmpty());
  EXPECT_THAT(reasons(), testing::Contains(HasSubstr("alpha_next_s and beta_next_s_per_byte: times of bursts differ")));
}

TEST_F(KnownMachine, WhoseSendersAreBusyForLongHasALinkAllTheSame) {
  // No more than 2 KiB of its only protocol move while the processor is busy.
  auto& network = *world_.machine.host.by_level[standard_level::network];
  network.protocols = {protocol("eager", no_limit, 5e-6, 1.1e-10, 2.5e-6, 0, 4e-7, 0)};
  network.link_rate_bytes_per_s = 9e9;
  const auto& found = *calibrate().host.find(standard_level::network);
  expect_near(found.link_rate_bytes_per_s, 9e9, "link");
  expect_near(found.protocols.front().alpha_next_s, 2.5e-6, "alpha_next");
  EXPECT_LT(*found.protocols.front().beta_next_s_per_byte, 1e-13) << "that is the link's";
}

TEST_F(KnownMachine, WhoseSendersAreSlowerThanAReceiverTellsItWhereItSends) {
  auto& network = *world_.machine.host.by_level[standard_level::network];
  network.protocols = {protocol("eager", no_limit, 5e-6, 1.1e-10, 4e-6, 0, 5e-7, 0)};  // 8 senders: 0.5 us each
  expect_near(calibrate().host.find(standard_level::network)->protocols.front().alpha_receive_s.value_or(0), 5e-7,
              "alpha_receive");
}

TEST_F(KnownMachine, WhoseReceiversAreUnclearForLargeMessagesHasThoseOfSmallerOnes) {
  world_.fan_in_unclear_from = 16385;  // between nodes rendezvous alone
  const auto& protocols = calibrate().host.find(standard_level::network)->protocols;
  ASSERT_EQ(protocols.size(), 3U);
  EXPECT_TRUE(protocols[1].alpha_receive_s);
  EXPECT_EQ(protocols[2].alpha_receive_s, protocols[1].alpha_receive_s);
  EXPECT_EQ(protocols[2].beta_receive_s_per_byte, protocols[1].beta_receive_s_per_byte);
  EXPECT_THAT(reasons(), testing::Contains(HasSubstr("taken to be as of smaller messages")));
}

TEST_F(KnownMachine, ThatLosesMessagesHasALimitOfThoseInFlight) {
  EXPECT_EQ(calibrate().limits.messages_off_node, 256) << "all that was tried went well";
  EXPECT_FALSE(calibration_->provenance.late_messages);
  for (const auto& [most, limit] : {std::pair{200, 128}, {90, 64}, {63, 32}, {31, 16}}) {
    world_.most_in_flight = most;
    EXPECT_EQ(calibrate().limits.messages_off_node, limit) << most;
    const auto& late = calibration_->provenance.late_messages;
    ASSERT_TRUE(late);
    EXPECT_EQ(late->messages, 2 * limit);
    EXPECT_NEAR(late->late_s, world_.timer_s, 1e-6);
  }
}

TEST_F(KnownMachine, ThatAlwaysLosesMessagesBeyondANumberHasThatLimit) {
  world_.late_every = 1;
  for (const int most : {4, 7, 16, 25, 63, 64, 100, 255}) {
    world_.most_in_flight = most;
    EXPECT_EQ(calibrate().limits.messages_off_node, most);
    ASSERT_TRUE(calibration_->provenance.late_messages);
    EXPECT_EQ(calibration_->provenance.late_messages->messages, most + 1);
  }
}

class OneNode : public KnownMachine {
 protected:
  OneNode() : KnownMachine(Layout::regular(1, 2, 4)) {}
};

TEST_F(OneNode, HasNoLimitOfMessagesToOthers) {
  EXPECT_FALSE(calibrate().limits.messages_off_node);
  EXPECT_THAT(reasons(), testing::Contains(HasSubstr("limits.messages_off_node: needs two nodes")));
}

TEST_F(KnownMachine, NamesTheNodeThatIsSlow) {
  for (const int slow : {0, 2}) {
    world_.slow_node = slow;
    calibrate();
    ASSERT_EQ(calibration_->provenance.slow_nodes.size(), 1U);
    EXPECT_EQ(calibration_->provenance.slow_nodes[0].node, slow);
    EXPECT_NEAR(calibration_->provenance.slow_nodes[0].times_as_long, 1.5, 1e-9);
  }
}

class NodesOfOneRank : public KnownMachine {
 protected:
  explicit NodesOfOneRank(int nodes = 5) : KnownMachine(Layout::regular(nodes, 1, 1)) {}
};

TEST_F(NodesOfOneRank, TellTheSlowOneFromItsNeighbours) {
  world_.slow_node = 4;
  calibrate();
  ASSERT_EQ(calibration_->provenance.slow_nodes.size(), 1U);
  EXPECT_EQ(calibration_->provenance.slow_nodes[0].node, 4);
}

TEST_F(KnownMachine, HasProtocolsOfFewSizesWhereNoTimeIsLeft) {
  double now = 0;
  other_clock = &now;
  auto& c = calibration_.emplace(MPI_COMM_SELF, world_.layout, options_);
  now = 10 * options_.budget_s;
  measure_protocols(c);
  other_clock = nullptr;
  EXPECT_LT(c.provenance.ping_pong_sizes, 3 * 10);
  for (const auto level : c.levels) {
    const auto& found = c.channel(level);
    ASSERT_FALSE(found.protocols.empty()) << standard_level::name(level);
    const auto& truth = *world_.machine.host.find(level);
    constexpr double roughly = 0.3;
    for (const Bytes bytes : {Bytes{1}, Bytes{4} << 20}) {
      const auto known = World::lone(truth.protocol(bytes), bytes);
      EXPECT_NEAR(World::lone(found.protocol(bytes), bytes), known, roughly * known)
          << standard_level::name(level) << bytes;
    }
  }
}

TEST(Sampling, MeasuresAgainWhatABurstOfInterferenceHasSpoilt) {
  std::map<int, Series> all;
  for (int i = 0; i < 6; ++i) all[i];
  const auto sample = [&](int first_disturbed, int end) {
    for (auto& [key, series] : all) series = {};
    Sampler sampler(MPI_COMM_SELF, 10);
    sampler.sample_all(all, 1, [&](int, int round, int) {
      const bool is_disturbed = first_disturbed <= round && round < end;
      return (is_disturbed ? 2e-3 : 1e-3) * (1 + 0.01 * (round % 2));
    });
    return sampler.disturbed_rounds();
  };
  EXPECT_EQ(sample(4, 7), 3);
  for (const auto& [key, series] : all) EXPECT_THAT(series.samples, testing::Each(testing::AnyOf(1e-3, 1e-3 * 1.01)));
  EXPECT_GT(sample(3, 100), 0);
  for (const auto& [key, series] : all)
    EXPECT_THAT(series.samples, testing::Contains(2e-3)) << "a lasting slow state is no outlier";
  EXPECT_EQ(sample(100, 100), 0);
}

/// The repetitions of each run of series that take 1 ms, 10 us, 0.1 us and 1 ps, of each of which `samples` are
/// expected.
std::map<Seconds, std::vector<int>> sampled_repetitions(double noise, int samples) {
  Sampler sampler(MPI_COMM_SELF, 10);
  std::map<Seconds, std::vector<int>> repetitions;
  std::map<Seconds, Series> all{{1e-3, {}}, {1e-5, {}}, {1e-7, {}}, {1e-12, {}}};
  sampler.sample_all(all, 1, [&](Seconds seconds, int, int count) {
    auto& runs = repetitions[seconds];
    runs.push_back(count);
    return seconds * (1 + noise * static_cast<double>(runs.size() % 2));
  });
  EXPECT_EQ(sampler.count(), samples * std::ssize(all));
  return repetitions;
}

TEST(Sampling, RepeatsShortRunsAndEndsWhenItsTimeIsKnown) {
  auto repetitions = sampled_repetitions(0.01, 9);
  const auto expected = [](std::vector<int> before, int count) {
    before.insert(before.end(), 9, count);
    return before;
  };
  EXPECT_EQ(repetitions[1e-3], expected({1, 2}, 1));  // a warm-up, a look, and nine samples
  EXPECT_EQ(repetitions[1e-5], expected({1, 2}, 10));
  for (const Seconds seconds : {1e-7, 1e-12}) EXPECT_EQ(repetitions[seconds], expected({1, 2, 12}, 200)) << seconds;
}

TEST(Sampling, RepeatsLessWhereNothingInterferes) {
  auto repetitions = sampled_repetitions(0, 3);
  EXPECT_EQ(repetitions[1e-3], (std::vector{1, 2, 1, 1, 1}));
  EXPECT_EQ(repetitions[1e-5], (std::vector{1, 2, 10, 10, 10}));
  EXPECT_EQ(repetitions[1e-7], (std::vector{1, 2, 12, 2, 2, 2}));
  EXPECT_EQ(repetitions[1e-12], (std::vector{1, 2, 12, 200, 200, 200})) << "no clock tells it";
}

TEST(Sampling, OfTimesThatNeverSettleEndsWithItsShareOfTheBudgetButNotBeforeThreeRounds) {
  Sampler none(MPI_COMM_SELF, 1e-9), some(MPI_COMM_SELF, 0.05);
  std::map<int, Series> all{{0, {}}, {1, {}}};
  int calls = 0;
  const auto time = [&](int, int, int) { return ++calls * 1e-4; };
  none.sample_all(all, 0.5, time);
  EXPECT_EQ(none.count(), 2 * 3 + 1) << "each three times, and the one after which the time is looked at";
  all = {{0, {}}};
  some.sample_all(all, 0.2, time);
  EXPECT_GE(some.elapsed(), 0.2 * 0.05);
  EXPECT_LT(some.spent(), 0.9);
}

/// Ranks that wait for a processor: a sample tells a microsecond, as its lower quartile, and takes far longer.
class SamplingOnABusyMachine : public testing::Test {
 protected:
  SamplingOnABusyMachine() {
    other_clock = &now_;
    for (int i = 0; i < 50; ++i) all_[i];
  }
  ~SamplingOnABusyMachine() override { other_clock = nullptr; }

  Seconds time(int repetitions) {
    now_ += 0.01 * (1 + repetitions);
    ++calls_;
    return 1e-6;
  }

  double now_ = 1000;
  int calls_ = 0;
  std::map<int, Series> all_;
};

TEST_F(SamplingOnABusyMachine, KeepsToItsShareAndSamplesEachSeriesOnce) {
  Sampler sampler(MPI_COMM_SELF, 4);
  sampler.sample_all(all_, 0.5, [&](int, int, int repetitions) { return time(repetitions); });
  EXPECT_LT(sampler.elapsed(), 0.5 * 4 + 0.2 + 0.5 + 50 * 0.02) << "its share, the allowed delay, and one sample each";
  for (const auto& [key, series] : all_) EXPECT_GE(series.samples.size(), 1U) << key;
}

TEST_F(SamplingOnABusyMachine, RepeatsNoMoreThanTheClockAllows) {
  Sampler sampler(MPI_COMM_SELF, 1000);
  sampler.sample_all(all_, 1, [&](int, int round, int repetitions) {
    EXPECT_LE(repetitions, 2);
    return time(repetitions) * (1 + 0.01 * (round % 2));
  });
  EXPECT_EQ(sampler.count(), 9 * 50) << "there is time for all of them";
}

TEST_F(SamplingOnABusyMachine, EndsWithTheBudgetWhereItHasTo) {
  Sampler sampler(MPI_COMM_SELF, 4);
  now_ += 6;
  EXPECT_NO_THROW(sampler.check_time());
  sampler.end_with_budget();
  EXPECT_THROW(sampler.sample_all(all_, 1, [&](int, int, int count) { return time(count); }), NoTimeLeft);
  EXPECT_EQ(calls_, 1);
  now_ -= 6;
  EXPECT_NO_THROW(sampler.check_time());
}

TEST(Sampling, IsSettledWhereNineSamplesAgreeToThreePercentOrThreeToATenthOfThat) {
  const auto settled = [](std::vector<double> samples) { return Series{std::move(samples), 1}.settled(); };
  EXPECT_FALSE(settled({1, 1}));
  EXPECT_TRUE(settled({1, 1.003, 1.001}));
  EXPECT_FALSE(settled({1, 1.004, 1.001}));
  EXPECT_FALSE(settled({1, 1.001, 1.002, 1.003, 1.004, 1.005, 1.006, 1.007}));
  EXPECT_TRUE(settled({1, 1.001, 1.002, 1.003, 1.004, 1.005, 1.006, 1.007, 1.008}));
  EXPECT_FALSE(settled({1, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08}));
}

TEST(Shares, AreDividedAmongTheLocalities) {
  const Share share{0.4, 1};
  const std::vector all{standard_level::socket, standard_level::node, standard_level::network},
      two{standard_level::socket, standard_level::network};
  EXPECT_DOUBLE_EQ(share.of(standard_level::socket, all).end, 0.6);
  EXPECT_DOUBLE_EQ(share.of(standard_level::network, all).end, 1);
  EXPECT_DOUBLE_EQ(share.of(standard_level::network, all).begin, 0.8);
  EXPECT_DOUBLE_EQ(share.of(standard_level::socket, two).end, 0.7);
}

}  // namespace
}  // namespace commpass
