// The switches --picture and those of its file.
#pragma once

#include <optional>
#include <string>

#include "pictures/pictures.hpp"
#include "selector/commands/picture_file.hpp"
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
  PictureFile file;
  std::string name;  ///< --picture NAME; empty: that which suits best

  void add_to(Command& command);
  /// Before anything is predicted: can the file be written, and is there such a picture?
  /// @param known  the pictures of a kind of prediction
  /// @throws InputError
  void check(const std::vector<std::string>& known) const;
  static const std::vector<std::string> of_prediction, of_sensitivity, of_pareto;
  /// @throws InputError if there is none
  std::vector<std::string> of_sweep(std::size_t keys) const;
  /// Is it one of messages, which needs a view of them?
  bool shows_messages() const;
  /// Writes the picture, and its numbers beside it. Nothing without --svg.
  /// @param view  of the choice, where shows_messages()
  /// @throws InputError
  void write(const PredictArguments& arguments, const Predicted<Report>& prediction, const ExchangeView* view) const;
  void write(const SweepReport& report) const;
  void write(const SensitivityReport& report) const;
  void write_pareto(const Report& report) const;
};

}  // namespace commpass
