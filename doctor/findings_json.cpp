
#include "doctor/findings.hpp"
#include "model/base/json.hpp"

namespace commpass {

std::string findings_json(const std::vector<Finding>& findings, const Layout& layout) {
  constexpr auto name_of = [](State state) {
    return state == State::good ? "good" : state == State::attention ? "attention" : "stop";
  };
  Json json;
  json["may_measure"] = may_measure(findings);
  json["layout"] = layout.describe();
  json["findings"] = Json::array();
  for (const auto& finding : findings)
    json["findings"].push_back({{"subject", finding.subject},
                                {"state", name_of(finding.state)},
                                {"text", finding.text},
                                {"remedy", finding.remedy}});
  return json.dump(2) + "\n";
}

}  // namespace commpass
