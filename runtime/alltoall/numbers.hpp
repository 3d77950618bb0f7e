// Numbers of a collective's arguments, of whatever integers MPI has them.
#pragma once

#include <cstddef>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// A list of int, or of wider integers: MPI_Aint, MPI_Count, Bytes. As long as what it was made of.
class Numbers {
 public:
  Numbers() = default;
  template <class List>
  requires std::ranges::contiguous_range<const List> Numbers(
      const List& list)  // NOLINT(google-explicit-constructor): a view, as std::span
      : numbers_(std::span(std::as_const(list))) {}

  std::size_t size() const {
    return std::visit([](auto list) { return list.size(); }, numbers_);
  }
  Bytes operator[](std::size_t i) const {
    return std::visit([&](auto list) { return static_cast<Bytes>(list[i]); }, numbers_);
  }
  /// Takes no memory where there is room.
  template <class Number>
  void copy_to(std::vector<Number>& copy) const {
    std::visit(
        [&](auto list) {
          copy.clear();
          for (const auto number : list) copy.push_back(static_cast<Number>(number));
        },
        numbers_);
  }
  bool are_int() const { return std::holds_alternative<std::span<const int>>(numbers_); }
  /// Of those that are; null of others.
  const int* ints() const {
    const auto* const list = std::get_if<std::span<const int>>(&numbers_);
    return list ? list->data() : nullptr;
  }

 private:
  std::variant<std::span<const int>, std::span<const long>, std::span<const long long>> numbers_;
};

}  // namespace commpass
