// The writers of documents.
#include "selector/report/document.hpp"

#include <gtest/gtest.h>

namespace commpass {
namespace {

Document times() {
  Table table{"rows",
              {mark_column(),
               {.key = "name", .heading = "name", .gap = 1},
               {"time_s", "time", 8, "-"},
               csv_column("is_chosen"),
               json_column("parts"),
               {"", "note"}}};
  table.add({"*", "a \"b\", c", seconds_cell(1.5e-6), 1, Cell(Json{1, 2}, ""), "first"});
  table.add({"", "d", seconds_cell(std::nullopt), 0, Cell(Json(), "")}).below = "  below d\n";
  table.add({"", "longer than all", seconds_cell(2)}).instead = "in its place\n";
  Document document(ReportContext{{"layout", "2x2"}});
  document.fact("chosen", "a");
  document.add(std::move(table));
  document.note("no rate is known");
  return document;
}

TEST(Document, IsTextWithAlignedColumnsAndWithoutBlanksAtEnds) {
  EXPECT_EQ(times().write(Form::text),
            "layout: 2x2\n"
            "  name          time  note\n"
            "* a \"b\", c    1.5 us  first\n"
            "  d                -\n"
            "  below d\n"
            "in its place\n"
            "Note: no rate is known.\n");
}

TEST(Document, IsJsonWithoutAbsentCells) {
  const auto json = Json::parse(times().write(Form::json));
  EXPECT_EQ(json["context"], (Json{{"layout", "2x2"}, {"note", "no rate is known"}}));
  EXPECT_EQ(json["chosen"], "a");
  ASSERT_EQ(json["rows"].size(), 3U);
  EXPECT_EQ(json["rows"][0], (Json{{"name", "a \"b\", c"}, {"time_s", 1.5e-6}, {"parts", Json{1, 2}}}));
  EXPECT_FALSE(json["rows"][1].contains("time_s")) << "absent";
  EXPECT_TRUE(json["rows"][1]["parts"].is_null()) << "unknown";
}

TEST(Document, IsCsvWithQuotedFields) {
  EXPECT_EQ(times().write(Form::csv),
            "name,time_s,is_chosen\n"
            "\"a \"\"b\"\", c\",1.5e-06,1\n"
            "d,,0\n"
            "longer than all,2,\n");
}

TEST(Document, IsMarkdownWhoseCellsEndWhereTheyShould) {
  Document document;
  Table table{"rows", {{.key = "site", .heading = "site"}}};
  table.add({"exchange<std::vector<int>> || other"});
  document.add(std::move(table));
  EXPECT_NE(document.write(Form::markdown).find("| exchange&lt;std::vector&lt;int>> \\|\\| other |\n"),
            std::string::npos)
      << document.write(Form::markdown);
}

TEST(Document, IsLatexWithTablesAndCommentedLines) {
  EXPECT_EQ(times().write(Form::latex),
            "% layout: 2x2\n"
            "\\begin{tabular}{rlrl}\n"
            " & name & time & note \\\\\n"
            "\\hline\n"
            "* & a \"b\", c & 1.5 us & first \\\\\n"
            " & d & - &  \\\\\n"
            "\\multicolumn{4}{l}{in its place } \\\\\n"
            "\\end{tabular}\n"
            "% Note: no rate is known.\n");
  EXPECT_EQ(escape_latex("50 % of a_b & {c} √2 × α < ~"),
            "50 \\% of a\\_b \\& \\{c\\} $\\surd$2 $\\times$ $\\alpha$ $<$ \\textasciitilde{}");
}

TEST(Document, FitsATerminalAndMarksTheChoiceThere) {
  const auto narrow = times().write(Form::text, {.columns = 22});
  EXPECT_EQ(narrow,
            "layout: 2x2\n"
            "  name          time\n"
            "* a \"b\", c    1.5 us\n"
            "  d                -\n"
            "  below d\n"
            "in its place\n"
            "  (a wider terminal, a\n    file and --csv\n    also have: note)\n"
            "Note: no rate is\n  known.\n");
  const auto colored = times().write(Form::text, {.has_colors = true});
  EXPECT_NE(colored.find("\n\x1b[1m* a \"b\", c    1.5 us  first\x1b[0m\n"), std::string::npos) << colored;
  EXPECT_EQ(times().write(Form::text).find('\x1b'), std::string::npos);
}

TEST(Document, HasTheChosenRowOfMarkdownInBold) {
  Table table{.key = {}, .columns = {{"", "name"}, {"", "time"}}};
  table.add({"a", seconds_cell(1)});
  table.add({"b", seconds_cell(2)});
  table.marked = 1;
  EXPECT_NE(markdown_of(table).find("| a | 1 s |\n| **b** | 2 s |\n"), std::string::npos) << markdown_of(table);
}

TEST(Document, JoinsTablesOfOneKey) {
  Document document;
  for (const int row : {1, 2}) {
    Table table{"rows", {{"number"}}};
    table.add({row});
    document.add(std::move(table));
  }
  EXPECT_EQ(document.json(), (Json{{"rows", Json::array({{{"number", 1}}, {{"number", 2}}})}}));
  EXPECT_EQ(document.write(Form::csv), "number\n1\n2\n");
}

TEST(Document, IsMarkdownWithHeadingsTablesAndPictures) {
  Document document;
  document.heading("Times");
  document.sentences("All of them.");
  Table table{.key = {}, .columns = {{"", "name"}, {"", "time"}}, .caption = "Of two"};
  table.add({"a", seconds_cell(1)});
  table.add({"b", ""});
  document.add(std::move(table));
  Picture picture;
  picture.title = "Bars";
  picture.description = "Two bars.";
  document.add(std::move(picture));
  document.text("  as it is\n");
  EXPECT_EQ(document.write(Form::markdown),
            "## Times\n\nAll of them.\n\nOf two\n\n"
            "| name | time |\n|---|---|\n| a | 1 s |\n| b | |\n\n"
            "*Bars.* Two bars.\n\n```\n  as it is\n```\n\n");
}

// A cell that is wider than a fixed column moves the rest of its row, and no other row.
TEST(Document, KeepsFixedWidths) {
  Table table{"", {{.key = {}, .heading = "n", .width = 3, .gap = 0}, {"", "m", 1}}};
  table.add({12345, 6});
  table.add({7, 890});
  EXPECT_EQ(text_of(table), "  n    m\n12345    6\n  7  890\n");
}

}  // namespace
}  // namespace commpass
