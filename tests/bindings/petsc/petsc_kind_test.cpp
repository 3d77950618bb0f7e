#include "bindings/petsc/petsc_kind.hpp"

#include <gtest/gtest.h>

namespace commpass {
namespace {

constexpr PetscKind debian{3, 18, false, 8, 4};

TEST(PetscKind, IsLoadedByThePetscThatItWasBuiltFor) { EXPECT_EQ(why_not_loaded(debian, debian), ""); }

TEST(PetscKind, IsRefusedByAnotherVersionByName) {
  auto newer = debian;
  newer.minor = 19;
  EXPECT_EQ(
      why_not_loaded(debian, newer),
      "libsfcommpass: it was built for PETSc 3.18 with real numbers of 8 bytes and indices of 4 bytes, and this is "
      "PETSc 3.19 with real numbers of 8 bytes and indices of 4 bytes; load the one that was built for this PETSc.");
}

TEST(PetscKind, IsRefusedByOtherNumbers) {
  auto complex = debian, single = debian, wide = debian, next = debian;
  complex.is_complex = true;
  single.scalar_bytes = 4;
  wide.index_bytes = 8;
  next.major = 4;
  for (const auto& other : {complex, single, wide, next})
    EXPECT_NE(why_not_loaded(debian, other), "") << to_text(other);
}

}  // namespace
}  // namespace commpass
