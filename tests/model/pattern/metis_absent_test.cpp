#include <gtest/gtest.h>

#include "model/pattern/metis_partition.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

TEST(MetisPartition, SaysHowToGetItWhereItIsNotBuiltIn) {
  test::expect_sentence(test::error_of([] { metis_partition({}, 2); }),
                        {"--partition metis", "without METIS", "libmetis-dev", "--partition block"});
}

}  // namespace
}  // namespace commpass
