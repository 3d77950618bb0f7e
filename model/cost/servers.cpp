#include "model/cost/servers.hpp"

#include <functional>
#include <limits>
#include <numeric>

namespace commpass {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

std::size_t servers_of(const Layout& layout) {
  return static_cast<std::size_t>(layout.sockets()) + 3 * static_cast<std::size_t>(layout.nodes());
}

double rate_of(const Machine& machine, Locality locality) {
  const auto* channel = machine.host.find(locality);
  return channel ? channel->aggregate_rate_bytes_per_s : unlimited;
}

}  // namespace

Servers::Servers(const Layout& layout, const Machine& machine)
    : layout_(layout),
      socket_rate_(rate_of(machine, Locality::socket)),
      node_rate_(rate_of(machine, Locality::node)),
      out_rate_(std::min(rate_of(machine, Locality::network), machine.injection_rate_bytes_per_s)),
      in_rate_(machine.ejection_rate_bytes_per_s),
      busy_until_(servers_of(layout), 0),
      by_server_(servers_of(layout)) {}

bool Servers::are_of_one_node() const { return in_rate_ == unlimited; }

void Servers::serve(std::span<Flight> flights) {
  const int sockets = layout_.sockets(), nodes = layout_.nodes();
  jobs_.clear();
  for (std::size_t f = 0; f < flights.size(); ++f) {
    const auto from = flights[f].message->from, to = flights[f].message->to;
    switch (flights[f].locality) {
      case Locality::socket: add(layout_.socket(from), flights, f, socket_rate_); break;
      case Locality::node: add(sockets + layout_.node(from), flights, f, node_rate_); break;
      case Locality::network:
        add(sockets + nodes + layout_.node(from), flights, f, out_rate_);
        add(sockets + 2 * nodes + layout_.node(to), flights, f, in_rate_);
    }
  }
  for (const auto& [server, begin, end] :
       by_server_.group(jobs_, jobs_by_server_, [](const Job& j) { return static_cast<std::size_t>(j.server); })) {
    const auto own = std::span(jobs_by_server_).subspan(begin, end - begin);
    sort(own);
    share(own, flights, busy_until_[server]);
  }
}

void Servers::add(int server, std::span<const Flight> flights, std::size_t flight, double rate) {
  if (rate == unlimited) return;
  jobs_.push_back({server, static_cast<std::uint32_t>(flight), flights[flight].begin,
                   flights[flight].senders * flights[flight].bytes() / rate});
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
  // What is left to sort is within slots, so no job moves far.
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    std::size_t place = i;
    for (; place > 0 && jobs[place - 1].begin > jobs_by_slot_[i].begin; --place) jobs[place] = jobs[place - 1];
    jobs[place] = jobs_by_slot_[i];
  }
}

void Servers::Ends::add(const End& end) {
  if (queue_.size() == first_ || queue_.back().served <= end.served) return queue_.push_back(end);
  heap_.push_back(end);
  std::ranges::push_heap(heap_, std::ranges::greater{}, &End::served);
}

void Servers::Ends::take_next() {
  if (next_is_queued()) {
    ++first_;
    return;
  }
  std::ranges::pop_heap(heap_, std::ranges::greater{}, &End::served);
  heap_.pop_back();
}

void Servers::Ends::clear() {
  queue_.clear();
  heap_.clear();
  first_ = 0;
}

// Moves the jobs of one server, in order of their begin: those that are there at once get equal parts of its rate.
// Begins when the server has done the work of earlier batches.
void Servers::share(std::span<const Job> jobs, std::span<Flight> flights, Seconds& busy_until) {
  Seconds now = busy_until;
  Seconds served = 0;  // of every job that is there, since the first came, at full rate
  ends_.clear();       // at which `served` a job is done
  const auto run_until = [&](Seconds when) {
    while (!ends_.empty()) {
      const auto next = ends_.next();
      const Seconds done = now + (next.served - served) * static_cast<double>(ends_.size());
      if (done > when) {
        served += (when - now) / static_cast<double>(ends_.size());
        break;
      }
      now = done;
      served = next.served;
      auto& shared_until = flights[next.flight].shared_until;
      shared_until = std::max(shared_until, done);
      ends_.take_next();
    }
    now = std::max(now, when);
  };
  for (const auto& job : jobs) {
    run_until(std::max(job.begin, busy_until));
    ends_.add({served + job.seconds, job.flight});
  }
  while (!ends_.empty()) run_until(now + (ends_.next().served - served) * static_cast<double>(ends_.size()));
  busy_until = now;
}

}  // namespace commpass
