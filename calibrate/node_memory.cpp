// Messages through memory that the ranks of a node share, as planned exchanges send them.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "calibrate/bursts.hpp"
#include "calibrate/calibration.hpp"
#include "calibrate/fit/attribution.hpp"
#include "calibrate/fit/switches.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/rank_data.hpp"
#include "runtime/mpi/timed_start.hpp"

namespace commpass {

namespace {

/// Of messages in bursts, so that those of a whole node need little memory.
constexpr Bytes burst_bytes_max = Bytes{4} << 10;

/// Exchanges of messages that are pushed.
class PushedMessages {
 public:
  struct Times {
    Seconds posting = 0;  ///< until the median rank has started the exchange
    Seconds all = 0;      ///< until the last rank has all
  };

  explicit PushedMessages(Calibration& calibration)
      : calibration_(calibration),
        comm_(calibration.comm.get()),
        communicator_(comm_, calibration.machine, {calibration.layout}) {}

  /// One message each way between the first `count` pairs of a level. The means of the repetitions. Collective.
  Times pairs(Level level, std::size_t count, Bytes bytes, int repetitions) {
    return time(of_pairs(level, count, bytes), repetitions);
  }
  /// `messages` from each rank to its partners on a level in turn, on the instance of the first pair. Collective.
  Times among_partners(Level level, Bytes bytes, int messages, int repetitions) {
    return time(of_partners(level, bytes, messages), repetitions);
  }

  /// Do messages within a node go through its memory? Not where a node has too little of it. Collective.
  bool are_pushed(Level level, Bytes bytes, int messages) {
    const auto& kept = of_partners(level, bytes, messages);
    int is_pushed = kept.data.receives.empty() || kept.exchange.buffer_bytes() > 0;
    COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &is_pushed, 1, MPI_INT, MPI_LAND, comm_);
    return is_pushed != 0;
  }

 private:
  struct Kept {
    RankData data;
    Exchange exchange;
  };

  Kept& of_pairs(Level level, std::size_t count, Bytes bytes) {
    return kept({0, static_cast<int>(count), bytes}, [&](Pattern& pattern) {
      for (const auto& [first, second] : std::span(calibration_.pairs(level)).first(count)) {
        pattern.edges.push_back({first, second, bytes});
        pattern.edges.push_back({second, first, bytes});
      }
    });
  }

  Kept& of_partners(Level level, Bytes bytes, int messages) {
    return kept({messages, 0, bytes}, [&](Pattern& pattern) {
      const auto& layout = calibration_.layout;
      const Rank first = calibration_.pairs(level).front().first;
      std::vector<Rank> ranks;  // of the instance
      for (const Rank rank : layout.ranks_of(layout.node(first)))
        if (rank == first || layout.channel_level(first, rank) <= level) ranks.push_back(rank);
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        std::vector<Rank> to;
        for (const Rank rank : ranks)
          if (rank != ranks[r] && layout.channel_level(rank, ranks[r]) == level) to.push_back(rank);
        if (to.empty()) continue;
        // Each begins elsewhere, so that all receive as much.
        for (std::size_t i = 0; i < at(messages); ++i)
          pattern.edges.push_back({ranks[r], to[(r + i) % to.size()], bytes});
      }
    });
  }

  /// Plans an exchange, unless it is known. Its messages stay apart.
  template <class AddEdges>
  Kept& kept(const std::tuple<int, int, Bytes>& key, AddEdges add_edges) {
    if (const auto found = kept_.find(key); found != kept_.end()) return found->second;
    Pattern pattern{calibration_.layout.ranks(), {}};
    add_edges(pattern);
    auto data = data_of(pattern, calibration_.comm.rank());
    auto exchange = communicator_.neighbor_exchange(data.send_buffer.data(), data.sends, data.receive_buffer.data(),
                                                    data.receives, {"standard,staggered,shared"});
    return kept_.try_emplace(key, Kept{std::move(data), std::move(exchange)}).first->second;
  }

  Times time(Kept& kept, int repetitions) {
    Times sum;
    for (int i = 0; i < repetitions; ++i) {
      std::optional<Seconds> posting;
      const auto run = [&] {
        const double begin = MPI_Wtime();
        kept.exchange.start();
        if (!kept.data.sends.empty()) posting = MPI_Wtime() - begin;
        kept.exchange.wait();
      };
      sum.all += time_exchange(comm_, run, kept.data.send_buffer);
      sum.posting += median_over_ranks(comm_, posting);
    }
    return {sum.posting / repetitions, sum.all / repetitions};
  }

  Calibration& calibration_;
  MPI_Comm comm_;
  Communicator communicator_;
  std::map<std::tuple<int, int, Bytes>, Kept> kept_;  ///< exchanges keep the addresses of their buffers
};

Bytes largest_pushed(const Calibration& calibration) {
  return std::min(shared_bytes_max, calibration.options.largest_bytes);
}

/// Powers of two, and sizes between.
std::vector<Bytes> powers_up_to(Bytes largest) {
  std::vector<Bytes> sizes;
  for (Bytes bytes = 1; bytes < largest; bytes *= 2) {
    sizes.push_back(bytes);
    if (bytes > 1) sizes.push_back(bytes + bytes / 2);
  }
  sizes.push_back(largest);
  return sizes;
}

/// Fits the protocols of lone messages each way, with all that the exchange takes.
void fit_lone_messages(Calibration& calibration, PushedMessages& messages, Level level, Channel& channel,
                       double share) {
  std::map<Bytes, Series> times;
  for (const Bytes bytes : powers_up_to(largest_pushed(calibration))) times[bytes];
  calibration.sampler.sample_all(times, share, [&](Bytes bytes, int, int repetitions) {
    return messages.pairs(level, 1, bytes, repetitions).all;
  });
  const auto points = points_of(times);
  auto segments = fit_segments(points);
  channel.protocols = protocols_of(points, segments);
  int number = 0;
  for (auto& protocol : channel.protocols)
    protocol.name = ++number == 1 ? std::string("pushed") : fmt::format("pushed-{}", number);
}

/// The part of a channel whose bursts need little memory.
Channel short_messages(Channel channel) {
  std::size_t count = 1;
  while (count < channel.protocols.size() && channel.protocols[count - 1].max_bytes < burst_bytes_max) ++count;
  channel.protocols.resize(count);
  channel.protocols.back().max_bytes = std::min(channel.protocols.back().max_bytes, burst_bytes_max);
  return channel;
}

/// What further messages take of their sender and their receiver, each of which copies them, while all ranks of an
/// instance do the same. Longer ones take as long as lone ones.
void fit_further_messages(Calibration& calibration, PushedMessages& messages, Level level, Channel& channel,
                          double middle, double end) {
  const auto bursting = short_messages(channel);
  const auto bursts = [&](double share, Seconds PushedMessages::Times::*which) {
    return Bursts(calibration, bursting, share, 1, [&](Bytes bytes, int count, int repetitions) {
      return messages.among_partners(level, bytes, count, repetitions).*which;
    });
  };
  const auto posted = bursts(middle, &PushedMessages::Times::posting);
  const auto all = bursts(end, &PushedMessages::Times::all);
  for (std::size_t i = 0; i < bursting.protocols.size(); ++i) {
    auto& protocol = channel.protocols[i];
    const auto sent = posted.steps(i, 0), both = all.steps(i, 0);
    if (!std::ranges::all_of(sent, is_determined) || !std::ranges::all_of(both, is_determined)) {
      calibration.not_measured(fmt::format("{}.{}: alpha_next_s and alpha_receive_s: times of bursts differ by more "
                                           "than a further message takes",
                                           calibration.level_key(level, "shared"), protocol.name));
      continue;
    }
    SentSteps steps;
    std::array<CrossedStep, 2> crossed;
    for (const std::size_t large : {0, 1}) {
      const Bytes bytes = size_of(calibration, bursting, i, large == 1);
      steps[large] = {bytes, sent[large].value, sent[large].value};
      crossed[large] = {.bytes = bytes, .step_s = both[large].value, .sending_s = sent[large].value};
    }
    const auto sending = fit_sending(steps, channel.link_rate_bytes_per_s, lone_messages(protocol));
    const auto taking = fit_taking_beside_sending(crossed, lone_messages(protocol));
    protocol.alpha_next_s = sending.alpha_s;
    protocol.beta_next_s_per_byte = sending.beta_s_per_byte;
    protocol.alpha_receive_s = taking.alpha_s;
    protocol.beta_receive_s_per_byte = taking.beta_s_per_byte;
  }
}

/// What all pairs of a level move together.
void fit_rate_of_all(Calibration& calibration, PushedMessages& messages, Level level, Channel& channel, double share) {
  const auto pairs = calibration.pairs(level).size();
  if (pairs < 2) return;
  constexpr Bytes bytes = Bytes{32} << 10;
  std::map<std::size_t, Series> times;
  for (std::size_t count = 1; count < pairs; count *= 2) times[count];
  times[pairs];
  calibration.sampler.sample_all(times, share, [&](std::size_t count, int, int repetitions) {
    return messages.pairs(level, count, bytes, repetitions).all;
  });
  std::vector<int> counts;
  std::vector<double> seconds;
  for (const auto& [count, series] : times) {
    counts.push_back(static_cast<int>(count));
    seconds.push_back(series.time());
  }
  channel.aggregate_rate_bytes_per_s =
      fit_shared_rate(counts, seconds, 2 * bytes, channel.protocols.front().alpha_s);
}

}  // namespace

void measure_node_memory(Calibration& calibration, Level level, const Share& share) {
  calibration.progress(fmt::format("memory of a node, {}", calibration.name_of(level)));
  const auto key = calibration.level_key(level, "shared");
  if (!calibration.provenance.warning.empty())
    return calibration.not_measured(key + ": " + calibration.provenance.warning);
  PushedMessages messages(calibration);
  constexpr int probed_messages = 32;
  if (!messages.are_pushed(level, burst_bytes_max, probed_messages))
    return calibration.not_measured(key + ": the ranks share no memory, or have too little of it");
  const double quarter = (share.end - share.begin) / 4;
  Channel channel;
  fit_lone_messages(calibration, messages, level, channel, share.begin + quarter);
  fit_further_messages(calibration, messages, level, channel, share.begin + 2 * quarter, share.begin + 3 * quarter);
  fit_rate_of_all(calibration, messages, level, channel, share.end);
  calibration.machine.shared.by_level[level] = std::move(channel);
}

}  // namespace commpass
