// predict --sparse: what a pattern costs as a sparse dynamic data exchange, of which ranks know what they send only.
#pragma once

#include "selector/commands/prediction.hpp"
#include "selector/report/sparse_report.hpp"

namespace commpass {

struct SparsePrediction {
  Profile profile;
  Layout layout;
  SparseReport report;
  std::string explanation;  ///< of what --explain names
};

/// @throws InputError, also for switches that such exchanges have no use for, NotApplicable if nothing has a price
SparsePrediction predict_sparse(const PredictArguments& arguments);

}  // namespace commpass
