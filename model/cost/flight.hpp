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

/// A message on its way, or several of one sender, one right after another.
struct Flight {
  const Message* message = nullptr;
  const Protocol* protocol = nullptr;
  Rank from = 0, to = 0;        ///< of the message: read for each event
  Level level = 0;              ///< of its ends
  Level channel_level = 0;      ///< whose channel it takes
  bool is_eager = false;        ///< does its sender go on without waiting for the receiver?
  bool awaits_receive = false;  ///< do its bytes wait until the receiver comes?
  bool was_awaited = false;     ///< was it the receiver that was late?
  std::uint32_t messages = 1;
  int senders = 1;             ///< ranks that send such a message at the same time, and share the same
  Seconds begin = 0;           ///< B_k of the first
  Seconds moves_from = 0;      ///< M_k of the first
  double move_s_per_byte = 0;  ///< β, of the fastest protocol of the channel
  Seconds link_seconds = 0;    ///< that its bytes take on the link of its sender, alone; 0 if that is not known
  Seconds unshared_until = 0;  ///< when the last would have moved, if ranks shared nothing
  Seconds shared_until = 0;    ///< C_k, 0 if nothing is shared
  Seconds arrival = 0;         ///< A_k
  // How the way from the sender's (or the late receiver's) start to the arrival divides up, without sharing.
  Seconds latency = 0;
  Seconds transfer = 0;

  /// The part of α that its sender is busy.
  Seconds launching() const { return std::min(protocol->alpha_next_s, protocol->alpha_s); }
  /// The part of α that its receiver is busy.
  Seconds taking() const { return std::min(protocol->alpha_receive_s.value_or(0), protocol->alpha_s - launching()); }
  double bytes() const { return static_cast<double>(message->bytes) * messages; }

  /// When it has moved, from when on it moves.
  void set_begin(Seconds when) {
    begin = when;
    moves_from = begin + protocol->alpha_s - launching() - taking();
    unshared_until = moves_from + earlier_latency() + earlier_transfer() + bytes_seconds() - handling();
  }

  /// Where it waits for its receiver, its bytes do not move before that has posted its receive.
  void await(Seconds posted) {
    if (!awaits_receive || posted <= begin) return;
    was_awaited = true;
    latency = earlier_latency() + protocol->alpha_s - launching();
    transfer = earlier_transfer() + bytes_seconds() - handling();
    set_begin(posted);
  }

  /// The link of its sender has moved it, among other messages of that sender.
  void leave_link(Seconds when) {
    transfer += std::max(0.0, when - unshared_until);
    unshared_until = std::max(unshared_until, when);
  }

  void arrive() { arrival = std::max(unshared_until, shared_until) + taking(); }

  /// The time before the bytes of the first can move: what a slower protocol takes longer.
  Seconds handling() const { return (protocol->beta_s_per_byte - move_s_per_byte) * each_bytes(); }
  /// By which the last leaves later than the first.
  Seconds earlier_latency() const { return (messages - 1) * protocol->alpha_next_s; }
  Seconds earlier_transfer() const { return (messages - 1) * (protocol->beta_next() * each_bytes()); }

 private:
  double each_bytes() const { return static_cast<double>(message->bytes); }
  Seconds bytes_seconds() const { return protocol->beta_s_per_byte * each_bytes(); }
};

/// By which bytes move: Channel::least_beta of each level, 0 where there is no channel.
std::array<double, most_levels> least_betas(const Machine& machine);

/// Launches the messages of one sender, one after another.
class Launching {
 public:
  /// Both must live as long as this.
  Launching(const Layout& layout, const Machine& machine)
      : layout_(layout), machine_(machine), least_beta_(least_betas(machine)) {}

  /// @param clock  when the sender begins
  void begin(Seconds clock) {
    clock_ = clock;
    latency_ = transfer_ = 0;
  }

  /// The next message, whose receiver is there.
  void next(const Message& message, const Folded& folded, Flight& flight) {
    const auto& channel = host_channel(machine_, folded.level);
    const auto& protocol = channel.protocol(message.bytes);
    const auto size = static_cast<double>(message.bytes);
    flight.message = &message;
    flight.from = message.from;
    flight.to = message.to;
    flight.protocol = &protocol;
    flight.level = folded.level;
    flight.channel_level = layout_.channel_level(folded.level);
    flight.is_eager = channel.is_eager(message.bytes);
    flight.awaits_receive = channel.awaits_receive(message.bytes);
    flight.messages = folded.messages;
    flight.move_s_per_byte = least_beta_[folded.level];
    flight.link_seconds = folded.messages * size / channel.link_rate_bytes_per_s;
    flight.latency = latency_ + flight.earlier_latency() + protocol.alpha_s;
    flight.transfer = transfer_ + flight.earlier_transfer() + protocol.beta_s_per_byte * size;
    flight.set_begin(clock_ + latency_ + transfer_ + flight.launching() + flight.handling());
    latency_ += flight.earlier_latency() + protocol.alpha_next_s;
    transfer_ += flight.earlier_transfer() + protocol.beta_next() * size;
  }

  /// When all have left so far.
  Seconds left_at() const { return clock_ + latency_ + transfer_; }

 private:
  const Layout& layout_;
  const Machine& machine_;
  std::array<double, most_levels> least_beta_;
  Seconds clock_ = 0, latency_ = 0, transfer_ = 0;  // of the sender's messages so far
};

/// A send is out when the message has arrived, before the receiver deals with it; an eager one when it has left.
/// @param launched  when all messages of its sender have left it
inline Seconds out_at(const Flight& flight, Seconds launched) {
  return flight.is_eager ? launched : flight.arrival - flight.protocol->alpha_receive_s.value_or(0);
}

/// A message that comes to a rank.
struct Arrival {
  Seconds when;
  Seconds taking;  ///< that its receiver needs for it
  Rank to;
  std::uint32_t messages;
  Level channel_level;
  bool is_after_sends;  ///< is it taken in when its receiver's own messages have left?
};

inline Arrival arrival_of(const Flight& flight) {
  const auto& protocol = *flight.protocol;
  return {flight.arrival,
          flight.messages * protocol.receive_seconds(flight.message->bytes),
          flight.to,
          flight.messages,
          flight.channel_level,
          protocol.takes_after_sends()};
}

/// When a rank takes in its messages.
struct TakingIn {
  Seconds ready = 0;  ///< to take in the last
  Seconds finish = 0;
};

/// @param arrivals  are sorted by time
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
