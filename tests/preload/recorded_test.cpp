// What `commpass record` writes of a program whose exchanges are known, and what `commpass advise` makes of it.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>

#include "command/run.hpp"
#include "model/base/file.hpp"
#include "model/base/json.hpp"
#include "selector/report/record.hpp"

namespace commpass {
namespace {

test::Result record(const std::string& output, int ranks, const std::string& program,
                    const std::string& variables = {}) {
  return test::run(COMMPASS_TEST_COMMAND " record -o " + output + " -- " COMMPASS_TEST_MPIEXEC " " +
                       std::to_string(ranks) + " " COMMPASS_TEST_MPIEXEC_FLAGS " " + program,
                   variables);
}

class OfKnownProgram : public testing::TestWithParam<int> {};

class Recorded : public testing::Test {
 protected:
  const test::TemporaryDirectory directory_;
  const std::string file_ = directory_.path("run.json");
};

/// That of the program whose exchanges are known, run once for all tests.
const Record& recorded_on(int ranks) {
  static std::map<int, Record> known;
  if (!known.contains(ranks)) {
    const test::TemporaryDirectory directory;
    const auto result = record(directory.path("run.json"), ranks, COMMPASS_TEST_RECORDED);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    known[ranks] = read_record(directory.path("run.json"));
  }
  return known[ranks];
}

/// Those of one kind, on a communicator of as many ranks that begins with this one of MPI_COMM_WORLD.
std::vector<RecordedExchange> of_kind(const Record& record, const std::string& call, int ranks, Rank first = 0) {
  std::vector<RecordedExchange> found;
  for (const auto& exchange : record.exchanges) {
    const auto& members = record.communicators[exchange.communicator];
    if (exchange.call == call && std::ssize(members) == ranks && members[0] == first) found.push_back(exchange);
  }
  return found;
}

std::int64_t calls_of(const std::vector<RecordedExchange>& exchanges) {
  return std::accumulate(exchanges.begin(), exchanges.end(), std::int64_t{0},
                         [](std::int64_t sum, const RecordedExchange& one) { return sum + one.calls; });
}

/// That were counted, and no more.
OtherCalls others_of(const Record& record, const std::string& call) {
  const auto found = std::ranges::find(record.others, call, &OtherCalls::call);
  return found == record.others.end() ? OtherCalls{} : *found;
}

TEST_P(OfKnownProgram, HasTheCallsOfTheProgram) {
  const int ranks = GetParam();
  const auto& record = recorded_on(ranks);
  ASSERT_EQ(record.ranks(), ranks);
  EXPECT_NE(record.program.find("recorded"), std::string::npos) << record.program;
  EXPECT_EQ(record.communicators.size(), 4U) << "all ranks, all from the last on, and two halves";

  auto equal = of_kind(record, "alltoall", ranks);
  ASSERT_EQ(equal.size(), 3U);
  std::ranges::sort(equal, {}, &RecordedExchange::equal_bytes);
  const auto &timely = equal[0], &of_duplicates = equal[1], &late = equal[2];
  EXPECT_EQ(of_duplicates.equal_bytes, 12);
  EXPECT_EQ(of_duplicates.calls, 40 * 3) << "which the ranks also tell after a duplicate is freed";
  EXPECT_EQ(of_duplicates.handles, 40);
  EXPECT_EQ(timely.equal_bytes, 8);
  EXPECT_EQ(timely.calls, 3);
  EXPECT_EQ(timely.bytes, 3 * ranks * ranks * 8);
  EXPECT_EQ(timely.blocks, 3 * ranks * ranks);
  EXPECT_EQ(late.equal_bytes, 20);
  EXPECT_EQ(late.calls, 3);
  const double waited_s = 3 * 0.1 * (ranks - 1) / ranks;
  constexpr int on_time = 20;  // the others may be late, too, where the machine is busy
  EXPECT_GT(late.in_call_s, waited_s / on_time) << "the others waited for rank 0";
  EXPECT_LT(late.exchange_s, late.in_call_s - waited_s / on_time) << "which is not the exchange's time";
  EXPECT_TRUE(late.is_by_clock);
  EXPECT_TRUE(late.site.starts_with("recorded+0x")) << late.site;

  const auto ring = of_kind(record, "neighbor_alltoall", ranks);
  ASSERT_EQ(ring.size(), 1U);
  EXPECT_EQ(ring[0].calls, 64);
  EXPECT_EQ(others_of(record, "neighbor_alltoall").calls, 6) << "not told before the communicator was freed";
  std::vector<Edge> around;
  for (int rank = 0; rank < ranks; ++rank) around.push_back({rank, (rank + 1) % ranks, 8});
  EXPECT_EQ(ring[0].edges, around);
  EXPECT_EQ(std::accumulate(ring[0].over_time.calls.begin(), ring[0].over_time.calls.end(), std::int64_t{0}), 64);
  EXPECT_GT(ring[0].exchange_s, 0);
}

TEST_P(OfKnownProgram, HasCallsThatOnlyStartAnExchange) {
  auto started = of_kind(recorded_on(GetParam()), "ialltoall", GetParam());
  ASSERT_EQ(started.size(), 2U);
  std::ranges::sort(started, std::greater(), &RecordedExchange::equal_bytes);
  EXPECT_EQ(started[1].calls, 2) << "of duplicates that ranks freed in different orders";
  EXPECT_EQ(started[1].handles, 2);
  EXPECT_EQ(started[0].calls, 5);
  EXPECT_EQ(started[0].equal_bytes, 4);
  EXPECT_EQ(started[0].exchange_s, 0) << "which is not known";
}

TEST_P(OfKnownProgram, HasCallsThatBlockAmongManyThatDoNot) {
  const int ranks = GetParam();
  const auto& record = recorded_on(ranks);
  const auto equal = of_kind(record, "alltoall", ranks, ranks - 1);
  EXPECT_EQ(calls_of(equal), 2 + 1) << "and one that was refused";
  EXPECT_EQ(std::ranges::count(equal, 0, &RecordedExchange::bytes), 1);
  EXPECT_EQ(calls_of(of_kind(record, "ialltoall", ranks, ranks - 1)), 64 + 63) << "before each of the two";
  EXPECT_EQ(others_of(record, "ialltoall").calls, 2 * 66 - 64 - 63);
}

TEST_P(OfKnownProgram, CountsCallsThatNeverRepeat) {
  const int ranks = GetParam();
  const auto& record = recorded_on(ranks);
  const auto rings = of_kind(record, "alltoallv", ranks);
  ASSERT_EQ(rings.size(), 17U) << "16 patterns, and the later ones";
  Bytes bytes = 0;
  int without_edges = 0;
  for (const auto& exchange : rings) {
    bytes += exchange.bytes;
    without_edges += exchange.edges.empty() ? 1 : 0;
  }
  EXPECT_EQ(calls_of(rings), 100 + 17) << "also the last one of the copy, which was freed before its ranks told of it";
  EXPECT_EQ(bytes, ranks * (100 * 100 + 99 * 100 / 2 + 17 * 7));
  EXPECT_EQ(without_edges, 1);
  EXPECT_EQ(others_of(record, "alltoallv").calls, 0);
}

TEST_P(OfKnownProgram, KnowsCommunicators) {
  const int ranks = GetParam();
  const auto& record = recorded_on(ranks);
  for (const auto& exchange : record.exchanges) {
    const auto& members = record.communicators[exchange.communicator];
    if (std::ssize(members) == ranks) continue;
    EXPECT_EQ(exchange.calls, 4);
    EXPECT_EQ(exchange.bytes, 4 * 1000 * std::ssize(members));
    for (std::size_t i = 0; i < members.size(); ++i) EXPECT_EQ(members[i] % 2, members[0] % 2);
    ASSERT_EQ(exchange.edges.size(), members.size());
    EXPECT_EQ(exchange.edges[0], (Edge{0, 1 % static_cast<Rank>(members.size()), 1000}));
  }
}

INSTANTIATE_TEST_SUITE_P(OnRanks, OfKnownProgram, testing::Values(4, 5));

TEST_F(Recorded, EndsAsTheProgramDoes) {
  const auto result = record(file_, 2, COMMPASS_TEST_RECORDED " 3");
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_EQ(read_record(file_).ranks(), 2);
}

TEST_F(Recorded, PassesOnSignalsOfProcesses) {
  const auto result = test::run(COMMPASS_TEST_COMMAND " record -o " + file_ +
                                " -- sh -c 'trap \"exit 7\" TERM; kill -TERM $PPID; sleep 10 & wait; exit 1'");
  EXPECT_EQ(result.exit_code, 7) << result.err;
}

TEST_F(Recorded, SaysThatAProgramLeftNothing) {
  const auto result = record(file_, 1, "true");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("run.json was not written: the program ended without MPI_Finalize"), std::string::npos)
      << result.err;
}

TEST_F(Recorded, SaysHowAProgramEndedThatLeftNothing) {
  const auto result = record(file_, 1, "sh -c 'exit 3'");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("run.json was not written: the program ended with exit code 3, before MPI_Finalize.\n"),
            std::string::npos)
      << result.err;
}

TEST_F(Recorded, NamesTheProgramsOwnPlaces) {
  const std::vector<std::string> programs{COMMPASS_TEST_FORTRAN};  // none where there is no Fortran
  for (const auto& program : programs) {
    ASSERT_EQ(record(file_, 2, program).exit_code, 0);
    const auto record = read_record(file_);
    ASSERT_FALSE(record.exchanges.empty()) << program;
    for (const auto& exchange : record.exchanges)
      EXPECT_NE(exchange.site.find("unmodified_"), std::string::npos) << exchange.site;
    for (const auto* call : {"ialltoall", "ialltoallv", "ineighbor_alltoall", "ineighbor_alltoallv",
                             "ineighbor_allgather", "ineighbor_allgatherv"})
      EXPECT_GE(calls_of(of_kind(record, call, 2)), 1) << call << " of " << program;
  }
}

TEST_F(Recorded, HasAllCallsOnDuplicatesThatThreadsMakeAndFree) {
  const auto result = record(file_, 2, COMMPASS_TEST_DUPLICATES);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto record = read_record(file_);
  const auto equal = of_kind(record, "alltoall", 2);
  constexpr int duplicates = 2 * 60 * 4;
  ASSERT_EQ(equal.size(), 1U);
  EXPECT_EQ(equal[0].calls, 5 * duplicates);
  EXPECT_EQ(equal[0].handles, duplicates);
  EXPECT_EQ(others_of(record, "alltoall").calls, 0);
}

TEST_F(Recorded, IsAdvisedOn) {
  ASSERT_EQ(record(file_, 4, COMMPASS_TEST_RECORDED).exit_code, 0);
  const auto page = test::run(COMMPASS_TEST_COMMAND " advise " + file_ + " --profile lassen --profile generic --ppn 2");
  EXPECT_EQ(page.exit_code, 0) << page.err;
  for (const char* part : {"4 ranks", "neighbor_alltoall ", "apart from waiting for late ranks",
                           "On lassen, 2 nodes x 2 ranks: ", "On generic, ", "on 2 communicators",
                           "6 more calls of MPI_Neighbor_alltoall"})
    EXPECT_NE(page.out.find(part), std::string::npos) << part << " in " << page.out;
  const auto list = test::run(COMMPASS_TEST_COMMAND " advise " + file_ + " --profile lassen --ppn 1,2");
  EXPECT_EQ(list.exit_code, 0) << list.err;
  for (const char* part : {"On lassen, 4 nodes x 1 rank", "On lassen, 2 nodes x 2 ranks: "})
    EXPECT_NE(list.out.find(part), std::string::npos) << part << " in " << list.out;
  const std::string scaled = COMMPASS_TEST_COMMAND " advise " + file_ + " --profile lassen --ppn 32 --ranks ";
  test::expect_one_sentence(test::run(scaled + "64"), {"--ranks 64", "record of 4 ranks", "8 or more ranks"});
  test::expect_one_sentence(test::run(COMMPASS_TEST_COMMAND " advise " + file_), {"profile", "none is named"});
  test::expect_one_sentence(test::run(COMMPASS_TEST_COMMAND " advise /no/such.json --profile lassen"),
                            {"/no/such.json"});
  const auto patterns = directory_.path("patterns");
  ASSERT_EQ(
      test::run(COMMPASS_TEST_COMMAND " advise " + file_ + " --profile lassen --ppn 32 --json --patterns " + patterns)
          .exit_code,
      0);
  const auto predicted =
      test::run("sh -c 'for f in " + patterns +
                "/*.mtx; do " COMMPASS_TEST_COMMAND " predict --profile lassen --ppn 2 --pattern $f || exit 9; done'");
  EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
}

/// The counts of a call, at all places of the program.
CountedMessages counted(const Record& record, const std::string& call) {
  CountedMessages sum{call, "", 0, 0, 0, 0, 0};
  for (const auto& one : record.messages) {
    if (one.call != call) continue;
    EXPECT_TRUE(one.site.find("messages+0x") != std::string::npos) << one.site;
    sum.ranks = std::max(sum.ranks, one.ranks);
    sum.calls += one.calls;
    sum.bytes += one.bytes;
    sum.partners = std::max(sum.partners, one.partners);
  }
  return sum;
}

/// The program whose messages are known. @param arguments  of it
Record recorded_messages(int ranks, const std::string& arguments, const std::string& variables = {}) {
  const test::TemporaryDirectory directory;
  const auto result = record(directory.path("run.json"), ranks, COMMPASS_TEST_MESSAGES + arguments, variables);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return read_record(directory.path("run.json"));
}

class OfKnownMessages : public testing::TestWithParam<std::string> {};

TEST_P(OfKnownMessages, HasCallsBytesAndPartners) {
  constexpr int ranks = 4;
  const auto record = recorded_messages(ranks, GetParam());
  constexpr std::int64_t ring = 50, odd = 40, reversed = 2 * 5, odd_messages = odd * (odd + 1) / 2;
  const auto isend = counted(record, "isend");
  EXPECT_EQ(isend.calls, ranks * (2 * (ring + reversed) + odd_messages)) << "one that was refused is not counted";
  EXPECT_EQ(isend.bytes, ranks * (2 * 8 * (ring * (ring + 1) / 2 + 2 * 5 * 6 / 2) + 4 * odd_messages));
  EXPECT_EQ(isend.partners, 2);
  EXPECT_EQ(counted(record, "irecv").calls, isend.calls + ranks * (20 + 7));
  EXPECT_EQ(counted(record, "issend").bytes, ranks * 7 * 4);
  EXPECT_EQ(counted(record, "send").calls, ranks * 20 + 4);
  EXPECT_EQ(counted(record, "send").bytes, (ranks - 1) * 20 * 100 + 4 * 4) << "nothing goes to MPI_PROC_NULL";
  EXPECT_EQ(counted(record, "recv").calls, 4);
  EXPECT_EQ(counted(record, "sendrecv").bytes, ranks * 10 * 8);
  EXPECT_EQ(counted(record, "start").calls, ranks * 30);
  EXPECT_EQ(counted(record, "startall").calls, ranks * 15);
  EXPECT_EQ(counted(record, "put").bytes, ranks * 3 * 16);
  EXPECT_EQ(counted(record, "accumulate").calls, ranks * 3);
  EXPECT_EQ(counted(record, "waitall").calls, ranks * (ring + reversed));
  EXPECT_GT(counted(record, "testall").calls, 0);
  EXPECT_GT(record.counting_s, 0);
}

TEST_P(OfKnownMessages, HasPhasesThatRecur) {
  constexpr int ranks = 4;
  const auto record = recorded_messages(ranks, GetParam());
  const auto with_calls = [&](const std::string& call, std::int64_t calls) {
    for (const auto& exchange : of_kind(record, call, ranks))
      if (exchange.calls == calls) return exchange;
    ADD_FAILURE() << "no " << calls << " phases of " << call;
    return RecordedExchange{};
  };
  const auto ring = with_calls("isend", 50 + 2 * 5);  // those of the communicators are at the same place
  ASSERT_EQ(ring.edges.size(), 2U * ranks);
  std::vector<Edge> expected;
  for (Rank from = 0; from < ranks; ++from)
    for (const Rank distance : {1, ranks - 1})
      expected.push_back({from, (from + distance) % ranks, ring.edges[0].bytes});
  EXPECT_TRUE(std::ranges::is_permutation(ring.edges, expected));
  EXPECT_EQ(ring.bytes, 2 * 8 * ranks * (50 * 51 / 2 + 2 * 5 * 6 / 2));
  EXPECT_GT(ring.exchange_s, 0);
  EXPECT_FALSE(ring.is_by_clock);

  const auto halo = with_calls("send", 20);
  EXPECT_EQ(halo.edges, (std::vector<Edge>{{0, 1, 100}, {1, 2, 100}, {2, 3, 100}}));
  std::vector<Edge> around;
  for (Rank from = 0; from < ranks; ++from) around.push_back({from, (from + 1) % ranks, 8});
  EXPECT_EQ(with_calls("sendrecv", 10).edges, around);
  for (auto& edge : around) edge.bytes = 4;
  EXPECT_EQ(with_calls("startall", 15).edges, around);
  EXPECT_EQ(with_calls("start", 15).edges, around);
  EXPECT_EQ(with_calls("issend", 7).edges, around);
  EXPECT_TRUE(with_calls("isend", 40 - 16).edges.empty()) << "of 40 sets of partners 16 are kept";
  EXPECT_TRUE(of_kind(record, "put", ranks).empty());
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutThreads, OfKnownMessages, testing::Values("", " threads"));

TEST(RecordedMessages, AreCountedWhereTheyAreAskedFor) {
  EXPECT_TRUE(recorded_messages(2, "", "COMMPASS_MPI_CALLS=alltoallv").messages.empty());
  EXPECT_EQ(counted(recorded_messages(2, "", "COMMPASS_MPI_CALLS=messages"), "put").calls, 6);
}

TEST_F(Recorded, CountsMessagesOfFortran) {
  const std::vector<std::string> programs{COMMPASS_TEST_MESSAGES_FORTRAN};  // none where there is no Fortran
  for (const auto& program : programs) {
    SCOPED_TRACE(program);
    const auto result = record(file_, 3, program);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto record = read_record(file_);
    const auto sum_of = [&](const std::string& call) {
      CountedMessages sum;
      for (const auto& one : record.messages)
        if (one.call == call) sum.calls += one.calls, sum.bytes += one.bytes, sum.partners = one.partners;
      return sum;
    };
    EXPECT_EQ(sum_of("isend").bytes, 3 * 6 * 24);
    EXPECT_EQ(sum_of("isend").partners, 1);
    EXPECT_EQ(sum_of("sendrecv").bytes, 3 * 6 * 16);
    EXPECT_EQ(sum_of("startall").bytes, 3 * 6 * 8);
    EXPECT_EQ(sum_of("waitall").calls, 3 * 6);
    for (const auto* call : {"isend", "sendrecv", "startall"}) {
      const auto phases = of_kind(record, call, 3);
      ASSERT_EQ(phases.size(), 1U) << call;
      EXPECT_EQ(phases[0].calls, 6) << call;
      EXPECT_EQ(phases[0].edges.size(), 3U) << call;
    }
  }
}

TEST(Run, RefusesALibraryThatLdPreloadWouldSplit) {
  for (const auto* name : {"\"/a b.so\"", "/a:b.so"})
    test::expect_one_sentence(test::run(COMMPASS_TEST_COMMAND " run --library " + std::string(name) + " -- true"),
                              {"spaces and colons", "--library"});
}

TEST(Run, TakesOver) {
  const auto result =
      test::run(COMMPASS_TEST_COMMAND " run --always --profile lassen -- " COMMPASS_TEST_MPIEXEC
                                      " 2 " COMMPASS_TEST_MPIEXEC_FLAGS " " COMMPASS_TEST_RECORDED " 5");
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_NE(result.err.find("commpass: calls of rank 0"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("commpass: by place"), std::string::npos) << result.err;
}

/// The report by places of the program whose exchanges are known, on two ranks.
Json report_by_places(const std::string& variables) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path("report.json");
  const auto result = test::run(COMMPASS_TEST_COMMAND " run --json " + file +
                                    " --profile lassen -- " COMMPASS_TEST_MPIEXEC " 2 " COMMPASS_TEST_MPIEXEC_FLAGS
                                    " " COMMPASS_TEST_RECORDED,
                                variables);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err.find("commpass: by place"), std::string::npos) << result.err;
  auto json = Json::parse(read_file(file));
  EXPECT_EQ(json["machine"], "lassen");
  EXPECT_FALSE(json["places"].empty());
  for (const auto& place : json["places"]) {
    EXPECT_EQ(place["calls"], place["by_library"].get<std::int64_t>() + place["by_ours"].get<std::int64_t>() +
                                  place["by_both"].get<std::int64_t>())
        << place;
    EXPECT_NE(place["site"].get<std::string>().find("recorded"), std::string::npos) << place;
  }
  return json;
}

const std::string losses_do_not_matter = "COMMPASS_MPI_LOSS=1000";

TEST(Run, ReportsByPlaces) {
  const auto json = report_by_places(losses_do_not_matter + " COMMPASS_ALLTOALLV_STRATEGY=standard");
  bool is_ring_there = false;
  for (const auto& place : json["places"])
    if (place["call"] == "neighbor_alltoall") {
      is_ring_there = true;
      EXPECT_GT(place["calls"].get<int>(), 60) << "of 70, of which the last ones are lost as they are in a record";
      constexpr int trials = 11;  // one plans
      EXPECT_EQ(place["by_both"], trials) << place;
      EXPECT_EQ(place["strategy"], "standard");
      EXPECT_FALSE(place["saved_s"].is_null());
      const auto saved_s = place["saved_s"].get<double>();
      EXPECT_LE(place["saved_interval_s"][0].get<double>(), saved_s);
      EXPECT_GE(place["saved_interval_s"][1].get<double>(), saved_s);
      EXPECT_GT(place["predicted_library_s"].get<double>(), 0);
    }
  EXPECT_TRUE(is_ring_there) << json;
}

TEST(Run, DoesNotRaceMpiAgainstItself) {
  const auto json = report_by_places(losses_do_not_matter + " COMMPASS_ALLTOALLV_STRATEGY=mpi");
  for (const auto& place : json["places"]) {
    EXPECT_EQ(place["by_both"], 0) << place;
    EXPECT_EQ(place["by_ours"], 0) << place;
  }
  EXPECT_EQ(json["saved_interval_s"], Json({0, 0}));
}

TEST(Run, TriesNothingInAProgramTooShortForIt) {
  const auto json = report_by_places("COMMPASS_ALLTOALLV_STRATEGY=standard");
  for (const auto& place : json["places"]) EXPECT_EQ(place["by_library"], place["calls"]) << place;
}

TEST(Run, MakesNoContextForAProgramWithoutSuchCalls) {
  const auto result = test::run(COMMPASS_TEST_COMMAND " run --only alltoallw --profile lassen -- " COMMPASS_TEST_MPIEXEC
                                                      " 2 " COMMPASS_TEST_MPIEXEC_FLAGS " " COMMPASS_TEST_RECORDED);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("nothing was taken over"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("lassen was measured with"), std::string::npos) << "a context warns of it: " << result.err;
}

}  // namespace
}  // namespace commpass
