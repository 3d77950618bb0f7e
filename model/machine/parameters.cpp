#include "model/machine/parameters.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>

#include "model/base/text.hpp"

namespace commpass {

namespace {

template <class Owner, class Number>
struct MemberOf {
  using owner = Owner;
  using number = Number;
};
template <class Owner, class Number>
MemberOf<Owner, Number> describe_member(Number Owner::*);

template <class Number>
constexpr Number unlimited() {
  return std::is_floating_point_v<Number> ? std::numeric_limits<Number>::infinity()
                                          : std::numeric_limits<Number>::max();
}

template <class Number>
ParameterValue to_value(Number number) {
  if (number == unlimited<Number>()) return {};
  if constexpr (std::is_floating_point_v<Number>) return static_cast<double>(number);
  else return static_cast<std::int64_t>(number);
}
template <class Number>
ParameterValue to_value(const std::optional<Number>& number) {
  return number ? to_value(*number) : ParameterValue{};
}

template <class Number>
void assign(Number& number, const ParameterValue& value) {
  if (const auto* real = std::get_if<double>(&value)) number = static_cast<Number>(*real);
  else if (const auto* integer = std::get_if<std::int64_t>(&value)) number = static_cast<Number>(*integer);
  else number = unlimited<Number>();
}
template <class Number>
void assign(std::optional<Number>& number, const ParameterValue& value) {
  if (is_absent(value)) number.reset();
  else assign(number.emplace(), value);
}

/// A member that is absent where it has no value, is infinite, or is the largest integer.
template <auto member>
constexpr MachineParameter::Access access_to{[](const void* owner) {
                                               using Owner = typename decltype(describe_member(member))::owner;
                                               return to_value(static_cast<const Owner*>(owner)->*member);
                                             },
                                             [](void* owner, const ParameterValue& value) {
                                               using Owner = typename decltype(describe_member(member))::owner;
                                               assign(static_cast<Owner*>(owner)->*member, value);
                                             }};

/// alpha_next_s is absent where it equals alpha_s, and then follows it.
constexpr MachineParameter::Access access_to_alpha{access_to<&Protocol::alpha_s>.get,
                                                   [](void* owner, const ParameterValue& value) {
                                                     auto& protocol = *static_cast<Protocol*>(owner);
                                                     const bool follows = protocol.alpha_next_s == protocol.alpha_s;
                                                     assign(protocol.alpha_s, value);
                                                     if (follows) protocol.alpha_next_s = protocol.alpha_s;
                                                   }};
constexpr MachineParameter::Access access_to_alpha_next{
    [](const void* owner) {
      const auto& protocol = *static_cast<const Protocol*>(owner);
      return protocol.alpha_next_s == protocol.alpha_s ? ParameterValue{} : protocol.alpha_next_s;
    },
    [](void* owner, const ParameterValue& value) {
      auto& protocol = *static_cast<Protocol*>(owner);
      if (is_absent(value)) protocol.alpha_next_s = protocol.alpha_s;
      else assign(protocol.alpha_next_s, value);
    }};

// No message takes longer: eleven days, or that for each byte, and a byte in as long. Sums of such times stay finite.
constexpr double most_amount = 1e6, least_rate = 1e-6;
constexpr double no_limit = std::numeric_limits<double>::infinity();
constexpr double most_int = std::numeric_limits<int>::max();
constexpr MachineParameter::Range amounts{0, most_amount}, differences{-most_amount, most_amount},
    rates{least_rate, no_limit}, sizes{0, no_limit}, counts{1, most_int}, groups{2, most_int},
    processes_of_device{1, 1 << 20};

constexpr auto* or_not_measured = "could not be identified, or not measured";

using enum MachineParameter::Place;
using enum MachineParameter::Unit;
using enum MachineParameter::Levels;

constexpr MachineParameter rows[] = {
    {"max_bytes", protocol, bytes, sizes, access_to<&Protocol::max_bytes>, "calibrate/protocols.cpp",
     "largest message of the protocol", "the protocol is the last one; for any other the profile is refused",
     "no limit"},
    {"alpha_s", protocol, seconds, amounts, access_to_alpha, "calibrate/protocols.cpp", "latency of a lone message"},
    {"beta_s_per_byte", protocol, seconds_per_byte, amounts, access_to<&Protocol::beta_s_per_byte>,
     "calibrate/protocols.cpp", "time for each byte of a lone message"},
    {"alpha_next_s", protocol, seconds, amounts, access_to_alpha_next, "calibrate/bursts.cpp",
     "time of the sender for each further message of a burst", "not measured, or equal",
     "0.4·α between nodes, if no protocol of the level has it and no calibration looked for it; else `alpha_s`"},
    {"beta_next_s_per_byte", protocol, seconds_per_byte, amounts, access_to<&Protocol::beta_next_s_per_byte>,
     "calibrate/bursts.cpp", "time of the sender for each byte of a further message", "not measured",
     "`beta_s_per_byte`"},
    {"alpha_receive_s", protocol, seconds, amounts, access_to<&Protocol::alpha_receive_s>, "calibrate/receiving.cpp",
     "time of the receiver for each further message",
     "could not be identified: times differ by more than a further message takes; or not measured",
     "`alpha_next_s`, and messages are taken in while others are sent, not after them"},
    {"beta_receive_s_per_byte", protocol, seconds_per_byte, amounts, access_to<&Protocol::beta_receive_s_per_byte>,
     "calibrate/receiving.cpp", "time of the receiver for each byte of a further message", "not measured, as above",
     "`beta_s_per_byte`"},
    {"up_rate_bytes_per_s", protocol, bytes_per_second, rates, access_to<&Protocol::up_rate_bytes_per_s>, nullptr,
     "all messages of the protocol that leave an instance of the next inner level", "not measured; no price uses it",
     nullptr, nullptr, 3},
    {"down_rate_bytes_per_s", protocol, bytes_per_second, rates, access_to<&Protocol::down_rate_bytes_per_s>, nullptr,
     "all messages of the protocol that enter an instance of the next inner level", "not measured; no price uses it",
     nullptr, nullptr, 3},
    {"gamma_s", channel, seconds, amounts, access_to<&Channel::gamma_s>, "calibrate/bursts.cpp",
     "matching queue: m receives that are posted at once take half of this times m² longer", "not measured", "0"},
    {"rendezvous_from_bytes", channel, bytes, sizes, access_to<&Channel::rendezvous_from_bytes>,
     "calibrate/protocols.cpp", "smallest message that waits until its receive is posted",
     "could not be identified: not even a large send waits for its receive; or not measured",
     "a send ends when its message arrives, and begins without its receiver: in the first stage as 0; in sparse "
     "exchanges as if none waited"},
    {"aggregate_rate_bytes_per_s", channel, bytes_per_second, rates, access_to<&Channel::aggregate_rate_bytes_per_s>,
     "calibrate/aggregate_rates.cpp", "all messages of one instance together",
     "could not be identified: the ranks did not reach it; or not measured", "no limit"},
    {"link_rate_bytes_per_s", channel, bytes_per_second, rates, access_to<&Channel::link_rate_bytes_per_s>,
     "calibrate/bursts.cpp", "all messages of one rank together",
     "could not be identified: the processor is busy until messages have moved; or not measured", "no limit"},
    {"up_rate_bytes_per_s", level, bytes_per_second, rates, access_to<&MachineLevel::up_rate_bytes_per_s>,
     "calibrate/aggregate_rates.cpp", "all messages that leave an instance",
     "could not be identified: all instances at once send as much as each alone; or not measured",
     "of a node twice the rate of a lone message between nodes; of other levels no limit", nullptr, 3,
     all_but_outermost},
    {"down_rate_bytes_per_s", level, bytes_per_second, rates, access_to<&MachineLevel::down_rate_bytes_per_s>,
     "calibrate/aggregate_rates.cpp", "all messages that enter an instance",
     "could not be identified: an instance takes in all that the others send; or not measured: it needs three "
     "instances",
     "no limit", nullptr, 3, all_but_outermost},
    {"inside_rate_bytes_per_s", level, bytes_per_second, rates, access_to<&MachineLevel::inside_rate_bytes_per_s>,
     "calibrate/aggregate_rates.cpp", "all messages within an instance",
     "could not be identified: all ranks of an instance at once do not fill it; or not measured", "no limit", nullptr,
     3},
    {"node_share_bytes_per_s", level, bytes_per_second, rates, access_to<&MachineLevel::node_share_bytes_per_s>,
     "calibrate/aggregate_rates.cpp", "messages of each node, where all nodes send through the level at once",
     "could not be identified: all nodes at once send as much as each alone; or not measured: it needs two nodes",
     "no limit", nullptr, 3, outside_nodes},
    {"up_messages_per_s", level, messages_per_second, rates, access_to<&MachineLevel::up_messages_per_s>, nullptr,
     "message rate out of an instance", "not measured; no price uses it", nullptr, nullptr, 3, all_but_outermost},
    {"down_messages_per_s", level, messages_per_second, rates, access_to<&MachineLevel::down_messages_per_s>, nullptr,
     "message rate into an instance", "not measured; no price uses it", nullptr, nullptr, 3, all_but_outermost},
    {"messages_in_flight", level, count, counts, access_to<&MachineLevel::messages_in_flight>, nullptr,
     "messages in flight out of an instance, at most", "not measured; no price uses it", nullptr, nullptr, 3,
     all_but_outermost},
    {"processes", copy, count, processes_of_device, access_to<&DeviceCopy::processes>, "calibrate/device_copies.cpp",
     "processes that copy from or to one device at once"},
    {"alpha_s", copy, seconds, amounts, access_to<&DeviceCopy::alpha_s>, "calibrate/device_copies.cpp",
     "latency of their copies"},
    {"beta_s_per_byte", copy, seconds_per_byte, amounts, access_to<&DeviceCopy::beta_s_per_byte>,
     "calibrate/device_copies.cpp", "time for each byte that they copy together"},
    {"per_node", devices, count, counts, access_to<&Machine::devices_per_node>, "calibrate/device_copies.cpp",
     "devices that the ranks of a node share evenly", "not known", "each rank with data on devices has one of its own",
     nullptr, 2},
    {"copy_rate_bytes_per_s", devices, bytes_per_second, rates, access_to<&Machine::device_copy_rate_bytes_per_s>,
     "calibrate/device_copies.cpp", "copies within a device", "not measured",
     "1/`beta_s_per_byte` of the fastest messages between devices", nullptr, 2},
    {"copy_call_s", devices, seconds, amounts, access_to<&Machine::device_copy_call_s>, "calibrate/device_copies.cpp",
     "start of the copies of one batch within a device", "not measured", "the least `alpha_s` of `copy.device_to_host`",
     "without `copy.device_to_host`, too, strategies that forward `@device`", 2},
    {"copy_rate_bytes_per_s", local, bytes_per_second, rates, access_to<&Machine::copy_rate_bytes_per_s>,
     "calibrate/memory.cpp", "memory copies of one rank",
     "could not be identified: copies take no measurable time; or not measured",
     "as a message of 64 KiB between the nearest ranks; no limit where `local.copy_block_s` is known"},
    {"copy_block_s", local, seconds, amounts, access_to<&Machine::copy_block_s>, "calibrate/memory.cpp",
     "each contiguous piece of a copy", "not measured", "20 ns; 0 where `local.copy_rate_bytes_per_s` is known"},
    {"value_run_s", local, seconds, amounts, access_to<&Machine::value_run_s>, "calibrate/memory.cpp",
     "each run of small values that a loop copies", "not measured", "`local.copy_block_s`, but at most 2 ns", nullptr,
     2},
    {"reduction_rate_bytes_per_s", local, bytes_per_second, rates, access_to<&Machine::reduction_rate_bytes_per_s>,
     "calibrate/memory.cpp", "additions of values to others, by one rank", or_not_measured,
     "`local.copy_rate_bytes_per_s`", nullptr, 3},
    {"datatype_rate_bytes_per_s", local, bytes_per_second, rates, access_to<&Machine::datatype_rate_bytes_per_s>,
     "calibrate/memory.cpp", "copies of the MPI library for a derived datatype", or_not_measured,
     "copies: no derived datatype is made for pieces of messages"},
    {"datatype_block_s", local, seconds, amounts, access_to<&Machine::datatype_block_s>, "calibrate/memory.cpp",
     "each contiguous piece of a derived datatype", or_not_measured,
     "copies: no derived datatype is made for pieces of messages"},
    {"barrier_s", operations, seconds, amounts, access_to<&OperationCosts::barrier_s>, "calibrate/operations.cpp",
     "barrier", "not measured; no price uses it"},
    {"allreduce_s", operations, seconds, amounts, access_to<&OperationCosts::allreduce_s>, "calibrate/operations.cpp",
     "allreduce of one number", "not measured",
     "α·⌈log₂ P⌉, with the `alpha_s` of the smallest message between the farthest ranks"},
    {"probe_s", operations, seconds, amounts, access_to<&OperationCosts::probe_s>, "calibrate/operations.cpp",
     "an unexpected message, beyond one whose receive is posted", "not measured",
     "what taking in an empty message costs (`alpha_receive_s`, else its stand-in) between the nearest ranks that the "
     "profile knows"},
    {"put_s", operations, seconds, amounts, access_to<&OperationCosts::put_s>, "calibrate/operations.cpp",
     "put of 8 bytes", "not measured: the MPI library has no windows there", "nothing",
     "`direct+rma`: free puts would win"},
    {"fence_s", operations, seconds, amounts, access_to<&OperationCosts::fence_s>, "calibrate/operations.cpp",
     "fence of a window", "not measured; no price uses it"},
    {"window_s", operations, seconds, amounts, access_to<&OperationCosts::window_s>, "calibrate/operations.cpp",
     "creation and release of a window", "not measured; no price uses it"},
    {"neighbor_alltoall_s", operations, seconds, differences, access_to<&OperationCosts::neighbor_alltoall_s>,
     "calibrate/library_calls.cpp",
     "neighbourhood collective of the MPI library, beyond a direct exchange of the same messages",
     "not measured: the MPI library has no neighbourhood collectives there", "nothing",
     "`mpi`, which is compared with by the rules of the MPI library"},
    {"neighbor_alltoall_message_s", operations, seconds, differences,
     access_to<&OperationCosts::neighbor_alltoall_message_s>, "calibrate/library_calls.cpp",
     "each message of that collective, at either end", "not measured", "0"},
    {"alltoallv_s", operations, seconds, differences, access_to<&OperationCosts::alltoallv_s>,
     "calibrate/library_calls.cpp", "MPI_Alltoallv, beyond a direct exchange of the same blocks that is called once",
     "not measured", "nothing",
     "`mpi`, for exchanges that are called once, which is compared with by the rules of the MPI library"},
    {"alltoallv_message_s", operations, seconds, differences, access_to<&OperationCosts::alltoallv_message_s>,
     "calibrate/library_calls.cpp", "each message of that collective, at either end", "not measured", "0"},
    {"alltoallv_rank_s", operations, seconds, amounts, access_to<&OperationCosts::alltoallv_rank_s>,
     "calibrate/library_calls.cpp", "visit of MPI_Alltoallv to each rank to which a rank sends nothing", "not measured",
     "2.34 us where `operations.alltoallv_s` is absent, too (2.4 ms on 1024 ranks with 8 partners each); else 0",
     nullptr, 3},
    {"batch_s", operations, seconds, amounts, access_to<&OperationCosts::batch_s>, "calibrate/calls.cpp",
     "each batch of a planned exchange, beyond its messages", "not measured", "0: messages alone take time"},
    {"batch_once_s", operations, seconds, amounts, access_to<&OperationCosts::batch_once_s>, "calibrate/calls.cpp",
     "each batch of an exchange that is called once, beyond its messages", "not measured",
     "0: messages alone take time"},
    {"discovery_s", operations, seconds, amounts, access_to<&OperationCosts::discovery_s>, "calibrate/calls.cpp",
     "each discovery of a sparse exchange, beyond its messages", "not measured", "0: messages alone take time"},
    {"skew_s", operations, seconds, amounts, access_to<&OperationCosts::skew_s>, "calibrate/skew.cpp",
     "wait of ranks for one another, times √ranks, in each batch of messages between nodes that follows another one",
     "not measured", "0.06·α of the smallest messages between nodes; 0 where a calibration has measured exchanges",
     nullptr, 3},
    {"new_send_bytes", operations, bytes, counts, access_to<&OperationCosts::new_send_bytes>, "calibrate/new_sends.cpp",
     "largest send that takes less with a new request than with a persistent one",
     "a new request for each send takes as long there as a persistent one, or not measured",
     "none; without a verdict 256 within nodes under Open MPI", nullptr, 2},
    {"ranks", operations, count, groups, access_to<&OperationCosts::ranks>, "calibrate/operations.cpp",
     "ranks of the barrier, allreduce, fence and window", "not known",
     "collective operations cost their measured time, on any number of ranks"},
    {"messages_off_node", limits, count, counts, access_to<&Limits::messages_off_node>,
     "calibrate/messages_in_flight.cpp", "messages of a rank in flight to other nodes, at most", "not known", "64",
     nullptr, 3},
    {"messages", limits, count, counts, access_to<&Limits::messages>, nullptr, "messages of a rank in flight, at most",
     "no limit", nullptr, nullptr, 3},
    {"unexpected_messages", limits, count, counts, access_to<&Limits::unexpected_messages>, nullptr,
     "messages of a stage that come to a rank before their receives, at most", "not known", "1000", nullptr, 3},
    {"partners", limits, count, counts, access_to<&Limits::partners>, nullptr, "ranks to which a rank sends, at most",
     "no limit", nullptr, nullptr, 3},
    {"buffer_bytes", limits, bytes, sizes, access_to<&Limits::buffer_bytes>, nullptr,
     "memory of a rank for what it forwards, at most", "no limit", nullptr, nullptr, 3}};

static_assert(std::ranges::is_sorted(rows, {}, &MachineParameter::place));

}  // namespace

double to_double(const ParameterValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer ? static_cast<double>(*integer) : std::get<double>(value);
}

std::span<const MachineParameter> machine_parameters() { return rows; }

std::span<const MachineParameter> parameters_of(MachineParameter::Place place) {
  return {std::ranges::lower_bound(rows, place, {}, &MachineParameter::place),
          std::ranges::upper_bound(rows, place, {}, &MachineParameter::place)};
}

const MachineParameter* find_parameter(std::string_view key) {
  const auto row = std::ranges::find(rows, key, [](const auto& each) { return std::string_view(each.key); });
  return row == std::end(rows) ? nullptr : &*row;
}

const MachineParameter& parameter_named(MachineParameter::Place place, std::string_view key) {
  for (const auto& row : parameters_of(place))
    if (row.key == key) return row;
  throw std::out_of_range(std::string(key));
}

bool is_of_level(const MachineParameter& parameter, Level level, Level node, Level outermost) {
  switch (parameter.levels) {
    case all: return true;
    case all_but_outermost: return level < outermost;
    case outside_nodes: return level > node;
  }
  return true;
}

std::string pattern_of(const MachineParameter& parameter) {
  constexpr const char* places[] = {"levels.*.host.*", "levels.*.host", "levels.*",   "copy.*.*",
                                    "devices",         "local",         "operations", "limits"};
  return fmt::format("{}.{}", places[static_cast<int>(parameter.place)], parameter.key);
}

std::vector<std::string> patterns_of_key(std::string_view key) {
  std::vector<std::string> patterns;
  for (const auto& row : rows)
    if (row.key == key) patterns.push_back(pattern_of(row));
  return patterns;
}

const char* symbol_of(MachineParameter::Unit unit) {
  switch (unit) {
    case seconds: return "s";
    case seconds_per_byte: return "s/B";
    case bytes_per_second: return "B/s";
    case messages_per_second: return "1/s";
    case bytes: return "B";
    case count: return "";
  }
  return "";
}

const char* words_of(MachineParameter::Unit unit) {
  switch (unit) {
    case seconds: return "seconds";
    case seconds_per_byte: return "seconds per byte";
    case bytes_per_second: return "bytes per second";
    case messages_per_second: return "messages per second";
    case bytes: return "bytes";
    case count: return "a number";
  }
  return "";
}

MachineParameter::Range plausible_range(const MachineParameter& parameter) {
  // 100 KB/s is less than the slowest Ethernet, 1 PB/s more than the caches of any node.
  constexpr double longest_latency_s = 0.1, longest_s_per_byte = 1e-5, least_bytes_per_s = 1e5, most_bytes_per_s = 1e15;
  constexpr double least_messages_per_s = 1e3, most_messages_per_s = 1e12;
  switch (parameter.unit) {
    case seconds: return {-longest_latency_s, longest_latency_s};
    case seconds_per_byte: return {0, longest_s_per_byte};
    case bytes_per_second: return {least_bytes_per_s, most_bytes_per_s};
    case messages_per_second: return {least_messages_per_s, most_messages_per_s};
    case bytes:
    case count: return parameter.range;
  }
  return parameter.range;
}

std::string format_parameter(MachineParameter::Unit unit, const ParameterValue& value) {
  constexpr double giga = 1e9, mega = 1e6, nano = 1e-9;
  const double number = to_double(value);
  switch (unit) {
    case seconds: return format_seconds(number);
    case seconds_per_byte: return fmt::format("{:.3g} ns/B", number / nano);
    case bytes_per_second: return fmt::format("{:.3g} GB/s", number / giga);
    case messages_per_second: return fmt::format("{:.3g} million/s", number / mega);
    case bytes: return fmt::format("{:.0f} B", number);
    case count: return fmt::format("{:.0f}", number);
  }
  return {};
}

std::string range_remedy(const MachineParameter& parameter, const ParameterValue& value) {
  const auto [least, most] = parameter.range;
  const bool is_number = !is_absent(value) && std::isfinite(to_double(value));
  if (is_number && to_double(value) > most) return fmt::format("use a number, at most {:.15g}", most);
  if (is_number && to_double(value) >= least) return {};
  if (parameter.is_integer()) return fmt::format("use an integer, {} or more", least);
  if (!is_number || least <= 0) return fmt::format("use a number, {} or more", least);
  return fmt::format("use {} {} a second or more, or leave it out if it was not measured", least,
                     parameter.unit == bytes_per_second ? "bytes" : "messages");
}

}  // namespace commpass
