#include "selector/choose/wisdom.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/json.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

namespace {

constexpr int schema_version = 1;
constexpr auto* remedy = "delete the file, or name another one";

/// The value of a key. @throws InputError
template <class Value>
Value value_of(const Json& entry, const char* key, const std::string& place) {
  const auto* found = entry.find(key);
  if (!found) throw InputError(place, fmt::format("{} is missing", key), remedy);
  if constexpr (std::is_same_v<Value, double>) {
    if (!found->is_number()) throw InputError(place, fmt::format("{} is no number", key), remedy);
  } else {
    if (!found->is_string()) throw InputError(place, fmt::format("{} is no text", key), remedy);
  }
  return found->get<Value>();
}

bool are_requests_new(const std::string& text, const std::string& place) {
  if (text != "immediate" && text != "persistent")
    throw InputError(place, fmt::format("requests {} are of no kind", text), remedy);
  return text == "immediate";
}

WisdomEntry parse_entry(const Json& json, const std::string& place) {
  constexpr std::size_t keys = 7;
  if (!json.is_object() || json.size() != keys)
    throw InputError(place, fmt::format("it is no object of {} keys", keys), remedy);
  const auto text = [&](const char* key) { return value_of<std::string>(json, key, place); };
  WisdomEntry entry{{text("machine"), text("layout"), text("pattern")}, text("strategy")};
  entry.new_requests = are_requests_new(text("requests"), place);
  try {
    entry.strategy = to_string(parse_strategy(entry.strategy));
    entry.planner = parse_planner_mode(text("planner"));
  } catch (const InputError& error) {
    std::string what = error.what();
    what.pop_back();  // the full stop
    throw InputError(place, what, remedy);
  }
  entry.seconds = value_of<double>(json, "seconds", place);
  if (!(entry.seconds > 0) || !std::isfinite(entry.seconds)) throw InputError(place, "seconds are not above 0", remedy);
  return entry;
}

}  // namespace

const WisdomEntry* Wisdom::find(const WisdomKey& key, PlannerMode planner) const {
  const auto found = std::ranges::find(entries, key, &WisdomEntry::key);
  return found == entries.end() || found->planner < planner ? nullptr : &*found;
}

void Wisdom::learn(WisdomEntry entry) {
  std::erase_if(entries, [&](const WisdomEntry& other) { return other.key == entry.key; });
  if (entries.size() >= most_entries) entries.erase(entries.begin());
  entries.push_back(std::move(entry));
}

Wisdom parse_wisdom(const std::string& text, const std::string& origin) {
  const auto json = Json::parse_or_null(text);
  if (!json.is_object()) throw InputError(origin, "it is no JSON object, so no wisdom was written to it", remedy);
  const auto *schema = json.find("schema"), *entries = json.find("entries");
  if (!schema || *schema != schema_version)
    throw InputError(origin, fmt::format("its schema is not {}", schema_version), remedy);
  if (!entries || !entries->is_array() || entries->size() > Wisdom::most_entries || json.size() != 2)
    throw InputError(origin, fmt::format("it has no list of at most {} entries", Wisdom::most_entries), remedy);
  Wisdom wisdom;
  for (const auto& json_entry : *entries) {
    const auto place = fmt::format("{}: entry {}", origin, wisdom.entries.size());
    auto entry = parse_entry(json_entry, place);
    if (std::ranges::find(wisdom.entries, entry.key, &WisdomEntry::key) != wisdom.entries.end())
      throw InputError(place, "an earlier entry has the same machine, layout and pattern", remedy);
    wisdom.entries.push_back(std::move(entry));
  }
  return wisdom;
}

std::string to_json(const Wisdom& wisdom) {
  Json json{{"schema", schema_version}, {"entries", Json::array()}};
  for (const auto& entry : wisdom.entries)
    json["entries"].push_back({{"machine", entry.key.machine},
                               {"layout", entry.key.layout},
                               {"pattern", entry.key.pattern},
                               {"strategy", entry.strategy},
                               {"requests", entry.new_requests ? "immediate" : "persistent"},
                               {"planner", name_of(entry.planner)},
                               {"seconds", entry.seconds}});
  constexpr int indentation = 2;
  return json.dump(indentation) + "\n";
}

Wisdom read_wisdom(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return {};
  const ReadLimit limit{Bytes{16} << 20, remedy};
  return within_memory(path, [&] { return parse_wisdom(read_file(path, limit), path); });
}

namespace {

/// The turn of who changes a file: a lock of the directory that it is in, since the file itself is replaced. Where
/// there are no such locks, as on some network file systems, all have it.
class Turn {
 public:
  explicit Turn(const std::string& path) {
    std::error_code ignored;
    const auto directory = std::filesystem::weakly_canonical(path, ignored).parent_path();
    descriptor_ = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    constexpr auto pause = std::chrono::milliseconds(2);
    constexpr int most_pauses = 2500;  // 5 s: a disk may take 50 ms for each that is before us
    for (int pauses = 0; descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++pauses) {
      if ((errno != EWOULDBLOCK && errno != EINTR) || pauses == most_pauses) return;
      std::this_thread::sleep_for(pause);
    }
  }
  ~Turn() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace

void add_wisdom(const std::string& path, const WisdomEntry& entry) {
  const Turn turn(path);
  auto wisdom = read_wisdom(path);
  wisdom.learn(entry);
  write_file(path, to_json(wisdom));
}

Forgotten forget_wisdom(const std::string& path, const std::function<bool(const WisdomKey&)>& is_forgotten) {
  const Turn turn(path);
  auto wisdom = read_wisdom(path);
  Forgotten result{wisdom.entries.size(), 0};
  result.forgotten = std::erase_if(wisdom.entries, [&](const WisdomEntry& entry) { return is_forgotten(entry.key); });
  if (result.forgotten > 0) write_file(path, to_json(wisdom));
  return result;
}

}  // namespace commpass
