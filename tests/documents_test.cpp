// What the documents and the comments name is there: files, folders, scripts, and the headings that links lead to. And
// includes follow the arrows of docs/architecture.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "source_files.hpp"

namespace {

namespace fs = std::filesystem;

using commpass::test::contents_of;
using commpass::test::files;
using commpass::test::source;

std::vector<fs::path> files_with(const std::set<std::string>& extensions) {
  std::vector<fs::path> result;
  std::ranges::copy_if(files(), std::back_inserter(result),
                       [&](const auto& path) { return extensions.contains(path.extension().string()); });
  return result;
}

bool is_a_file_name(const std::string& name) {
  static const auto names = [] {
    std::set<std::string> result;
    for (const auto& path : files()) result.insert(path.filename().string());
    return result;
  }();
  return names.contains(name);
}

/// All that a pattern's first group matches.
std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  std::set<std::string> result;
  const std::regex regex(pattern);
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
    result.insert((*match)[1]);
  return result;
}

/// The anchors of a page's headings: lower case, without punctuation, with hyphens for spaces.
std::set<std::string> anchors_of(const fs::path& page) {
  std::set<std::string> result;
  std::istringstream lines(contents_of(page));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#")) continue;
    std::string anchor;
    for (const char c : line.substr(line.find_first_not_of("# "))) {
      if (c == ' ') anchor += '-';
      else if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || (c & 0x80) != 0)
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    result.insert(anchor);
  }
  return result;
}

/// A path with folders from the top of the source, or the name of a file alone.
bool is_there(const std::string& name) {
  return name.find('/') == std::string::npos ? is_a_file_name(name) : fs::exists(source / name);
}

/// NAME stands for any.
bool is_made_by_user(const std::string& name) {
  return name.starts_with("build/") || name.starts_with("my-") || name.find("NAME") != std::string::npos;
}

const std::string file = R"(((?:[\w-]+/)*[\w-]+\.(?:hpp|cpp|md|cmake|json)))", not_longer = R"((?![\w./]))";

TEST(Documents, NameFilesAndFoldersThatAreThere) {
  for (const auto& page : files_with({".md"})) {
    const auto text = contents_of(page);
    for (const auto& name : matches(text, R"((?:^|[^\w./<-]))" + file + not_longer))
      EXPECT_TRUE(is_made_by_user(name) || is_there(name) || fs::exists(page.parent_path() / name))
          << page << " names " << name;
    for (const auto& folder : matches(text, R"(`((?:[\w-]+/)+)`)"))
      EXPECT_TRUE(folder == "build/" || fs::is_directory(source / folder)) << page << " names " << folder;
    for (const auto& script : matches(text, R"((?:\./|`)(scripts/[\w-]+))"))
      EXPECT_TRUE(fs::exists(source / script)) << page << " names " << script;
  }
}

TEST(Documents, ShowRecipesAsTheyRun) {
  const auto page = contents_of(source / "docs/recipes.md");
  int recipes = 0;
  for (const auto& entry : fs::directory_iterator(source / "examples/recipes")) {
    const auto text = contents_of(entry.path());
    const auto begin = text.find("\nsetup ");
    if (!text.starts_with("#!") || begin == std::string::npos) continue;
    ++recipes;
    std::istringstream lines(text.substr(begin + 1));
    std::string shown;
    for (std::string line; std::getline(lines, line);) shown += line.empty() ? "\n" : "    " + line + "\n";
    EXPECT_NE(page.find("\n" + shown), std::string::npos) << entry.path() << " is not shown as it runs:\n" << shown;
  }
  EXPECT_GE(recipes, 5);
}

TEST(Documents, LinkToPagesAndHeadingsThatAreThere) {
  for (const auto& page : files_with({".md"}))
    for (const auto& link : matches(contents_of(page), R"(\]\(([^)\s]+)\))")) {
      if (link.find("://") != std::string::npos) continue;
      const auto hash = link.find('#');
      const auto target = hash == 0 ? page : page.parent_path() / link.substr(0, hash);
      EXPECT_TRUE(fs::exists(target)) << page << " links to " << link;
      EXPECT_TRUE(hash == std::string::npos || anchors_of(target).contains(link.substr(hash + 1)))
          << page << " links to " << link;
    }
}

TEST(Documents, CiteTheVersionOfTheBuildAndThePapersOfStrategies) {
  const auto citation = contents_of(source / "CITATION.cff");
  const auto versions = matches(contents_of(source / "CMakeLists.txt"), R"(project\(commpass VERSION ([0-9.]+))");
  ASSERT_EQ(versions.size(), 1U);
  EXPECT_NE(citation.find("\nversion: " + *versions.begin() + "\n"), std::string::npos);
  EXPECT_NE(contents_of(source / "CHANGELOG.md").find(*versions.begin()), std::string::npos);
  auto papers = contents_of(source / "docs/strategies.md");
  papers.erase(0, papers.find("| called | paper |"));
  const auto titles = matches(papers, R"(\n\| [^|]+ \| [^|:]+: ([^|.?]+))");
  EXPECT_GE(titles.size(), 8U);
  for (const auto& title : titles)
    EXPECT_NE(citation.find("title: \"" + title.substr(0, title.find_last_not_of(' ') + 1)), std::string::npos)
        << title;
}

TEST(Documents, HaveAGlossaryInAlphabeticalOrder) {
  const auto page = contents_of(source / "docs/concepts.md");
  std::istringstream rows(page.substr(page.find("| word | meaning |\n|---|---|\n")));
  std::vector<std::string> words;
  for (std::string row; std::getline(rows, row);) {
    const auto end = row.find(" | ");
    if (row.starts_with("|---") || row.starts_with("| word")) continue;
    ASSERT_TRUE(row.starts_with("| ") && row.ends_with(" |") && end != std::string::npos) << row;
    auto word = row.substr(2, end - 2);
    if (word.starts_with("α")) word = "alpha";
    if (word.starts_with("β")) word = "beta";
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    words.push_back(word);
  }
  EXPECT_GT(words.size(), 60U);
  EXPECT_TRUE(std::ranges::is_sorted(words)) << *std::ranges::is_sorted_until(words) << " is not in its place";
}

// A name in backquotes, and then a path in parentheses.
TEST(Documents, NameIdentifiersOfTheFileThatTheyName) {
  const std::regex regex(R"(`(?:\w+::)*(\w+)(?:\(\))?`\s\(((?:[\w-]+/)+[\w-]+\.\w+)[,)])");
  for (const auto& page : files_with({".md"})) {
    const auto text = contents_of(page);
    for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
      EXPECT_NE(contents_of(source / (*match)[2].str()).find((*match)[1]), std::string::npos)
          << page << " looks for " << (*match)[1] << " in " << (*match)[2];
  }
}

TEST(Comments, NameFilesThatAreThere) {
  for (const auto& path : files_with({".hpp", ".cpp", ".h", ".c"})) {
    std::istringstream lines(contents_of(path));
    for (std::string line; std::getline(lines, line);) {
      const auto comment = line.find("//");
      if (comment == std::string::npos || line.find('.', comment) == std::string::npos) continue;
      for (const auto& name : matches(line.substr(comment), R"((?:^|[\s("“]))" + file + not_longer))
        EXPECT_TRUE(is_made_by_user(name) || is_there(name)) << path << " names " << name;
    }
  }
}

// docs/architecture.md has the picture of these rules.
TEST(Includes, AreOfRoomsThatAFileMayUse) {
  const std::string above = "tests|calibrate|measure|doctor|preload|bindings|bench";
  const std::pair<std::string, std::string> rules[] = {
      {"model/base/", "model/(?!base/)"},
      {"model/machine/", "model/cost/"},
      {"model/", "(selector|pictures|runtime|" + above + ")/"},
      {"selector/(choose|environment)/", "selector/(report|commands)/"},
      {"selector/report/", "selector/commands/"},
      {"selector/(?!commands/)", "pictures/"},
      {"selector/(?!commands/)", "(runtime|" + above + ")/"},
      {"selector/commands/", "(runtime|tests|calibrate/(?!fit/)|measure|doctor|preload|bindings|bench)/"},
      {"pictures/", "(selector/commands|runtime|" + above + ")/"},
      {"runtime/", "(selector/report|selector/commands|pictures|" + above + ")/"},
      {"calibrate/(?!main.cpp)", "selector/commands/"},
      {"doctor/(?!main.cpp)", "selector/commands/"},
      {"(preload|bindings|commpass)/", "selector/commands/"},
      {"(calibrate|measure|doctor|preload|bindings/(?!python/)|bench|commpass)/", "pictures/"},
  };
  int checked = 0;
  for (const auto& path : files_with({".hpp", ".cpp", ".h"})) {
    const auto includer = fs::relative(path, source).string();
    std::set<std::string> included;
    for (const auto& [from, forbidden] : rules) {
      if (!std::regex_search(includer, std::regex("^" + from))) continue;
      if (included.empty()) included = matches(contents_of(path), "(?:^|\n)#include \"([^\"]*)\"");
      ++checked;
      const std::regex pattern("^" + forbidden);
      for (const auto& name : included)
        EXPECT_FALSE(std::regex_search(name, pattern)) << includer << " includes " << name;
    }
  }
  EXPECT_GT(checked, 500);
}

// Programs see neither layouts, routes, schedules, prices nor plans, and are not compiled anew when these change.
TEST(Includes, OfPublicHeadersHaveOptionsHandlesAndDataAlone) {
  std::vector<std::string> reached{"commpass/commpass.hpp", "commpass/predict.hpp"};
  const std::regex inner(
      "^(model/machine/(layout|machine)\\.|model/(route|schedule)/|model/cost/(?!cost_model)|"
      "selector/(report|commands|environment)/|selector/choose/(?!planner_mode)|runtime/plan)");
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const auto& name : matches(contents_of(source / reached[i]), "(?:^|\n)#include \"([^\"]*)\"")) {
      EXPECT_FALSE(std::regex_search(name, inner)) << reached[i] << " includes " << name;
      if (std::ranges::find(reached, name) == reached.end()) reached.push_back(name);
    }
  EXPECT_GT(reached.size(), 10U);
}

// Two types of one name in a program are undefined: the linker takes the members of one for both.
TEST(Includes, HaveOneTypeOfEachName) {
  std::map<std::string, std::string> header_of;
  for (const auto& path : files_with({".hpp"})) {
    const auto header = fs::relative(path, source).string();
    if (std::regex_search(header, std::regex("^(tests|bench|bindings)/"))) continue;  // other programs
    for (const auto& name : matches(contents_of(path), R"((?:^|\n)(?:struct|class) (\w+)(?: final)?(?: :[^;{]*)? \{)"))
      EXPECT_TRUE(header_of.emplace(name, header).second) << name << " is in " << header_of[name] << " and " << header;
  }
  EXPECT_GT(header_of.size(), 300U);
}

/// The table that begins with this head.
std::string table_of(const std::string& text, const std::string& head) {
  const auto begin = text.find(head);
  return begin == std::string::npos ? "" : text.substr(begin, text.find("\n\n", begin) - begin);
}

// What C++ has, C has, or the table says that it has not.
TEST(TheCInterface, IsComparedWithAllOfCpp) {
  const auto table = table_of(contents_of(source / "docs/c.md"), "| C++ | C |");
  auto door = contents_of(source / "runtime/communicator.hpp");
  door.erase(0, door.find("class Communicator {"));
  auto names = matches(door, R"(\n  [\w:<>&* ]+ (\w+)\()");
  names.erase("Communicator");
  EXPECT_GT(names.size(), 12U);
  for (const auto& name : names)
    EXPECT_NE(table.find("`" + name), std::string::npos) << name << " of Communicator has no row in docs/c.md";
}

TEST(TheCInterface, IsDocumentedWholeAndNotMore) {
  const auto page = contents_of(source / "docs/c.md"), header = contents_of(source / "commpass/commpass.h");
  const auto declared = matches(header, R"(\b(commpass_\w+)\()");
  EXPECT_GT(declared.size(), 40U);
  for (const auto& name : declared)
    // Of the Cartesian ones the page names the rest.
    EXPECT_TRUE(name.starts_with("commpass_cart_") || page.find("`" + name + "`") != std::string::npos)
        << name << " is not in docs/c.md";
  for (const auto& name : matches(page, R"(`(commpass_\w+)`)"))
    EXPECT_NE(header.find(name), std::string::npos) << name << " is not in commpass.h";
}

// The module is made from the header, so what C has is there; of arguments that differ the page must tell.
TEST(TheFortranModule, IsDocumentedWholeAndNotMore) {
  const auto page = contents_of(source / "docs/fortran.md"), header = contents_of(source / "commpass/commpass.h");
  const auto declared = matches(header, R"(\b(commpass_\w+)\()");
  for (const auto& name : declared)
    EXPECT_TRUE(name.starts_with("commpass_cart_") || page.find("`" + name + "`") != std::string::npos)
        << name << " is not in docs/fortran.md";
  for (const auto& name : matches(page, R"(`(commpass_\w+)`)"))
    EXPECT_NE(header.find(name), std::string::npos) << name << " is not in commpass.h";
}

TEST(TheNamesOfMpiAdvance, AreDocumentedWholeAndNotMore) {
  const auto page = contents_of(source / "docs/mpix.md"), header = contents_of(source / "bindings/mpix/mpi_advance.h");
  const auto declared = matches(header, R"(\nint (MPIX_\w+)\()");
  EXPECT_GT(declared.size(), 30U);
  for (const auto& name : declared)
    EXPECT_NE(page.find("`" + name + "`"), std::string::npos) << name << " is not in docs/mpix.md";
  for (const auto& name : matches(page, R"(`(MPIX_\w+)`)"))
    EXPECT_NE(header.find(name), std::string::npos) << name << " is not in mpi_advance.h";
}

}  // namespace
