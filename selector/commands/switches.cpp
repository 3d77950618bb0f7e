#include "selector/commands/switches.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <stdexcept>

#include "model/base/text.hpp"

namespace commpass {

bool Switch::is_named(const std::string& one_name) const {
  const auto names = split(name, ',');
  return std::ranges::find(names, one_name) != names.end();
}

std::string Switch::long_name() const { return split(name, ',').back(); }

Switch profile_switch(Target target, const std::string& more) {
  return {"--profile",
          std::move(target),
          "machine profile: a NAME of 'commpass profile list' or a file" + more,
          {.offer = Offer::profiles}};
}

Switch layout_switch(std::string* layout) {
  return {"--layout",
          layout,
          "NODESxRANKS, GROUPSxNODESxSOCKETSxRANKS, node=4,socket=2,core=8, or a node for each rank: 0,0,1",
          {.excludes = {"--ppn"}}};
}

Switch progress_switch(std::string* progress) {
  return {"--progress", progress, "auto, always or never", {.words = {"auto", "always", "never"}}};
}

Switch sparse_switch(std::string* sizes, const std::string& how, const std::vector<std::string>& excludes) {
  return {"--sparse",
          sizes,
          how +
              " a sparse dynamic data exchange, whose receivers know nothing, with messages of one size (constant) or "
              "of any (variable); strategies are those of such exchanges",
          {.one_of = {"constant", "variable"}, .excludes = excludes}};
}

void Command::add(std::vector<Switch> more) {
  switches.insert(switches.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Switch& Command::find(const std::string& switch_name) {
  const auto find_in = [&](std::vector<Switch>& list) {
    const auto found = std::ranges::find_if(list, [&](const Switch& each) { return each.is_named(switch_name); });
    return found == list.end() ? nullptr : &*found;
  };
  if (auto* found = find_in(switches)) return *found;
  for (auto& each : groups)
    if (auto* found = find_in(each.switches)) return *found;
  throw std::out_of_range(name + " has no switch " + switch_name);
}

SwitchGroup& Command::group(const std::string& group_name) {
  const auto found = std::ranges::find(groups, group_name, &SwitchGroup::name);
  if (found == groups.end()) throw std::out_of_range(name + " has no group " + group_name);
  return *found;
}

void Command::remove(const std::vector<std::string>& switch_names) {
  const auto is_gone = [&](const std::string& each) {
    return std::ranges::find(switch_names, each) != switch_names.end();
  };
  for (const auto& each : switch_names) {
    find(each);
    std::erase_if(switches, [&](const Switch& one) { return one.is_named(each); });
  }
  for (auto& each : switches) {
    std::erase_if(each.rules.needs, is_gone);
    std::erase_if(each.rules.excludes, is_gone);
  }
}

std::vector<const Switch*> all_switches(const Command& command) {
  std::vector<const Switch*> result;
  for (const auto& each : command.switches) result.push_back(&each);
  for (const auto& group : command.groups)
    for (const auto& each : group.switches) result.push_back(&each);
  return result;
}

void OutputFormat::add_to(Command& command) {
  command.add({{"--json", &json, "JSON on stdout"},
               {"--csv", &csv, "the table as comma-separated values, in seconds and bytes", {.excludes = {"--json"}}}});
}

void OutputFormat::print(const Document& document, const std::string& explanation) const {
  const auto form = json ? Form::json : csv ? Form::csv : Form::text;
  const auto words = wrap_lines(form == Form::text && !explanation.empty() ? "\n" + explanation : explanation);
  std::fputs(document.write(form).c_str(), stdout);
  std::fputs(words.c_str(), form == Form::text ? stdout : stderr);
}

}  // namespace commpass
