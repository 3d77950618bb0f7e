// JSON: a value, a reader and a writer. Only json.cpp includes nlohmann/json, whose headers take seconds to compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/json_fwd.hpp"

namespace commpass {

/// A value has another type than the caller asks for, or lacks a key or an element.
class JsonError : public Error {
 public:
  explicit JsonError(const std::string& what) : Error("JSON: " + what + ".") {}
};

/// One value. Objects keep the order of their keys. Null becomes an object by `[key]`, and a list by push_back.
class Json {
 public:
  struct Member;  ///< `key` and `value`
  class Part;     ///< of a value in braces
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;
  using Parts = std::initializer_list<Part>;

  Json() = default;
  Json(std::nullptr_t) {}
  Json(const char* text) : Json(std::string(text)) {}
  Json(std::string_view text) : Json(std::string(text)) {}
  Json(std::string text);
  Json(double number) : value_(number) {}
  template <class Number, std::enable_if_t<std::is_integral_v<Number>, int> = 0>
  Json(Number number) {
    if constexpr (std::is_same_v<Number, bool>) value_ = number;
    else if constexpr (std::is_signed_v<Number>) value_ = static_cast<std::int64_t>(number);
    else value_ = static_cast<std::uint64_t>(number);
  }
  /// A list of the elements of a container.
  template <class Range, class = decltype(std::declval<const Range&>().begin()),
            std::enable_if_t<!std::is_convertible_v<const Range&, std::string>, int> = 0>
  Json(const Range& range) : Json(array()) {
    for (const auto& each : range) push_back(Json(each));
  }
  /// An object if all parts are pairs that begin with a text, else a list.
  Json(Parts parts);
  static Json array(Parts parts = {});
  static Json object();

  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();

  /// The value of a text.
  /// @param origin  names the file in an error
  /// @param remedy  ends an error
  /// @throws InputError for a syntax error, bytes that are not UTF-8, a number beyond double, a key that an object has
  /// twice, and more than 100 levels of lists and objects
  static Json parse(std::string_view text, const std::string& origin = "a text in JSON",
                    const std::string& remedy = "correct it");
  /// Null if parse would refuse the text.
  static Json parse_or_null(std::string_view text);

  /// The text of the value. Numbers have the fewest digits that round-trip; numbers that are not finite are null. Bytes
  /// that are not UTF-8, which file names may have, are replaced.
  /// @param indent  spaces a level; -1: all on one line
  std::string dump(int indent = -1) const;

  bool is_null() const;
  bool is_boolean() const;
  bool is_number() const;
  bool is_number_integer() const;  ///< written without a point and an exponent, and at most 64 bits
  bool is_string() const;
  bool is_array() const;
  bool is_object() const;

  /// The value as a bool, a number, a text, or a vector of these. Conversion to an integer drops the fraction.
  /// @throws JsonError if the value has another type, or is out of range
  template <class Value>
  Value get() const;
  /// The integer; nothing for a value of another type, or out of range.
  template <class Integer = std::int64_t>
  std::optional<Integer> integer() const {
    const auto value = signed_integer();
    const bool fits = value && std::in_range<Integer>(*value);
    return fits ? std::optional(static_cast<Integer>(*value)) : std::nullopt;
  }

  /// The number of elements of a list or an object; 0 for null, 1 for other values.
  std::size_t size() const;
  bool empty() const { return size() == 0; }

  // Objects. Values of other types have no keys.
  const Json* find(std::string_view key) const;  ///< null if absent
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  const Json& at(std::string_view key) const;  ///< @throws JsonError if absent
  Json& at(std::string_view key);              ///< @throws JsonError if absent
  const Json& operator[](std::string_view key) const { return at(key); }
  Json& operator[](std::string_view key);  ///< added if absent; @throws JsonError unless it is an object or null
  template <class Value>
  Value value(std::string_view key, Value if_absent) const {
    const Json* found = find(key);
    return found ? found->get<Value>() : if_absent;
  }
  /// The number or text of a key; nothing if it is absent, or of another type.
  template <class Value>
  std::optional<Value> optional(std::string_view key) const {
    const Json* found = find(key);
    const bool fits = found && (std::is_same_v<Value, std::string> ? found->is_string() : found->is_number());
    return fits ? std::optional(found->get<Value>()) : std::nullopt;
  }
  std::string text(std::string_view key) const { return optional<std::string>(key).value_or(""); }
  double number_or_0(std::string_view key) const { return optional<double>(key).value_or(0); }
  /// Two numbers in a list; nothing for any other value.
  std::optional<std::pair<double, double>> interval(std::string_view key) const;
  /// The elements of the list of a key; none if it is absent, or no list.
  const Array& list(std::string_view key) const;
  void update(const Json& object);   ///< adds its members, or replaces those of the same keys
  void erase(std::string_view key);  ///< a key that is absent is ignored
  const Object& items() const;       ///< none of null; @throws JsonError for other values
  Object& items();                   ///< @throws JsonError unless it is an object

  // Lists. Null has no elements. @throws JsonError for other values, and places beyond the end
  const Json* begin() const;
  const Json* end() const;
  Json* begin();
  Json* end();
  const Json& at(std::size_t place) const;
  Json& at(std::size_t place);
  template <class Place, std::enable_if_t<std::is_integral_v<Place>, int> = 0>
  const Json& operator[](Place place) const {
    return at(static_cast<std::size_t>(place));
  }
  template <class Place, std::enable_if_t<std::is_integral_v<Place>, int> = 0>
  Json& operator[](Place place) {
    return at(static_cast<std::size_t>(place));
  }
  void push_back(Json element);
  const Json& front() const { return at(std::size_t{0}); }
  const Json& back() const { return at(size() - 1); }
  Json& back() { return at(size() - 1); }

  /// Numbers are compared by value, objects without regard to the order of keys.
  friend bool operator==(const Json& a, const Json& b);

 private:
  /// Content on the heap, so that a value takes 16 bytes: records hold lists of millions of numbers.
  template <class Content>
  class Box {
   public:
    explicit Box(Content content) : content_(std::make_unique<Content>(std::move(content))) {}
    Box(const Box& other) : Box(*other) {}
    Box(Box&&) noexcept = default;
    Box& operator=(Box other) noexcept {
      content_.swap(other.content_);
      return *this;
    }
    ~Box() = default;
    Content& operator*() { return *content_; }
    const Content& operator*() const { return *content_; }

   private:
    std::unique_ptr<Content> content_;
  };
  using Value = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, Box<std::string>, Box<Array>,
                             Box<Object>>;

  class Builder;
  static bool read(std::string_view text, Builder& builder);

  bool boolean() const;
  double number() const;
  const std::string& string() const;
  std::optional<std::int64_t> signed_integer() const;
  std::int64_t signed_within(std::int64_t least, std::int64_t most) const;
  std::uint64_t unsigned_within(std::uint64_t most) const;
  const Array& elements() const;

  Value value_;
};

struct Json::Member {
  std::string key;
  Json value;
};

class Json::Part {
 public:
  template <class Value, std::enable_if_t<!std::is_same_v<std::remove_cvref_t<Value>, Part>, int> = 0>
  Part(Value&& value) : value_(std::forward<Value>(value)) {}
  Part(Parts parts) : value_(parts) {}

 private:
  friend class Json;
  mutable Json value_;  ///< moved into the list; the elements of an initializer_list are const
};

std::ostream& operator<<(std::ostream& out, const Json& json);

template <class Value>
Value Json::get() const {
  if constexpr (std::is_same_v<Value, Json>) return *this;
  else if constexpr (std::is_same_v<Value, bool>) return boolean();
  else if constexpr (std::is_floating_point_v<Value>) return number();
  else if constexpr (std::is_same_v<Value, std::string>) return string();
  else if constexpr (std::is_unsigned_v<Value>)
    return static_cast<Value>(unsigned_within(std::numeric_limits<Value>::max()));
  else if constexpr (std::is_signed_v<Value>)
    return static_cast<Value>(signed_within(std::numeric_limits<Value>::min(), std::numeric_limits<Value>::max()));
  else {
    Value values;
    for (const auto& each : elements()) values.push_back(each.get<typename Value::value_type>());
    return values;
  }
}

}  // namespace commpass
