// The switches --svg and --picture.
#pragma once

#include <string>

#include "pictures/exchange_view.hpp"
#include "pictures/picture.hpp"
#include "selector/commands/prediction.hpp"
#include "selector/report/sweep_report.hpp"

namespace CLI {
class App;
}

namespace commpass {

/// The messages of what was chosen.
/// @param where  the switch that asks, for errors
/// @throws InputError if the exchange was priced without its messages, or has too many
ExchangeView view_chosen(const PredictArguments& arguments, const Prediction& prediction, const std::string& where);

struct PictureArguments {
  std::string svg;   ///< --svg FILE; empty: no picture
  std::string name;  ///< --picture NAME; empty: that which suits best

  void add_to(CLI::App& app);
  /// Before anything is predicted: can the file be written, and is there such a picture?
  /// @param keys  of a sweep; 0: none
  /// @throws InputError
  void check(std::size_t keys) const;
  /// Writes the picture, and its numbers beside it: FILE with .csv in place of .svg. Nothing without --svg.
  /// @throws InputError
  void write(const PredictArguments& arguments, const Prediction& prediction) const;
  void write(const SweepReport& report) const;

 private:
  void write(const Picture& picture) const;
};

}  // namespace commpass
