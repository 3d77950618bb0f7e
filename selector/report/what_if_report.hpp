// The reports of `predict --sensitivity` and `predict --pareto`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "selector/report/report.hpp"

namespace commpass {

/// Another choice, where a parameter is multiplied by a factor.
struct ChangedChoice {
  double factor = 1;
  std::optional<Strategy> strategy{};  ///< nothing: no other choice was found
};

/// What a parameter of the profile does to the prediction. Prices are ratios to that of the profile.
struct Sensitivity {
  std::string parameter;     ///< as --set takes it
  double least, most;        ///< its values in the profile, in its unit: those of several protocols
  double doubled, halved;    ///< price of the choice with twice the parameter, and with half of it
  ChangedChoice rise, fall;  ///< the nearest factors above and below 1 with another choice
};

struct SensitivityReport {
  ReportContext context;
  std::string chosen;
  Seconds predicted_s = 0;
  std::vector<Sensitivity> parameters;  ///< those that matter, the strongest first
  std::size_t without_effect = 0;       ///< the number of the others
  std::size_t contenders = 0;           ///< the number of strategies among which the choice is made again
};

/// Factors between which another choice is looked for: 1 / most and most.
inline constexpr double sensitivity_factor_max = 16;

Document document_of(const SensitivityReport& report);

/// "+9 %", "-3.5 %", "as now"; more than twice as much is "2.5 times".
std::string format_change(double ratio);
/// "*1.3: standard".
/// @param change  with a strategy
std::string describe_change(const ChangedChoice& change);

/// The priced strategies of a report, and those among them that no other one beats or equals in time, memory for
/// forwarded blocks and partners of a rank at once. The fastest come first.
struct ParetoFront {
  std::vector<const Candidate*> known, front;
};
/// @throws InputError if memory and partners are not known of any strategy
ParetoFront pareto_front(const Report& report);

/// JSON and CSV have the strategies of the front.
Document pareto_document(const Report& report);

}  // namespace commpass
