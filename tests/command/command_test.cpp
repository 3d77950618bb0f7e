// The commpass command without MPI: exit codes, one sentence for errors, and outputs that other programs read.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <tuple>

#include "command/console_blocks.hpp"
#include "command/run.hpp"
#include "model/base/file.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/profile.hpp"
#include "model/machine/profile_lookup.hpp"
#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"
#include "model/route/sparse_strategy.hpp"

namespace commpass {
namespace {

using test::expect_one_sentence;
using test::Result;

Result commpass(const std::string& arguments, const std::string& variables = {}) {
  return test::run(COMMPASS_TEST_COMMAND " " + arguments, variables);
}

const std::string predict = "predict --profile lassen --generate random:ranks=16,bytes=64,degree=4 --ppn 4 ";

/// Compares with a file of tests/command/golden. UPDATE_GOLDEN in the environment writes it anew.
void expect_golden(const std::string& name, const std::string& text) {
  const auto path = std::string(COMMPASS_TEST_GOLDEN) + "/" + name;
  if (std::getenv("UPDATE_GOLDEN")) std::ofstream(path) << text;
  EXPECT_EQ(text, test::contents_of(path)) << "UPDATE_GOLDEN=1 writes " << path << " anew";
}

TEST(ExitCode, IsZeroWhenDone) {
  for (const auto& arguments :
       {std::string("--help"), std::string("predict --help"), predict, std::string("profile list"),
        std::string("pattern --generate alltoall:ranks=3,bytes=8 --statistics")}) {
    const auto result = commpass(arguments);
    EXPECT_EQ(result.exit_code, 0) << arguments << "\n" << result.err;
    EXPECT_NE(result.out, "") << arguments;
    EXPECT_EQ(result.err, "") << arguments;
  }
}

TEST(Names, MayBeNoUtf8) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path("p\xff.mtx");
  ASSERT_EQ(commpass("pattern --generate alltoall:ranks=4,bytes=8 -o " + file).exit_code, 0);
  for (const std::string arguments :
       {"predict --profile lassen --ppn 2 --pattern ", "pattern --statistics --pattern "}) {
    const auto result = commpass(arguments + file + " --json");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(!Json::parse_or_null(result.out).is_null()) << result.out;
  }
}

TEST(ExitCode, IsTwoForWrongUsage) {
  for (const auto& arguments :
       {std::string(),
        std::string("nonsense"),
        std::string("predict"),
        predict + "--speed 3",
        predict + "--layout 4x4",
        predict + "--top 0",
        predict + "--top -1",
        predict + "--top x",
        predict + "--calls 0",
        predict + "--calls -1",
        predict + "--calls 1e300",
        predict + "--calls often",
        predict + "--calls nan",
        predict + "--memory disk",
        predict + "--ranks 4",
        predict + "--pattern x.mtx",
        std::string("pattern --generate alltoall:ranks=3,bytes=8"),
        std::string("profile"),
        std::string("profile show"),
        std::string("predict --profile lassen --ppn 0 --generate alltoall:ranks=3,bytes=8"),
        std::string("predict --profile lassen --ppn 1 --matrix x.mtx --ranks 2 --partition random"),
        std::string("pattern --generate alltoall:ranks=3,bytes=8 -o x.mtx --json"),
        std::string("pattern --generate alltoall:ranks=3,bytes=8 -o x.mtx --ppn 1"),
        std::string("profile compare lassen")}) {
    const auto result = commpass(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments << "\n" << result.err;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_NE(result.err, "") << arguments;
  }
}

TEST(ExitCode, IsExplainedInAShortLine) {
  const auto top = commpass(predict + "--top -1"), values = commpass("predict --matrix x.mtx --value-bytes -1");
  EXPECT_EQ(top.err.find("--top: '-1' is no number above 0; use one\n"), 0U) << top.err;
  EXPECT_EQ(values.err.find("--value-bytes: '-1' is no size; write for example 512, 16KiB"), 0U) << values.err;
}

/// The first line that is said of a command line that is wrong usage.
std::string refusal(const std::string& arguments) {
  const auto result = commpass(arguments);
  EXPECT_EQ(result.exit_code, 2) << arguments << "\n" << result.err;
  EXPECT_EQ(result.out, "") << arguments;
  return result.err.substr(0, result.err.find('\n'));
}

TEST(WrongUsage, NamesTheNearestNamesAndTheList) {
  EXPECT_EQ(refusal("predct --json"),
            "predct: 'commpass' has no such command; did you mean predict? 'commpass --help' lists all");
  EXPECT_EQ(refusal("strategy"),
            "strategy: 'commpass' has no such command; did you mean strategies? 'commpass --help' lists all");
  EXPECT_EQ(refusal("nonsense"), "nonsense: 'commpass' has no such command; 'commpass --help' lists them");
  EXPECT_EQ(refusal("profile shw lassen"),
            "shw: 'commpass profile' has no such command; did you mean show? 'commpass profile --help' lists all");
  EXPECT_EQ(refusal("wisdom predct"), "predct: 'commpass wisdom' has no such command; use show or forget");
  EXPECT_EQ(
      refusal("predict --genrate alltoall:ranks=4,bytes=8"),
      "--genrate: 'commpass predict' has no such switch; did you mean --generate? 'commpass predict --help' lists "
      "all");
  EXPECT_EQ(refusal(predict + "--speed 3"),
            "--speed: 'commpass predict' has no such switch; 'commpass predict --help' lists all");
  EXPECT_EQ(refusal("predict -profile lassen"),
            "-profile: 'commpass predict' has no such switch; did you mean --profile? 'commpass predict --help' lists "
            "all");
  EXPECT_EQ(refusal("--verson"),
            "--verson: 'commpass' has no such switch; did you mean --version? 'commpass --help' lists all");
  EXPECT_EQ(refusal(predict + "more words"),
            "more: 'commpass predict' takes no such word; 'commpass predict --help' lists all");
  EXPECT_EQ(refusal("run mpirun -n 2 ./a"),
            "-n: 'commpass run' has no such switch; write the launcher and the program behind --");
}

TEST(WrongUsage, SaysWhichRuleIsNotKept) {
  EXPECT_EQ(refusal("profile"), "'commpass profile' needs a command; 'commpass profile --help' lists them");
  EXPECT_EQ(refusal("predict"), "'commpass predict' needs --pattern, --matrix or --generate; add one");
  EXPECT_EQ(refusal("pattern --generate alltoall:ranks=3,bytes=8"),
            "'commpass pattern' needs --output or --statistics; add one");
  EXPECT_EQ(refusal(predict + "--pattern x"), "--pattern and --generate exclude each other; use one of them");
  EXPECT_EQ(refusal(predict + "--layout 4x4"), "--layout and --ppn exclude each other; leave one out");
  EXPECT_EQ(refusal(predict + "--share-values"), "--share-values needs --matrix; add it, or leave --share-values out");
  EXPECT_EQ(refusal(predict + "--ppn 8"), "--ppn is given 2 times; give it once");
  EXPECT_EQ(refusal("predict --generate"), "--generate: its value is missing; add it");
  EXPECT_EQ(refusal("profile compare lassen"),
            "'commpass profile compare' needs second: NAME or file; ratios are second over first");
  EXPECT_EQ(refusal("report"), "'commpass report' needs --output: the file: FILE.html, or FILE.md");
  EXPECT_EQ(refusal(predict + "--memory disk"), "--memory: 'disk' is none of its values; use host or device");
  EXPECT_EQ(refusal(predict + "--top 2.5"), "--top: '2.5' is no whole number; use one");
  EXPECT_EQ(refusal("predict --matrix m --value-bytes 8k"),
            "--value-bytes: '8k' is ambiguous; write 8KiB (powers of 1024) or 8kB (powers of 1000)");
  EXPECT_EQ(refusal("calibrate --launches 1 -o x -- mpirun"),
            "--launches: '1' is no whole number from 2 to 1000; use one");
}

TEST(BadInput, NamesTheNearestNamesAndTheList) {
  const std::string generated = " --ppn 2 --generate alltoall:ranks=4,bytes=8 ";
  for (const auto* name : {"lasen", "LASSEN.json"})
    expect_one_sentence(commpass(std::string("predict --profile ") + name + generated),
                        {"there is none of that name; did you mean lassen", "? 'commpass profile list' lists all"});
  expect_one_sentence(commpass("profile show sumit"), {"did you mean summit? 'commpass profile list'"});
  expect_one_sentence(commpass("run --profile lasen --library /x -- true"), {"did you mean lassen"});
  expect_one_sentence(commpass("predict --profile lassen --strategies standard,two-stp" + generated),
                      {"strategy two-stp", "did you mean two-step? 'commpass strategies' lists all"});
  expect_one_sentence(commpass("predict --profile lassen --ppn 2 --generate alltoal:ranks=4,bytes=8"),
                      {"did you mean alltoall", "'commpass patterns' lists all"});
  expect_one_sentence(commpass("predict --profile lassen --sweep byte=8..64" + generated), {"did you mean bytes? Use"});
  expect_one_sentence(commpass("predict --profile lassen --sweep bytes=8-64" + generated),
                      {"'8-64' is no range; write 8..64"});
  expect_one_sentence(commpass("predict --profile lassen --sweep bytes=8..64k" + generated),
                      {"'64k' is ambiguous; write 64KiB"});
  expect_one_sentence(commpass("predict --profile lassen --layout 2*2 --generate alltoall:ranks=4,bytes=8"),
                      {"write NODESxRANKS, for example 4x8"});
}

TEST(Sizes, AreTheSameHoweverTheyAreWritten) {
  const auto ranking = [](const std::string& bytes) {
    const auto result = commpass("predict --profile lassen --ppn 2 --json --generate alltoall:ranks=4,bytes=" + bytes);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out)["ranking"];
  };
  EXPECT_EQ(ranking("1536"), ranking("1.5KiB"));
  EXPECT_EQ(ranking("1e3"), ranking("1kB"));
  EXPECT_NE(ranking("1kB"), ranking("1KiB"));
}

TEST(Help, IsAlsoACommand) {
  EXPECT_EQ(commpass("help").out, commpass("--help").out);
  EXPECT_EQ(commpass("help predict").out, commpass("predict --help").out);
  EXPECT_EQ(commpass("help profile show").out, commpass("profile show --help").out);
  EXPECT_EQ(commpass("help measure").out, commpass("measure --help").out);
  EXPECT_EQ(commpass("-h").out, commpass("--help").out);
  EXPECT_EQ(commpass("predict -h").out, commpass("predict --help").out);
  EXPECT_NE(commpass("help predict").out.find("Usage: commpass predict"), std::string::npos);
  EXPECT_EQ(refusal("help prdict"),
            "prdict: 'commpass' has no such command; did you mean predict? 'commpass --help' lists all");
}

TEST(ManualPages, AreOfEachCommandAndItsCommands) {
  const auto all = commpass("help --man");
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_TRUE(all.out.starts_with(".TH COMMPASS 1 \"\" \"commpass 1.")) << all.out;
  const auto profile = commpass("help profile --man").out;
  EXPECT_NE(profile.find("\n.SS commpass profile merge\n"), std::string::npos) << profile;
  EXPECT_EQ(commpass("help --man profile").out, profile);
  EXPECT_EQ(refusal("help prdict --man"), "prdict: 'commpass' has no such command");
  EXPECT_EQ(refusal("help --man="), "--man: its value is missing; name a directory");
  const test::TemporaryDirectory directory;
  expect_one_sentence(commpass("help --man=" + directory.write("file", "") + "/below"), {"commpass.1", "cannot"});
}

TEST(Warnings, TellOfNodesThatAreNotFullAndOfRanksWithoutRows) {
  const std::string run = "predict --profile lassen --strategy standard --generate alltoall:ranks=16,bytes=8 --ppn ";
  EXPECT_EQ(commpass(run + "5").err, "commpass: --ppn 5 does not divide 16 ranks; the last node has 1.\n");
  const std::string once = "commpass: --ppn 5 does not divide 16 ranks; the last node has 1.\n";
  EXPECT_NE(commpass("predict --profile lassen --sparse constant --generate random:ranks=16,bytes=8,degree=2 --ppn 5")
                .err.find(once),
            std::string::npos);
  EXPECT_EQ(commpass(run + "5 --sweep bytes=8..64").err, once) << "not for each point";
  EXPECT_EQ(commpass(run + "64").err, "commpass: --ppn 64 is more than all 16 ranks, which are on one node.\n");
  EXPECT_EQ(commpass(run + "4").err, "");
  EXPECT_EQ(commpass("pattern --statistics --ppn 3 --generate alltoall:ranks=4,bytes=8").err,
            "commpass: --ppn 3 does not divide 4 ranks; the last node has 1.\n");
  const test::TemporaryDirectory directory;
  const auto matrix =
      directory.write("m.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 3\n3 1\n");
  const auto idle = commpass("predict --profile lassen --ppn 4 --matrix " + matrix +
                             " --ranks 8 --picture matrix --svg " + directory.path("m.svg"));
  EXPECT_EQ(idle.exit_code, 0) << idle.err;
  EXPECT_EQ(idle.err,
            "commpass: 5 of 8 ranks own no row of " + matrix + ", which has 3; they send and receive nothing.\n")
      << "once, though it is read twice";
  EXPECT_EQ(commpass("predict --profile lassen --ppn 3 --ranks 3 --matrix " + matrix).err, "");
}

TEST(BadInput, IsOneSentenceAndExitCodeOne) {
  const test::TemporaryDirectory directory;
  const auto rubbish = directory.write("rubbish.json", "{\"schema_version\": 1}");
  const auto rectangle =
      directory.write("rectangle.mtx", "%%MatrixMarket matrix coordinate integer general\n3 4 1\n1 1 8\n");
  const auto short_file =
      directory.write("short.mtx", "%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 1 5\n");
  const std::string generated = "--generate alltoall:ranks=4,bytes=8 ";
  expect_one_sentence(commpass("predict --profile nowhere --ppn 2 " + generated),
                      {"profile nowhere", "commpass profile list"});
  expect_one_sentence(commpass("predict --ppn 2 " + generated), {"profile", "COMMPASS_PROFILE"});
  expect_one_sentence(commpass("predict --profile lassen " + generated), {"layout", "--ppn"});
  expect_one_sentence(commpass("predict --profile lassen --layout 3x3 " + generated), {"layout 3x3", "9 ranks but 4"});
  expect_one_sentence(commpass("predict --profile lassen --ppn 2 --model loggp " + generated), {"loggp", "burst"});
  expect_one_sentence(commpass("predict --profile lassen --ppn 2 --strategy fastest " + generated),
                      {"strategy fastest", "standard"});
  expect_one_sentence(commpass("predict --profile lassen --ppn 2 --strategy tuna,radix=9 " + generated),
                      {"strategy tuna,radix=9", "larger than the 4 ranks"});
  expect_one_sentence(
      commpass("predict --profile lassen --ppn 2 --strategy tuna,radix=9 --strategy tuna,radix=8 " + generated),
      {"radix 9 is larger than the 4 ranks"});
  expect_one_sentence(
      commpass("predict --profile lassen --ppn 2 --strategy standard --strategy tuna,radix=x " + generated),
      {"tuna,radix=x"});
  expect_one_sentence(commpass("predict --profile lassen --ppn 2 --explain slowest " + generated),
                      {"strategy slowest"});
  expect_one_sentence(commpass("predict --profile lassen --ppn 2 --explain stfw,n=9 " + generated),
                      {"stfw,n=9", "at most n=2"});
  expect_one_sentence(commpass("predict --profile lassen --ppn 2 --strategies 'standard;;two-step' " + generated),
                      {"there is none of that name"});
  expect_one_sentence(commpass("predict --profile lassen --ppn 2 --generate alltoall:ranks=4"), {"'bytes' is missing"});
  expect_one_sentence(commpass("predict --profile lassen --ppn 2 --pattern " + directory.path("none.mtx")),
                      {"none.mtx", "cannot be opened"});
  expect_one_sentence(commpass("predict --profile lassen --ppn 2 --pattern " + short_file),
                      {"short.mtx, line 3", "ends after 1 of 2"});
  expect_one_sentence(commpass("predict --profile lassen --ppn 2 --pattern " + rectangle),
                      {"rectangle.mtx", "3 x 4", "--matrix"});
  expect_one_sentence(commpass("predict --profile lassen --ppn 2 --matrix " + rectangle), {"--ranks"});
  expect_one_sentence(commpass("predict --profile " + rubbish + " --ppn 2 " + generated),
                      {"rubbish.json", "name is missing"});
  expect_one_sentence(commpass("profile validate " + rubbish), {"rubbish.json", "name is missing"});
  expect_one_sentence(commpass("profile show nowhere"), {"profile nowhere"});
  expect_one_sentence(commpass("pattern --statistics --pattern " + directory.path()), {"is a directory"});
  expect_one_sentence(commpass("pattern --statistics --layout 2x3 " + generated), {"layout 2x3", "6 ranks but 4"});
  expect_one_sentence(commpass("profile compare lassen nowhere"), {"profile nowhere"});
  const auto ring =
      directory.write("ring.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 4 4\n1 2\n2 3\n3 4\n4 1\n");
  expect_one_sentence(commpass("pattern --statistics --ranks 4 --value-bytes 9223372036854775807 --matrix " + ring),
                      {"ring.mtx", "4 values of 9223372036854775807 bytes", "smaller values"});
}

TEST(Outputs, ReplaceNoInputAndNotEachOther) {
  const test::TemporaryDirectory directory;
  const std::string text = "0 8\n8 0\n";
  const auto file = directory.write("p.svg", text), other = directory.path("./p.svg");
  const auto matrix = directory.write("p.mtx", text), page = directory.write("p.html", text);
  const auto profile = directory.write("m.json", read_file(std::string(COMMPASS_TEST_PROFILES) + "/lassen.json"));
  const auto before = read_file(profile);
  const auto priced = "predict --profile lassen --ppn 1 --pattern " + file;
  for (const auto& command :
       {"pattern --pattern " + matrix + " -o " + directory.path("./p.mtx"), priced + " --svg " + file,
        priced + " --trace " + other, "report --profile lassen --ppn 1 --pattern " + page + " -o " + page,
        "report --profile lassen --record " + page + " -o " + page})
    expect_one_sentence(commpass(command), {"it is read, too", "another file"});
  EXPECT_EQ(read_file(file), text);
  EXPECT_EQ(read_file(profile), before);
  const auto two = directory.path("two.svg");
  expect_one_sentence(commpass(predict + "--svg " + two + " --trace " + two), {"two.svg", "two outputs"});
  expect_one_sentence(commpass(predict + "--svg " + two + " --trace " + directory.path("two.csv")), {"two outputs"});
  expect_one_sentence(commpass(predict + "--json --trace -"), {"output -", "write it to a file"});
  expect_one_sentence(commpass("pattern --generate alltoall:ranks=2,bytes=8 -o - --statistics"), {"output -"});
  EXPECT_EQ(commpass(predict + "--trace /dev/null --json").exit_code, 0);
}

TEST(Outputs, HaveTheEndingOfTheirForm) {
  const test::TemporaryDirectory directory;
  const std::string json = "end it in .json", generate = "--generate alltoall:ranks=2,bytes=8 ";
  for (const auto& [command, endings] : {std::pair(std::string("report --profile lassen --ppn 1 ") + generate,
                                                   std::string("end it in .html or .htm or .md")),
                                         {"pattern " + generate, "end it in .mtx"},
                                         {"profile convert lassen ", json},
                                         {"profile merge lassen summit ", json},
                                         {"profile import --name x a.txt ", json},
                                         {"calibrate --launches 2 -- mpirun ", json},
                                         {"record -- ./a.out ", json}})
    for (const auto* name : {"x.pdf", "x.pdf.gz"}) {
      const auto file = directory.path(name);
      const auto program = command.find("-- ");
      const auto words = program == std::string::npos ? command + "-o " + file
                                                      : std::string(command).insert(program, "-o " + file + " ");
      const auto result = commpass(words);
      EXPECT_EQ(result.exit_code, 2) << words;
      EXPECT_EQ(result.out, "") << words;
      EXPECT_NE(result.err.find(file + "' ends in '.pdf'"), std::string::npos) << result.err;
      EXPECT_NE(result.err.find(endings), std::string::npos) << result.err;
      EXPECT_FALSE(std::filesystem::exists(file)) << words;
    }
  const auto none = directory.path("none");
  EXPECT_EQ(commpass("pattern " + generate + "-o " + none).exit_code, 0) << "a name may have no ending";
}

TEST(BadInput, ThatHasNoEndIsRefusedEarly) {
  const test::TemporaryDirectory directory;
  const auto text =
      "%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 2 5\n%" + std::string(1 << 20, ' ') + "\n";
  const auto file = directory.write("long.mtx", text);
  for (const std::string source : {"--pattern ", "--ranks 2 --matrix "}) {
    const auto command = "pattern --statistics " + source + file;
    expect_one_sentence(commpass(command + " --max-input-bytes 1MiB"),
                        {"long.mtx", "more than 1MiB", "--max-input-bytes SIZE"});
    EXPECT_EQ(commpass(command + " --max-input-bytes 2MiB").exit_code, 0);
    EXPECT_EQ(commpass("predict --profile lassen --ppn 1 " + source + file).exit_code, 0);
    for (const std::string size : {"0", "-1", "1M", "''"})
      EXPECT_EQ(commpass(command + " --max-input-bytes " + size).exit_code, 2) << size;
  }
  if (const auto endless = test::device(directory, "zero", 5); !endless.empty()) {
    expect_one_sentence(commpass("pattern --statistics --max-input-bytes 1MiB --pattern " + endless),
                        {"zero", "more than 1MiB"});
    expect_one_sentence(commpass("profile show " + endless), {"zero", "more than 4MiB"});
  }
}

TEST(BadInput, WithMoreRanksThanArePricedIsRefusedEarly) {
  const test::TemporaryDirectory directory;
  const auto pattern = directory.write(
      "p.mtx", "%%MatrixMarket matrix coordinate integer general\n20000000 20000000 1\n1 20000000 100\n");
  const auto matrix = directory.write("m.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n");
  const std::string start = "predict --profile lassen --ppn 40 --strategy standard ";
  expect_one_sentence(commpass(start + "--pattern " + pattern), {"p.mtx: it has 20000000 ranks", "at most 1048576"});
  expect_one_sentence(commpass(start + "--ranks 20000000 --matrix " + matrix), {"--ranks 20000000", "at most 1048576"});
  expect_one_sentence(commpass(start + "--generate random:ranks=20000000,bytes=8,degree=1"),
                      {"ranks=20000000", "1048576"});
  expect_one_sentence(commpass(start + "--generate alltoall:ranks=20000000,bytes=8"), {"ranks=20000000", "1048576"});
}

TEST(BadInput, ForWhichThereIsNoMemoryIsNamed) {
  if (COMMPASS_TEST_IS_SANITIZED) GTEST_SKIP() << "sanitizers reserve more address space than there is";
  const test::TemporaryDirectory directory;
  const auto limited = [](const std::string& arguments) {
    return test::run("sh -c 'ulimit -v 400000; exec " COMMPASS_TEST_COMMAND " " + arguments + "'");
  };
  if (const auto endless = test::device(directory, "zero", 5); !endless.empty())
    expect_one_sentence(limited("pattern --statistics --pattern " + endless),
                        {"zero: there is not enough memory to read it", "smaller file"});
  expect_one_sentence(limited("pattern --statistics --generate alltoall:ranks=8192,bytes=8"),
                      {"there is not enough memory", "fewer ranks"});
}

TEST(BadInput, WithControlCharactersIsShownInOneLine) {
  const test::TemporaryDirectory directory;
  const auto text = directory.write("text.mtx", "0 8\n\x1b[31m 0\n");
  expect_one_sentence(commpass("pattern --statistics --pattern " + text), {"'\\x1b[31m' is no number"});
  expect_one_sentence(commpass("predict --ppn 2 --profile 'a\nb\x7f' --generate alltoall:ranks=4,bytes=8"),
                      {"profile a\\nb\\x7f"});
  const auto unknown = commpass("'pre\tdict\n'");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.err.find("pre\\tdict\\n: 'commpass' has no such command"), 0U) << unknown.err;
}

TEST(Names, HaveNoControlCharacters) {
  const test::TemporaryDirectory directory;
  const auto import = "profile import " + std::string(COMMPASS_TEST_PROFILES) + "/times/tioga.csv.gz ";
  for (const auto* name : {"--name", "--site", "--note"}) {
    auto words = import + name + " 'a\nb' -o " + directory.path("a.json");
    if (std::string(name) != "--name") words += " --name tioga";
    const auto refused = commpass(words);
    EXPECT_EQ(refused.exit_code, 2) << refused.err;
    EXPECT_NE(refused.err.find(std::string(name) + ": 'a\\nb' has control characters"), std::string::npos)
        << refused.err;
  }
  EXPECT_EQ(commpass(import + "--name '  ' -o " + directory.path("a.json")).exit_code, 2);
  for (const std::string& command :
       {import + "--name tioga", std::string("profile convert lassen"), std::string("profile merge lassen lassen"),
        std::string("pattern --generate alltoall:ranks=4,bytes=8")})
    expect_one_sentence(commpass(command + " -o " + directory.path("'x\ny\x1b'")),
                        {"x\\ny\\x1b: its name has control characters", "use another name"});
  EXPECT_TRUE(directory.names().empty());
}

TEST(BadInput, OfTheEnvironmentNamesTheVariable) {
  const std::string run = "predict --generate alltoall:ranks=4,bytes=8 --ppn 2 --profile lassen";
  expect_one_sentence(commpass(run, "COMMPASS_LAYOUT=4y"), {"environment variable COMMPASS_LAYOUT"});
  expect_one_sentence(commpass(run, "COMMPASS_PROFILE="), {"environment variable COMMPASS_PROFILE", "empty"});
}

TEST(TheEnvironment, MayHaveVariablesThatAreUnknownOrOfModuleSystems) {
  for (const std::string run : {"predict --generate alltoall:ranks=4,bytes=8 --ppn 2 --profile lassen",
                                "pattern --generate alltoall:ranks=4,bytes=8 --statistics", "profile list"}) {
    const auto silent = commpass(run, "COMMPASS_ROOT=/opt/commpass COMMPASS_VERSION=");
    const auto told = commpass(run, "COMMPASS_SPEED=1");
    EXPECT_EQ(silent.exit_code, 0) << silent.err;
    EXPECT_EQ(silent.err, "");
    EXPECT_EQ(told.exit_code, 0);
    EXPECT_EQ(told.out, silent.out);
    EXPECT_TRUE(told.err.starts_with("commpass: COMMPASS_SPEED is unknown and changes nothing")) << told.err;
    EXPECT_EQ(std::ranges::count(told.err, '\n'), 1) << told.err;
  }
}

TEST(TheEnvironment, StandsInForSwitches) {
  const auto by_switch = commpass("predict --generate alltoall:ranks=4,bytes=8 --layout 2x2 --profile lassen --json");
  const auto by_variable =
      commpass("predict --generate alltoall:ranks=4,bytes=8 --json", "COMMPASS_LAYOUT=2x2 COMMPASS_PROFILE=lassen");
  EXPECT_EQ(by_variable.exit_code, 0) << by_variable.err;
  EXPECT_EQ(by_variable.out, by_switch.out);
  const auto both = commpass("predict --generate alltoall:ranks=4,bytes=8 --layout 2x2 --json --profile lassen",
                             "COMMPASS_LAYOUT=1x4 COMMPASS_PROFILE=none");
  EXPECT_EQ(both.out, by_switch.out) << "a switch goes before its variable";
}

TEST(Predict, GivesPureJson) {
  const auto result = commpass(predict + "--json --explain standard");
  EXPECT_EQ(result.exit_code, 0);
  const auto json = Json::parse(result.out);
  EXPECT_NE(result.err.find("standard: "), std::string::npos) << "the explanation goes to stderr";
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["chosen"], json["ranking"][0]["strategy"]);
  EXPECT_FALSE(json.contains("regret"));
  double last = 0;
  for (const auto& row : json["ranking"]) {
    EXPECT_GE(row["predicted_s"].get<double>(), last * (1 - 1e-8));
    last = row["predicted_s"].get<double>();
    EXPECT_FALSE(row.contains("measured_s"));
  }
}

/// The fields of each line, where no field has a line's end.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::vector<std::string> fields(1);
    bool is_quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool is_doubled = is_quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"';
      if (is_doubled) fields.back() += line[i++];
      else if (line[i] == '"') is_quoted = !is_quoted;
      else if (line[i] == ',' && !is_quoted) fields.emplace_back();
      else fields.back() += line[i];
    }
    lines.push_back(std::move(fields));
  }
  return lines;
}

std::vector<std::string> ranked(const std::string& arguments) {
  const auto result = commpass(arguments + " --json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<std::string> names;
  const auto json = Json::parse(result.out);
  for (const auto& row : json["ranking"]) names.push_back(row["strategy"].get<std::string>());
  return names;
}

/// lassen with a verdict: predictions within 38 % of each other are ties.
std::string unsure_profile(const test::TemporaryDirectory& directory, double uncertainty) {
  auto profile = Json::parse(test::contents_of(std::string(COMMPASS_TEST_PROFILES) + "/lassen.json"));
  profile["name"] = "unsure";
  profile["verdict"] = {
      {"trust", "usable"}, {"uncertainty", uncertainty}, {"why", "it is made up"}, {"remedy", "measure"}};
  return directory.write("unsure.json", profile.dump());
}

void expect_narrow(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }), 100)
        << line;
}

TEST(Ties, AreToldWhereverTheChoiceIs) {
  const test::TemporaryDirectory directory;
  const auto run = "predict --profile " + unsure_profile(directory, 0.38) +
                   " --generate random:ranks=64,bytes=64,degree=20 --ppn 8 ";
  const auto json = Json::parse(commpass(run + "--json").out);
  const auto chosen = json["chosen"].get<std::string>(), fastest = json["fastest_by_prediction"].get<std::string>();
  EXPECT_EQ(json["uncertainty"], 0.38);
  const auto ties = json["ties"].get<std::vector<std::string>>();
  ASSERT_GT(ties.size(), 2U);
  std::map<std::string, double> seconds;
  for (const auto& row : json["ranking"])
    seconds[row["strategy"].get<std::string>()] = row["predicted_s"].get<double>();
  for (const auto& [name, own] : seconds) {
    const bool is_tie = std::ranges::find(ties, name) != ties.end();
    EXPECT_EQ(is_tie, own <= 1.38 * seconds[fastest]) << name;
    EXPECT_GE(own, seconds[fastest]) << name;
  }
  const auto table = commpass(run + "--all-points").out;
  std::istringstream lines(table);
  std::size_t marked = 0;
  for (std::string line; std::getline(lines, line);)
    marked += line.size() > 2 && line[1] == '~' && line[0] != '~' ? 1 : 0;
  EXPECT_EQ(marked, ties.size()) << table;
  EXPECT_NE(table.find("\nChosen: " + chosen + ". Fastest by prediction"), std::string::npos) << table;
  const auto swept = Json::parse(commpass(run + "--sweep bytes=64 --json").out)["points"][0];
  EXPECT_EQ(swept["tie_count"], ties.size());
  EXPECT_EQ(swept["chosen"], chosen);
  const auto lost =
      commpass(run + "--explain " + *std::ranges::find_if(ties, [&](const auto& each) { return each != chosen; })).out;
  EXPECT_NE(lost.find("Not chosen: it lost a tie. " + chosen + " is the simplest of "), std::string::npos) << lost;
  const auto page = directory.path("page.html");
  ASSERT_EQ(commpass("report" + run.substr(std::string("predict").size()) + "-o " + page).exit_code, 0);
  EXPECT_NE(test::contents_of(page).find("Chosen: " + chosen + ". Fastest by prediction"), std::string::npos);
  const auto markdown = directory.path("page.md");
  ASSERT_EQ(commpass("report" + run.substr(std::string("predict").size()) + "-o " + markdown).exit_code, 0);
  EXPECT_NE(test::contents_of(markdown).find("\nChosen: " + chosen + ". Fastest by prediction"), std::string::npos);
  EXPECT_NE(test::contents_of(markdown).find("\n| **" + chosen + "** | "), std::string::npos);
}

// Where nothing is known the simplest is chosen, and a strategy that is named to be explained changes no rule.
TEST(Ties, AreWonByTheSimplestWhateverIsExplained) {
  const test::TemporaryDirectory directory;
  const auto run =
      "predict --profile " + unsure_profile(directory, 100) + " --generate random:ranks=64,bytes=64,degree=20 --ppn 8 ";
  const auto out = commpass(run + "--explain stfw,dims=2x32").out;
  EXPECT_NE(out.find("\nChosen: standard. Fastest by prediction: "), std::string::npos) << out;
  EXPECT_NE(out.find("(101 times)"), std::string::npos) << out;
  EXPECT_NE(out.find("\nNot chosen: it lost a tie. standard is the simplest of "), std::string::npos) << out;
  const auto named = commpass(run + "--strategy two-step --strategy three-step --sweep bytes=64 --json").out;
  EXPECT_EQ(Json::parse(named)["points"][0]["chosen"], "two-step") << "fewer stages, in a sweep of named ones, too";
}

TEST(Predict, TellsByWhichRuleTheMpiLibraryTakesItsAlgorithm) {
  const std::string run = "predict --profile lassen --ppn 16 --generate alltoall:ranks=64,bytes=8 ";
  const auto json = Json::parse(commpass(run + "--json").out);
  const auto& baselines = json["baselines"];
  ASSERT_EQ(baselines.size(), 1U);
  const auto& library = baselines[0]["library"];
  EXPECT_EQ(baselines[0]["strategy"], "mpi");
  EXPECT_EQ(library["call"], "MPI_Alltoall");
  EXPECT_EQ(library["messages_of"], "tuna,radix=2");
  EXPECT_FALSE(library["rule"].get<std::string>().empty());
  EXPECT_FALSE(library["source"].get<std::string>().empty());
  EXPECT_GT(json["times_faster_than"]["mpi"].get<double>(), 1);
  const auto text = commpass(run + "--explain mpi").out;
  for (const char* part : {"MPI_Alltoall by modified Bruck", "messages of tuna,radix=2", "by the rule of "})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in " << text;
  const auto swept = Json::parse(commpass(run + "--sweep bytes=8..64:x8 --json").out);
  for (const auto& point : swept["points"]) EXPECT_GT(point["times_faster_than_mpi"].get<double>(), 1);
}

TEST(Predict, ShowsTheBestPointOfEachRouteUnlessAllAreAskedFor) {
  const auto rows = [](const std::string& text) {
    std::vector<std::string> names;
    std::istringstream lines(text.substr(text.find("  strategy")));
    std::string line;
    for (std::getline(lines, line); std::getline(lines, line) && !line.empty() && line.find(" more ") == line.npos;)
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
    return names;
  };
  const auto all = rows(commpass(predict + "--all-points").out), best = rows(commpass(predict).out);
  auto candidates = all;
  EXPECT_EQ(std::erase(candidates, "mpi"), 1U) << "to compare with: the profile has no time of its call";
  EXPECT_EQ(candidates, ranked(predict));
  EXPECT_LE(best.size(), 10U);
  std::set<std::string> routes;
  for (const auto& name : best) {
    EXPECT_TRUE(routes.insert(name.substr(0, name.find(','))).second || name == "standard") << name;
    const auto is_of_route = [&](const std::string& each) {
      return each.substr(0, each.find(',')) == name.substr(0, name.find(','));
    };
    EXPECT_TRUE(name == "standard" || *std::ranges::find_if(all, is_of_route) == name) << name << " is not the best";
  }
  EXPECT_NE(commpass(predict).out.find(
                fmt::format("  {} more points are not shown (--all-points shows them)\n", all.size() - best.size())),
            std::string::npos);
  const auto named = rows(commpass(predict + "--strategy tuna,radix=2 --strategy tuna,radix=4").out);
  EXPECT_EQ(std::ranges::count_if(named, [](const auto& name) { return name.starts_with("tuna"); }), 2)
      << "named ones are shown";
}

TEST(Lines, FitAHundredColumns) {
  const test::TemporaryDirectory directory;
  const auto profile = unsure_profile(directory, 0.38);
  const auto on_unsure = "predict --profile " + profile + " --ppn 40 --generate ";
  for (const auto& arguments :
       {predict + "--explain two-step --all-points",
        on_unsure + "random:ranks=640,bytes=64,degree=60 --explain standard",
        on_unsure + "alltoall:ranks=64,bytes=1KiB --sweep bytes=8..1MiB:x16,ranks=16..256:x4",
        on_unsure + "random:ranks=64,bytes=1KiB,degree=40 --sweep ranks=16..64", std::string("profile show lassen"),
        std::string("profile show summit"), "profile show " + profile, "profile validate " + profile,
        std::string("profile compare lassen summit"), "profile compare lassen " + profile,
        std::string("advise " COMMPASS_TEST_PROFILES
                    "/../tests/fuzz/corpus/record/three-ranks.json --profile lassen --profile generic")}) {
    const auto result = commpass(arguments);
    EXPECT_EQ(result.exit_code, 0) << arguments << result.err;
    expect_narrow(result.out + result.err);
  }
}

TEST(Predict, OfDataOnDevicesComparesThePathsWithTheUsersWay) {
  const auto names = ranked(predict + "--memory device");
  for (const auto* name : {"standard@device", "two-step@device", "standard@staged", "two-step@staged"})
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
  for (const auto& name : names) EXPECT_NE(name.find('@'), std::string::npos) << name;
  const auto json = Json::parse(commpass(predict + "--memory device --json").out);
  EXPECT_EQ(json["context"]["memory"], "device");
  for (const auto* way : {"standard@device", "standard@staged"})
    EXPECT_TRUE(json["times_faster_than"].contains(way) || json["chosen"] == way) << way;
  for (const auto& row : json["ranking"]) {
    const bool is_staged = row["strategy"].get<std::string>().find("@staged") != std::string::npos;
    EXPECT_EQ(row["stages"].front().contains("copies"), is_staged) << row;
    EXPECT_EQ(row["stages"].back().contains("copies"), is_staged) << row;
  }
  const auto explained = commpass(predict + "--memory device --explain two-step").out;
  EXPECT_NE(explained.find("two-step@"), std::string::npos) << explained;
  EXPECT_NE(explained.find("sending directly from devices (standard@device"), std::string::npos) << explained;
}

TEST(Predict, OfDataOnDevicesTakesNamedStrategiesAndSweeps) {
  EXPECT_EQ(ranked(predict + "--memory device --strategy standard@staged"),
            std::vector<std::string>{"standard@staged"});
  auto paths = ranked(predict + "--memory device --strategy standard");
  std::ranges::sort(paths);
  EXPECT_EQ(paths, (std::vector<std::string>{"standard@device", "standard@staged", "standard@staged,copies=4"}));
  const auto csv = parse_csv(commpass(predict + "--sweep memory=host..device --strategy standard --csv").out);
  ASSERT_EQ(csv.size(), 3U);
  EXPECT_EQ(csv[1][0], "host");
  EXPECT_EQ(csv[1][1], "standard");
  EXPECT_EQ(csv[2][0], "device");
  EXPECT_EQ(csv[2][1].find("standard@"), 0U) << csv[2][1];
  expect_one_sentence(commpass(predict + "--sweep memory=disk"), {"'disk' is no memory"});
}

TEST(Predict, OfDataOnDevicesSaysWhatItCannotPrice) {
  expect_one_sentence(commpass(predict + "--strategy standard@staged"), {"standard@staged", "add --memory device"});
  expect_one_sentence(commpass(predict + "--explain standard@staged"), {"standard@staged", "add --memory device"});
  expect_one_sentence(commpass(predict + "--memory device --one-shot"), {"--memory device", "host memory only"});
  expect_one_sentence(commpass("predict --memory device --profile generic --ppn 2 --generate alltoall:ranks=4,bytes=8"),
                      {"profile generic", "neither device messages nor copies"});
  expect_one_sentence(commpass("predict --memory device --profile lassen --ppn 4 --generate "
                               "cartesian:dims=64x64x64,box=1,bytes=8"),
                      {"--memory device", "very many edges"});
}

TEST(Predict, PricesTheStrategiesThatAreNamed) {
  const auto names = ranked(predict + "--strategy standard,window=8 --strategy stfw,dims=4x4 --strategy tuna,radix=4");
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()),
            (std::set<std::string>{"standard,window=8", "stfw,dims=4x4", "tuna,radix=4"}));
  for (const auto* list :
       {"'standard,window=8;stfw,dims=4x4;tuna,radix=4'", "standard,window=8,stfw,dims=4x4,tuna,radix=4"})
    EXPECT_EQ(ranked(predict + "--strategies " + list), names);
  const auto all = ranked(predict);
  EXPECT_EQ(ranked(predict + "--strategies all"), all);
  for (const auto& strategy : suggest_strategies(Layout::with_ppn(16, 4))) {
    const bool has_price =
        to_string(strategy) != "mpi";  // lassen does not tell what the MPI library's collective costs
    EXPECT_EQ(std::ranges::find(all, to_string(strategy)) != all.end(), has_price) << to_string(strategy);
  }
  EXPECT_EQ(ranked(predict + "--top 3"), (std::vector<std::string>(all.begin(), all.begin() + 3)));
  EXPECT_EQ(ranked(predict + "--top 1000"), all);
}

TEST(Predict, TellsWhichOfTheNamedStrategiesHaveNoPriceAndPricesTheOthers) {
  const std::string large = "predict --profile lassen --generate alltoall:ranks=16384,bytes=64 --ppn 32 ";
  const std::string unpriced = "--strategy tuna-node,radix=4,staggered ";
  const auto table = commpass(large + unpriced + "--strategy standard");
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find("\n  tuna-node,radix=4,staggered has no price: it has no closed form\n"), std::string::npos)
      << table.out;
  EXPECT_NE(table.out.find("\n* standard "), std::string::npos) << table.out;
  const auto json = Json::parse(commpass(large + unpriced + "--strategy standard --json").out);
  ASSERT_EQ(json["ranking"].size(), 1U);
  EXPECT_EQ(json["ranking"][0]["strategy"], "standard");
  EXPECT_EQ(json["not_priced"],
            Json::parse(R"([{"strategy": "tuna-node,radix=4,staggered", "reason": "it has no closed form"}])"));
  expect_one_sentence(commpass(large + unpriced), {"tuna-node,radix=4,staggered", "no closed form"});
  for (const std::string pattern :
       {"--generate random:ranks=4,bytes=8,degree=2 ", "--generate alltoall:ranks=4,bytes=8 ",
        "--generate cartesian:dims=2x2,box=1,bytes=8 ", "--one-shot --generate alltoall:ranks=4,bytes=8 "}) {
    const auto some =
        commpass("predict --profile lassen --ppn 2 --json --strategy tuna,radix=9 --strategy standard " + pattern);
    ASSERT_EQ(some.exit_code, 0) << pattern << some.err;
    const auto told = Json::parse(some.out);
    EXPECT_EQ(told["chosen"], "standard") << pattern;
    ASSERT_EQ(told["not_priced"].size(), 1U) << pattern;
    EXPECT_NE(told["not_priced"][0]["reason"].get<std::string>().find("larger than the 4 ranks"), std::string::npos);
  }
}

TEST(Predict, WeighsThePlanWhereCallsAreCounted) {
  const auto result = commpass(predict + "--json --calls 2.5 --explain standard");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = Json::parse(result.out);
  EXPECT_EQ(json["context"]["calls"], "2.5");
  double last = 0;
  for (const auto& row : json["ranking"]) {
    const double seconds = row["plan_s"].get<double>() + 2.5 * row["predicted_s"].get<double>();
    EXPECT_GE(seconds, last);
    last = seconds;
  }
  EXPECT_NE(result.err.find(" + 2.5 x "), std::string::npos) << result.err;
  const auto many_calls = Json::parse(commpass(predict + "--json").out);
  for (const auto& row : many_calls["ranking"]) EXPECT_FALSE(row.contains("plan_s"));
  EXPECT_EQ(
      commpass("predict --profile lassen --ppn 32 --generate alltoall:ranks=2048,bytes=8 --strategy standard --calls 1")
          .exit_code,
      0)
      << "in closed form, too";
}

TEST(Predict, ExplainsAStrategyThatIsNotACandidate) {
  const auto result = commpass(predict + "--strategy standard --explain stfw,dims=2x8");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("\nstfw,dims=2x8: "), std::string::npos) << result.out;
}

TEST(Predict, PricesALargeAlltoallInClosedForm) {
  const std::string alltoall = "predict --profile lassen --ppn 32 --generate alltoall:bytes=64,ranks=";
  const auto large = commpass(alltoall + "16384 --explain two-step --json");
  ASSERT_EQ(large.exit_code, 0) << large.err;
  const auto json = Json::parse(large.out);
  EXPECT_EQ(json.at("context").at("evaluation"), "closed form");
  EXPECT_GT(json.at("ranking").size(), 40U);
  EXPECT_EQ(large.err.find("holds up to"), std::string::npos) << "not known";
  // At the limit, where edges are made, the two agree.
  const auto exact =
      ranked(alltoall + "1024 --model postal --strategy standard --strategy stfw,n=2 --strategy tuna,radix=2");
  EXPECT_EQ(exact,
            ranked(alltoall + "1056 --model postal --strategy standard --strategy stfw,n=2 --strategy tuna,radix=2"));
  const auto relay = commpass(alltoall + "2048 --strategy three-step");
  EXPECT_EQ(relay.exit_code, 1);
  EXPECT_NE(relay.err.find("three-step"), std::string::npos) << relay.err;
  EXPECT_NE(relay.err.find("closed form"), std::string::npos) << relay.err;
}

TEST(Predict, PricesAnAllToAllThatIsCalledOnceWithTheTellingOfSizes) {
  const std::string ragged =
      "predict --profile lassen --ppn 32 --generate alltoallv:ranks=16384,bytes=512,sizes=normal ";
  const auto result = commpass(ragged + "--json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = Json::parse(result.out);
  EXPECT_NE(json.at("context").at("evaluation").get<std::string>().find("blocks of 256 B on average"),
            std::string::npos);
  EXPECT_GT(json.at("ranking").size(), 40U);
  const auto seconds = [](const std::string& arguments) {
    return Json::parse(commpass(arguments + " --json").out)["ranking"][0]["predicted_s"].get<double>();
  };
  const std::string equal = "predict --profile lassen --ppn 32 --generate alltoall:ranks=16384,bytes=256 ";
  const std::string in_caches = "predict --profile lassen --ppn 32 --strategy tuna,radix=2 --generate ";
  EXPECT_GT(seconds(in_caches + "alltoallv:ranks=16384,bytes=128,sizes=normal"),
            seconds(in_caches + "alltoall:ranks=16384,bytes=64"));
  const auto expect_near = [](double drawn, double mean) { EXPECT_NEAR(drawn, mean, 0.1 * mean); };
  expect_near(seconds(ragged + "--strategy standard"), seconds(equal + "--strategy standard"));
  EXPECT_EQ(commpass(ragged + "--explain tuna,radix=128,window=4").exit_code, 0);
  for (const std::string& arguments : {ragged, equal}) {
    const auto best = commpass(arguments + "--strategy tuna,radix=auto --strategy tuna,radix=2 --json");
    ASSERT_EQ(best.exit_code, 0) << best.err;
    const auto ranking = Json::parse(best.out)["ranking"];
    EXPECT_TRUE(ranking[0]["strategy"].get<std::string>().starts_with("tuna,radix=")) << ranking[0];
    EXPECT_GT(std::stoi(ranking[0]["strategy"].get<std::string>().substr(std::string("tuna,radix=").size())), 2)
        << "its number is shown";
    EXPECT_EQ(commpass(arguments + "--explain tuna,radix=auto").exit_code, 0);
  }
  // Of other patterns, by their numbers and sizes of blocks.
  const std::string dense = "predict --profile lassen --ppn 8 --generate alltoall:ranks=64,bytes=64 ",
                    sparse = "predict --profile lassen --ppn 8 --generate random:ranks=64,bytes=64,degree=1 ";
  expect_near(seconds("predict --profile lassen --ppn 8 --generate alltoallv:ranks=64,bytes=128,sizes=uniform "
                      "--strategy standard"),
              seconds(dense + "--one-shot --strategy standard"));
  const auto chosen = [](const std::string& arguments) {
    return Json::parse(commpass(arguments + " --json").out).at("chosen").get<std::string>();
  };
  EXPECT_NE(chosen(dense + "--one-shot"), "standard");
  EXPECT_TRUE(chosen(sparse + "--one-shot").starts_with("standard"));  // windows differ in the last digits
  // Equal blocks that are too many to list.
  const std::string many = "--one-shot --ppn 40 --strategy tuna,radix=2 --profile lassen";
  const double listed = seconds("predict --generate alltoall:ranks=1000,bytes=64 " + many),
               closed = seconds("predict --generate alltoall:ranks=1040,bytes=64 " + many);
  EXPECT_NEAR(closed, listed, 0.15 * listed);
  EXPECT_GT(seconds("predict --generate alltoall:ranks=1000000,bytes=64 " + many), closed);
  const auto calls = commpass(ragged + "--calls 3");
  EXPECT_EQ(calls.exit_code, 1);
  EXPECT_NE(calls.err.find("not planned"), std::string::npos) << calls.err;
}

// 3200 edges are worth a shortlist.
TEST(Predict, PricesInFullPossiblyCheapestStrategiesUnlessAllAreAskedFor) {
  const std::string run = "predict --profile lassen --generate random:ranks=400,bytes=64,degree=8 --ppn 40 ";
  const auto some = Json::parse(commpass(run + "--json").out), all = Json::parse(commpass(run + "--all --json").out);
  EXPECT_EQ(some["chosen"], all["chosen"]);
  EXPECT_EQ(some["ranking"][0], all["ranking"][0]);
  EXPECT_FALSE(all.contains("not_priced_in_full"));
  const auto& left = some["not_priced_in_full"]["strategies"];
  ASSERT_GT(left.size(), 0);
  for (const auto& row : all["ranking"])
    if (std::ranges::find(left, row["strategy"]) != left.end()) {
      EXPECT_GE(row["predicted_s"].get<double>(), all["ranking"][0]["predicted_s"].get<double>()) << row["strategy"];
    }
  const auto pruned = left[0].get<std::string>();
  EXPECT_NE(commpass(run).out.find(fmt::format("{} more were not priced in full", left.size())), std::string::npos);
  EXPECT_NE(commpass(run + "--explain " + pruned).out.find(pruned + " is "), std::string::npos) << "priced now";
}

TEST(Version, IsPrinted) {
  const auto run = commpass("--version");
  EXPECT_EQ(commpass("-V").out, run.out);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out.rfind("commpass ", 0), 0U) << run.out;
  EXPECT_NE(run.out.find('.'), std::string::npos) << run.out;
  for (const auto& [words, word] : {std::pair("--version extra", "extra"),
                                    {"-V --json", "--json"},
                                    {"--version predict", "predict"},
                                    {"predict --version", "--version"},
                                    {"--version --version", "--version"}}) {
    const auto refused = commpass(words);
    EXPECT_EQ(refused.exit_code, 2) << words;
    EXPECT_EQ(refused.out, "") << words;
    EXPECT_EQ(refused.err.find(std::string(word) + ": "), 0U) << refused.err;
  }
}

TEST(Predict, TakesTheSameFromAPatternFileAsFromItsGenerator) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path("p.mtx");
  EXPECT_EQ(commpass("pattern --generate random:ranks=16,bytes=64,degree=4 -o " + file).exit_code, 0);
  EXPECT_EQ(directory.names(), std::vector<std::string>{"p.mtx"});
  auto direct = Json::parse(commpass(predict + "--json").out),
       by_file = Json::parse(commpass("predict --profile lassen --ppn 4 --json --pattern " + file).out);
  EXPECT_EQ(by_file["ranking"], direct["ranking"]);
}

TEST(Predict, TakesAMatrix) {
  const test::TemporaryDirectory directory;
  // A ring of 4 columns: with 4 ranks, each needs one value of its neighbour.
  const auto file =
      directory.write("m.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 4 4\n1 2\n2 3\n3 4\n4 1\n");
  const auto result =
      commpass("pattern --matrix " + file + " --ranks 4 --value-bytes 16 -o " + directory.path("p.mtx"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read_pattern(directory.path("p.mtx")).edges,
            (std::vector<Edge>{{0, 3, 16}, {1, 0, 16}, {2, 1, 16}, {3, 2, 16}}));
}

// The tutorial needs MPI: tests/command/tutorial_test.cpp runs it.
TEST(Documents, ShowOutputsAsTheyAre) {
  const std::filesystem::path source = COMMPASS_TEST_SOURCE;
  std::vector<std::filesystem::path> pages{source / "README.md"};
  for (const auto& page : std::filesystem::directory_iterator(source / "docs"))
    if (page.path().extension() == ".md" && page.path().filename() != "tutorial.md") pages.push_back(page.path());
  const auto bin = std::filesystem::path(COMMPASS_TEST_COMMAND).parent_path().string();
  std::size_t commands = 0;
  for (const auto& page : pages)
    commands += test::expect_commands_as_shown(page, source.string(), "PATH='" + bin + "':\"$PATH\"");
  EXPECT_GE(commands, 4U);
}

TEST(Pattern, IsReadInEachFormAndWrittenToStandardOutput) {
  const test::TemporaryDirectory directory;
  const auto written = [&](const std::string& text, const std::string& more = {}) {
    const auto result = commpass("pattern --pattern " + directory.write("p", text) + " -o - " + more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  const auto expected = written("%%MatrixMarket matrix coordinate integer general\n3 3 3\n1 2 8\n2 3 4\n3 1 16\n");
  EXPECT_NE(expected.find("\n3 3 3\n1 2 8\n2 3 4\n3 1 16\n"), std::string::npos) << expected;
  EXPECT_EQ(written("0 8 0\n0 0 4\n16 0 0\n"), expected);
  EXPECT_EQ(written("from,to,bytes\r0,1,8\r1,2,4\r2,0,16\r"), expected);
  EXPECT_EQ(written("0\t2\t0\n0\t0\t1\n4\t0\t0\n", "--value-bytes 4"), expected);
  EXPECT_EQ(commpass("pattern --generate alltoall:ranks=2,bytes=8 --value-bytes 4 --statistics").exit_code, 2);
}

TEST(Pattern, OfARectangularMatrixIsThatOfItsProduct) {
  const test::TemporaryDirectory directory;
  const auto file =
      directory.write("r.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 2 4\n1 1\n2 2\n3 1\n4 2\n");
  const auto result = commpass("pattern --matrix " + file + " --ranks 2 -o -");
  EXPECT_NE(result.out.find("\n2 2 2\n1 2 8\n2 1 8\n"), std::string::npos) << result.out << result.err;
  if (const auto refused = commpass("pattern --matrix " + file + " --ranks 2 --partition metis -o -"); true)
    expect_one_sentence(refused, {});
}

TEST(Pattern, OfAMetisPartitionMovesFewerBytesThanOfBlocksOrIsRefused) {
  const test::TemporaryDirectory directory;
  // Two rings, of the odd and of the even rows: parted well, nothing moves; in blocks, nearly everything does.
  std::string text = "%%MatrixMarket matrix coordinate pattern general\n16 16 16\n";
  for (int row = 0; row < 16; ++row) text += std::to_string(row + 1) + " " + std::to_string((row + 2) % 16 + 1) + "\n";
  const auto file = directory.write("rings.mtx", text);
  const auto bytes = [&](const std::string& partition) {
    return commpass("pattern --statistics --json --matrix " + file + " --ranks 2 --partition " + partition);
  };
  const auto metis = bytes("metis");
  if (metis.exit_code == 1) {
    expect_one_sentence(metis, {"without METIS", "libmetis-dev"});
    return;
  }
  EXPECT_EQ(Json::parse(metis.out)["bytes"], 0) << metis.out;
  EXPECT_GT(Json::parse(bytes("block").out)["bytes"].get<int>(), 0);
  EXPECT_EQ(bytes("metis").out, metis.out);
}

TEST(Pattern, StatisticsAreAlsoJson) {
  const auto result =
      commpass("pattern --statistics --json --ppn 3 --generate stencil:dims=3x4,bytes=1KiB,periodic=no");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = Json::parse(result.out);
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["context"]["layout"], "4 nodes x 3 ranks");
  EXPECT_EQ(json["messages"], 34);
  EXPECT_EQ(json["symmetry"], "sizes");
  EXPECT_EQ(json["per_rank"]["bytes_sent"]["max"], 4096);
  EXPECT_EQ(json["sizes"][0]["min_bytes"], 1024);
  // A node has a row of the grid: 2 pairs in each of 4 rows, 3 between each of 3 neighbouring rows.
  EXPECT_EQ(json["localities"]["socket"]["messages"], 2 * 2 * 4);
  EXPECT_EQ(json["localities"]["network"]["messages"], 2 * 3 * 3);
}

TEST(Pattern, OfAMatrixMayShareItsValues) {
  const test::TemporaryDirectory directory;
  // Four ranks with a row each; all need the first value.
  const auto matrix =
      directory.write("m.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 4 4\n2 1\n3 1\n4 1\n1 4\n");
  const std::string arguments = "pattern --ranks 4 --matrix " + matrix;
  const auto repeated = [&](const std::string& more) {
    return Json::parse(commpass(arguments + " --statistics --json" + more).out)["repeated_bytes"];
  };
  EXPECT_EQ(repeated(""), 0);
  EXPECT_EQ(repeated(" --share-values"), 2 * 8);
  EXPECT_NE(commpass(arguments + " --statistics --share-values").out.find("repeated: 16 B (50.0%)"), std::string::npos);
  expect_one_sentence(commpass(arguments + " --share-values -o " + directory.path("p.mtx")), {"p.mtx", "same bytes"});
  EXPECT_EQ(commpass("pattern --statistics --share-values --generate alltoall:ranks=4,bytes=8").exit_code, 2);
}

const std::string own_rules =
    R"({"collective=bcast":{"algorithm=B":{}},"collective=alltoall":{"comm_type=intra":{"is_sendbuf_inplace=no":)"
    R"({"algorithm=S":{}}}}})";

TEST(Export, WritesFilesOfMpiLibrariesAndTellsTheirRules) {
  const test::TemporaryDirectory directory;
  const auto rules = directory.path("rules.conf"), selection = directory.path("selection.json");
  const auto open_mpi = commpass("export --profile lassen --ranks 64 --ppn 8 --json --openmpi " + rules);
  ASSERT_EQ(open_mpi.exit_code, 0) << open_mpi.err;
  const auto text = test::contents_of(rules);
  EXPECT_NE(text.find("\n# profile: lassen\n# layout: 8 nodes x 8 ranks\n"), std::string::npos) << text;
  const auto json = Json::parse(open_mpi.out);
  EXPECT_EQ(json["file"].get<std::string>(), rules);
  ASSERT_FALSE(json["rules"].empty());
  for (const auto& rule : json["rules"]) {
    const auto line = std::to_string(rule["bytes_from"].get<Bytes>() * rule["ranks"].get<int>()) + " ";
    EXPECT_NE(text.find("\n" + line), std::string::npos) << line;
    EXPECT_LT(rule["seconds"].get<double>(), rule["library_s"].get<double>());
  }
  const auto own = directory.write("own.json", own_rules);
  const auto mpich = commpass("export --profile lassen --layout 8x8 --mpich-library " + own + " --mpich " + selection);
  ASSERT_EQ(mpich.exit_code, 0) << mpich.err;
  EXPECT_NE(mpich.out.find("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=" + selection), std::string::npos) << mpich.out;
  EXPECT_NE(test::contents_of(selection).find("algorithm=MPIR_Alltoall_intra_"), std::string::npos);
  EXPECT_NE(commpass("export --profile lassen --openmpi " + rules, "COMMPASS_LAYOUT=4x4").out.find("4 nodes x 4 ranks"),
            std::string::npos);
}

TEST(Export, LeavesFilesAloneWhereItsInputIsWrong) {
  const test::TemporaryDirectory directory;
  const auto file = directory.write("file", "old"), own = directory.write("own.json", own_rules);
  const auto refuse = [&](const std::string& arguments, const std::vector<std::string>& parts) {
    expect_one_sentence(commpass("export " + arguments), parts);
    EXPECT_EQ(test::contents_of(file), "old");
  };
  refuse("--profile lassen --openmpi " + file, {"how many ranks", "--ranks and --ppn"});
  refuse("--profile nowhere --layout 2x2 --openmpi " + file, {"nowhere"});
  refuse("--profile lassen --layout 2xx --openmpi " + file, {"2xx"});
  refuse("--profile lassen --ranks 8 --layout 2x2 --openmpi " + file, {"8"});
  refuse("--profile lassen --layout 2x2 --mpich " + file + " --mpich-library " + file, {"file", "it is read, too"});
  refuse("--profile lassen --layout 2x2 --mpich " + file + " --mpich-library " + directory.path("none"), {"none"});
  refuse("--profile lassen --layout 2x2 --mpich " + file + " --mpich-library " COMMPASS_TEST_COMMAND,
         {"no rules of MPICH", "libmpich.so"});
  refuse("--profile lassen --layout 2x2 --openmpi " + directory.path("none/rules"),
         {"none/rules", "cannot be written"});
  refuse("--profile lassen --layout 2x2 --openmpi -", {"output -"});
  for (const auto& wrong : {"--openmpi " + file + " --mpich " + file, std::string("--profile lassen"),
                            "--mpich " + file, "--mpich-library " + own + " --openmpi " + file})
    EXPECT_EQ(commpass("export --layout 2x2 " + wrong).exit_code, 2) << wrong;
}

TEST(Pattern, LeavesNothingBehindWhereItCannotBeWritten) {
  const test::TemporaryDirectory directory;
  const std::string make = "pattern --generate alltoall:ranks=4,bytes=8 -o ";
  expect_one_sentence(commpass(make + directory.path("none/p.mtx")), {"none/p.mtx", "cannot be written"});
  std::filesystem::create_directory(directory.path("taken.mtx"));
  expect_one_sentence(commpass(make + directory.path("taken.mtx")), {"taken.mtx", "cannot be written"});
  EXPECT_EQ(directory.names(), std::vector<std::string>{"taken.mtx"});
  // A bad pattern replaces nothing.
  const auto old = directory.write("old.mtx", "old");
  expect_one_sentence(commpass("pattern --generate alltoall:ranks=0,bytes=8 -o " + old), {"ranks=0"});
  EXPECT_EQ(test::contents_of(old), "old");
}

TEST(Pattern, IsGzippedWhereItsNameSaysSo) {
  const test::TemporaryDirectory directory;
  const auto packed = directory.path("p.mtx.gz"), plain = directory.path("p.mtx");
  for (const auto& file : {packed, plain})
    ASSERT_EQ(commpass("pattern --generate alltoall:ranks=4,bytes=8 -o " + file).exit_code, 0);
  EXPECT_TRUE(test::contents_of(plain).starts_with("%%MatrixMarket"));
  EXPECT_TRUE(test::contents_of(packed).starts_with("\x1f\x8b"));
  EXPECT_EQ(read_file(packed), read_file(plain));
}

TEST(Pattern, IsWrittenToWhereverTheNameLeads) {
  const test::TemporaryDirectory directory;
  // As /dev/stdout; a name of the machine itself is nothing to try out as root.
  const auto own_output = directory.path("stdout");
  std::filesystem::create_symlink("/proc/self/fd/1", own_output);
  const std::string make = COMMPASS_TEST_COMMAND " pattern --generate alltoall:ranks=2,bytes=8 -o ",
                    begin = "%%MatrixMarket";
  EXPECT_TRUE(test::run(make + own_output).out.starts_with(begin));
  EXPECT_TRUE(test::run("bash -c '" + make + ">(cat) | cat'").out.starts_with(begin));
  // Where stdout is a file, the earlier contents stay, and the output comes behind.
  const auto both = test::run("sh -c 'echo first; " + make + own_output + " --statistics'");
  EXPECT_EQ(both.out.find("first\n" + begin), 0U) << both.out;
  EXPECT_NE(both.out.find("message size"), std::string::npos) << both.out;
  expect_one_sentence(commpass("pattern --generate alltoall:ranks=2,bytes=8 -o /proc/self/fd/77"),
                      {"/proc/self/fd/77", "cannot be written"});
  if (const auto null = test::device(directory, "null", 3); !null.empty()) {
    EXPECT_EQ(test::run(make + null).exit_code, 0);
    EXPECT_TRUE(std::filesystem::is_character_file(null));
  }
}

TEST(Output, ThatCannotBeWrittenIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  for (const auto& arguments : {std::string("--help"), std::string("predict --help"), std::string("profile list"),
                                std::string("profile show lassen"), std::string("profile validate lassen"),
                                std::string("profile compare lassen summit --json"), predict, predict + "--json",
                                std::string("pattern --statistics --generate alltoall:ranks=3,bytes=8"),
                                std::string("pattern -o /proc/self/fd/1 --generate alltoall:ranks=3,bytes=8")}) {
    SCOPED_TRACE(arguments);
    expect_one_sentence(test::run("sh -c '" COMMPASS_TEST_COMMAND " " + arguments + " >/dev/full'"),
                        {"cannot be written"});
  }
  // Nor does it matter where errors go.
  EXPECT_EQ(test::run("sh -c '" COMMPASS_TEST_COMMAND " profile list >/dev/full 2>/dev/full'").exit_code, 1);
  EXPECT_EQ(test::run("sh -c '" COMMPASS_TEST_COMMAND " profile show nowhere 2>&-'").exit_code, 1);
}

TEST(Arguments, ThatAreEmptyAreRefused) {
  const std::string pattern = "pattern --generate alltoall:ranks=3,bytes=8 --statistics ";
  EXPECT_NE(commpass(pattern + "-o ''").err.find("-o: it is empty"), std::string::npos);
  for (const auto& arguments :
       {pattern + "-o ''", pattern + "--layout ''", std::string("pattern --statistics --generate ''"),
        std::string("pattern --statistics --pattern ''"), std::string("pattern --statistics --ranks 2 --matrix ''"),
        predict + "--profile ''", predict + "--explain ''", predict + "--strategy ''", predict + "--strategies ''",
        predict + "--model ''", std::string("pattern '' --layout"), std::string("''"), std::string("profile show ''"),
        std::string("profile validate ''"), std::string("profile compare lassen ''")}) {
    const auto result = commpass(arguments, "COMMPASS_PROFILE=lassen COMMPASS_LAYOUT=1x3");
    EXPECT_EQ(result.exit_code, 2) << arguments << result.err;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_NE(result.err.find("is empty"), std::string::npos) << arguments << result.err;
  }
}

TEST(Profiles, AreListedByNameTheFirstDirectoryFirst) {
  const test::TemporaryDirectory directory;
  const auto lassen = test::contents_of(std::string(COMMPASS_TEST_PROFILES) + "/lassen.json");
  directory.write("mine.json", lassen);
  directory.write("lassen.json", lassen);
  directory.write("notes.txt", "no profile");
  const auto result = commpass("profile list", "COMMPASS_PROFILE_PATH=" + directory.path());
  EXPECT_EQ(result.exit_code, 0);
  std::set<std::string> names;
  for (const auto& line : split(result.out, '\n')) names.insert(line.substr(0, line.find(' ')));
  EXPECT_TRUE(names.contains("mine") && names.contains("lassen")) << result.out;
  EXPECT_FALSE(names.contains("schema") || names.contains("notes")) << result.out;
  EXPECT_NE(result.out.find(directory.path("lassen.json")), std::string::npos) << result.out;
}

TEST(Profiles, AreFoundInTheUsersDirectoryAndInPrefixes) {
  const test::TemporaryDirectory directory;
  const auto lassen = test::contents_of(std::string(COMMPASS_TEST_PROFILES) + "/lassen.json");
  directory.write("conf/commpass/mine.json", lassen);
  directory.write("opt/share/commpass/profiles/theirs.json", lassen);
  const auto result =
      commpass("profile list", "XDG_CONFIG_HOME=" + directory.path("conf") + " COMMPASS_ROOT=" + directory.path("opt"));
  for (const auto* path : {"conf/commpass/mine.json", "opt/share/commpass/profiles/theirs.json"})
    EXPECT_NE(result.out.find(directory.path(path)), std::string::npos) << result.out;
}

/// As `calibrate` on this machine would write it.
void write_measured_here(const std::string& path, const std::string& name) {
  auto profile = generic_profile();
  const auto here = host_fingerprint();
  profile.machine.name = name;
  profile.provenance_json = Json{
      {"date", "2026-11-01"},
      {"processor", here.processor},
      {"node_processors", here.node_processors},
      {"mpi_library",
       "Open MPI v4.1.4"}}.dump();
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  write_profile(profile, path);
}

TEST(AProfileThatIsNotNamed, IsTheOneOfThisMachineAndToldInOneLine) {
  const test::TemporaryDirectory directory;
  const auto file = directory.path("commpass/mine.json"), page = directory.path("page.html");
  write_measured_here(file, "mine");
  directory.write("commpass/another.json", test::contents_of(std::string(COMMPASS_TEST_PROFILES) + "/lassen.json"));
  const auto user = "XDG_CONFIG_HOME=" + directory.path();
  const std::string pattern = "--generate alltoall:ranks=4,bytes=8 --ppn 2";
  for (const auto& command : {"predict " + pattern, "predict --sweep bytes=8..64 " + pattern,
                              "report -o " + page + " " + pattern, "predict --json " + pattern}) {
    const auto found = commpass(command, user);
    EXPECT_EQ(found.exit_code, 0) << command;
    EXPECT_EQ(found.err, "commpass: profile mine (" + file + "), as none is named.\n") << command;
    const auto named = commpass(command + " --profile mine", user);
    EXPECT_EQ(named.err, "") << command;
    EXPECT_EQ(named.out, found.out) << command;
  }
  EXPECT_EQ(commpass("predict " + pattern, user + " COMMPASS_PROFILE=lassen").err, "") << "the variable names one";
}

TEST(AProfileThatIsNotNamed, AndWasNotMeasuredHereIsAnErrorThatSaysWhereToGetOne) {
  const test::TemporaryDirectory directory;
  directory.write("commpass/another.json", test::contents_of(std::string(COMMPASS_TEST_PROFILES) + "/lassen.json"));
  const auto user = "XDG_CONFIG_HOME=" + directory.path();
  for (const std::string command : {"predict --generate alltoall:ranks=4,bytes=8 --ppn 2",
                                    "predict --generate alltoall:ranks=4,bytes=8 --ppn 2 --sweep bytes=8..64"})
    expect_one_sentence(commpass(command, user),
                        {"none is named", "--profile NAME", "commpass profile list", "commpass calibrate"});
}

TEST(Profiles, AreValidated) {
  for (const auto& entry : std::filesystem::directory_iterator(COMMPASS_TEST_PROFILES))
    if (entry.path().extension() == ".json" && entry.path().stem() != "schema") {
      const auto result = commpass("profile validate " + entry.path().string());
      EXPECT_EQ(result.exit_code, 0) << result.err;
    }
  const auto result = commpass("profile validate lassen");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.out.find("lassen.json is a valid profile."), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("Warning: "), std::string::npos) << "its table falls, which is for people to judge";
}

TEST(Profiles, InOtherUnitsAreNotValidAndPricesWarnOfThem) {
  const test::TemporaryDirectory directory;
  auto json = Json::parse(read_file(std::string(COMMPASS_TEST_PROFILES) + "/lassen.json"));
  for (auto& level : json["levels"])
    for (auto& protocol : level.contains("host") ? level["host"]["protocols"] : level["none"])
      protocol["alpha_s"] = 1e6 * protocol["alpha_s"].get<double>();
  for (auto& level : json["levels"]) level.erase("none");
  const auto file = directory.write("microseconds.json", json.dump());
  expect_one_sentence(commpass("profile validate " + file),
                      {"microseconds.json: levels.socket.host.short.alpha_s is ", "write it in seconds"});
  const auto priced = commpass("predict --profile " + file + " --ppn 2 --generate alltoall:ranks=4,bytes=8");
  EXPECT_EQ(priced.exit_code, 0) << priced.err;
  EXPECT_NE(priced.err.find("levels.socket.host.short.alpha_s is "), std::string::npos) << priced.err;
}

TEST(Profiles, AreConverted) {
  const test::TemporaryDirectory directory;
  const std::string old = COMMPASS_TEST_GOLDEN "/show.json";
  const auto printed = commpass("profile convert " + old);
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_EQ(parse_profile(printed.out, "converted").machine, read_profile(old).machine);
  EXPECT_EQ(Json::parse(printed.out)["schema_version"], profile_schema_version);
  EXPECT_EQ(commpass("profile convert " + old + " -o " + directory.path("new.json")).out, "");
  EXPECT_EQ(test::contents_of(directory.path("new.json")), printed.out);
  EXPECT_EQ(commpass("profile convert lassen").out,
            test::contents_of(std::string(COMMPASS_TEST_PROFILES) + "/lassen.json"));
}

TEST(Profiles, HaveAListOfTheirParametersAndASchema) {
  EXPECT_NE(commpass("profile parameters").out.find("levels.*.host.*.alpha_s: latency of a lone message, in s\n"),
            std::string::npos);
  EXPECT_TRUE(commpass("profile parameters --markdown").out.starts_with("| parameter | unit |"));
  EXPECT_EQ(commpass("profile schema").out, test::contents_of(std::string(COMMPASS_TEST_PROFILES) + "/schema.json"));
}

TEST(SettingParameters, PricesAnotherMachineAndSaysSo) {
  const auto seconds = [](const std::string& run) {
    return Json::parse(commpass(run + " --json").out)["ranking"][0]["predicted_s"].get<double>();
  };
  const std::string run =
      "predict --profile blue-waters --generate alltoall:ranks=8,bytes=1KiB --ppn 1 --strategy standard";
  const std::string slower = " --set 'levels.network.host.*.alpha_s*2' --set levels.*.host.*.beta_s_per_byte*2";
  EXPECT_NEAR(seconds(run + slower) / seconds(run), 2, 0.02) << "what nodes inject stays";
  const auto context = Json::parse(commpass(run + slower + " --json").out)["context"];
  EXPECT_EQ(context["set"], "levels.network.host.*.alpha_s*2; levels.*.host.*.beta_s_per_byte*2");
  EXPECT_FALSE(Json::parse(commpass(run + " --json").out)["context"].contains("set"));
  EXPECT_NE(commpass(run + slower).out.find("set: levels.network.host.*.alpha_s*2; "), std::string::npos);
  for (const std::string more : {" --sweep bytes=8..64", " --one-shot"})
    EXPECT_NE(commpass(run + slower + more).out.find("set: levels"), std::string::npos) << more;
  const std::string sparse =
      "predict --profile lassen --generate random:ranks=8,bytes=8,degree=2 --ppn 2 --sparse constant";
  EXPECT_NE(commpass(sparse + slower).out.find("set: levels"), std::string::npos);
  expect_one_sentence(commpass(run + " --set levels.node.up_rate_byte_per_s=3"),
                      {"--set levels.node.up_rate_byte_per_s=3", "did you mean levels.node.up_rate_bytes_per_s"});
  expect_one_sentence(commpass(run + " --set local.copy_block_s=-1"), {"cannot be -1", "0 or more"});
}

TEST(Profiles, AreCompared) {
  const auto result = commpass("profile compare lassen summit --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = Json::parse(result.out);
  EXPECT_EQ(json["context"]["second"], "summit");
  const auto parameter = std::ranges::find_if(
      json["parameters"], [](const auto& p) { return p["key"] == "levels.socket.host.short.alpha_s"; });
  ASSERT_NE(parameter, json["parameters"].end());
  EXPECT_DOUBLE_EQ((*parameter)["ratio"].get<double>(), 3.51e-7 / 3.67e-7);
  const auto holds = [](const Json& list, const std::string& key) {
    return std::ranges::find(list, Json(key)) != list.end();
  };
  EXPECT_TRUE(holds(json["only_first"], "levels.network.device")) << result.out;
  EXPECT_TRUE(holds(json["only_second"], "copy.host_to_device.2_processes")) << result.out;
  const auto lone = std::ranges::find_if(json["lone_messages"], [](const auto& m) {
    return m["memory"] == "host" && m["locality"] == "network" && m["bytes"] == 4194304;
  });
  ASSERT_NE(lone, json["lone_messages"].end());
  EXPECT_DOUBLE_EQ((*lone)["first_s"].get<double>(), 7.76e-6 + 7.97e-11 * 4194304);
  EXPECT_DOUBLE_EQ((*lone)["second_s"].get<double>(), 5.96e-6 + 8.97e-11 * 4194304);
}

TEST(Profiles, OfCalibrationsDifferByMoreThanTheirIntervalsOrNot) {
  const test::TemporaryDirectory directory;
  const auto profile = [&](const char* name, const char* alpha, const char* beta) {
    return directory.write(
        std::string(name) + ".json",
        std::string(R"({"schema_version": 1, "name": ")") + name +
            R"(", "provenance": {"fits": [{"locality": "node", "protocol": "eager", "alpha_interval_s": )" + alpha +
            R"(, "beta_interval_s_per_byte": )" + beta +
            R"(}]}, "host": {"node": {"protocols": [{"name": "eager", "alpha_s": 1e-6, "beta_s_per_byte": 1e-10}]}}})");
  };
  const auto one = profile("one", "[1e-6, 1.1e-6]", "[1e-10, 2e-10]"),
             near = profile("near", "[1.05e-6, 1.2e-6]", "[1.5e-10, 3e-10]"),
             far = profile("far", "[1.2e-6, 1.3e-6]", "[1e-10, 2e-10]");
  const auto compare = [](const std::string& a, const std::string& b, const char* more = "") {
    return commpass("profile compare " + a + " " + b + more).out;
  };
  EXPECT_NE(compare(one, near).find("differs by more than its intervals: nothing"), std::string::npos);
  EXPECT_NE(compare(one, far).find("differs by more than its intervals: levels.node.host.eager.alpha_s\n"),
            std::string::npos);
  EXPECT_EQ(Json::parse(compare(far, one, " --json"))["beyond_intervals"],
            Json::array({"levels.node.host.eager.alpha_s"}));
  EXPECT_EQ(compare("lassen", "summit").find("intervals"), std::string::npos) << "publications have none";
}

TEST(Profiles, ComparedWithThemselvesDifferInNothing) {
  const auto json = Json::parse(commpass("profile compare lassen lassen --json").out);
  EXPECT_FALSE(json["parameters"].empty());
  for (const auto& parameter : json["parameters"]) EXPECT_EQ(parameter["ratio"], 1) << parameter;
  EXPECT_TRUE(json["only_first"].empty() && json["only_second"].empty());
}

// Outputs for people, compared as a whole; only with the papers' models, whose numbers do not change.
TEST(Predict, NotesWhatTheProfileLacksThatTheRankingUses) {
  const std::string run = "predict --profile lassen --ppn 2 --generate alltoall:ranks=8,bytes=64 --top 2",
                    note =
                        "profile lassen lacks receivers: forwarding looks cheaper than it is; local copies, taken for "
                        "12.2 GB/s and 20 ns a piece; waits between rounds, taken for 113 ns times √ranks";
  EXPECT_NE(commpass(run).out.find(wrap_lines("\nNote: " + note + ".\n")), std::string::npos) << commpass(run).out;
  EXPECT_EQ(Json::parse(commpass(run + " --json").out)["context"]["note"], note);
  EXPECT_FALSE(Json::parse(commpass(run + " --json --model postal").out)["context"].contains("note"));
}

TEST(Golden, Predict) {
  expect_golden("predict.txt", commpass(predict + "--model postal --top 5 --explain two-step").out);
}
TEST(Golden, PredictJson) {
  expect_golden("predict.json",
                commpass(predict + "--model max-rate --strategy standard --strategy two-step --json").out);
}
TEST(Golden, Statistics) {
  expect_golden("statistics.txt",
                commpass("pattern --statistics --layout 2x2x3 --generate stencil:dims=3x4,bytes=1KiB,periodic=no").out);
}
TEST(Golden, ProfileShow) {
  const std::string path = COMMPASS_TEST_GOLDEN "/show.json";
  auto text = commpass("profile show " + path).out;
  const auto place = text.find(path);
  ASSERT_NE(place, std::string::npos) << text;
  expect_golden("show.txt", text.replace(place, path.size(), "show.json"));
}
TEST(ProfileShow, TellsHowSlowNodesAre) {
  const test::TemporaryDirectory directory;
  auto json = Json::parse(read_file(std::string(COMMPASS_TEST_PROFILES) + "/lassen.json"));
  json["provenance"]["slow_nodes"] = Json::array({{{"node", 2}, {"times_as_long", 1.54}}});
  const auto shown = commpass("profile show " + directory.write("slow.json", json.dump()));
  EXPECT_NE(shown.out.find("slow node: 2 takes 1.5 times as long\n"), std::string::npos) << shown.out;
}

TEST(ProfileShow, TellsTheStandInOfDatatypesOfWhichHalfIsKnown) {
  const test::TemporaryDirectory directory;
  auto profile = test::contents_of(COMMPASS_TEST_GOLDEN "/show.json");
  const std::string rate = R"("datatype_rate_bytes_per_s": 2e9, )";
  profile.erase(profile.find(rate), rate.size());
  const auto result = commpass("profile show " + directory.write("p.json", profile));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.find("copies of the MPI library for a derived datatype"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("local.datatype_rate_bytes_per_s: copies: no derived datatype is made"), std::string::npos)
      << result.out;
}
TEST(Golden, ProfileCompare) { expect_golden("compare.txt", commpass("profile compare lassen summit").out); }

TEST(Golden, Pattern) {
  const test::TemporaryDirectory directory;
  commpass("pattern --generate random:ranks=5,bytes=7,degree=2 -o " + directory.path("p.mtx"));
  expect_golden("pattern.mtx", test::contents_of(directory.path("p.mtx")));
}

TEST(Catalogues, ListAllStrategiesDiscoveriesAndPatternsInThreeForms) {
  std::vector<std::string> strategies, patterns;
  for (const auto& row : catalogue()) strategies.emplace_back(row.name);
  for (const auto& row : data_path_rows) strategies.emplace_back(row.name);
  for (const auto& row : discoveries()) strategies.emplace_back(row.name);
  for (const auto& generator : generators()) patterns.emplace_back(generator.name);
  for (const auto& [what, names, name_column] :
       {std::tuple("strategies", strategies, 1), std::tuple("patterns", patterns, 0)}) {
    const auto text = commpass(what).out;
    for (const auto& name : names) EXPECT_NE(text.find("\n  " + name), std::string::npos) << name;
    std::vector<std::string> in_json, in_csv;
    const auto json = Json::parse(commpass(what + std::string(" --json")).out);
    for (const auto* list : {"strategies", "paths", "discoveries", "patterns"})
      if (json.contains(list))
        for (const auto& entry : json[list]) in_json.push_back(entry["name"].get<std::string>());
    EXPECT_EQ(in_json, names);
    const auto lines = parse_csv(commpass(what + std::string(" --csv")).out);
    for (std::size_t i = 1; i < lines.size(); ++i) {
      EXPECT_EQ(lines[i].size(), lines[0].size()) << what;
      in_csv.push_back(lines[i][static_cast<std::size_t>(name_column)]);
    }
    EXPECT_EQ(in_csv, names);
  }
}

TEST(Predict, TellsOfLimitsThatDecide) {
  const std::string arguments = "predict --profile lassen --generate alltoall:ranks=64,bytes=64 --ppn 16 ";
  const auto of_profile = commpass(arguments).out;
  EXPECT_EQ(of_profile.find("COMMPASS_LIMITS"), std::string::npos);
  EXPECT_EQ(of_profile.find("exceed"), std::string::npos) << of_profile;
  const auto limited = test::run("COMMPASS_LIMITS=partners=40 " COMMPASS_TEST_COMMAND " " + arguments).out;
  EXPECT_NE(limited.find("partners=40 (COMMPASS_LIMITS)"), std::string::npos) << limited;
  EXPECT_NE(limited.find("strategies that exceed a limit come last ("), std::string::npos) << limited;
  const auto exceeded = commpass(arguments + "--strategy standard --set limits.partners=40").out;
  EXPECT_NE(exceeded.find("Note: standard exceeds limits.partners (63 ranks, at most 40), which nothing"),
            std::string::npos)
      << exceeded;
}

TEST(ProfileList, IsTheSameInThreeForms) {
  const auto json = Json::parse(commpass("profile list --json").out)["profiles"];
  const auto csv = parse_csv(commpass("profile list --csv").out);
  const auto text = commpass("profile list").out;
  ASSERT_GT(json.size(), 3U);
  ASSERT_EQ(csv.size(), json.size() + 1);
  EXPECT_EQ(csv[0], (std::vector<std::string>{"name", "verdict", "path", "site", "processor", "network",
                                              "ranks_per_node", "missing", "median_factor"}));
  for (std::size_t i = 0; i < json.size(); ++i) {
    const auto* const ranks = json[i].find("ranks_per_node");
    const auto* const factor = json[i].find("median_factor");
    EXPECT_EQ(Json(csv[i + 1]), Json::array({json[i]["name"], json[i]["verdict"], json[i]["path"], json[i]["site"],
                                             json[i]["processor"], json[i]["network"], ranks ? ranks->dump() : "",
                                             json[i]["missing"], factor ? factor->dump() : ""}));
    EXPECT_NE(text.find(json[i]["path"].get<std::string>() + "\n"), std::string::npos);
  }
}

TEST(ProfileList, TellsWhereAMachineIsAndWhatItsProfileLacks) {
  const auto text = commpass("profile list").out;
  EXPECT_NE(text.find("  LLNL; 2 x Intel Xeon Sapphire Rapids, 112 cores; Omni-Path"), std::string::npos) << text;
  EXPECT_NE(text.find("lacks receivers, local copies"), std::string::npos) << text;
}

TEST(ProfileImport, MakesTheProfilesThatComeWithCommpass) {
  const test::TemporaryDirectory directory;
  const std::string profiles = COMMPASS_TEST_PROFILES;
  const auto result =
      test::run(profiles + "/../scripts/import-profiles " COMMPASS_TEST_COMMAND " " + directory.path("made"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::size_t made = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path("made"))) {
    const auto name = entry.path().filename().string();
    EXPECT_EQ(test::contents_of(entry.path().string()), test::contents_of(profiles + "/" + name)) << name;
    ++made;
  }
  EXPECT_EQ(made, 8U);
}

TEST(ProfileImport, OfFilesThatAreNoTimesIsOneSentenceAndLeavesNothing) {
  const test::TemporaryDirectory directory;
  const auto latency = directory.write(
                 "osu.txt", "# OSU MPI Latency Test v7.3\n# Size  Latency (us)\n1 1.0\n2 1.0\n4 1.0\n8 1.0\n"),
             out = directory.path("p.json"), end = " --name mine -o " + out;
  expect_one_sentence(commpass("profile import " + latency + end), {latency, "LEVEL=FILE"});
  expect_one_sentence(commpass("profile import Net=" + latency + end), {"'Net' is no level", "use cache, numa"});
  expect_one_sentence(commpass("profile import networkx0=" + latency + end),
                      {"networkx0=", "'0' is no number of pairs"});
  expect_one_sentence(commpass("profile import network=" + end), {"network=", "it names no file"});
  const auto same = directory.write("osu.json", "1 1.0\n");
  expect_one_sentence(commpass("profile import network=" + same + " --name mine -o " + same),
                      {same, "it is read, too"});
  expect_one_sentence(commpass("profile import node=" + latency + end), {"no ping-pongs", "between nodes"});
  expect_one_sentence(commpass("profile import network=" + directory.write("x", "hello\n") + end),
                      {"no output of a benchmark"});
  expect_one_sentence(commpass("profile import network=" + latency + end),
                      {"network=osu.txt", "no ping-pongs within a node", "--ppn 1"});
  expect_one_sentence(commpass("profile import network=" + latency + end + " --ppn 1 --exchanges " + latency),
                      {latency, "columns of measured exchanges"});
  EXPECT_FALSE(std::filesystem::exists(out));
  const auto one = commpass("profile import network=" + latency + end + " --ppn 1");
  EXPECT_EQ(one.exit_code, 0) << one.err;
}

TEST(ProfileImport, IsCorrectedByExchangesAndTellsHowFarOffItWas) {
  const test::TemporaryDirectory directory;
  const std::string times = std::string(COMMPASS_TEST_PROFILES) + "/times/tioga.csv.gz",
                    out = directory.path("tioga.json");
  std::string rows = "layout,pattern,bytes_per_pair,algorithm,seconds\n";
  for (const auto* const row :
       {"2x2x8,alltoall,64,two-step,2e-4", "2x2x8,alltoall,1024,two-step,9e-4", "2x2x8,alltoall,64,standard,3e-4",
        "2x2x8,alltoall,1024,standard,7e-4", "4x2x8,alltoall,64,two-step,4e-4", "4x2x8,alltoall,1024,two-step,2e-3"})
    rows += std::string(row) + "\n";
  const auto result = commpass("profile import " + times + " --name tioga --ppn 64 --exchanges " +
                               directory.write("few.csv", rows) + " -o " + out);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("Corrected by 6 exchanges in 4 cases"), std::string::npos) << result.out;
  const auto told = Json::parse(test::contents_of(out)).at("provenance").at("exchanges");
  EXPECT_EQ(told.at("imported"), Json::array({"few.csv"}));
  EXPECT_EQ(told.at("nodes"), Json::array({2, 4}));
  const auto& factor = told.at("median_factor_held_out");
  EXPECT_LT(factor.at("after").get<double>(), factor.at("before").get<double>());
  EXPECT_FALSE(told.at("corrected").empty());
  const auto listed =
      test::run("COMMPASS_PROFILE_PATH=" + directory.path("") + " " COMMPASS_TEST_COMMAND " profile list");
  EXPECT_NE(listed.out.find("held-out exchanges are off by a median factor of"), std::string::npos) << listed.out;
  EXPECT_EQ(commpass("predict --profile " + out + " --generate alltoall:ranks=64,bytes=64 --layout 8x2x4").exit_code,
            0);
}

TEST(Csv, HasTheNumbersOfTheJson) {
  const std::string arguments = "predict --profile lassen --generate alltoall:ranks=64,bytes=8 --ppn 16 --top 3";
  const auto json = Json::parse(commpass(arguments + " --json").out);
  const auto lines = parse_csv(commpass(arguments + " --csv").out);
  ASSERT_GT(lines.size(), 4U) << "three rows, and what programs do today";
  EXPECT_EQ(lines[0][0], "strategy");
  EXPECT_EQ(lines[0][5], "predicted_s");
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(lines[i + 1].size(), lines[0].size());
    EXPECT_EQ(lines[i + 1][0], json["ranking"][i]["strategy"]);
    EXPECT_EQ(std::stod(lines[i + 1][5]), json["ranking"][i]["predicted_s"]);
    EXPECT_EQ(lines[i + 1][1], lines[i + 1][0] == json["chosen"] ? "1" : "0");
  }
  EXPECT_TRUE(std::ranges::any_of(lines, [](const auto& line) { return line[0] == "standard" && line[2] == "1"; }));
  EXPECT_EQ(commpass(arguments + " --csv --json").exit_code, 2);
}

TEST(Help, OfCommandsUnderMpiNeedsNone) {
  const test::TemporaryDirectory directory;  // with the front door alone
  const auto alone = directory.path("commpass");
  std::filesystem::copy(COMMPASS_TEST_COMMAND, alone);
  for (const std::string command : {"measure", "calibrate", "doctor"}) {
    EXPECT_NE(test::run(alone + " " + command + " --help").out.find("Usage: commpass " + command), std::string::npos);
    expect_one_sentence(test::run(alone + " " + command), {"cannot be started"});
    EXPECT_EQ(test::run(alone + " " + command + " --help", "PMI_RANK=0").exit_code, 1) << "one of the ranks gives it";
  }
}

/// The long switches that --help lists.
std::set<std::string> switches_of(const std::string& command) {
  std::set<std::string> result;
  std::istringstream lines(commpass(command + " --help").out);
  const std::regex regex("^  +(?:-\\w,)?(--[a-z-]+).*");
  std::smatch match;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_match(line, match, regex)) result.insert(match[1]);
  return result;
}

TEST(Completion, OffersWhatHelpLists) {
  const auto bash = commpass("completion bash").out, zsh = commpass("completion zsh").out;
  for (const auto* command : {"", "predict", "pattern", "profile list", "profile show", "profile merge", "wisdom show",
                              "strategies", "patterns", "calibrate", "measure", "doctor", "run", "record", "advise"}) {
    const auto listed = switches_of(command);
    EXPECT_FALSE(listed.empty());
    for (const auto& script : {bash, zsh}) {
      const auto head = std::string("    '") + command + "') choices='";
      const auto at = script.find(head);
      ASSERT_NE(at, std::string::npos) << command;
      const auto begin = at + head.size();
      std::set<std::string> offered;
      for (const auto& word : split(script.substr(begin, script.find('\'', begin) - begin), ' '))
        if (word.starts_with("--")) offered.insert(word);
      EXPECT_EQ(offered, listed) << command;
    }
  }
}

TEST(Csv, IsThereForTheTablesOfPatternsAndOfTwoProfiles) {
  const auto statistics = commpass("pattern --generate random:ranks=8,degree=2,bytes=8 --statistics --csv --ppn 4").out;
  for (const char* line : {"table,row,column,value\n", "\npattern,messages,all,16\n", "\nrank,bytes_sent,max,16\n",
                           "\nmessage_size,8-15,messages,16\n", "\nlocality,network,bytes,"})
    EXPECT_NE(statistics.find(line), std::string::npos) << line << " in " << statistics;
  const auto compared = commpass("profile compare lassen summit --csv").out;
  EXPECT_TRUE(compared.starts_with("kind,name,lassen,summit,ratio\n")) << compared;
  EXPECT_NE(compared.find("\nparameter,levels.network.host.eager.alpha_s,"), std::string::npos) << compared;
  EXPECT_NE(compared.find("\nmessage,host.network.8,"), std::string::npos) << compared;
}

TEST(Completion, SaysWhichShellsThereAre) {
  const auto fish = commpass("completion fish");
  EXPECT_EQ(fish.exit_code, 2);
  EXPECT_NE(fish.err.find("'commpass completion' has no such command; use bash or zsh"), std::string::npos) << fish.err;
}

class WisdomCommand : public testing::Test {
 protected:
  void SetUp() override {
    write_file(path_, R"({"schema": 1, "entries": [)" + entry("lassen; Power9", "aa", "standard") + "," +
                          entry(R"(tuolumne, \"new\")", "bb", "tuna,radix=4") + "]}\n");
  }
  void TearDown() override { std::remove(path_.c_str()); }
  static std::string entry(const std::string& machine, const std::string& pattern, const std::string& strategy) {
    return R"({"machine": ")" + machine + R"(", "layout": "4 ranks, 0123", "pattern": ")" + pattern +
           R"(", "strategy": ")" + strategy +
           R"(", "requests": "persistent", "planner": "measure", "seconds": 1.5e-5})";
  }
  const std::string path_ = testing::TempDir() + "/shown-wisdom-" + std::to_string(getpid()) + ".json";
};

TEST_F(WisdomCommand, ShowsMeasurements) {
  const auto table = commpass("wisdom show " + path_).out;
  for (const char* part : {"standard", "tuna,radix=4", "15 us", "lassen; Power9", "2 of at most 4096 patterns"})
    EXPECT_NE(table.find(part), std::string::npos) << part << " in " << table;
  const auto csv = commpass("wisdom show --csv --machine tuolumne " + path_).out;
  EXPECT_EQ(csv,
            "machine,layout,pattern,strategy,requests,planner,seconds\n"
            "\"tuolumne, \"\"new\"\"\",\"4 ranks, 0123\",bb,\"tuna,radix=4\",persistent,measure,1.5e-05\n");
  const auto json = Json::parse(commpass("wisdom show --json " + path_).out);
  EXPECT_EQ(json["entries"].size(), 2U);
  EXPECT_EQ(json["entries"][1]["strategy"], "tuna,radix=4");
  EXPECT_EQ(commpass("wisdom show /no/such/file").exit_code, 1);
  EXPECT_EQ(commpass("wisdom show --json --csv " + path_).exit_code, 2);
}

TEST_F(WisdomCommand, ForgetsNamedEntries) {
  EXPECT_EQ(commpass("wisdom forget " + path_).exit_code, 1) << "what?";
  EXPECT_EQ(commpass("wisdom forget --all --machine lassen " + path_).exit_code, 1) << "which of both?";
  EXPECT_EQ(commpass("wisdom forget --machine lassen " + path_).out, path_ + ": 1 of 2 patterns are forgotten.\n");
  EXPECT_EQ(commpass("wisdom show " + path_).out.find("lassen"), std::string::npos);
  EXPECT_EQ(commpass("wisdom forget --all " + path_).out, path_ + ": 1 of 1 patterns are forgotten.\n");
}

TEST(Completion, CompletesInBash) {
  const auto complete = [](const std::string& words, int at) {
    auto out = test::run("bash -c 'source <(" COMMPASS_TEST_COMMAND " completion bash); COMP_WORDS=(" + words +
                         "); COMP_CWORD=" + std::to_string(at) + "; _commpass; echo ${COMPREPLY[@]}'")
                   .out;
    return out.substr(0, out.size() - 1);
  };
  EXPECT_EQ(complete("commpass pat", 1), "pattern patterns");
  EXPECT_EQ(complete("commpass predict --exp", 2), "--explain");
  EXPECT_EQ(complete("commpass profile li", 2), "list");
  EXPECT_EQ(complete("commpass profile show --j", 3), "--json");
  EXPECT_EQ(complete("commpass wisdom fo", 2), "forget");
  EXPECT_EQ(complete("commpass measure --profile lassen --hal", 4), "--halo");
  EXPECT_EQ(complete("commpass predict las", 2), "") << "files";
  EXPECT_EQ(complete("commpass help pat", 2), "pattern patterns");
  EXPECT_EQ(complete("commpass help profile sh", 3), "show");
}

TEST(Completion, CompletesValuesInBash) {
  const auto complete = [](const std::string& words) {
    auto out = test::run("bash -c 'source <(" COMMPASS_TEST_COMMAND
                         " completion bash); COMP_WORDS=(" COMMPASS_TEST_COMMAND " " +
                         words + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _commpass; echo ${COMPREPLY[@]}'")
                   .out;
    return out.substr(0, out.size() - 1);
  };
  EXPECT_EQ(complete("predict --memory d"), "device");
  EXPECT_EQ(complete("predict --memory = d"), "device") << "as bash splits --memory=d";
  EXPECT_EQ(complete("predict --ppn 2 --partition m"), "metis");
  EXPECT_EQ(complete("predict --model p"), "postal");
  EXPECT_EQ(complete("predict --strategy two"), "two-step two-step-socket");
  EXPECT_EQ(complete("predict --strategies standard,tun"), "standard,tuna standard,tuna-node");
  EXPECT_EQ(complete("predict --strategies a"), "all");
  EXPECT_EQ(complete("predict --explain mp"), "mpi");
  EXPECT_EQ(complete("pattern --generate st"), "stencil:");
  EXPECT_EQ(complete("measure --progress al"), "always");
  EXPECT_EQ(complete("measure --sparse c"), "constant");
  EXPECT_EQ(complete("predict --picture me"), "messages");
  EXPECT_EQ(complete("predict --profile summ"), "summit");
  for (const auto* command :
       {"profile show ", "profile compare lassen ", "report --compare-profile ", "advise --profile ", "run --profile "})
    EXPECT_EQ(complete(std::string(command) + "summ"), "summit") << command;
  EXPECT_EQ(complete("predict --matrix pre"), "") << "files";
  EXPECT_EQ(complete("predict --matrix --json"), "") << "a value, not a switch";
  EXPECT_EQ(complete("predict --json --exp"), "--explain");
}

}  // namespace
}  // namespace commpass
