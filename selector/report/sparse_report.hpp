// The report of `predict --sparse`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "selector/choose/rank_named.hpp"
#include "selector/choose/sparse_choice.hpp"
#include "selector/report/document.hpp"

namespace commpass {

struct SparseRow {
  SparseStrategy strategy;
  Seconds seconds = 0;
  std::vector<SparseStageCost> stages;
};

struct SparseReport {
  ReportContext context;
  std::vector<SparseRow> rows;        ///< by rank, the choice first
  std::optional<SparseRow> plain;     ///< direct+nbx, the baseline; absent: it is chosen
  std::vector<NotPriced> not_priced;  ///< among the named strategies
  std::string note;                   ///< about the prices; empty: none
  double uncertainty = 0;             ///< of the profile: smaller relative differences are ties
};

/// @param top  rows to show; 0: all
Document document_of(const SparseReport& report, std::size_t top = 0);

/// The stages of a strategy with their times, and its comparison with the choice.
std::string explain_sparse(const SparseReport& report, const SparseRow& row);

}  // namespace commpass
