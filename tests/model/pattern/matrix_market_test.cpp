// Sparse matrix files: well-formed ones are read, and no others.
#include "model/pattern/matrix_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <random>

#include "model/base/file.hpp"
#include "model/pattern/pattern.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;
using Field = CoordinateMatrix::Field;

CoordinateMatrix parse(const std::string& text) { return parse_matrix_market(text, "m.mtx"); }

const std::string header = "%%MatrixMarket matrix coordinate real general\n";

TEST(MatrixMarket, IsReadWithCommentsEmptyLinesAndBlanks) {
  const auto matrix = parse(header + "% a comment\n\n  % another\n  3\t4  2 \n1 1 2.5\n%\n\n 3  4\t-1e-3\n\n% the end");
  EXPECT_EQ(matrix.rows, 3);
  EXPECT_EQ(matrix.columns, 4);
  EXPECT_EQ(matrix.row, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(matrix.column, (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(matrix.value, (std::vector<double>{2.5, -0.001}));
  EXPECT_EQ(matrix.field, Field::real);
  EXPECT_EQ(matrix.symmetry, CoordinateMatrix::Symmetry::general);
}

TEST(MatrixMarket, IsReadWithCarriageReturnsAndWithoutAFinalNewline) {
  for (const auto& end : {std::string("\n"), std::string("\r\n")})
    for (const auto& final_end : {end, std::string()}) {
      const auto matrix = parse("%%MatrixMarket matrix coordinate integer general" + end + "2 2 2" + end + "1 2 7" +
                                end + "2 1 8" + final_end);
      EXPECT_EQ(matrix.value, (std::vector<double>{7, 8}));
    }
}

TEST(MatrixMarket, HasFourFieldsAndFourSymmetries) {
  const auto read = [](const std::string& kind, const std::string& entry) {
    return parse("%%MatrixMarket matrix coordinate " + kind + "\n2 2 1\n" + entry + "\n");
  };
  EXPECT_EQ(read("pattern general", "2 1").value.size(), 0U);
  EXPECT_EQ(read("pattern symmetric", "2 1").symmetry, CoordinateMatrix::Symmetry::symmetric);
  EXPECT_EQ(read("integer skew-symmetric", "2 1 -4").value, std::vector<double>{-4});
  EXPECT_EQ(read("complex hermitian", "2 1 3 4").value, std::vector<double>{3}) << "the real part";
  EXPECT_EQ(read("REAL General", "2 1 3").field, Field::real) << "case does not count";
}

TEST(MatrixMarket, MayHaveNoEntries) { EXPECT_TRUE(parse(header + "5 5 0\n").row.empty()); }

TEST(MatrixMarket, ThatIsWrongIsRefusedWithTheLine) {
  struct Bad {
    std::string text;
    std::vector<std::string> parts;
  };
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
  const Bad bad[] = {
      {"", {"m.mtx, line 0", "no header", "%%MatrixMarket matrix coordinate real general"}},
      {"garbage\n1 1 1\n", {"m.mtx, line 1", "no header"}},
      {"%MatrixMarket matrix coordinate real general\n1 1 0\n", {"line 1", "no header"}},
      {"%%MatrixMarket matrix array pattern general\n1 1\n", {"line 1", "no header"}},
      {"%%MatrixMarket matrix array real general\n1 1 1\n1\n", {"line 2", "no size line", "'rows columns'"}},
      {"%%MatrixMarket matrix array real general\n2 1\n1\n", {"line 3", "ends after 1 of 2 values"}},
      {"%%MatrixMarket matrix array real general\n1 1\nx\n", {"line 3", "'x' is no value"}},
      {"%%MatrixMarket matrix array real general\n1 1\n1\n1\n", {"line 4", "more than the 1 entries"}},
      {"%%MatrixMarket matrix coordinate quaternion general\n1 1 0\n", {"line 1", "no header"}},
      {"%%MatrixMarket matrix coordinate real lopsided\n1 1 0\n", {"line 1", "no header"}},
      {"%%MatrixMarket matrix coordinate real\n1 1 0\n", {"line 1", "no header"}},
      {"%%MatrixMarket matrix coordinate real general extra\n1 1 0\n", {"line 1", "no header"}},
      {"\n" + header + "1 1 0\n", {"line 1", "no header"}},
      {header, {"line 1", "no size line"}},
      {header + "% only comments\n", {"line 2", "no size line"}},
      {header + "2 2\n", {"line 2", "no size line", "rows columns entries"}},
      {header + "2 2 1 1\n1 1 1\n", {"line 2", "no size line"}},
      {header + "2.0 2 1\n1 1 1\n", {"line 2", "no size line"}},
      {header + "-2 2 1\n1 1 1\n", {"line 2", "no size line"}},
      {header + "0 2 0\n", {"line 2", "no size line"}},
      {header + "2 2 -1\n", {"line 2", "no size line"}},
      {header + "1000000000000 1000000000000 1\n1 1 1\n", {"line 2", "1000000000000 x 1000000000000", "at most"}},
      {header + "99999999999999999999 2 1\n1 1 1\n", {"line 2", "no size line"}},
      {symmetric + "2 3 1\n1 1 1\n", {"line 2", "symmetric", "2 x 3"}},
      {header + "2 2 2\n1 1 1\n", {"line 3", "ends after 1 of 2 entries", "fetch the whole file"}},
      {header + "2 2 9223372036854775807\n1 1 1\n", {"ends after 1 of 9223372036854775807 entries"}},
      {header + "2 2 1\n1 1 1\n2 2 2\n", {"line 4", "more than the 1 entries"}},
      {header + "2 2 0\n1 1 1\n", {"line 3", "more than the 0 entries"}},
      {header + "2 2 1\n0 1 1\n", {"line 3", "(0, 1) lies outside the 2 x 2", "count from 1"}},
      {header + "2 2 1\n1 3 1\n", {"line 3", "(1, 3) lies outside"}},
      {header + "2 2 1\n-1 1 1\n", {"line 3", "(-1, 1) lies outside"}},
      {header + "2 2 1\n1 1\n", {"line 3", "'1 1' is no entry"}},
      {header + "2 2 1\n1 1 1 1\n", {"line 3", "is no entry"}},
      {header + "2 2 1\n1 1 one\n", {"line 3", "is no entry"}},
      {header + "2 2 1\n1 1 nan\n", {"line 3", "is no entry"}},
      {header + "2 2 1\n1 1 inf\n", {"line 3", "is no entry"}},
      {header + "2 2 1\n1 1 1 % comment\n", {"line 3", "is no entry"}},
      {header + "2 2 1\n1.5 1 1\n", {"line 3", "is no entry"}},
      {"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1.5\n", {"line 3", "is no entry"}},
      {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 1\n", {"line 3", "is no entry"}},
      {"%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1\n", {"line 3", "is no entry"}},
      {symmetric + "2 2 1\n1 2 1\n", {"line 3", "(1, 2) is in the upper triangle", "lower triangle"}}};
  for (const auto& [text, parts] : bad) {
    SCOPED_TRACE(text);
    expect_sentence(error_of([&, t = text] { parse(t); }), parts);
  }
}

TEST(MatrixMarket, ReservesNoMemoryForEntriesThatAreNotThere) {
  EXPECT_NE(error_of([] { parse(header + "268435456 268435456 72057594037927936\n1 1 1\n"); }), "");
}

TEST(MatrixMarket, SurvivesDamage) {
  for (const auto& text :
       {header + "3 4 3\n1 1 2.5\n2 3 -1e-3\n3 4 7\n",
        std::string("%%MatrixMarket matrix coordinate pattern symmetric\r\n% x\r\n3 3 3\r\n1 1\r\n2 1\r\n3 3\r\n")})
    test::expect_robust(text, parse);
}

void write_gzipped(const std::string& path, const std::string& contents) {
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(gzwrite(file, contents.data(), static_cast<unsigned>(contents.size())), static_cast<int>(contents.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
}

std::string many_entries() {
  std::string text = header + "1000 1000 1000\n";
  for (int i = 1; i <= 1000; ++i)
    text +=
        std::to_string(i) + " " + std::to_string(1 + i * 7919 % 1000) + " " + std::to_string(i * 104729 % 10007) + "\n";
  return text;
}

TEST(MatrixMarketFile, MayBeGzipped) {
  const test::TemporaryDirectory directory;
  const auto text = many_entries();
  write_gzipped(directory.path("m.mtx.gz"), text);
  const auto plain = directory.write("m.mtx", text);
  const auto matrix = read_matrix(directory.path("m.mtx.gz"));
  EXPECT_EQ(matrix.row.size(), 1000U);
  EXPECT_EQ(matrix.column, read_matrix(plain).column);
  EXPECT_EQ(read_file(directory.path("m.mtx.gz")), text);
}

TEST(MatrixMarketFile, ThatIsCutShortOrDamagedIsRefused) {
  const test::TemporaryDirectory directory;
  write_gzipped(directory.path("whole.gz"), many_entries());
  const auto whole = test::contents_of(directory.path("whole.gz"));
  for (const auto keep : {whole.size() - 1, whole.size() - 8, whole.size() / 2, std::size_t{30}}) {
    const auto path = directory.write("cut.mtx.gz", whole.substr(0, keep));
    expect_sentence(error_of([&] { read_matrix(path); }), {"cut.mtx.gz"});
  }
  auto damaged = whole;
  for (std::size_t i = 0; i < 16; ++i)
    damaged[damaged.size() / 2 + i] = static_cast<char>(~damaged[damaged.size() / 2 + i]);
  const auto path = directory.write("damaged.mtx.gz", damaged);
  expect_sentence(error_of([&] { read_matrix(path); }), {"damaged.mtx.gz"});
}

TEST(GzippedFile, OfSeveralMembersIsTheirConcatenation) {
  const test::TemporaryDirectory directory;
  std::mt19937 random(1);
  for (int round = 0; round < 30; ++round) {
    std::string text, members;
    for (auto count = 1 + random() % 4; count-- > 0;) {
      std::string part(random() % 3 == 0 ? 0 : random() % 200'000, '\0');
      const auto letters = 1 + random() % 256;  // few of them make a member short, many make it long
      for (auto& letter : part) letter = static_cast<char>(random() % letters);
      write_gzipped(directory.path("member.gz"), part);
      members += test::contents_of(directory.path("member.gz"));
      text += part;
    }
    ASSERT_TRUE(read_file(directory.write("members.gz", members)) == text) << "round " << round;
    ASSERT_TRUE(read_file(directory.write("padded.gz", members + std::string(round, '\0'))) == text) << round;
  }
}

TEST(GzippedFile, WithAnythingElseBehindItsEndIsRefused) {
  const test::TemporaryDirectory directory;
  write_gzipped(directory.path("whole.gz"), many_entries());
  const auto whole = test::contents_of(directory.path("whole.gz")), zeros = std::string(3, '\0');
  const auto length = std::to_string(many_entries().size());
  for (const auto& rest : {std::string("x"), std::string("1 1 5\n"), zeros + "x", zeros + whole, std::string("\x1f"),
                           std::string("\x1f\x8b"), std::string("\x1fx"), whole.substr(0, whole.size() - 1)}) {
    const auto path = directory.write("followed.mtx.gz", whole + rest);
    expect_sentence(error_of([&] { read_matrix(path); }), {"followed.mtx.gz", "is damaged after", "fetch"});
  }
  const auto path = directory.write("followed.mtx.gz", whole + "1 1 5\n");
  expect_sentence(error_of([&] { read_matrix(path); }),
                  {"after " + length + " bytes", "that are no gzip follow its end"});
}

TEST(GzippedFile, IsWrittenWhereTheNameSaysSo) {
  const test::TemporaryDirectory directory;
  for (const std::size_t bytes : {0, 1, 65'535, 65'536, 65'537, 1 << 20}) {
    std::string text(bytes, ' ');
    std::mt19937 random(1);
    for (auto& letter : text) letter = static_cast<char>(random());
    write_file(directory.path("written.gz"), text);
    EXPECT_TRUE(test::contents_of(directory.path("written.gz")).starts_with("\x1f\x8b")) << bytes;
    EXPECT_TRUE(read_file(directory.path("written.gz")) == text) << bytes;
    write_file(directory.path("written"), text);
    EXPECT_TRUE(test::contents_of(directory.path("written")) == text) << bytes;
  }
}

TEST(MatrixMarketFile, ThatIsNotThereIsNamed) {
  const test::TemporaryDirectory directory;
  expect_sentence(error_of([&] { read_matrix(directory.path("none.mtx")); }),
                  {"none.mtx", "cannot be opened", "No such file"});
  expect_sentence(error_of([&] { read_matrix(directory.path()); }), {"it is a directory"});
}

TEST(Files, AreReadUpToALimit) {
  const test::TemporaryDirectory directory;
  const std::string text(3 << 20, ' ');
  const auto plain = directory.write("plain", text), gzipped = directory.path("bomb.gz");
  write_gzipped(gzipped, text);
  for (const auto& path : {plain, gzipped}) {
    EXPECT_EQ(read_file(path, {std::ssize(text), ""}), text);
    expect_sentence(error_of([&] {
                      read_file(path, {std::ssize(text) - 1, "name another"});
                    }),
                    {path, "more than 3145727", "name another"});
    expect_sentence(error_of([&] { read_file(path, {2 << 20, "name another"}); }), {path, "more than 2MiB"});
    expect_sentence(error_of([&] { read_matrix(path, 1024); }), {path, "more than 1KiB", "--max-input-bytes"});
    expect_sentence(error_of([&] { read_pattern(path, 1024); }), {path, "more than 1KiB", "--max-input-bytes"});
  }
  expect_sentence(error_of([&] { read_file(gzipped, {1, "name another"}); }), {"when it is unpacked"});
  const auto endless = test::device(directory, "zero", 5);
  if (!endless.empty()) expect_sentence(error_of([&] { read_pattern(endless, 1 << 20); }), {endless, "more than 1MiB"});
}

TEST(Files, ForWhichThereIsNoMemoryAreNamed) {
  expect_sentence(error_of([] { within_memory("m.mtx", []() -> int { throw std::bad_alloc(); }); }),
                  {"m.mtx", "not enough memory", "smaller file"});
  EXPECT_EQ(within_memory("m.mtx", [] { return 5; }), 5);
}

TEST(Files, AreReplacedWholeOrNotAtAll) {
  const test::TemporaryDirectory directory;
  const auto path = directory.write("file", "old");
  write_file(path, "new");
  EXPECT_EQ(test::contents_of(path), "new");
  EXPECT_EQ(directory.names(), std::vector<std::string>{"file"}) << "no temporary file is left";
  expect_sentence(error_of([&] { write_file(directory.path("none/file"), "x"); }), {"none/file", "cannot be written"});
  // A directory is in the way of the rename.
  std::filesystem::create_directory(directory.path("taken"));
  expect_sentence(error_of([&] { write_file(directory.path("taken"), "x"); }), {"taken", "cannot be written"});
  EXPECT_EQ(directory.names(), (std::vector<std::string>{"file", "taken"}));
}

TEST(Files, AreKnownToBeWritableBeforehand) {
  const test::TemporaryDirectory directory;
  const auto path = directory.write("file", "old");
  check_writable(path);
  check_writable(directory.path("new"));
  EXPECT_EQ(test::contents_of(path), "old");
  EXPECT_EQ(directory.names(), std::vector<std::string>{"file"}) << "nothing is left";
  expect_sentence(error_of([&] { check_writable(directory.path("none/file")); }),
                  {"none/file", "cannot be written", "check the directory"});
  expect_sentence(error_of([&] { check_writable(directory.path()); }), {"it is a directory", "name a file"});
}

TEST(Files, ThatAreNoRegularOnesAreWrittenTo) {
  namespace fs = std::filesystem;
  const test::TemporaryDirectory directory;
  const auto fifo = directory.path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), S_IRUSR | S_IWUSR), 0);
  check_writable(fifo);  // there is no reader to wait for
  const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write_file(fifo, "through");
  char read_back[16] = {};
  EXPECT_EQ(read(reader, read_back, sizeof read_back), 7);
  EXPECT_STREQ(read_back, "through");
  close(reader);
  EXPECT_TRUE(fs::is_fifo(fifo));
  EXPECT_EQ(directory.names(), std::vector<std::string>{"fifo"});
}

TEST(Files, AreReplacedBehindSymbolicLinks) {
  namespace fs = std::filesystem;
  const test::TemporaryDirectory directory;
  fs::create_directory(directory.path("sub"));
  directory.write("sub/file", "old");
  fs::permissions(directory.path("sub/file"), fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  fs::create_symlink("sub/hop", directory.path("link"));
  fs::create_symlink("file", directory.path("sub/hop"));
  fs::create_symlink(directory.path("sub/new"), directory.path("dangling"));
  fs::create_symlink("circle", directory.path("circle"));
  for (const auto* name : {"link", "dangling"}) {
    check_writable(directory.path(name));
    write_file(directory.path(name), name);
    EXPECT_TRUE(fs::is_symlink(directory.path(name))) << name;
  }
  EXPECT_EQ(test::contents_of(directory.path("sub/file")), "link");
  EXPECT_EQ(test::contents_of(directory.path("sub/new")), "dangling");
  EXPECT_EQ(fs::status(directory.path("sub/file")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  EXPECT_EQ(directory.names(), (std::vector<std::string>{"circle", "dangling", "link", "sub"}));
  for (const auto& action : {check_writable, +[](const std::string& path) { write_file(path, "x"); }})
    expect_sentence(error_of([&] { action(directory.path("circle")); }),
                    {"circle", "cannot be written", "symbolic links"});
}

TEST(Files, ThatAreDevicesStayDevices) {
  const test::TemporaryDirectory directory;
  const auto null = test::device(directory, "null", 3), full = test::device(directory, "full", 7);
  if (null.empty() || full.empty()) GTEST_SKIP() << "no device to write to";
  check_writable(null);
  write_file(null, "x");
  EXPECT_TRUE(std::filesystem::is_character_file(null));
  expect_sentence(error_of([&] { write_file(full, "x"); }), {"full", "cannot be written", "No space left"});
  EXPECT_TRUE(std::filesystem::is_character_file(full));
}

}  // namespace
}  // namespace commpass
