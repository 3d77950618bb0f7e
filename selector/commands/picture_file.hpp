// The file of a picture and its form: --svg, --format, --width and --no-title.
#pragma once

#include <string>

#include "pictures/svg.hpp"
#include "selector/commands/switches.hpp"
#include "selector/report/document.hpp"

namespace commpass {

struct PictureFile {
  std::string path;    ///< --svg FILE; empty: no picture
  std::string format;  ///< --format; empty: the ending of the path
  std::string width;   ///< --width, as "3.5in"; empty: of a screen
  bool no_title = false;

  /// @param help  of --svg
  void add_to(Command& command, const std::string& help);
  bool is_asked_for() const { return !path.empty(); }
  /// The path, with the ending of the format where it has none.
  std::string file() const;
  /// Its numbers, FILE.csv beside it; empty for no picture.
  std::string numbers() const;
  Frame frame(const std::string& id) const;
  /// Before anything is predicted: are the switches in order, can the files be written, and is there a program that
  /// makes the format?
  /// @throws InputError
  void check() const;
  /// Both files.
  /// @throws InputError
  void write(const Picture& picture) const;
};

}  // namespace commpass
