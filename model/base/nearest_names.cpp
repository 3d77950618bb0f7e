#include "model/base/nearest_names.hpp"

#include <algorithm>

#include "model/base/text.hpp"

namespace commpass {

namespace {

/// Letters to insert, to take out, to replace, or neighbours to swap.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before_last, last, row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::move(last);
    last = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view word, const std::vector<std::string>& names) {
  constexpr std::size_t most_names = 3, longest_word = 64, letters_for_each_difference = 3, shortest_beginning = 2;
  constexpr std::size_t long_beginning = 5, longest_ending = 3;  // "strategy", "strategies"
  const auto typed = lower_case(word);
  if (typed.size() > longest_word) return {};
  const auto letters = typed.size() - std::min(typed.find_first_not_of('-'), typed.size());
  const auto most = std::max<std::size_t>(1, letters / letters_for_each_difference);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const auto& name : names) {
    const auto known = lower_case(name);
    if (known.size() > longest_word) continue;
    const auto differences = distance(typed, known);
    const auto same = static_cast<std::size_t>(std::ranges::mismatch(typed, known).in1 - typed.begin());
    const bool is_beginning = letters >= shortest_beginning && same == typed.size();
    const bool is_other_ending =
        same >= long_beginning && std::max(typed.size(), known.size()) <= same + longest_ending;
    if ((differences <= most && differences < known.size()) || is_beginning || is_other_ending)
      near.emplace_back(std::min(differences, most), name);
  }
  std::ranges::stable_sort(near, {}, [](const auto& each) { return each.first; });
  if (near.size() > most_names) near.resize(most_names);
  std::vector<std::string> result;
  for (auto& [differences, name] : near) result.push_back(std::move(name));
  return result;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const auto near = nearest_names(word, names);
  return near.empty() ? "" : "did you mean " + either_of(near) + "? ";
}

std::string either_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
  return text;
}

}  // namespace commpass
