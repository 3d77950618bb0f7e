#include "preload/gathered_record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <utility>

#include "model/base/error.hpp"
#include "preload/call_log.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/detect_layout.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/mpi/own_communicator.hpp"

namespace commpass {

namespace {

/// Values of one process, to be read by another one of the same program in the same order.
class PackedValues {
 public:
  PackedValues() = default;
  explicit PackedValues(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class Value>
  void put(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);  // NOLINT: its bytes
  }
  template <class Value>
  void put_list(std::span<const Value> values) {
    put(values.size());
    for (const auto& value : values) put(value);
  }
  void put_text(const std::string& text) { put_list(std::span<const char>(text)); }

  template <class Value>
  Value get() {
    Value value{};
    std::memcpy(static_cast<void*>(&value), bytes_.data() + read_, sizeof value);
    read_ += sizeof value;
    return value;
  }
  template <class Value>
  std::vector<Value> get_list() {
    std::vector<Value> values(get<std::size_t>());
    for (auto& value : values) value = get<Value>();
    return values;
  }
  std::string get_text() {
    const auto letters = get_list<char>();
    return {letters.begin(), letters.end()};
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = {};
  std::size_t read_ = 0;
};

/// Rank 0 opens the parcels of all ranks, its own first, one at a time. What fails there does so when all have sent.
template <class Open>
void collect(MPI_Comm comm, const PackedValues& own, Open open) {
  constexpr int tag = 0;
  int rank = 0, ranks = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &ranks);
  if (rank > 0) {
    // Rank 0 holds no parcels that it is not reading yet.
    PMPI_Ssend(own.bytes().data(), static_cast<int>(own.bytes().size()), MPI_BYTE, 0, tag, comm);
    return;
  }
  Failure failure;
  attempt(failure, [&] { open(0, PackedValues(own.bytes())); });
  for (int from = 1; from < ranks; ++from) {
    MPI_Status status;
    int size = 0;
    PMPI_Probe(from, tag, comm, &status);
    PMPI_Get_count(&status, MPI_BYTE, &size);
    std::string bytes;
    attempt(failure, [&] { bytes.resize(static_cast<std::size_t>(size)); });
    // Without memory for it, it is cut, which is an error that is no news.
    PMPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
    attempt(failure, [&] { open(from, PackedValues(std::move(bytes))); });
  }
  if (failure) throw Error(failure.sentence);
}

/// The same of what each rank packs. Collective, and all ranks fail if one does.
template <class Pack, class Open>
void gather(MPI_Comm comm, Pack pack, Open open) {
  PackedValues own;
  all_or_none(comm, [&] { own = pack(); });
  all_or_none(comm, [&] { collect(comm, own, open); });
}

/// What rank 0 of a communicator knows of its calls.
struct KnownExchange {
  RecordKey key;
  int leader;  ///< that rank 0, in MPI_COMM_WORLD
  std::int64_t edges;
  RecordedExchange numbers;
  WhoRan ran;
};

/// The numbers of an exchange that are as they are in memory.
struct PlainNumbers {
  std::int64_t calls, handles;
  Seconds exchange_s, in_call_s;
  bool is_by_clock, is_equal;
  Bytes bytes, equal_bytes;
  std::int64_t blocks;
  OverTime over_time;
  std::int64_t by_library, by_ours, by_both;
  Seconds saved_s;
  bool is_saved_known;
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
    const auto& n = entry.numbers;
    values.put(key);
    values.put(entry.edges);
    values.put_text(table.site_names[key.site]);
    values.put(PlainNumbers{n.calls, n.handles, n.exchange_s, n.in_call_s, n.is_by_clock, n.equal_bytes.has_value(), n.bytes,
                            n.equal_bytes.value_or(0), n.blocks, n.over_time, entry.ran.by_library, entry.ran.by_ours,
                            entry.ran.by_both, entry.ran.saved_s, entry.ran.is_saved_known});
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
      if (members + ranks.size() > most_recorded_members) continue;
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
    const auto numbers = values.get<PlainNumbers>();
    auto& n = known.numbers;
    n.call = interposed_call_names[known.key.kind];
    n.calls = numbers.calls;
    n.handles = numbers.handles;
    n.exchange_s = numbers.exchange_s;
    n.in_call_s = numbers.in_call_s;
    n.is_by_clock = numbers.is_by_clock;
    n.bytes = numbers.bytes;
    n.blocks = numbers.blocks;
    if (numbers.is_equal) n.equal_bytes = numbers.equal_bytes;
    n.over_time = numbers.over_time;
    known.ran = {numbers.by_library, numbers.by_ours,        numbers.by_both,
                 numbers.saved_s,    numbers.is_saved_known, values.get_text()};
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
    if (edges + static_cast<std::size_t>(exchange->edges) <= most_recorded_edges) {
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

Seconds longest_run(MPI_Comm comm, Seconds own) {
  PMPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_MAX, comm);
  return own;
}

}  // namespace

GatheredRecord gather_record(const OwnCommunicator& own) {
  const auto comm = own.get();
  const auto& table = record_table();
  Gathered gathered;
  auto& record = gathered.record;
  record.run_s = longest_run(comm, monotonic_seconds() - table.begin_s);
  const auto layout = detect_layout(comm);
  const auto pack = [&] { return pack_exchanges(table); };
  gather(comm, pack, [&](int from, PackedValues values) { gathered.open(from, std::move(values)); });
  gather_edges(comm, table, gathered);
  GatheredRecord result;
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
  for (std::size_t i = 0; i < interposed_calls; ++i)
    if (auto& other = gathered.others[i]; other.calls > 0) {
      other.call = interposed_call_names[i];
      record.others.push_back(other);
    }
  result.record = std::move(record);
  return result;
}

}  // namespace commpass
