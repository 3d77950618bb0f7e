// The measurements of real clusters that predictions are judged by, and their figures.
#pragma once

#include <map>
#include <set>
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
  std::string profile{};       ///< empty: the one of the machine
  bool has_few_nodes = false;  ///< 2 and 4 nodes, and more (few_nodes.hpp)
};

const std::vector<DataSet>& data_sets();

/// Directories, and profiles that stand in for those of machines.
struct World {
  std::string tables, profiles;
  std::map<std::string, std::string> profile_files{};  ///< by machine
};

/// The profile of a machine of the tables, and the sockets of its nodes.
/// @param profile  its name, which is looked for in the world's directory; empty: that of the machine. A machine
/// without a profile has `generic`
JudgedMachine judged_machine(const World& world, const std::string& machine, const std::string& profile);

/// Figures of a data set, with the name of the profile.
struct JudgedSet {
  DataSet set;
  std::string profile;
  std::set<std::string> machines;
  Judgement judgement;
};

/// Judges by a table.
JudgedSet judge_table(const World& world, const DataSet& set, const std::string& path);

/// All data sets.
std::vector<JudgedSet> judge_world(const World& world);

/// Numbers of which none may grow, "SET.FIGURE".
Json bounded_figures(const std::vector<JudgedSet>& sets);

/// A table of a document: its first line, and the others, each with its end.
struct DocumentTable {
  std::string head, rows;
};

/// Those of docs/validation.md.
DocumentTable prediction_table(const std::vector<JudgedSet>& sets);
DocumentTable algorithm_table(const std::vector<JudgedSet>& sets);
DocumentTable choice_table(const std::vector<JudgedSet>& sets);
/// That of README.md.
DocumentTable readme_table(const std::vector<JudgedSet>& sets);

}  // namespace commpass::bench
