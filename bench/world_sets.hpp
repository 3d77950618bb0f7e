// The measurements of real clusters that predictions are judged by, and their figures.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/judgement.hpp"
#include "model/base/json.hpp"

namespace commpass::bench {

/// A table in bench/world/, of one machine.
struct DataSet {
  std::string name;  ///< of the file, without .csv
  std::string what;
  std::string profile{};  ///< empty: the one of the machine
};

const std::vector<DataSet>& data_sets();

/// Directories, and profiles that stand in for those of machines.
struct World {
  std::string tables, profiles;
  std::map<std::string, std::string> profile_files{};  ///< by machine
};

/// Figures of a data set, with the name of the profile.
struct JudgedSet {
  DataSet set;
  std::string profile;
  Judgement judgement;
};

/// Judges by a table.
/// @param set  its `profile` is looked for in the world's directory; a machine without a profile has `generic`
JudgedSet judge_table(const World& world, const DataSet& set, const std::string& path);

/// All data sets.
std::vector<JudgedSet> judge_world(const World& world);

/// Numbers of which none may grow, "SET.FIGURE".
Json bounded_figures(const std::vector<JudgedSet>& sets);

/// Rows of the tables of docs/validation.md: of predictions, and of choices.
std::string prediction_rows(const std::vector<JudgedSet>& sets);
std::string choice_rows(const std::vector<JudgedSet>& sets);
inline constexpr const char* prediction_head =
    "| data set | profile | cases | times | priced | median factor | 90 % within | bias | within 2 | order |\n"
    "|---|---|---|---|---|---|---|---|---|---|";
inline constexpr const char* choice_head =
    "| data set | choices | regret, mean | worst | stalls | at most 64 in flight: mean | worst | best fixed rule | its "
    "mean | worst | MPI's own call: mean |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|";
/// Rows of the table of README.md.
std::string readme_rows(const std::vector<JudgedSet>& sets);
inline constexpr const char* readme_head =
    "| real cluster | what | predicted ÷ measured, median factor | choice ÷ fastest measured, mean | best fixed rule | "
    "MPI's own call |\n"
    "|---|---|---|---|---|---|";

}  // namespace commpass::bench
