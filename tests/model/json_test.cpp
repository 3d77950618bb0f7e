// Random values are compared with nlohmann/json, which otherwise only json.cpp includes.
#include "model/base/json.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "model/support.hpp"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;
using Library = nlohmann::ordered_json;

TEST(Json, WritesNumbersInTheFewestDigits) {
  const std::pair<Json, const char*> numbers[] = {{0, "0"},
                                                  {-1, "-1"},
                                                  {1.0, "1.0"},
                                                  {-0.0, "-0.0"},
                                                  {0.1, "0.1"},
                                                  {1e-6, "1e-06"},
                                                  {0.0001, "0.0001"},
                                                  {123456789012345.0, "123456789012345.0"},
                                                  {1e15, "1e+15"},
                                                  {1e300, "1e+300"},
                                                  {5e-324, "5e-324"},
                                                  {std::numeric_limits<std::int64_t>::min(), "-9223372036854775808"},
                                                  {std::numeric_limits<std::uint64_t>::max(), "18446744073709551615"},
                                                  {std::nan(""), "null"},
                                                  {INFINITY, "null"}};
  for (const auto& [number, text] : numbers) EXPECT_EQ(number.dump(), text);
}

TEST(Json, KeepsTheOrderOfKeysAndPutsALineBreakBehindEach) {
  Json json{{"z", 1}, {"a", Json::array()}, {"m", {1, "x", nullptr, true}}, {"o", Json::object()}};
  json["z"] = 2;
  json["b"]["c"] = "d";
  EXPECT_EQ(json.dump(), R"({"z":2,"a":[],"m":[1,"x",null,true],"o":{},"b":{"c":"d"}})");
  json.erase("a");
  json.erase("m");
  json.erase("not there");
  EXPECT_EQ(json.dump(2), "{\n  \"z\": 2,\n  \"o\": {},\n  \"b\": {\n    \"c\": \"d\"\n  }\n}");
  json.update({{"o", 1}, {"y", 2}});
  EXPECT_EQ(json.dump(), R"({"z":2,"o":1,"b":{"c":"d"},"y":2})");
  EXPECT_EQ(Json::parse(R"({"b": 1, "a": 2})").dump(), R"({"b":1,"a":2})");
}

TEST(Json, MakesAnObjectOfPairsThatBeginWithAText) {
  EXPECT_EQ((Json{{"a", 1}}).dump(), R"({"a":1})");
  EXPECT_EQ((Json{{"a", 1}, {2, 1}}).dump(), R"([["a",1],[2,1]])");
  EXPECT_EQ((Json{1.5, 2}).dump(), "[1.5,2]");
  EXPECT_EQ(Json::array({Json::array({"a", 1})}).dump(), R"([["a",1]])");
  EXPECT_EQ(Json(std::vector<std::string>{"a", "b"}).dump(), R"(["a","b"])");
  EXPECT_EQ((Json{{"list", std::vector{1, 2}}}).dump(), R"({"list":[1,2]})");
}

TEST(Json, EscapesTextsAndReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(Json("a\xff").dump(), "\"a\xef\xbf\xbd\"");
  EXPECT_EQ(Json("\"\\\n\x01\x7f\xc3\xa9").dump(), "\"\\\"\\\\\\n\\u0001\x7f\xc3\xa9\"");
}

TEST(Json, RefusesToGiveAValueAsAnotherType) {
  const auto json = Json::parse(R"({"int": 3, "neg": -3, "real": 2.5, "text": "t", "list": [1, 2], "huge": 1e300,
                                    "most": 18446744073709551615, "yes": true, "null": null})");
  EXPECT_EQ(json["int"].get<int>(), 3);
  EXPECT_EQ(json["int"].get<double>(), 3);
  EXPECT_EQ(json["real"].get<int>(), 2);
  EXPECT_EQ(json["list"].get<std::vector<int>>(), (std::vector{1, 2}));
  EXPECT_EQ(json["most"].get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(json.value("int", 7), 3);
  EXPECT_EQ(json.value("absent", 7), 7);
  EXPECT_TRUE(json["null"].empty());
  EXPECT_EQ(json["text"].size(), 1U);
  for (const auto& refused :
       {std::function<void()>([&] { json["text"].get<int>(); }),
        std::function<void()>([&] { json["int"].get<std::string>(); }),
        std::function<void()>([&] { json["int"].get<bool>(); }),
        std::function<void()>([&] { json["yes"].get<double>(); }),
        std::function<void()>([&] { json["huge"].get<std::int64_t>(); }),
        std::function<void()>([&] { json["most"].get<std::int64_t>(); }),
        std::function<void()>([&] { json["neg"].get<unsigned>(); }),
        std::function<void()>([&] { json["list"].get<std::vector<std::string>>(); }),
        std::function<void()>([&] { json["text"].begin(); }), std::function<void()>([&] { json["list"].items(); }),
        std::function<void()>([&] { Json(1)["a"] = 1; }), std::function<void()>([&] { Json(1).push_back(1); })})
    EXPECT_FALSE(error_of(refused).empty());
  EXPECT_EQ(error_of([&] { json["absent"]; }), "JSON: key 'absent' is missing.");
  EXPECT_EQ(error_of([&] { json["list"][2]; }), "JSON: a list has no element 2.");
}

TEST(Json, TellsIntegersThatFit) {
  EXPECT_EQ(Json::parse("9223372036854775807").integer(), std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(Json::parse("9223372036854775808").integer());
  EXPECT_TRUE(Json::parse("9223372036854775808").is_number_integer());
  EXPECT_FALSE(Json::parse("3.0").integer());
  EXPECT_EQ(Json(2147483647).integer<int>(), 2147483647);
  EXPECT_FALSE(Json(2147483648).integer<int>());
  EXPECT_FALSE(Json("3").integer());
}

TEST(Json, ComparesNumbersByValueAndObjectsInAnyOrder) {
  EXPECT_EQ(Json(1), Json(1U));
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_NE(Json(-1), Json(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_NE(Json(1), Json("1"));
  EXPECT_NE(Json(0), Json(false));
  EXPECT_NE(Json(), Json(0));
  EXPECT_EQ(Json::parse(R"({"a": 1, "b": [2]})"), Json::parse(R"({"b": [2], "a": 1})"));
  EXPECT_NE(Json::parse(R"({"a": 1})"), Json::parse(R"({"b": 1})"));
  EXPECT_NE(Json::parse("[1, 2]"), Json::parse("[2, 1]"));
}

TEST(Json, IsNullAfterAMove) {
  Json from{1, 2};
  const auto to = std::move(from);
  EXPECT_TRUE(from.is_null());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(to.size(), 2U);
}

TEST(JsonReader, SaysWhereATextIsNoJson) {
  const std::pair<std::string, const char*> refused[] = {
      {"", "no JSON near byte 1"},
      {R"({"a": 1,})", "no JSON near byte 9"},
      {"[1, 2", "no JSON near byte 6"},
      {"1 2", "no JSON near byte 3"},
      {"[NaN]", "no JSON near byte 2"},
      {"\"\xff\"", "no JSON near byte 2"},
      {"[1e999]", "a number that is too large"},
      {R"({"a": {"b": [0, {"c": 1, "d": 2, "c": 3}]}})", "key a.b[1].c is written twice; keep one of the two"},
      {std::string(101, '[') + std::string(101, ']'), "nested more than 100 levels deep"},
      {std::string(10000000, '['), "nested more than 100 levels deep"}};
  for (const auto& [text, part] : refused) {
    expect_sentence(error_of([&, &text = text] { Json::parse(text, "f.json", "mend it"); }), {"f.json", part});
    EXPECT_TRUE(Json::parse_or_null(text).is_null());
  }
  EXPECT_EQ(error_of([&] { Json::parse("[", "f.json", "mend it"); }), "f.json: it is no JSON near byte 2; mend it.");
  const auto deepest = std::string(100, '[') + std::string(100, ']');
  EXPECT_EQ(Json::parse(deepest).dump(), deepest);
}

TEST(JsonReader, MakesDoublesOfIntegersBeyond64Bits) {
  EXPECT_EQ(Json::parse("18446744073709551616").dump(), "1.8446744073709552e+19");
  EXPECT_EQ(Json::parse("-9223372036854775809").dump(), "-9.223372036854776e+18");
}

/// Random values, each as one of the library and as one of ours.
class RandomValues {
 public:
  explicit RandomValues(unsigned seed) : random_(seed) {}

  std::pair<Library, Json> draw(int levels = 4) {
    switch (below(levels > 0 ? 9 : 7)) {
      case 0: return {nullptr, nullptr};
      case 1: return both(below(2) == 1);
      case 2: return both(static_cast<std::int64_t>(bits() >> below(64)));
      case 3: return both(-static_cast<std::int64_t>(bits() >> (1 + below(63))));
      case 4: return both(bits());
      case 5: return both(std::bit_cast<double>(bits()));
      case 6: return both(text());
      case 7: {
        std::pair<Library, Json> list{Library::array(), Json::array()};
        for (auto i = below(6); i > 0; --i) {
          auto [theirs, ours] = draw(levels - 1);
          list.first.push_back(theirs);
          list.second.push_back(ours);
        }
        return list;
      }
      default: {
        std::pair<Library, Json> object{Library::object(), Json::object()};
        for (auto i = below(6); i > 0; --i) {
          const auto key = text();
          std::tie(object.first[key], object.second[key]) = draw(levels - 1);
        }
        return object;
      }
    }
  }

  std::uint64_t below(std::uint64_t end) { return random_() % end; }

 private:
  template <class Value>
  std::pair<Library, Json> both(Value value) {
    return {Library(value), Json(value)};
  }
  std::uint64_t bits() { return random_(); }
  std::string text() {
    static const std::string pieces[] = {"a", "Z9", "\"", "\\", "\n", "\x01", "\x7f", "é", "€", "𝄞", "/", ""};
    std::string text;
    for (auto i = below(4); i > 0; --i) text += pieces[below(std::size(pieces))];
    return text;
  }

  std::mt19937_64 random_;
};

TEST(Json, GivesWhatAKeyHasOrNothing) {
  const auto json =
      Json::parse(R"({"number": 2, "text": "two", "pair": [1, 2.5], "mixed": [1, "x"], "three": [1, 2, 3]})");
  EXPECT_EQ(json.optional<double>("number"), 2.0);
  EXPECT_EQ(json.optional<std::string>("text"), "two");
  EXPECT_EQ(json.text("number"), "");
  EXPECT_EQ(json.number_or_0("text"), 0);
  EXPECT_EQ(json.interval("pair"), std::pair(1.0, 2.5));
  for (const char* key : {"mixed", "three", "number", "none"}) EXPECT_FALSE(json.interval(key)) << key;
  EXPECT_EQ(json.list("three").size(), 3U);
  EXPECT_TRUE(json.list("number").empty() && json.list("none").empty());
  EXPECT_FALSE(json["number"].optional<double>("number")) << "a number has no keys";
}

TEST(JsonProperty, WritesAndReadsAsTheLibraryDoes) {
  RandomValues random(17);
  for (int i = 0; i < 3000; ++i) {
    const auto [theirs, ours] = random.draw();
    for (const int indent : {-1, 0, 1, 2}) ASSERT_EQ(ours.dump(indent), theirs.dump(indent));
    const auto text = theirs.dump();
    ASSERT_EQ(Json::parse(text).dump(), text);
    ASSERT_EQ(Json::parse(theirs.dump(2)), Json::parse(text));
  }
}

TEST(JsonProperty, RefusesTheDamagedTextsThatTheLibraryRefuses) {
  RandomValues random(18);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    auto text = random.draw().first.dump();
    const auto place = static_cast<std::ptrdiff_t>(random.below(text.size()));
    if (random.below(2) == 0) text.erase(text.begin() + place);
    else text[static_cast<std::size_t>(place)] = static_cast<char>(random.below(256));
    const auto theirs = Library::parse(text, nullptr, false);
    const auto error = error_of([&] { Json::parse(text); });
    if (error.find("is written twice") != std::string::npos) continue;
    ASSERT_EQ(error.empty(), !theirs.is_discarded()) << text;
    refused += !error.empty();
    const auto ours = Json::parse_or_null(text);
    ASSERT_EQ(ours.dump(), error.empty() ? theirs.dump() : "null");
  }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace commpass
