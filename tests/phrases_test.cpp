// The texts of the repository keep the list of phrases in HACKING.md: comments, documents, messages and names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "source_files.hpp"

namespace {

using commpass::test::contents_of;
using commpass::test::source;

struct Word {
  std::string text;  ///< in lower case; empty: punctuation, which no phrase crosses
  int line;
  std::size_t end;  ///< offset in the text
};

/// Identifiers are words, too: `so_many`, `SoMany`. Line ends, quotation marks and the marks of comments separate
/// words.
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  int line = 1;
  char before = '\n';
  bool is_line_begin = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    if (c == '\n') {
      ++line;
      is_line_begin = true;
    } else if (c == '\\') {
      ++i;  // an escaped character is no letter of a word
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      const bool is_continued = std::isalnum(static_cast<unsigned char>(before)) != 0 &&
                                !(is_upper && std::islower(static_cast<unsigned char>(before)) != 0);
      if (!is_continued) words.push_back({{}, line, i});
      words.back().text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      words.back().end = i + 1;
      is_line_begin = false;
    } else if (!is_line_begin && std::string_view(" \t\r_\"'`*").find(c) == std::string_view::npos) {
      words.push_back({{}, line, i});
    }
    before = text[std::min(i, text.size() - 1)];
  }
  return words;
}

/// Does the sentence end in a question mark?
bool is_question(std::string_view text, std::size_t from) {
  const auto end = text.find_first_of(".?!;|", from);
  return end != std::string_view::npos && text[end] == '?' && text.substr(from, end - from).find("\n\n") == text.npos;
}

using Phrase = std::vector<std::string>;

/// The phrases by their first words.
using Phrases = std::map<std::string, std::vector<Phrase>>;

constexpr std::string_view table_head = "| not | but |\n|---|---|\n";

std::string_view table_in(std::string_view page) {
  const auto begin = page.find(table_head);
  if (begin == std::string_view::npos) return {};
  return page.substr(begin, page.find("\n\n", begin) - begin);
}

Phrases phrases_in(std::string_view table) {
  Phrases phrases;
  std::istringstream rows(std::string(table.substr(std::min(table_head.size(), table.size()))));
  for (std::string row; std::getline(rows, row);) {
    std::istringstream cell(row.substr(1, row.find('|', 1) - 1));
    for (std::string phrase; std::getline(cell, phrase, ',');) {
      std::istringstream words(phrase);
      const Phrase found{std::istream_iterator<std::string>(words), {}};
      if (!found.empty()) phrases[found.front()].push_back(found);
    }
  }
  return phrases;
}

struct Hit {
  std::string phrase;
  int line;
};

/// A question may ask "what is …?" or "who has …?".
std::vector<Hit> hits_in(std::string_view text, const Phrases& phrases) {
  std::vector<Hit> hits;
  const auto words = words_of(text);
  for (auto word = words.begin(); word != words.end(); ++word) {
    const auto some = phrases.find(word->text);
    if (some == phrases.end()) continue;
    for (const auto& phrase : some->second) {
      if (words.end() - word < std::ssize(phrase)) continue;
      const auto last = word + std::ssize(phrase) - 1;
      const auto is_same = [](const std::string& wanted, const Word& found) { return wanted == found.text; };
      if (!std::equal(phrase.begin(), phrase.end(), word, is_same)) continue;
      if (phrase.size() > 1 && (word->text == "what" || word->text == "who") && is_question(text, last->end)) continue;
      std::string spelled;
      for (const auto& part : phrase) spelled += (spelled.empty() ? "" : " ") + part;
      hits.push_back({spelled, word->line});
    }
  }
  return hits;
}

/// Sources, documents, and scripts, whose names have no extension. Inputs of tests and measured tables are none.
bool is_written(const std::filesystem::path& path, std::string_view text) {
  static const std::set<std::string> extensions{".cpp", ".hpp", ".c",  ".h",  ".cl", ".hip",  ".F90",
                                                ".f90", ".in",  ".py", ".js", ".md", ".json", ".cmake"};
  return extensions.contains(path.extension().string()) || path.filename() == "CMakeLists.txt" ||
         (!path.has_extension() && text.starts_with("#!"));
}

std::vector<std::string> phrases_found(std::string_view text) {
  std::vector<std::string> found;
  for (const auto& hit :
       hits_in(text, phrases_in("| not | but |\n|---|---|\n| nobody, so many | x |\n| what is | y |")))
    found.push_back(hit.phrase + " " + std::to_string(hit.line));
  return found;
}

TEST(Phrases, AreFoundInTextsAndNames) {
  using Found = std::vector<std::string>;
  EXPECT_EQ(phrases_found("A rank.\n/// Nobody's rank"), Found{"nobody 2"});
  EXPECT_EQ(phrases_found("/// ranks, so\n  /// many of them"), Found{"so many 1"});
  EXPECT_EQ(phrases_found("\"ranks, so \"\n\"many\""), Found{"so many 1"});
  EXPECT_EQ(phrases_found("TEST(Calls, WaitForNobody) { so_many = 1; }"), (Found{"nobody 1", "so many 1"}));
  EXPECT_EQ(phrases_found("tells what is there. Why?"), Found{"what is 1"});
}

TEST(Phrases, AreNoPartsOfOtherTexts) {
  EXPECT_TRUE(phrases_found("nobodys so, many so manyfold snobody what, is").empty());
  EXPECT_TRUE(phrases_found("| What is the price of an exchange? | page |").empty()) << "a question";
}

TEST(Phrases, OfHackingAreInNoText) {
  const auto hacking = contents_of(source / "HACKING.md");
  const auto table = table_in(hacking);
  const auto phrases = phrases_in(table);
  EXPECT_GT(phrases.size(), 10U);
  int checked = 0;
  for (const auto& path : commpass::test::files()) {
    auto text = contents_of(path);
    if (!is_written(path, text)) continue;
    ++checked;
    const auto name = std::filesystem::relative(path, source).string();
    if (name == "tests/phrases_test.cpp") continue;  // has them as examples
    if (name == "HACKING.md")
      for (auto& c : std::span(text).subspan(static_cast<std::size_t>(table.data() - hacking.data()), table.size()))
        if (c != '\n') c = ' ';
    for (const auto& [phrase, line] : hits_in(text, phrases))
      ADD_FAILURE() << name << ':' << line << ": " << phrase << " (HACKING.md, Language)";
  }
  EXPECT_GT(checked, 1000);
}

}  // namespace
