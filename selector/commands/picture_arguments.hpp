// The switches --svg and --picture.
#pragma once

#include <optional>
#include <string>

#include "pictures/pictures.hpp"
#include "selector/commands/prediction.hpp"
#include "selector/report/document.hpp"
#include "selector/report/sweep_report.hpp"

namespace commpass {

/// The pattern whose messages pictures show, or why they show none.
struct DrawnPattern {
  std::optional<Pattern> pattern;
  std::string why_not, remedy;  ///< without a pattern
};
/// Nothing has to be priced for it.
/// @throws InputError as PatternArguments::load
DrawnPattern find_drawn_pattern(const PredictArguments& arguments);

struct PictureArguments {
  std::string svg;   ///< --svg FILE; empty: no picture
  std::string name;  ///< --picture NAME; empty: that which suits best

  void add_to(Command& command);
  /// Before anything is predicted: can the file be written, and is there such a picture?
  /// @param keys  of a sweep; 0: none
  /// @throws InputError
  void check(std::size_t keys) const;
  /// Is it one of messages, which needs a view of them?
  bool shows_messages() const;
  /// Writes the picture, and its numbers beside it: FILE with .csv in place of .svg. Nothing without --svg.
  /// @param view  of the choice, where shows_messages()
  /// @throws InputError
  void write(const PredictArguments& arguments, const Predicted<Report>& prediction, const ExchangeView* view) const;
  void write(const SweepReport& report) const;
};

/// Where the numbers of a picture go: FILE.csv beside FILE.svg; empty for none.
std::string path_of_numbers(const std::string& svg);
/// Can the file FILE.svg and that of its numbers, FILE.csv, be written?
/// @throws InputError
void check_picture_path(const std::string& svg);
/// Both files.
void write_picture(const Picture& picture, const std::string& svg);

}  // namespace commpass
