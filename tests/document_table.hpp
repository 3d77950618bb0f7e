// Tables of documents that the code also has.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "model/support.hpp"

namespace commpass::test {

/// Compares a table with that of a document, which ends at an empty line. UPDATE_GOLDEN in the environment rewrites the
/// document.
/// @param head  the first line of the table
/// @param rows  the other lines, each with its end
inline void expect_table(const std::string& path, const std::string& head, const std::string& rows) {
  auto text = contents_of(path);
  const auto head_begin = text.find("\n" + head + "\n");
  ASSERT_NE(head_begin, std::string::npos) << path << " has no table " << head;
  const auto begin = head_begin + head.size() + 2, end = text.find("\n\n", begin - 1) + 1;
  if (std::getenv("UPDATE_GOLDEN")) std::ofstream(path) << text.replace(begin, end - begin, rows);
  else EXPECT_EQ(text.substr(begin, end - begin), rows) << "UPDATE_GOLDEN=1 rewrites " << path;
}

}  // namespace commpass::test
