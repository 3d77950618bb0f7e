#include "runtime/sparse/sparse_class.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace commpass {
namespace {

TEST(SparseClass, OfExpectedTrafficIsNearThatOfSuchAnExchange) {
  for (const auto& layout : {Layout::with_ppn(1, 1), Layout::with_ppn(2, 2), Layout::with_ppn(7, 3),
                             Layout::with_ppn(64, 1), Layout::with_ppn(4096, 32)})
    for (double messages = 0; messages <= 4096; messages = 2 * messages + 1)
      for (const double bytes : {0.0, 1.0, 100.0, 1e6}) {
        const auto rough = class_of_expected(messages, bytes, layout),
                   all = class_of(expected_traffic(messages, bytes, layout), layout.ranks());
        constexpr std::size_t of_a_node = 3;  // whose messages expected_traffic() rounds down
        for (std::size_t i = 0; i < all.size(); ++i) {
          if (messages == 1 && i == of_a_node) continue;
          EXPECT_LE(std::abs(rough[i] - all[i]), 1)
              << "number " << i << ", " << messages << " messages of " << bytes << ", " << layout.describe();
        }
      }
}

TEST(SparseClass, TakesAnyHint) {
  const auto layout = Layout::with_ppn(8, 2);
  const auto nothing = class_of_expected(0, 0, layout), most = class_of_expected(7, 1e10, layout);
  constexpr auto infinity = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(class_of_expected(-1, none, layout), nothing);
  EXPECT_EQ(class_of_expected(none, 8, layout), nothing);
  EXPECT_EQ(class_of_expected(infinity, 1e30, layout), most);
  EXPECT_NE(class_of_expected(7, 8, layout), most);
}

}  // namespace
}  // namespace commpass
