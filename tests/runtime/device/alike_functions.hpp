// Whether functions of a library's header can be called as functions of our own declarations.
#pragma once

#include <type_traits>

namespace commpass::test {

/// Are values of these types passed alike? Addresses may be pointers in one and numbers in the other.
template <class Ours, class Theirs>
inline constexpr bool are_types_alike =
    sizeof(Ours) == sizeof(Theirs) && std::is_class_v<Ours> ==
                                          std::is_class_v<Theirs>&& std::is_pointer_v<Ours> <=
                                              (std::is_pointer_v<Theirs> ||
                                               std::is_integral_v<Theirs>)&&std::is_floating_point_v<Ours> ==
                                          std::is_floating_point_v<Theirs>;

template <class Ours, class Theirs>
struct AreFunctionsAlike : std::false_type {};
template <class Result, class... Ours, class TheirResult, class... Theirs>
requires(sizeof...(Ours) == sizeof...(Theirs)) struct AreFunctionsAlike<Result (*)(Ours...), TheirResult (*)(Theirs...)>
    : std::bool_constant<are_types_alike<Result, TheirResult> && (are_types_alike<Ours, Theirs> && ...)> {
};

template <class Ours, class Theirs>
constexpr bool are_functions_alike(Theirs) {
  return AreFunctionsAlike<Ours, Theirs>::value;
}

}  // namespace commpass::test
