// The scatter plot of predicted and measured times.
#pragma once

#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "selector/report/document.hpp"

namespace commpass {

struct MeasuredPrice {
  std::string strategy;
  Seconds predicted_s = 0, measured_s = 0;
  std::string exchange{};  ///< its name if there are several

  /// Are both from 1e-12 to 1e6 s? Files may have other numbers.
  bool can_be_drawn() const;
};

/// The times in the output of `measure --json` that can be drawn.
/// @param origin  the name of the file, for errors
/// @throws InputError
std::vector<MeasuredPrice> read_measured_prices(const std::string& json, const std::string& origin);

/// A point for each, the diagonal, and a band of 15 % around it.
/// @param prices  at least one
Picture draw_measured(const std::vector<MeasuredPrice>& prices, const std::string& id = "measured");

}  // namespace commpass
