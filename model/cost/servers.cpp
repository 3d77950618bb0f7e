#include "model/cost/servers.hpp"

#include <functional>
#include <limits>
#include <numeric>

namespace commpass {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

constexpr std::uint32_t no_flight = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Servers::Servers(const Layout& layout, const Machine& machine)
    : link_busy_until_(static_cast<std::size_t>(layout.ranks()), 0) {
  int count = 0;
  // One for each instance of a level, that messages of levels from `first` to `last` pass.
  const auto add = [&](Level where, double rate, int first, int last, bool is_of_receiver = false) {
    if (!(rate < unlimited) || first > last || layout.instances(where) == 0) return;
    for (int level = first; level <= last; ++level)
      passed_[static_cast<std::size_t>(level)].push_back({count, layout.instance_of(where), is_of_receiver, rate});
    count += layout.instances(where);
    if (last > layout.node_level() && (is_of_receiver || where > layout.node_level())) are_of_one_node_ = false;
  };
  const Level node = layout.node_level(), outermost = layout.outermost();
  const auto channel_rate = [&](Level level) {
    const auto* channel = machine.host.find(level);
    return channel ? channel->aggregate_rate_bytes_per_s : unlimited;
  };
  const auto add_ways = [&](Level level) {
    const auto& own = machine.levels[level];
    // What messages between nodes share by their channel, those of a node share on their way out of it.
    const double up =
        level == node ? std::min(own.up_rate_bytes_per_s, channel_rate(outermost)) : own.up_rate_bytes_per_s;
    add(level, up, level + 1, outermost);
    add(level, own.down_rate_bytes_per_s, level + 1, outermost, true);
  };
  for (Level level = 0; level <= outermost; ++level) {
    if (level <= node) add(level, channel_rate(level), level, level);
    else if (level < outermost && machine.host.has(level)) add(node, channel_rate(level), level, level);
    add(level, machine.levels[level].inside_rate_bytes_per_s, 0, level);
    if (level <= node) add_ways(level);
  }
  for (Level level = 0; level <= outermost; ++level)
    if (const int instances = layout.instances(level); instances > 0)
      add(level, machine.levels[level].node_share_bytes_per_s * layout.nodes() / instances, level, level);
  for (Level level = node + 1; level < outermost; ++level) add_ways(level);
  backlogs_.resize(static_cast<std::size_t>(count));
  by_server_ = Grouping(static_cast<std::size_t>(count));
}

void Servers::serve(std::span<Flight> flights) {
  serve_links(flights);
  jobs_.clear();
  for (std::size_t f = 0; f < flights.size(); ++f) {
    const auto& flight = flights[f];
    each_shared(flight, [&](const SharedRate& shared) {
      jobs_.push_back({shared.server, static_cast<std::uint32_t>(f), flight.moves_from,
                       flight.senders * flight.bytes() / shared.rate_bytes_per_s,
                       shared.rate_bytes_per_s * flight.move_s_per_byte / flight.senders});
    });
  }
  for (const auto& [server, begin, end] :
       by_server_.group(jobs_, jobs_by_server_, [](const Job& j) { return static_cast<std::size_t>(j.server); })) {
    const auto own = std::span(jobs_by_server_).subspan(begin, end - begin);
    sort(own);
    share(own, backlogs_[server], [&](std::uint32_t flight, Seconds done) {
      auto& shared_until = flights[flight].shared_until;
      shared_until = std::max(shared_until, done);
    });
  }
}

// Most messages have moved before their sender has launched the next.
void Servers::serve_links(std::span<Flight> flights) {
  for (std::size_t begin = 0; begin < flights.size();) {
    const Rank rank = flights[begin].from;
    auto& busy_until = link_busy_until_[static_cast<std::size_t>(rank)];
    auto free_from = busy_until;
    bool is_shared = false;
    std::size_t end = begin;
    for (; end < flights.size() && flights[end].from == rank; ++end) {
      const auto& flight = flights[end];
      if (flight.link_seconds == 0) continue;
      is_shared = is_shared || flight.moves_from < free_from;
      free_from = std::max(free_from, flight.moves_from + flight.link_seconds);
    }
    if (is_shared) {
      jobs_.clear();
      for (auto f = begin; f < end; ++f)
        if (flights[f].link_seconds > 0)
          jobs_.push_back({0, static_cast<std::uint32_t>(f), flights[f].moves_from, flights[f].link_seconds});
      sort(jobs_);
      link_backlog_ = {busy_until, {}};
      share(jobs_, link_backlog_, [&](std::uint32_t f, Seconds done) { flights[f].leave_link(done); });
      free_from = link_backlog_.busy_until;
    }
    busy_until = free_from;
    begin = end;
  }
}

// Sorts by begin. Begins are spread over the batch, so that most of the work is done by as many slots of time as there
// are jobs: few jobs share one, unless a few begin long after the others.
void Servers::sort(std::span<Job> jobs) {
  constexpr std::size_t few = 32, crowd = 64;
  const auto by_comparing = [&] { std::ranges::sort(jobs, {}, &Job::begin); };
  if (jobs.size() < few) return by_comparing();
  const auto [first, last] = std::ranges::minmax(jobs, {}, &Job::begin);
  const double slots_per_s = static_cast<double>(jobs.size() - 1) / (last.begin - first.begin);
  if (!(slots_per_s < unlimited)) return by_comparing();
  const auto slot = [&, begin = first.begin](const Job& job) {
    return static_cast<std::size_t>((job.begin - begin) * slots_per_s);
  };

  slots_.assign(jobs.size() + 1, 0);
  for (const auto& job : jobs) ++slots_[slot(job) + 1];
  if (std::ranges::max(slots_) > crowd) return by_comparing();
  std::partial_sum(slots_.begin(), slots_.end(), slots_.begin());
  jobs_by_slot_.resize(jobs.size());
  for (const auto& job : jobs) jobs_by_slot_[slots_[slot(job)]++] = job;
  // The rest of the sorting is within slots, so no job moves far.
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    std::size_t place = i;
    for (; place > 0 && jobs[place - 1].begin > jobs_by_slot_[i].begin; --place) jobs[place] = jobs[place - 1];
    jobs[place] = jobs_by_slot_[i];
  }
}

void Ends::add(const End& end) {
  weight_ += end.weight;
  if (queue_.size() == first_ || queue_.back().served <= end.served) return queue_.push_back(end);
  heap_.push_back(end);
  std::ranges::push_heap(heap_, std::ranges::greater{}, &End::served);
}

void Ends::take_next() {
  weight_ -= next().weight;
  if (next_is_queued()) {
    ++first_;
    return;
  }
  std::ranges::pop_heap(heap_, std::ranges::greater{}, &End::served);
  heap_.pop_back();
}

void Ends::clear() {
  queue_.clear();
  heap_.clear();
  first_ = 0;
  weight_ = 0;
}

double Servers::Backlog::jobs_after(Seconds when) const {
  double jobs = 0;
  for (auto done = dones.rbegin(); done != dones.rend() && done->when > when; ++done) jobs += done->jobs;
  return jobs;
}

// Moves the jobs of one server, in order of their begin: those that are there at once get equal parts of its rate, but
// none moves faster than alone.
// A backlog of earlier batches, when the first job comes, counts as one job for each that remains, all of equal size.
template <class OnDone>
void Servers::share(std::span<const Job> jobs, Backlog& backlog, OnDone on_done) {
  Seconds now = jobs.front().begin;
  Seconds served = 0;  // of every job that is there, since the first came, at full rate
  ends_.clear();       // at which `served` a job is done
  const double to_fill = jobs.front().to_fill;
  const auto sharing = [&] { return std::max(ends_.weight(), to_fill); };
  if (const auto left = backlog.busy_until - now; left > 0) {
    const auto weight = std::max(1.0, backlog.jobs_after(now));
    ends_.add({left / std::max(weight, to_fill), no_flight, weight});
    if (&backlog != &link_backlog_) overlap_ = std::max(overlap_, left);
  }
  backlog.dones.clear();
  const auto run_until = [&](Seconds when) {
    while (!ends_.empty()) {
      const auto next = ends_.next();
      const Seconds done = now + (next.served - served) * sharing();
      if (done > when) {
        served += (when - now) / sharing();
        break;
      }
      now = done;
      served = next.served;
      if (next.flight != no_flight) on_done(next.flight, done);
      backlog.dones.push_back({done, next.weight});
      ends_.take_next();
    }
    now = std::max(now, when);
  };
  for (const auto& job : jobs) {
    run_until(job.begin);
    ends_.add({served + job.seconds, job.flight, 1});
  }
  while (!ends_.empty()) run_until(now + (ends_.next().served - served) * sharing());
  backlog.busy_until = now;
}

}  // namespace commpass
