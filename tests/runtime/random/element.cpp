#include "runtime/random/element.hpp"

#include <algorithm>

namespace commpass::random_test {

namespace {

constexpr Bytes int_bytes = sizeof(int), double_bytes = sizeof(double);

Element named(MPI_Datatype type, Bytes bytes, int in_unit) {
  Element element{std::make_shared<MPI_Datatype>(type), {}, bytes, in_unit};
  for (Bytes i = 0; i < bytes; ++i) element.offsets.push_back(i);
  return element;
}

struct Part {
  MPI_Datatype type;
  Bytes bytes, at;
};

/// One element of some parts, in the order of the signature.
Element derived(const std::vector<Part>& parts, Bytes lower, Bytes extent) {
  std::vector<int> lengths(parts.size(), 1);
  std::vector<MPI_Aint> places;
  std::vector<MPI_Datatype> types;
  Element element;
  for (const auto& part : parts) {
    places.push_back(static_cast<MPI_Aint>(part.at));
    types.push_back(part.type);
    for (Bytes i = 0; i < part.bytes; ++i) element.offsets.push_back(part.at + i);
  }
  MPI_Datatype inner = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(static_cast<int>(parts.size()), lengths.data(), places.data(), types.data(), &inner);
  MPI_Type_create_resized(inner, static_cast<MPI_Aint>(lower), static_cast<MPI_Aint>(extent), &type);
  MPI_Type_free(&inner);
  MPI_Type_commit(&type);
  element.type = std::shared_ptr<MPI_Datatype>(new MPI_Datatype(type), [](MPI_Datatype* its) {
    MPI_Type_free(its);
    delete its;
  });
  element.extent = extent;
  return element;
}

Element three_ints(Bytes first, Bytes second, Bytes third, Bytes lower, Bytes extent) {
  return derived({{MPI_INT, int_bytes, first * int_bytes},
                  {MPI_INT, int_bytes, second * int_bytes},
                  {MPI_INT, int_bytes, third * int_bytes}},
                 lower * int_bytes, extent * int_bytes);
}

Element double_int_byte(Bytes number, Bytes whole, Bytes byte, Bytes lower, Bytes extent) {
  return derived({{MPI_DOUBLE, double_bytes, number}, {MPI_INT, int_bytes, whole}, {MPI_BYTE, 1, byte}}, lower, extent);
}

}  // namespace

Bytes Element::least_offset() const { return *std::ranges::min_element(offsets); }
Bytes Element::end_offset() const { return *std::ranges::max_element(offsets) + 1; }

Freedom draw_freedom(Draw& draw, const Switches& switches) {
  const bool gaps = switches.with("gaps") && draw.one_in(2);
  return {gaps, gaps && switches.with("lower-bound")};
}

// NOLINTBEGIN: the numbers are places in an element
Element draw_element(Draw& draw, Family family, Freedom freedom) {
  const bool with_gaps = freedom.gaps;
  const int kind = draw.small(6);
  switch (family) {
    case Family::bytes:
      if (with_gaps && kind == 0) return derived({{MPI_BYTE, 1, 0}}, 0, 2);
      if (kind < 3) return named(MPI_BYTE, 1, 1);
      return derived({{MPI_BYTE, 1, 0}}, 0, 1);
    case Family::doubles:
      if (with_gaps && kind == 0) return derived({{MPI_DOUBLE, double_bytes, 8}}, 0, 24);
      if (freedom.lower_bound && kind == 1) return derived({{MPI_DOUBLE, double_bytes, -8}}, -8, 16);
      return named(MPI_DOUBLE, double_bytes, 1);
    case Family::three_ints:
      if (!with_gaps || kind == 0) return kind % 2 == 0 ? named(MPI_INT, int_bytes, 3) : three_ints(0, 1, 2, 0, 3);
      if (kind == 1) return three_ints(0, 2, 4, 0, 5);
      if (kind == 2) return three_ints(2, 1, 0, 0, 3);
      if (kind == 3) return three_ints(2, 0, 1, 0, 7);
      if (kind == 4 && freedom.lower_bound) return three_ints(-2, 0, 2, -2, 5);
      return three_ints(0, 1, 2, 0, 4);
    case Family::mixed: break;
  }
  if (!with_gaps || kind < 2) return double_int_byte(0, 8, 12, 0, 16);
  if (kind < 4 || !freedom.lower_bound) return double_int_byte(8, 0, 4, 0, 16);
  return double_int_byte(0, -4, 8, -8, 32);
}
// NOLINTEND

}  // namespace commpass::random_test
