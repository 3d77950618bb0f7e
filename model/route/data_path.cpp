#include "model/route/data_path.hpp"

#include <fmt/core.h>

#include "model/base/error.hpp"
#include "model/base/text.hpp"

namespace commpass {

namespace {

// As many as a profile may tell copies of.
constexpr int most_copies = 1 << 20;

int parse_copies(const std::string& text, const std::string& where) {
  const auto copies = parse_number<int>(text);
  if (!copies || *copies < 1 || *copies > most_copies)
    throw InputError("strategy " + where, "copies=" + text + " is out of range",
                     "use the processes that copy the data of one rank at once, 1 or more");
  return *copies;
}

}  // namespace

DataPath parse_data_path(const std::string& text, const std::string& where) {
  const auto fail = [&](const std::string& what) {
    return InputError("strategy " + where, what, "use @device, @staged or @staged,copies=K, or leave it out");
  };
  const auto pieces = split(text, ',');
  if (pieces.size() == 1 && pieces[0] == "host") return {};
  if (pieces.size() == 1 && pieces[0] == "device") return {DataPath::Kind::device};
  if (pieces[0] != "staged") throw fail("'@" + text + "' is no memory path");
  DataPath path{DataPath::Kind::staged};
  if (pieces.size() == 1) return path;
  const std::string copies = "copies=";
  if (pieces.size() > 2 || !pieces[1].starts_with(copies)) throw fail("'@" + text + "' is no memory path");
  path.copies = parse_copies(std::string(pieces[1].substr(copies.size())), where);
  return path;
}

std::string to_string(const DataPath& path) {
  std::string text = path.is_shared ? ",shared" : "";
  switch (path.kind) {
    case DataPath::Kind::host: return text;
    case DataPath::Kind::device: return text + "@device";
    case DataPath::Kind::staged:
      return text + (path.copies == 1 ? "@staged" : fmt::format("@staged,copies={}", path.copies));
  }
  return "?";
}

const char* name_of(DataPlace place) { return place == DataPlace::host ? "host" : "device"; }

}  // namespace commpass
