// Measurements of patterns, to be known the next time: wisdom, after that of FFTW.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "selector/choose/planner_mode.hpp"

namespace commpass {

/// What a measurement holds for.
struct WisdomKey {
  std::string machine;  ///< the profile's name, processor, processors of a node and MPI library
  std::string layout;   ///< which rank is on which node and socket
  std::string pattern;  ///< PatternDigest
  bool operator==(const WisdomKey&) const = default;
};

struct WisdomEntry {
  WisdomKey key;
  std::string strategy;
  bool new_requests = false;  ///< made for each exchange
  PlannerMode planner = PlannerMode::measure;
  Seconds seconds = 0;  ///< of one exchange
  bool operator==(const WisdomEntry&) const = default;
};

struct Wisdom {
  static constexpr std::size_t most_entries = 4096;
  std::vector<WisdomEntry> entries;  ///< the latest last

  /// The measurement for this key, with this mode or a more patient one; null: none.
  const WisdomEntry* find(const WisdomKey& key, PlannerMode planner) const;
  /// Takes the place of an entry with the same key; of too many the oldest goes.
  void learn(WisdomEntry entry);
  bool operator==(const Wisdom&) const = default;
};

/// @param origin  what to call the text in errors, usually the file name
/// @throws InputError that names the entry and the key
Wisdom parse_wisdom(const std::string& text, const std::string& origin);
/// JSON, with a newline at the end.
std::string to_json(const Wisdom& wisdom);

/// Of a file that is not there: none. @throws InputError
Wisdom read_wisdom(const std::string& path);
/// Adds an entry to what the file holds by now. The file is replaced as a whole or not at all. Programs that do so at
/// once take turns where the file system has locks (flock of its directory); one that holds the lock for more than 5 s
/// is not waited for.
/// @throws InputError; the file is then as it was
void add_wisdom(const std::string& path, const WisdomEntry& entry);

/// How many entries were there, and are gone.
struct Forgotten {
  std::size_t known = 0, forgotten = 0;
};
/// Takes entries out of the file, in turn with those that add some. @throws InputError; the file is then as it was
Forgotten forget_wisdom(const std::string& path, const std::function<bool(const WisdomKey& key)>& is_forgotten);

}  // namespace commpass
