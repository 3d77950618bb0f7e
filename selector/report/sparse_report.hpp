// What `predict --sparse` tells: a table for people, JSON and CSV for machines.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "selector/choose/sparse_choice.hpp"
#include "selector/report/not_priced.hpp"

namespace commpass {

struct SparseRow {
  SparseStrategy strategy;
  Seconds seconds = 0;
  std::vector<SparseStageCost> stages;
};

struct SparseReport {
  std::vector<std::pair<std::string, std::string>> context;  ///< key and value: profile, layout, pattern, sizes, …
  std::vector<SparseRow> rows;                               ///< as they are ranked, the chosen one first
  std::optional<SparseRow> plain;     ///< direct+nbx, with which the choice is compared; absent: it is chosen
  std::vector<NotPriced> not_priced;  ///< of those that are named
  std::string note;                   ///< what to know about the prices; empty: nothing
  double uncertainty = 0;             ///< of the profile: the part by which predicted times have to differ
};

/// @param top  rows to show; 0: all
std::string sparse_report_table(const SparseReport& report, std::size_t top = 0);
std::string sparse_report_json(const SparseReport& report, std::size_t top = 0);
std::string sparse_report_csv(const SparseReport& report, std::size_t top = 0);

/// What a strategy spends its time on, stage by stage, and how it compares with the choice.
std::string explain_sparse(const SparseReport& report, const SparseRow& row);

}  // namespace commpass
