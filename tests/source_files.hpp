// The files of the source tree.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace commpass::test {

inline const std::filesystem::path source = COMMPASS_TEST_SOURCE;

inline std::string contents_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// All files but those that are built or hidden.
inline const std::vector<std::filesystem::path>& files() {
  static const auto found = [] {
    namespace fs = std::filesystem;
    std::vector<fs::path> result;
    for (auto entry = fs::recursive_directory_iterator(source); entry != fs::recursive_directory_iterator(); ++entry) {
      const auto name = entry->path().filename().string();
      if (name.starts_with(".") || entry->path() == source / "build") entry.disable_recursion_pending();
      else if (entry->is_regular_file()) result.push_back(entry->path());
    }
    return result;
  }();
  return found;
}

}  // namespace commpass::test
