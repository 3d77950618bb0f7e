#include "preload/gathered_record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>
#include <utility>

#include "model/base/error.hpp"
#include "preload/packed_values.hpp"
#include "preload/record_table.hpp"
#include "preload/ticks.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/detect_layout.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/mpi/own_communicator.hpp"

namespace commpass {

namespace {

/// What rank 0 of a communicator knows of its calls.
struct KnownExchange {
  RecordKey key;
  int leader;  ///< that rank 0, in MPI_COMM_WORLD
  std::int64_t edges;
  RecordedExchange numbers;
  WhoRan ran;
};

PackedValues pack_exchanges(const RecordTable& table) {
  PackedValues values;
  values.put(table.groups.size());
  for (const auto& [group, ranks] : table.groups) {
    values.put(group);
    values.put_list(std::span(ranks));
  }
  values.put(std::ranges::count_if(table.entries, [&](const auto& e) { return table.groups.contains(e.first.group); }));
  for (const auto& [key, entry] : table.entries) {
    if (!table.groups.contains(key.group)) continue;
    values.put(key);
    values.put(entry.edges);
    values.put_text(table.site_names[key.site]);
    values.put<ExchangeNumbers>(entry.numbers);
    values.put<RunCounts>(entry.ran);
    values.put_text(entry.ran.strategy);
  }
  for (const auto& other : table.others) {
    values.put(other.calls);
    values.put(other.in_call_s);
    values.put(other.bytes);
  }
  return values;
}

/// What rank 0 has gathered. Members beyond the bound of a file, and their exchanges, are left out and told as others.
struct Gathered {
  Record record = {};
  std::map<std::pair<int, std::uint64_t>, std::size_t> communicators = {};  ///< by their rank 0 and group
  std::size_t members = 0;
  std::vector<KnownExchange> exchanges = {};
  std::array<OtherCalls, interposed_calls> others = {};

  void open(int leader, PackedValues values) {
    for (auto groups = values.get<std::size_t>(); groups > 0; --groups) {
      const auto group = values.get<std::uint64_t>();
      auto ranks = values.get_list<Rank>();
      if (members + ranks.size() > recorded_members_max) continue;
      members += ranks.size();
      communicators[{leader, group}] = record.communicators.size();
      record.communicators.push_back(std::move(ranks));
    }
    for (auto count = values.get<std::ptrdiff_t>(); count > 0; --count) open_exchange(leader, values);
    for (auto& other : others) {
      other.calls += values.get<std::int64_t>();
      other.in_call_s += values.get<Seconds>();
      other.bytes += values.get<Bytes>();
    }
  }

 private:
  void open_exchange(int leader, PackedValues& values) {
    KnownExchange known{values.get<RecordKey>(), leader, values.get<std::int64_t>(), {}, {}};
    known.numbers.site = values.get_text();
    auto& n = known.numbers;
    static_cast<ExchangeNumbers&>(n) = values.get<ExchangeNumbers>();
    n.call = interposed_call_names[known.key.kind];
    static_cast<RunCounts&>(known.ran) = values.get<RunCounts>();
    known.ran.strategy = values.get_text();
    const auto communicator = communicators.find({leader, known.key.group});
    if (communicator == communicators.end()) {
      auto& other = others[known.key.kind];
      other.calls += n.calls;
      other.in_call_s += n.in_call_s;
      other.bytes += n.bytes;
      return;
    }
    n.communicator = communicator->second;
    exchanges.push_back(std::move(known));
  }
};

/// The exchanges whose edges go into the file: the longest first, as many as it may hold.
std::vector<RecordKey> with_edges(const std::vector<KnownExchange>& exchanges) {
  std::vector<const KnownExchange*> longest;
  for (const auto& exchange : exchanges)
    if (exchange.edges > 0) longest.push_back(&exchange);
  std::ranges::stable_sort(longest,
                           [](const auto* a, const auto* b) { return a->numbers.exchange_s > b->numbers.exchange_s; });
  std::vector<RecordKey> keys;
  std::size_t edges = 0;
  for (const auto* exchange : longest)
    if (edges + static_cast<std::size_t>(exchange->edges) <= recorded_edges_max) {
      edges += static_cast<std::size_t>(exchange->edges);
      keys.push_back(exchange->key);
    }
  return keys;
}

void broadcast(MPI_Comm comm, std::vector<RecordKey>& keys) {
  int size = static_cast<int>(keys.size() * sizeof(RecordKey));
  PMPI_Bcast(&size, 1, MPI_INT, 0, comm);
  insist([&] { keys.resize(static_cast<std::size_t>(size) / sizeof(RecordKey)); });
  PMPI_Bcast(keys.data(), size, MPI_BYTE, 0, comm);
}

PackedValues pack_rows(const RecordTable& table, const std::vector<RecordKey>& keys) {
  PackedValues values;
  for (const auto& key : keys) {
    const auto entry = table.entries.find(key);
    const bool has = entry != table.entries.end() && entry->second.row;
    values.put_list(has ? std::span<const SentBlock>(*entry->second.row) : std::span<const SentBlock>());
  }
  return values;
}

/// Ranks as their communicator numbers them: in one group of MPI_COMM_WORLD.
using RankWithin = std::map<Rank, Rank>;

/// Adds edges to the exchanges, as many as a file may hold. Collective; rank 0 gets them.
void gather_edges(MPI_Comm comm, const RecordTable& table, Gathered& gathered) {
  std::vector<RecordKey> keys;
  std::vector<KnownExchange*> exchanges;
  std::map<std::size_t, RankWithin> members;  // by communicator
  all_or_none(comm, [&] {
    keys = with_edges(gathered.exchanges);  // none but on rank 0
    for (const auto& key : keys) {
      auto& found = *std::ranges::find(gathered.exchanges, key, &KnownExchange::key);
      exchanges.push_back(&found);
      const auto communicator = found.numbers.communicator;
      auto& within = members[communicator];
      if (within.empty())
        for (const Rank rank : gathered.record.communicators[communicator])
          within.emplace(rank, static_cast<Rank>(within.size()));
    }
  });
  broadcast(comm, keys);
  const auto pack = [&] { return pack_rows(table, keys); };
  gather(comm, pack, [&](int from, PackedValues values) {
    for (auto* const exchange : exchanges) {
      const auto row = values.get_list<SentBlock>();
      const auto& within = members[exchange->numbers.communicator];
      const auto source = within.find(from);
      if (source == within.end()) continue;
      for (const auto& block : row) exchange->numbers.edges.push_back({source->second, block.to, block.bytes});
    }
  });
  for (auto* const exchange : exchanges) {
    auto& edges = exchange->numbers.edges;
    if (std::ssize(edges) != exchange->edges) edges.clear();  // a rank had no memory for its own
    std::ranges::stable_sort(edges, {}, &Edge::source);
  }
}

std::string text_of(const Layout& layout) {
  const bool is_product = layout.is_regular() && layout.sockets() == layout.nodes() && layout.groups() == 1;
  return is_product ? fmt::format("{}x{}", layout.nodes(), layout.max_ppn()) : places_text(layout);
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::string text(std::istreambuf_iterator<char>(file), {});
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  return text;
}

double largest_of_ranks(MPI_Comm comm, double own) {
  PMPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_MAX, comm);
  return own;
}

}  // namespace

bool has_record(const OwnCommunicator& own) {
  return largest_of_ranks(own.get(), record_table().entries.empty() ? 0 : 1) > 0;
}

GatheredRecord gather_record(const OwnCommunicator& own) {
  const auto comm = own.get();
  const auto& table = record_table();
  Gathered gathered;
  auto& record = gathered.record;
  record.run_s = largest_of_ranks(comm, monotonic_seconds() - table.begin_s);
  const bool calls_overlap = largest_of_ranks(comm, table.calls_overlap ? 1 : 0) > 0;
  const bool are_sampled = largest_of_ranks(comm, table.are_sampled ? 1 : 0) > 0;
  const auto layout = detect_layout(comm);
  const auto pack = [&] { return pack_exchanges(table); };
  gather(comm, pack, [&](int from, PackedValues values) { gathered.open(from, std::move(values)); });
  gather_edges(comm, table, gathered);
  auto messages = gather_messages(comm);
  GatheredRecord result{{}, {}, calls_overlap, are_sampled};
  if (own.rank() != 0) return result;
  record.layout = text_of(layout);
  record.program = command_line();
  record.mpi = mpi_library();
  std::ranges::stable_sort(gathered.exchanges, std::greater(),
                           [](const KnownExchange& exchange) { return exchange.numbers.exchange_s; });
  for (auto& exchange : gathered.exchanges) {
    record.exchanges.push_back(std::move(exchange.numbers));
    result.ran.push_back(std::move(exchange.ran));
  }
  add_messages(std::move(messages), record);
  result.ran.resize(record.exchanges.size());
  for (std::size_t i = 0; i < interposed_calls; ++i)
    if (auto& other = gathered.others[i]; other.calls > 0) {
      other.call = interposed_call_names[i];
      record.others.push_back(other);
    }
  result.record = std::move(record);
  return result;
}

}  // namespace commpass
