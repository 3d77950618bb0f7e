// A message on its way: when it leaves its sender, moves, arrives and is taken in. Private to the burst model; the
// letters are those of burst.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "model/cost/models.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/schedule/schedule.hpp"

namespace commpass {

/// A message, or several of one sender, one right after another.
struct Load {
  double bytes = 0;            ///< of one
  double least_beta = 0;       ///< of its channel: by which bytes move
  std::uint32_t messages = 1;  ///< that it stands for

  /// By which the last leaves later than the first.
  Seconds earlier_latency(const Protocol& protocol) const { return (messages - 1) * protocol.alpha_next_s; }
  Seconds earlier_transfer(const Protocol& protocol) const { return (messages - 1) * (protocol.beta_next() * bytes); }
  /// That one takes to move.
  Seconds moving() const { return least_beta * bytes; }
};

/// What of it changes on its way. Events come to flights in any order, so one fits into a cache line.
struct Flight {
  const Protocol* protocol = nullptr;
  Seconds moves_from = 0;      ///< M_k of the first
  Seconds unshared_until = 0;  ///< when the last would have moved, if ranks shared nothing
  Seconds shared_until = 0;    ///< C_k, 0 if nothing is shared
  // How the way from the sender's (or the late receiver's) start to the arrival divides up, without sharing.
  Seconds latency = 0;
  Seconds transfer = 0;
  std::uint32_t sending_turn = 0, receiving_turn = 0, arrival_number = 0;
  Level level = 0;                  ///< of its ends
  bool is_eager : 1 = false;        ///< does its sender go on without waiting for the receiver?
  bool awaits_receive : 1 = false;  ///< do its bytes wait until the receiver comes?
  bool was_awaited : 1 = false;     ///< was it the receiver that was late?
  std::uint8_t servers_left = 0;    ///< that have not moved it

  /// The part of α that its sender is busy.
  Seconds launching() const { return std::min(protocol->alpha_next_s, protocol->alpha_s); }
  /// The part of α that its receiver is busy.
  Seconds taking() const { return std::min(protocol->alpha_receive_s.value_or(0), protocol->alpha_s - launching()); }
  /// From its begin until it moves.
  Seconds waking() const { return protocol->alpha_s - launching() - taking(); }

  /// B_k of the first
  Seconds begin() const { return moves_from - waking(); }
  void set_begin(Seconds when, const Load& load) {
    moves_from = when + waking();
    unshared_until = moves_from + load.earlier_latency(*protocol) + load.earlier_transfer(*protocol) + load.moving();
  }

  /// Where it waits for its receiver, its bytes do not move before that has posted its receive.
  void await(Seconds posted, const Load& load) {
    if (!awaits_receive || posted <= begin()) return;
    was_awaited = true;
    latency = load.earlier_latency(*protocol) + protocol->alpha_s - launching();
    transfer = load.earlier_transfer(*protocol) + load.moving();
    set_begin(posted, load);
  }

  /// The link of its sender has moved it, among other messages of that sender.
  void leave_link(Seconds when) {
    transfer += std::max(0.0, when - unshared_until);
    unshared_until = std::max(unshared_until, when);
  }

  /// A_k
  Seconds arrival() const { return std::max(unshared_until, shared_until) + taking(); }
};

static_assert(sizeof(Flight) <= 64);

/// The channel of a level, and what of it flights ask for.
struct LevelChannel {
  const Channel* channel = nullptr;  ///< null: there is none
  double least_beta = 0;             ///< Channel::least_beta
};
using LevelChannels = std::array<LevelChannel, most_levels>;
LevelChannels channels_of(const Machine& machine);

/// The part that is known before its sender begins.
/// @param level  of its ends, which has a channel
Flight flight_of(const Message& message, Level level, const LevelChannels& channels);

/// Launches the messages of one sender, one after another.
class Launching {
 public:
  /// @param clock  when the sender begins
  explicit Launching(Seconds clock) : clock_(clock) {}

  /// The next message, whose receiver is there.
  void next(Flight& flight, const Load& load) {
    const auto& protocol = *flight.protocol;
    const Seconds alone = protocol.beta_s_per_byte * load.bytes;
    // The bytes of the first move as those of the fastest protocol do, later by what its own takes longer.
    const Seconds handling = alone - load.moving();
    flight.latency = latency_ + load.earlier_latency(protocol) + protocol.alpha_s;
    flight.transfer = transfer_ + load.earlier_transfer(protocol) + alone;
    flight.set_begin(clock_ + latency_ + transfer_ + flight.launching() + handling, load);
    latency_ += load.earlier_latency(protocol) + protocol.alpha_next_s;
    transfer_ += load.earlier_transfer(protocol) + protocol.beta_next() * load.bytes;
  }

  /// When all have left so far.
  Seconds left_at() const { return clock_ + latency_ + transfer_; }
  Seconds latency() const { return latency_; }
  Seconds transfer() const { return transfer_; }

 private:
  Seconds clock_, latency_ = 0, transfer_ = 0;  // of the sender's messages so far
};

/// A send is out when the message has arrived, before the receiver deals with it; an eager one when it has left.
/// @param launched  when all messages of its sender have left it
inline Seconds out_at(const Flight& flight, Seconds launched) {
  return flight.is_eager ? launched : flight.arrival() - flight.protocol->alpha_receive_s.value_or(0);
}

/// A message that comes to a rank.
struct Arrival {
  Seconds when;
  Seconds taking;        ///< that its receiver needs for it
  Seconds unpacking;     ///< and for its pieces
  std::uint32_t flight;  ///< a number
  std::uint32_t messages;
  Level channel_level;
  bool is_after_sends;  ///< is it taken in when its receiver's own messages have left?
  bool is_unpacked;
};

/// When a rank takes in its messages.
struct TakingIn {
  Seconds ready = 0;  ///< to take in the last
  Seconds finish = 0;
};

/// @param arrivals  get sorted by time
/// @param clock     when the rank posts its receives
/// @param launched  when its own messages have left it
/// @param on_taken  called with each arrival and when it is taken in
template <class OnTaken>
TakingIn take_in(std::span<Arrival> arrivals, Seconds clock, Seconds launched, const Machine& machine,
                 OnTaken on_taken) {
  std::ranges::sort(arrivals, {}, &Arrival::when);
  TakingIn result{clock, clock};
  auto& [ready, finish] = result;
  std::array<double, most_levels> posted{};
  for (const auto& arrival : arrivals) {
    if (arrival.is_after_sends) ready = launched;
    finish = std::max({finish, ready, arrival.when - arrival.taking}) + arrival.taking;
    on_taken(arrival, finish);
    posted[arrival.channel_level] += arrival.messages;
  }
  for (std::size_t l = 0; l < posted.size(); ++l)
    if (posted[l] > 0)
      finish += host_channel(machine, static_cast<Level>(l)).gamma_s.value_or(0) * posted[l] * posted[l] / 2;
  return result;
}

}  // namespace commpass
