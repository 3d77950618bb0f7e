#include "model/base/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <unordered_set>

namespace commpass {

namespace {

constexpr std::size_t most_levels = 100;  ///< of lists and objects: copying and writing recurse into each

}  // namespace

/// Builds a value from the events of the library's parser, and keeps the reason for which it stops.
class Json::Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return add({}); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& key) override {
    auto& level = levels_.back();
    level.object->push_back({key, {}});
    if (level.keys.insert(std::move(key)).second) return true;
    problem = "key " + place() + " is written twice";
    remedy = "keep one of the two";
    return false;
  }

  bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& error) override {
    constexpr int number_out_of_range = 406;  // an error number of the library
    problem = error.id == number_out_of_range ? "it has a number that is too large"
                                              : "it is no JSON near byte " + std::to_string(byte);
    return false;
  }

  Json result;
  std::string problem, remedy;

 private:
  struct Level {
    Array* list;
    Object* object;  ///< null if it is a list
    std::unordered_set<std::string> keys;
  };

  Json& put(Json added) {
    if (levels_.empty()) return result = std::move(added);
    const auto& level = levels_.back();
    if (level.object) return level.object->back().value = std::move(added);
    return level.list->emplace_back(std::move(added));
  }
  bool add(Json added) {
    put(std::move(added));
    return true;
  }
  bool open(Json container) {
    if (levels_.size() == most_levels) {
      problem = "it is nested more than " + std::to_string(most_levels) + " levels deep";
      return false;
    }
    auto& value = put(std::move(container)).value_;
    auto* list = std::get_if<Box<Array>>(&value);
    auto* object = std::get_if<Box<Object>>(&value);
    levels_.push_back({list ? &**list : nullptr, object ? &**object : nullptr, {}});
    return true;
  }
  bool close() {
    levels_.pop_back();
    return true;
  }

  /// The path of the last key: host.socket.protocols[0].name.
  std::string place() const {
    std::string text;
    for (const auto& level : levels_) {
      if (level.list) text += "[" + std::to_string(level.list->size() - 1) + "]";
      else text += (text.empty() ? "" : ".") + level.object->back().key;
    }
    return text;
  }

  std::vector<Level> levels_;  ///< the open lists and objects
};

bool Json::read(std::string_view text, Builder& builder) {
  return nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
}

namespace {

void write(const std::string& text, std::string& out) {
  const auto is_plain = [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; };
  if (std::ranges::all_of(text, is_plain)) out.append("\"").append(text).append("\"");
  else out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class Writer {
 public:
  Writer(std::string& out, int indent) : out_(out), indent_(indent) {}

  void write_list(const Json& list) {
    const auto element = [&](const Json& each) { write_value(each); };
    write_between('[', ']', list.begin(), list.end(), element);
  }
  void write_object(const Json::Object& object) {
    write_between('{', '}', object.begin(), object.end(), [&](const Json::Member& each) {
      write(each.key, out_);
      out_ += indent_ < 0 ? ":" : ": ";
      write_value(each.value);
    });
  }
  void write_value(const Json& json) {
    if (json.is_object()) write_object(json.items());
    else if (json.is_array()) write_list(json);
    else if (json.is_string()) write(json.get<std::string>(), out_);
    else if (json.is_boolean()) out_ += json.get<bool>() ? "true" : "false";
    else if (const auto integer = json.integer()) out_ += std::to_string(*integer);
    else if (json.is_number_integer()) out_ += std::to_string(json.get<std::uint64_t>());
    else if (json.is_number()) out_ += nlohmann::json(json.get<double>()).dump();
    else out_ += "null";
  }

 private:
  template <class Place, class Write>
  void write_between(char open, char close, Place begin, Place end, Write write_element) {
    out_ += open;
    ++depth_;
    for (auto each = begin; each != end; ++each) {
      if (each != begin) out_ += ',';
      new_line();
      write_element(*each);
    }
    --depth_;
    if (begin != end) new_line();
    out_ += close;
  }
  void new_line() {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_) * depth_, ' ');
  }

  std::string& out_;
  int indent_;
  std::size_t depth_ = 0;
};

/// The least doubles above all int64 and uint64.
constexpr double beyond_signed = 0x1p63, beyond_unsigned = 0x1p64;

[[noreturn]] void fail(const char* what) { throw JsonError(std::string("a value is no ") + what); }

}  // namespace

Json::Json(std::string text) : value_(Box(std::move(text))) {}
Json::Json(const Json&) = default;
Json::Json(Json&& other) noexcept : value_(std::exchange(other.value_, std::monostate())) {}
Json::~Json() = default;

Json& Json::operator=(Json other) noexcept {
  value_.swap(other.value_);
  return *this;
}

Json::Json(Parts parts) : Json(array(parts)) {
  auto& list = *std::get<Box<Array>>(value_);
  const auto is_member = [](const Json& each) { return each.is_array() && each.size() == 2 && each[0].is_string(); };
  if (!std::ranges::all_of(list, is_member)) return;
  Object object;
  for (auto& each : list) object.push_back({each[0].string(), std::move(each[1])});
  value_ = Box(std::move(object));
}

Json Json::array(Parts parts) {
  Array list;
  list.reserve(parts.size());
  for (const auto& part : parts) list.push_back(std::move(part.value_));
  Json json;
  json.value_ = Box(std::move(list));
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Box(Object());
  return json;
}

Json Json::parse(std::string_view text, const std::string& origin, const std::string& remedy) {
  Builder builder;
  if (!read(text, builder)) throw InputError(origin, builder.problem, builder.remedy.empty() ? remedy : builder.remedy);
  return std::move(builder.result);
}

Json Json::parse_or_null(std::string_view text) {
  Builder builder;
  return read(text, builder) ? std::move(builder.result) : Json();
}

std::string Json::dump(int indent) const {
  std::string text;
  Writer(text, indent).write_value(*this);
  return text;
}

std::ostream& operator<<(std::ostream& out, const Json& json) { return out << json.dump(); }

bool Json::is_null() const { return std::holds_alternative<std::monostate>(value_); }
bool Json::is_boolean() const { return std::holds_alternative<bool>(value_); }
bool Json::is_number() const { return is_number_integer() || std::holds_alternative<double>(value_); }
bool Json::is_number_integer() const {
  return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<std::uint64_t>(value_);
}
bool Json::is_string() const { return std::holds_alternative<Box<std::string>>(value_); }
bool Json::is_array() const { return std::holds_alternative<Box<Array>>(value_); }
bool Json::is_object() const { return std::holds_alternative<Box<Object>>(value_); }

bool Json::boolean() const {
  if (const auto* value = std::get_if<bool>(&value_)) return *value;
  fail("boolean");
}

double Json::number() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  fail("number");
}

const std::string& Json::string() const {
  if (const auto* value = std::get_if<Box<std::string>>(&value_)) return **value;
  fail("text");
}

std::optional<std::int64_t> Json::signed_integer() const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
  const auto* value = std::get_if<std::uint64_t>(&value_);
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return value && *value <= most ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}

std::int64_t Json::signed_within(std::int64_t least, std::int64_t most) const {
  auto value = integer();
  if (const double given = number(); !value && given >= -beyond_signed && given < beyond_signed)
    value = static_cast<std::int64_t>(given);
  if (!value || *value < least || *value > most) fail("integer that fits");
  return *value;
}

std::uint64_t Json::unsigned_within(std::uint64_t most) const {
  std::optional<std::uint64_t> value;
  if (const auto* given = std::get_if<std::uint64_t>(&value_)) value = *given;
  else if (const double number = this->number(); number > -1 && number < beyond_unsigned) {
    const auto* exact = std::get_if<std::int64_t>(&value_);
    value = exact ? static_cast<std::uint64_t>(*exact) : static_cast<std::uint64_t>(number);
  }
  if (!value || *value > most) fail("integer that fits");
  return *value;
}

const Json::Array& Json::elements() const {
  static const Array none;
  if (is_null()) return none;
  if (const auto* value = std::get_if<Box<Array>>(&value_)) return **value;
  fail("list");
}

std::size_t Json::size() const {
  if (is_object()) return items().size();
  return is_array() || is_null() ? elements().size() : 1;
}

const Json* Json::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  const auto found = std::ranges::find(items(), key, &Member::key);
  return found == items().end() ? nullptr : &found->value;
}

const Json& Json::at(std::string_view key) const {
  if (const auto* found = find(key)) return *found;
  throw JsonError("key '" + std::string(key) + "' is missing");
}
Json& Json::at(std::string_view key) { return const_cast<Json&>(std::as_const(*this).at(key)); }

Json& Json::operator[](std::string_view key) {
  if (is_null()) *this = object();
  auto& members = items();
  const auto found = std::ranges::find(members, key, &Member::key);
  return found != members.end() ? found->value : members.emplace_back(Member{std::string(key), {}}).value;
}

std::optional<std::pair<double, double>> Json::interval(std::string_view key) const {
  const auto& ends = list(key);
  if (ends.size() != 2 || !ends[0].is_number() || !ends[1].is_number()) return std::nullopt;
  return std::pair(ends[0].number(), ends[1].number());
}

const Json::Array& Json::list(std::string_view key) const {
  static const Json none = array();
  const Json* found = find(key);
  return (found && found->is_array() ? *found : none).elements();
}

void Json::update(const Json& object) {
  for (const auto& [key, value] : object.items()) (*this)[key] = value;
}

void Json::erase(std::string_view key) {
  std::erase_if(items(), [&](const Member& each) { return each.key == key; });
}

const Json::Object& Json::items() const {
  static const Object none;
  if (is_null()) return none;
  if (const auto* value = std::get_if<Box<Object>>(&value_)) return **value;
  fail("object");
}
Json::Object& Json::items() {
  if (auto* value = std::get_if<Box<Object>>(&value_)) return **value;
  fail("object");
}

const Json* Json::begin() const { return elements().data(); }
const Json* Json::end() const { return begin() + elements().size(); }
Json* Json::begin() { return const_cast<Json*>(std::as_const(*this).begin()); }
Json* Json::end() { return const_cast<Json*>(std::as_const(*this).end()); }

const Json& Json::at(std::size_t place) const {
  if (place < elements().size()) return elements()[place];
  throw JsonError("a list has no element " + std::to_string(place));
}
Json& Json::at(std::size_t place) { return const_cast<Json&>(std::as_const(*this).at(place)); }

void Json::push_back(Json element) {
  if (is_null()) *this = array();
  if (!is_array()) fail("list");
  (*std::get<Box<Array>>(value_)).push_back(std::move(element));
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_number_integer() && b.is_number_integer())
      return a.integer() == b.integer() && (a.integer() || a.get<std::uint64_t>() == b.get<std::uint64_t>());
    return a.number() == b.number();
  }
  if (a.value_.index() != b.value_.index() || a.size() != b.size()) return false;
  if (a.is_array()) return std::equal(a.begin(), a.end(), b.begin());
  if (a.is_object())
    return std::ranges::all_of(a.items(), [&](const Json::Member& each) {
      const auto* other = b.find(each.key);
      return other && *other == each.value;
    });
  if (a.is_string()) return a.string() == b.string();
  return a.is_null() || a.boolean() == b.boolean();
}

}  // namespace commpass
