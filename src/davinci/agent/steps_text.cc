#include "davinci/agent/steps_text.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "davinci/agent/python_statements.h"

namespace davinci::agent {
bool IsStepName(std::string_view name) {
  return name.size() > 1 && name[0] == 't' && std::ranges::all_of(name.substr(1), [](char c) {
           return std::isdigit(static_cast<unsigned char>(c)) != 0;
         });
}

int StepNumber(std::string_view name) {
  constexpr size_t kMostDigits = 6;
  size_t at = name.size();
  while (at > 0 && std::isdigit(static_cast<unsigned char>(name[at - 1])) != 0) --at;
  const bool number = at > 0 && at < name.size() && name.size() - at <= kMostDigits;
  return number ? std::stoi(std::string(name.substr(at))) : 0;
}

std::set<std::string> NamesOf(std::string_view text) {
  std::set<std::string> names;
  ForNames(text,
           [&](std::string_view name, int, size_t, size_t) { names.emplace(std::string(name)); });
  return names;
}

std::vector<PlanUse> UsesOf(const std::string& plan) {
  std::vector<PlanUse> uses;
  for (std::string_view line : LinesOf(plan)) {
    if (!line.starts_with("# ")) continue;
    line.remove_prefix(2);
    PlanUse use;
    if (line.starts_with(kAlso) && !uses.empty()) {
      line.remove_prefix(kAlso.size());
      use.id = {uses.back().id.kernel, uses.back().id.use + 1};
    } else if (!uses.empty()) {
      use.id.kernel = uses.back().id.kernel + 1;
    }
    use.text = std::string(line);
    const size_t colon = line.find(": "), arrow = line.rfind(" -> ");
    if (colon == std::string_view::npos || arrow == std::string_view::npos || arrow < colon)
      return {};
    for (const std::string& step : ItemsOf(line.substr(0, colon)))
      use.steps.push_back(step.substr(0, step.find(' ')));
    use.reads = ItemsOf(line.substr(colon + 2, arrow - colon - 2));
    use.writes = ItemsOf(line.substr(arrow + 4));
    uses.push_back(std::move(use));
  }
  return uses;
}

std::string NameOfArgument(const std::string& argument) {
  return argument.substr(0, argument.find('='));
}

StepsText ReadSteps(const std::string& steps) {
  StepsText text;
  bool body = false;
  for (const std::string_view line : LinesOf(steps)) {
    if (line.empty() || line.starts_with("return ")) continue;
    if (line.starts_with("forward(")) {
      text.arguments = ItemsOf(line.substr(8, line.rfind(')') - 8));
      continue;
    }
    const size_t equals = line.find(" = "), colon = line.find(": ");
    const std::string name(line.substr(0, std::min({colon, equals, line.size()})));
    if (IsStepName(name) && equals != std::string_view::npos) {
      body = true;
      StepsText::Step step{"", std::string(line), NamesOf(line.substr(equals + 3))};
      if (colon < equals) step.type = line.substr(colon + 2, equals - colon - 2);
      text.steps[name] = std::move(step);
    } else if (!body && equals == std::string_view::npos && colon != std::string_view::npos) {
      const bool input = name.find('.') == std::string::npos;
      if (!input) text.weights.emplace_back(name, line);
      if (!input) continue;
      text.types[name] = line;
      if (std::ranges::find(text.arguments, name, NameOfArgument) == text.arguments.end())
        text.arguments.push_back(name);
    } else if (!body && line.substr(std::min(equals, line.size())).starts_with(" = self")) {
      text.members.emplace_back(name, line);
    } else if (!body && std::isupper(static_cast<unsigned char>(line[0])) != 0) {
      text.sizes = ItemsOf(line);
    } else if (!body && equals != std::string_view::npos) {
      continue;  // a tensor within an argument: "part_1 = pair[0]"
    } else {
      text.effects = true;
    }
  }
  return text;
}

}  // namespace davinci::agent
