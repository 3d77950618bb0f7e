// docs/tutorial.md, as its reader runs it: with this build, installed, and MPI.
#include <gtest/gtest.h>

#include "command/console_blocks.hpp"

namespace commpass {
namespace {

TEST(Tutorial, RunsAsItIsShown) {
  const std::filesystem::path source = COMMPASS_TEST_SOURCE;
  EXPECT_GE(test::expect_commands_as_shown(source / "docs/tutorial.md", source.string(),
                                           COMMPASS_TEST_MPI_ENVIRONMENT " OMPI_MCA_rmaps_base_oversubscribe=1 "
                                                                         "OMPI_MCA_mpi_yield_when_idle=1 "
                                                                         "OMPI_MCA_btl_vader_single_copy_mechanism="
                                                                         "none",
                                           COMMPASS_TEST_BUILD),
            10U);
}

}  // namespace
}  // namespace commpass
