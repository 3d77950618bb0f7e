#include "selector/report/advice.hpp"
#include "model/base/json.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "model/machine/profile.hpp"
#include "model/pattern/grid.hpp"
#include "model/support.hpp"
#include "selector/choose/select.hpp"
#include "selector/report/summary.hpp"

namespace commpass {
namespace {

Machine lassen() { return read_profile(COMMPASS_TEST_PROFILES "/lassen.json").machine; }

RecordedExchange exchange(const std::string& call, std::size_t communicator, std::int64_t calls, Seconds seconds) {
  RecordedExchange made{call, "main"};
  made.communicator = communicator;
  made.calls = calls;
  made.exchange_s = made.in_call_s = seconds;
  return made;
}

/// 64 ranks, of which two halves exchange at the same time.
Record two_halves() {
  Record record{"a.out", "MPI", "1x64", 10, {{}, {}, {}}, {}, {}};
  for (Rank rank = 0; rank < 64; ++rank) {
    record.communicators[0].push_back(rank);
    record.communicators[rank < 32 ? 1 : 2].push_back(rank);
  }
  for (const std::size_t half : {1U, 2U}) {
    auto one = exchange("alltoall", half, 100, half == 1 ? 1 : 3);
    one.equal_bytes = 8;
    one.blocks = 100 * 32 * 32;
    one.bytes = one.blocks * 8;
    record.exchanges.push_back(one);
  }
  auto ring = exchange("neighbor_alltoallv", 0, 10, 2);
  for (Rank rank = 0; rank < 64; ++rank) ring.edges.push_back({rank, (rank + 1) % 64, 1000});
  ring.blocks = 10 * 64;
  ring.bytes = ring.blocks * 1000;
  record.exchanges.push_back(ring);
  return record;
}

TEST(Advice, CountsSimultaneousCallsOnce) {
  const auto record = two_halves();
  EXPECT_DOUBLE_EQ(measured_in_calls(record), 5) << "of the slower half, and of all";
  const auto calls = advised_calls(record);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].call, "alltoall");
  EXPECT_DOUBLE_EQ(calls[0].measured_s, 3);
  EXPECT_EQ(calls[0].communicators, 2U);
  EXPECT_EQ(calls[0].calls, 100);
  EXPECT_DOUBLE_EQ(calls[0].bytes, 32 * 32 * 8);
  EXPECT_EQ(calls[1].ranks, 64);
}

/// A number of calls beside which the costs of trials and planning are negligible.
Record often(Record record) {
  for (auto& one : record.exchanges) one.calls *= 10000;
  return record;
}

TEST(Advice, IsThePriceOfTheCalls) {
  const auto record = often(two_halves());
  const auto calls = advised_calls(record);
  const auto machine = lassen();
  const auto layout = Layout::with_ppn(64, 16);
  const auto advice = advise(record, calls, layout, machine);
  // A half is an all-to-all on two nodes; Lassen's profile has no times of MPI's, which is priced by its algorithm.
  Pattern all{32, {}};
  for (Rank from = 0; from < 32; ++from)
    for (Rank to = 0; to < 32; ++to) all.edges.push_back({from, to, 8});
  const auto half = Layout::with_ppn(32, 16);
  const auto library_s = price_alltoall(parse_strategy("mpi"), 8, half, machine).cost.seconds;
  EXPECT_THAT(advice.library_rules, testing::HasSubstr("Spectrum MPI"));
  EXPECT_NEAR(advice.prices[0].library_s, 1e6 * library_s, 1e-5);
  EXPECT_EQ(advice.prices[0].library, "mpi");
  EXPECT_LT(advice.prices[0].taken_s, advice.prices[0].library_s);
  EXPECT_LT(advice.prices[0].planned_s, advice.prices[0].library_s);
  EXPECT_NEAR(advice.prices[0].planned_s, 1e6 * rank_strategies(all, half, machine).front().cost.seconds, 0.02);
  // In the ring there is nothing to gain.
  EXPECT_DOUBLE_EQ(advice.prices[1].taken_s, advice.prices[1].library_s);
  EXPECT_EQ(advice.prices[1].taken, "standard");

  EXPECT_DOUBLE_EQ(advice.outside_s, 5);
  EXPECT_DOUBLE_EQ(advice.all.library_s, advice.prices[0].library_s + advice.prices[1].library_s);
  EXPECT_DOUBLE_EQ(advice.share(advice.all.library_s - advice.all.taken_s),
                   (advice.all.library_s - advice.all.taken_s) / (5 + advice.all.library_s));
}

TEST(Advice, OfBlocksOfWhichOnlyTotalsAreKnownIsThatOfTheirMean) {
  auto record = two_halves();
  auto all = exchange("alltoallv", 0, 10, 2);
  for (Rank from = 0; from < 64; ++from)
    for (Rank to = 0; to < 64; ++to)
      if (to != from) all.edges.push_back({from, to, 1000});
  all.blocks = all.calls * std::ssize(all.edges);
  all.bytes = all.blocks * 1000;
  const auto library_seconds = [&] {
    record.exchanges = {all};
    return advise(record, advised_calls(record), Layout::with_ppn(64, 16), lassen()).prices[0].library_s;
  };
  const auto by_edges = library_seconds();
  all.edges.clear();
  EXPECT_NEAR(library_seconds() / by_edges, 1, 0.01);
}

TEST(Advice, KnowsTheWindowOfTheLibraryWhoseCallWasMeasured) {
  // MPICH begins messages to the next 32 ranks, then those to the others: both neighbours of a ring one after another.
  Record record{"a.out", "MPI", "1x64", 10, {{}}, {}, {}};
  for (Rank rank = 0; rank < 64; ++rank) record.communicators[0].push_back(rank);
  auto ring = exchange("alltoallv", 0, 10, 2);
  for (Rank from = 0; from < 64; ++from)
    for (const int step : {1, 63}) ring.edges.push_back({from, (from + step) % 64, 4096});
  ring.blocks = ring.calls * std::ssize(ring.edges);
  record.exchanges = {ring};
  auto machine = lassen();
  machine.operations.alltoallv_s = machine.operations.alltoallv_message_s = 0;
  const auto library_seconds = [&](const char* library) {
    machine.mpi_library = library;
    return advise(record, advised_calls(record), Layout::with_ppn(64, 16), machine).prices[0].library_s;
  };
  EXPECT_GT(library_seconds("MPICH 4.0"), 1.3 * library_seconds("")) << "an unknown library";
}

TEST(Advice, OfCallsThatRunLeavesToMpiSavesNothingThere) {
  auto record = often(two_halves());
  auto started = record.exchanges[0];
  started.call = "ialltoall";
  started.site = "start";
  started.exchange_s = 0;
  record.exchanges.push_back(started);
  const auto calls = advised_calls(record);
  const auto advice = advise(record, calls, Layout::with_ppn(64, 16), lassen());
  ASSERT_EQ(calls[2].call, "ialltoall");
  EXPECT_LT(advice.prices[0].taken_s, advice.prices[0].library_s) << "of the same blocks, in a call that blocks";
  EXPECT_EQ(advice.prices[2].taken_s, advice.prices[2].library_s);
  EXPECT_EQ(advice.prices[2].taken, advice.prices[2].library);
  EXPECT_LT(advice.prices[2].planned_s, advice.prices[2].taken_s);
}

TEST(Advice, OfNeighborsThatAreThereTwiceSavesNothingByRun) {
  Record record{"a.out", "MPI", "1x64", 10, {{}}, {}, {}};
  for (Rank rank = 0; rank < 64; ++rank) record.communicators[0].push_back(rank);
  auto all = exchange("neighbor_alltoall", 0, 10000000, 2);
  for (Rank from = 0; from < 64; ++from)
    for (Rank to = 0; to < 64; ++to) all.edges.push_back({from, to, 8});
  all.blocks = 10 * 64 * 64;
  all.bytes = all.blocks * 8;
  const auto price_of = [&](const RecordedExchange& one) {
    record.exchanges = {one};
    return advise(record, advised_calls(record), Layout::with_ppn(64, 16), lassen()).prices[0];
  };
  const auto once = price_of(all);
  EXPECT_LT(once.taken_s, once.library_s);
  all.edges.insert(all.edges.begin(), all.edges.front());
  const auto twice = price_of(all);
  EXPECT_EQ(twice.taken_s, twice.library_s);
}

TEST(Advice, TakesCallsThatAreNotPricedForTheRestOfTheRun) {
  const auto record = two_halves();
  auto calls = advised_calls(record);
  calls.pop_back();  // the ring, 2 s
  EXPECT_DOUBLE_EQ(advise(record, calls, Layout::with_ppn(64, 16), lassen()).outside_s, 10 - 3);
}

TEST(Advice, IsWrittenAsAPageAndAsJson) {
  const auto record = two_halves();
  Advice advice{"run.json", record, advised_calls(record), 0, 0, {}};
  advice.machines.push_back(advise(record, advice.calls, Layout::with_ppn(64, 16), lassen()));
  const auto page = document_of(advice).write(Form::text);
  for (const char* part : {"run.json: a.out\n", "Exchanges took 50.0 % of the run, 5 s", " 1 main ",
                           "on 2 communicators\n", "30.0 %\n", "On lassen, 4 nodes x 16 ranks: these calls would take ",
                           "leave it to MPI\n", "MPI's all-to-alls are not measured", "lacks local copies"})
    EXPECT_NE(page.find(part), std::string::npos) << part << " in " << page;
  const auto json = Json::parse(document_of(advice).write(Form::json));
  EXPECT_EQ(json["calls"][0]["measured_s"], 3);
  EXPECT_EQ(json["machines"][0]["calls"].size(), 2U);
  EXPECT_EQ(json["machines"][0]["calls"][1]["run_saves"], 0);
}

TEST(Advice, OfARunWithoutExchangesIsShort) {
  Record record{"a.out", "MPI", "1x2", 1, {}, {}, {}};
  const Advice advice{"run.json", record, advised_calls(record), 0, 0, {}};
  EXPECT_THAT(document_of(advice).write(Form::text), testing::HasSubstr("nothing to gain"));
  record.messages = {{"send", "a.out+0x1", 1, 4, 16, 1, 0.5}};
  EXPECT_THAT(
      document_of(advice).write(Form::text),
      testing::AllOf(testing::HasSubstr("nothing to plan"), testing::HasSubstr("MPI_"), testing::HasSubstr("500 ms")));
}

/// All ranks at one place: with all others, and around a ring.
Record of_ranks(int ranks, Bytes block, Seconds outside_s) {
  Record record{"a.out", "MPI", fmt::format("1x{}", ranks), outside_s + 2, {{}}, {}, {}};
  for (Rank rank = 0; rank < ranks; ++rank) record.communicators[0].push_back(rank);
  auto all = exchange("alltoall", 0, 700, 1);
  all.equal_bytes = block;
  all.blocks = std::int64_t{700} * ranks * ranks;
  all.bytes = all.blocks * block;
  auto ring = exchange("alltoallv", 0, 300, 1);
  for (Rank rank = 0; rank < ranks; ++rank)
    for (const Rank distance : {1, ranks - 1}) ring.edges.push_back({rank, (rank + distance) % ranks, 800});
  ring.blocks = std::int64_t{300} * 2 * ranks;
  ring.bytes = ring.blocks * 800;
  record.exchanges = {all, ring};
  return record;
}

ScaledRecord scaled(const Record& one, int ranks) { return scaled(std::span(&one, 1), ranks); }

TEST(ScaledRecord, OfOneRecordIsAGuess) {
  const auto record = of_ranks(64, 64, 8);
  const auto on_more = scaled(record, 128);
  EXPECT_THAT(on_more.guess, testing::HasSubstr("one record, of 64 ranks"));
  ASSERT_EQ(on_more.record.exchanges.size(), 1U) << "a ring of one size may be any shape";
  EXPECT_EQ(on_more.record.ranks(), 128);
  EXPECT_EQ(on_more.record.exchanges[0].equal_bytes, 16) << "half of a rank's bytes, for twice as many";
  const auto calls = scaled_calls(on_more.record, advised_calls(record), 64);
  auto machine = advise(on_more.record, calls, Layout::with_ppn(128, 32), lassen());
  EXPECT_DOUBLE_EQ(machine.outside_s, 8 / 2.0);
  EXPECT_EQ(std::ranges::count(machine.prices, "", &CallPrice::library), 1);
  machine.guess = on_more.guess;
  const Advice advice{"run.json", record, advised_calls(record), 0, 0, {machine}};
  const auto page = document_of(advice).write(Form::text);
  const auto told = page.substr(page.find("On lassen"));
  EXPECT_THAT(told, testing::HasSubstr("a guess: these calls would take "));
  EXPECT_EQ(told.find('%'), std::string::npos) << told;
  EXPECT_TRUE(Json::parse(document_of(advice).write(Form::json))["machines"][0]["all"]["run_saves"].is_null());
}

TEST(ScaledRecord, OfTwoRecordsGrowsAsTheyDo) {
  const std::vector<Record> records{of_ranks(16, 256, 8), of_ranks(32, 128, 4)};
  const auto on_more = scaled(records, 128);
  EXPECT_EQ(on_more.guess, "");
  ASSERT_EQ(on_more.record.exchanges.size(), 2U);
  EXPECT_EQ(on_more.record.exchanges[0].equal_bytes, 32);
  const auto& ring = on_more.record.exchanges[1].edges;
  ASSERT_EQ(ring.size(), 256U);
  EXPECT_EQ(std::ranges::count(ring, Edge{127, 0, 800}), 1);
  EXPECT_EQ(std::ranges::count(ring, Edge{0, 127, 800}), 1);
  EXPECT_NEAR(on_more.record.run_s, 4 / 4.0 + 2, 1e-9);
  auto other_shape = records;
  for (auto& edge : other_shape[0].exchanges[1].edges)
    if (edge.destination == (edge.source + 1) % 16) edge.destination = (edge.source + 3) % 16;
  EXPECT_EQ(scaled(other_shape, 128).record.exchanges.size(), 1U);
}

/// A stencil on a grid of ranks, whose sides' bytes are `side_bytes` for each rank that shares a side.
Record stencil_of(const Grid& grid, double outside_s, const std::function<Bytes(std::size_t)>& side_bytes) {
  const int ranks = grid.ranks();
  Record record{"a.out", "MPI", "1x" + std::to_string(ranks), outside_s, {{}}, {}, {}};
  for (Rank rank = 0; rank < ranks; ++rank) record.communicators[0].push_back(rank);
  auto one = exchange("alltoallv", 0, 10, 0);
  std::map<std::pair<Rank, Rank>, Bytes> blocks;  // on two ranks both neighbours are one
  for (Rank rank = 0; rank < ranks; ++rank)
    for (std::size_t k = 0; k < grid.dimensions(); ++k)
      for (const int step : {-1, 1}) {
        std::vector<int> offset(grid.dimensions());
        offset[k] = step;
        if (const auto to = grid.relative(rank, offset)) blocks[{rank, *to}] = side_bytes(k);
      }
  for (const auto& [pair, bytes] : blocks) one.edges.push_back({pair.first, pair.second, bytes});
  one.blocks = one.calls * std::ssize(one.edges);
  record.exchanges = {one};
  return record;
}

TEST(ScaledRecord, SharesTheSidesOfADomainAmongMoreRanksOfAGrid) {
  constexpr Bytes row_bytes = 32768;
  for (const bool is_periodic : {true, false}) {
    const auto record_of = [&](std::vector<int> dims) {
      const Grid grid{dims, {is_periodic, is_periodic}};
      return stencil_of(grid, 1, [&](std::size_t k) { return row_bytes / dims[1 - k]; });
    };
    const std::vector records{record_of({4, 2}), record_of({4, 4})};
    for (const auto& dims : {std::vector{8, 8}, std::vector{16, 8}}) {
      const auto on_more = scaled(records, dims[0] * dims[1]);
      EXPECT_EQ(on_more.guess, "");
      ASSERT_EQ(on_more.record.exchanges.size(), 1U);
      EXPECT_EQ(on_more.record.exchanges[0].edges, record_of(dims).exchanges[0].edges);
    }
  }
}

TEST(ScaledRecord, KeepsTheSidesOfRanksWhoseSharesOfADomainStayTheSame) {
  const auto record_of = [](std::vector<int> dims) {
    return stencil_of({std::move(dims), {true, true, true}}, 1, [](std::size_t k) { return 100 + 10 * Bytes(k); });
  };
  const std::vector records{record_of({4, 3, 3}), record_of({5, 4, 3})};
  const auto on_more = scaled(records, 6 * 5 * 4);
  ASSERT_EQ(on_more.record.exchanges.size(), 1U);
  EXPECT_EQ(on_more.record.exchanges[0].edges, record_of({6, 5, 4}).exchanges[0].edges);
}

TEST(ScaledRecord, JoinsThePatternsOfAllRanksWithAllOfOnePlace) {
  const auto record_of = [](int ranks, Bytes mean) {
    auto record = of_ranks(ranks, 1, 1);
    record.exchanges.clear();
    for (const Bytes difference : {-1, 1}) {
      auto one = exchange("alltoallv", 0, 10, 1);
      for (Rank from = 0; from < ranks; ++from)
        for (Rank to = 0; to < ranks; ++to)
          if (to != from) one.edges.push_back({from, to, mean + difference});
      one.blocks = one.calls * std::ssize(one.edges);
      one.bytes = one.blocks * (mean + difference);
      record.exchanges.push_back(one);
    }
    return record;
  };
  const auto on_more = scaled(std::vector{record_of(8, 1600), record_of(16, 400)}, 64);
  ASSERT_EQ(on_more.record.exchanges.size(), 1U);
  const auto& joined = on_more.record.exchanges[0];
  EXPECT_EQ(joined.calls, 20);
  EXPECT_EQ(joined.blocks, 20 * 64 * 63);
  EXPECT_NEAR(static_cast<double>(joined.bytes) / static_cast<double>(joined.blocks), 25, 0.5);
}

TEST(ScaledRecord, IsRefusedIfRecordsAreUnsuitable) {
  const auto refusal = [](const std::vector<Record>& records, int ranks) {
    return test::error_of([&] { scaled(records, ranks); });
  };
  test::expect_sentence(refusal({of_ranks(3, 8, 1)}, 24), {"--ranks 24", "3 ranks", "8 or more"});
  test::expect_sentence(refusal({of_ranks(8, 8, 1)}, 1024), {"--ranks 1024", "16 times", "64 ranks or more"});
  test::expect_sentence(refusal({of_ranks(8, 8, 1), of_ranks(8, 8, 1)}, 64), {"--ranks 64", "both records"});
  auto ring = of_ranks(8, 8, 1);
  ring.exchanges.erase(ring.exchanges.begin());
  test::expect_sentence(refusal({ring}, 128), {"--ranks 128", "all ranks with all"});
  EXPECT_NO_THROW(scaled(of_ranks(8, 8, 1), 128));
}

/// The shares of the run that commpass run and a changed source save.
std::pair<double, double> savings_of(std::int64_t calls, std::int64_t handles) {
  auto record = of_ranks(64, 8, 1e-9);
  record.exchanges.pop_back();
  record.exchanges[0].calls = calls;
  record.exchanges[0].handles = handles;
  const auto advice = advise(record, advised_calls(record), Layout::with_ppn(64, 16), lassen());
  return {advice.share(advice.all.library_s - advice.all.taken_s),
          advice.share(advice.all.library_s - advice.all.planned_s)};
}

TEST(Advice, CountsTheTrialsOfCommpassRun) {
  for (const std::int64_t calls : {1, 2}) EXPECT_EQ(savings_of(calls, 1).first, 0) << calls << " are MPI's";
  EXPECT_LE(savings_of(9, 1).first, 0) << "trials cost more than they bring";
  constexpr std::int64_t many = 100000000;
  EXPECT_GT(savings_of(many, 1).first, 0.1);
  EXPECT_LT(savings_of(many, 1).first, savings_of(many, 1).second + 1e-6);
  EXPECT_EQ(savings_of(1000, 500).first, 0) << "two calls on each of 500 communicators";
}

TEST(Advice, CountsPlanningOfAChangedSource) {
  EXPECT_EQ(savings_of(1, 1).second, 0);
  EXPECT_GT(savings_of(100000, 1).second, savings_of(100, 1).second);
}

/// 64 ranks, of which each of the first half sends a message to each of the second, many times.
Record of_messages(const std::string& site) {
  auto record = of_ranks(64, 8, 1);
  auto phase = record.exchanges[1];
  phase.call = "isend";
  phase.site = site;
  phase.calls = 100000;
  phase.edges.clear();
  for (Rank from = 0; from < 32; ++from)
    for (Rank to = 32; to < 64; ++to) phase.edges.push_back({from, to, 8});
  record.exchanges = {phase};
  record.messages = {{"isend", site, 32, 102400000, 819200000, 32, 0}};
  record.counting_s = 4e-8;
  return record;
}

TEST(Advice, PricesMessagesAsPlannedExchanges) {
  for (const auto* site : {"main (a.out+0x12)", "PetscSFBcastEnd (libpetsc_real.so.3.18+0x9)"}) {
    const auto record = of_messages(site);
    Advice advice{"run.json", record, advised_calls(record), 0, 0, {}};
    advice.machines.push_back(advise(record, advice.calls, Layout::with_ppn(64, 32), lassen()));
    const auto& price = advice.machines[0].prices[0];
    EXPECT_EQ(price.library, "standard");
    EXPECT_LT(price.planned_s, price.library_s);
    EXPECT_EQ(price.taken_s, price.library_s) << "messages are never taken over";
    const bool has_plug_in = std::string(site).find("petsc") != std::string::npos;
    EXPECT_EQ(price.plugged_s, has_plug_in ? price.planned_s : price.library_s);
    const auto page = document_of(advice).write(Form::text);
    EXPECT_EQ(page.find("PETSc's plug-in") != std::string::npos, has_plug_in) << page;
    for (const char* part :
         {"Messages of the program: 102400000 calls", "781 MiB", "a changed source", "Counting one takes 40 ns"})
      EXPECT_NE(page.find(part), std::string::npos) << part << " in " << page;
  }
}

TEST(Summary, OfARunNamesTheCallWithTheLargestSavingsAndTheFunctionThatPlansIt) {
  const auto record = two_halves();
  Advice advice{"file", record, advised_calls(record), 0, 0, {{"mine", "1 node", 64, {}, {}, 4, {}, ""}}};
  auto& machine = advice.machines[0];
  const auto price = [](Seconds library, Seconds taken, Seconds planned, const char* by_taken = "",
                        const char* by_planned = "") {
    return CallPrice{library, taken, library, planned, "", by_taken, by_planned};
  };
  // 10 s, of which 6 in calls.
  machine.prices = {price(4, 3.5, 3.25, "two-step", "stfw,n=2"), price(2, 2, 1, "", "tuna,radix=2")};
  machine.all = price(6, 5.5, 4.25);
  const auto lines = [&] {
    const auto summary = summarize(advice);
    return std::map<std::string, std::string>(summary.lines.begin(), summary.lines.end());
  };
  auto found = lines();
  EXPECT_EQ(found["Run"], "a.out; 64 ranks, 10 s; 50.0 % of it in exchanges");
  EXPECT_EQ(found["Savings"],
            "predicted on mine, 1 node: 5.0 % of the run by commpass run, 17.5 % by a changed source");
  EXPECT_EQ(found["Most of it"], "MPI_Neighbor_alltoallv called from main: 10.0 % by tuna,radix=2");
  EXPECT_EQ(found["Next"], "plan it once by `commpass_neighbor_alltoallv_init`, then start and wait in each step");
  machine.prices[1] = price(2, 2, 2);
  EXPECT_EQ(lines()["Next"], "plan it once by `commpass_alltoallv_init`, then start and wait in each step");
  machine.prices[0].taken_s = 3;
  EXPECT_EQ(lines()["Most of it"], "MPI_Alltoall called from main: 10.0 % by two-step");
  EXPECT_EQ(lines()["Next"], "`commpass run -- mpirun … PROGRAM`");
  machine.prices[0] = price(4, 4, 4);
  EXPECT_EQ(lines()["Next"], "leave the exchanges to MPI");
  EXPECT_EQ(lines().size(), 3U);
}

}  // namespace
}  // namespace commpass
