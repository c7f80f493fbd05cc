#include "davinci/agent/step_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "davinci/agent/python_statements.h"
#include "davinci/agent/steps_text.h"

namespace davinci::agent {
namespace {

// "self.fc" in "linear(t1, self.fc)", but not in "self.fc2" or "self.fc.bias".
bool HasPath(std::string_view text, std::string_view path) {
  for (size_t at = text.find(path); at != std::string_view::npos; at = text.find(path, at + 1)) {
    const char after = at + path.size() < text.size() ? text[at + path.size()] : ' ';
    const char before = at > 0 ? text[at - 1] : ' ';
    if (!IsNamePart(after) && after != '.' && after != '[' && !IsNamePart(before) && before != '.')
      return true;
  }
  return false;
}

// "a12": a further tensor of step t12.
bool IsFurtherName(std::string_view name) {
  return name.starts_with('a') && IsStepName(fmt::format("t{}", name.substr(1)));
}

using PlanUnit = std::vector<PlanUse>;

// Uses that hand each other tensors which are no steps stay together. Such a tensor comes from the
// last use of the same steps that writes it, else from the last one.
std::vector<PlanUnit> Units(std::vector<PlanUse> uses) {
  std::vector<PlanUnit> units;
  std::vector<size_t> unit_of;
  for (size_t i = 0; i < uses.size(); ++i) {
    size_t unit = units.size();
    for (const std::string& name : uses[i].reads) {
      if (IsStepName(name)) continue;
      std::optional<size_t> from;
      for (size_t j = i; j-- > 0;)
        if (std::ranges::find(uses[j].writes, name) != uses[j].writes.end()) {
          const bool same = uses[j].steps == uses[i].steps;
          if (same || !from) from = unit_of[j];
          if (same) break;
        }
      if (!from || *from == unit) continue;
      if (unit < units.size()) {  // two units meet
        std::ranges::move(units[unit], std::back_inserter(units[*from]));
        units[unit].clear();
        std::ranges::replace(unit_of, unit, *from);
      }
      unit = *from;
    }
    if (unit == units.size()) units.emplace_back();
    units[unit].push_back(uses[i]);
    unit_of.push_back(unit);
  }
  std::erase_if(units, [](const PlanUnit& unit) { return unit.empty(); });
  return units;
}

// The units in an order in which each stands behind those that it needs; of several that could
// follow, the one whose last step is first. Empty: there is none.
class UnitOrder {
 public:
  UnitOrder(const StepsText& text, std::vector<PlanUnit> units)
      : text_(text), units_(std::move(units)) {
    for (size_t i = 0; i < units_.size(); ++i)
      for (const PlanUse& use : units_[i])
        for (const std::string& name : use.writes) makers_.emplace(name, i);
  }

  std::vector<PlanUnit> Run() {
    std::vector<std::set<size_t>> needs(units_.size());
    for (size_t i = 0; i < units_.size(); ++i) {
      std::set<std::string> seen;
      for (const PlanUse& use : units_[i]) {
        for (const std::string& name : use.reads) Collect(name, &seen, &needs[i]);
        for (const std::string& step : use.steps)
          if (const auto found = text_.steps.find(step); found != text_.steps.end())
            for (const std::string& name : found->second.reads) Collect(name, &seen, &needs[i]);
      }
      needs[i].erase(i);
    }
    std::vector<PlanUnit> ordered;
    std::set<size_t> left;
    for (size_t i = 0; i < units_.size(); ++i) left.insert(i);
    while (!left.empty()) {
      std::optional<size_t> next;
      for (const size_t i : left)
        if (std::ranges::none_of(needs[i], [&](size_t other) { return left.contains(other); }) &&
            (!next || LastStep(units_[i]) < LastStep(units_[*next])))
          next = i;
      if (!next) return {};
      left.erase(*next);
      ordered.push_back(std::move(units_[*next]));
    }
    return ordered;
  }

 private:
  static int LastStep(const PlanUnit& unit) {
    int last = 0;
    for (const PlanUse& use : unit)
      for (const auto* names : {&use.steps, &use.writes})
        for (const std::string& name : *names) last = std::max(last, StepNumber(name));
    return last;
  }

  // Units whose kernels make the tensor, or what it is made of.
  void Collect(const std::string& name, std::set<std::string>* seen,
               std::set<size_t>* units) const {
    if (!seen->insert(name).second) return;
    if (const auto maker = makers_.find(name); maker != makers_.end()) {
      units->insert(maker->second);
      return;
    }
    if (const auto step = text_.steps.find(name); step != text_.steps.end())
      for (const std::string& read : step->second.reads) Collect(read, seen, units);
  }

  const StepsText& text_;
  std::vector<PlanUnit> units_;
  std::map<std::string, size_t> makers_;
};

class PartText {
 public:
  PartText(const StepsText& text, std::vector<PlanUse> uses) : text_(text), uses_(std::move(uses)) {
    for (const PlanUse& use : uses_) {
      given_.insert(use.reads.begin(), use.reads.end());
      steps_.insert(use.steps.begin(), use.steps.end());
    }
    for (const std::string& step : std::set<std::string>(steps_)) AddReads(step, kFarthest);
  }

  StepPart Part() const {
    StepPart part;
    std::map<size_t, std::string> plans;  // of kernels
    std::vector<size_t> kernels;
    for (const PlanUse& use : uses_) {
      const bool also = plans.contains(use.id.kernel);
      if (!also) kernels.push_back(use.id.kernel);
      plans[use.id.kernel] += fmt::format("# {}{}\n", also ? kAlso : "", use.text);
      part.uses.push_back(use.id);
    }
    for (const size_t kernel : kernels) part.plan += plans[kernel];
    const std::vector<std::string> lines = StepLines();
    std::string body = part.plan;
    for (const std::string& line : lines) body += line + "\n";
    std::vector<std::string> signature, types;
    const std::set<std::string> inputs = Inputs();
    for (const std::string& argument : text_.arguments) {
      const std::string name = NameOfArgument(argument);
      if (!inputs.contains(name)) continue;
      signature.push_back(argument);
      if (const auto type = text_.types.find(name); type != text_.types.end())
        types.push_back(type->second);
    }
    for (const std::string& name : Sorted(inputs))
      if (const auto step = text_.steps.find(name); step != text_.steps.end()) {
        signature.push_back(name);
        if (!step->second.type.empty())
          types.push_back(fmt::format("{}: {}", name, step->second.type));
      }
    std::string weights;
    for (const auto& [name, line] : text_.weights)
      if (HasPath(body, name) || HasPath(body, name.substr(0, name.rfind('.'))))
        weights += line + "\n";
    body += weights;
    for (const std::string& type : types) body += type + "\n";
    part.steps = fmt::format("forward({})\n", fmt::join(signature, ", "));
    for (const std::string& type : types) part.steps += type + "\n";
    std::vector<std::string> sizes;
    for (const std::string& size : text_.sizes)
      if (HasPath(body, size.substr(0, size.find(' ')))) sizes.push_back(size);
    if (!sizes.empty()) part.steps += fmt::format("{}\n", fmt::join(sizes, ", "));
    for (const auto& [name, line] : text_.members)
      if (HasName(body, name)) part.steps += line + "\n";
    part.steps += weights;
    for (const std::string& line : lines) part.steps += line + "\n";
    part.steps += "return " + Result() + "\n";
    Number(&part);
    return part;
  }

 private:
  static constexpr int kFarthest = 4;

  // Numbers the steps and members of the part from 1; no step gets an argument's name.
  void Number(StepPart* part) const {
    std::set<std::string> arguments;
    for (const std::string& argument : text_.arguments) arguments.insert(NameOfArgument(argument));
    std::map<int, std::vector<std::string>> steps;
    for (const std::string* text : {&part->steps, &part->plan})
      for (const std::string& name : NamesIn(*text))
        if (!arguments.contains(name) && (IsStepName(name) || IsFurtherName(name)))
          steps[StepNumber(name)].push_back(name);
    int number = 0;
    for (const auto& [old, names] : steps) {
      do {
        ++number;
      } while (arguments.contains(fmt::format("t{}", number)) ||
               arguments.contains(fmt::format("a{}", number)));
      for (const std::string& name : names)
        part->names[fmt::format("{}{}", name[0], number)] = name;
    }
    int member = 0;
    for (const auto& [name, line] : text_.members)
      if (HasName(part->steps, name)) part->names[fmt::format("m{}", ++member)] = name;
    part->steps = NamedAsPart(part->steps, *part);
    part->plan = NamedAsPart(part->plan, *part);
  }

  static std::vector<std::string> Sorted(const std::set<std::string>& names) {
    std::vector<std::string> sorted(names.begin(), names.end());
    std::ranges::stable_sort(sorted, {}, StepNumber);
    return sorted;
  }

  // Adds steps between what kernels read and what their steps read, views for the most part. False:
  // what the step reads is too far from what is given.
  bool AddReads(const std::string& name, int farthest) {
    const auto step = text_.steps.find(name);
    if (step == text_.steps.end()) return true;
    for (const std::string& read : step->second.reads) {
      if (!IsStepName(read) || steps_.contains(read) || given_.contains(read)) continue;
      if (farthest == 0 || !text_.steps.contains(read)) return false;
      const std::set<std::string> before = steps_;
      steps_.insert(read);
      const auto& reads = text_.steps.at(read).reads;
      const bool reaches = std::ranges::any_of(reads, [&](const std::string& one) {
        return before.contains(one) || given_.contains(one);
      });
      if (!reaches || !AddReads(read, farthest - 1)) steps_ = before;
    }
    return true;
  }

  std::vector<std::string> StepLines() const {
    std::vector<std::string> lines;
    for (const std::string& name : Sorted(steps_))
      if (const auto step = text_.steps.find(name); step != text_.steps.end())
        lines.push_back(step->second.line);
    return lines;
  }

  // Names of arguments and other steps that the part reads.
  std::set<std::string> Inputs() const {
    std::set<std::string> inputs;
    const auto add = [&](const std::string& name) {
      if (!steps_.contains(name)) inputs.insert(name);
    };
    for (const std::string& name : steps_)
      if (const auto step = text_.steps.find(name); step != text_.steps.end())
        for (const std::string& read : step->second.reads) add(read);
    for (const std::string& name : given_) add(name);
    return inputs;
  }

  std::string Result() const {
    std::set<std::string> made;
    for (const PlanUse& use : uses_)
      for (const std::string& name : use.writes)
        if (IsStepName(name)) made.insert(name);
    const std::vector<std::string> results = Sorted(made.empty() ? steps_ : made);
    if (results.empty()) return "None";
    if (made.empty() || results.size() == 1) return results.back();
    return fmt::format("({})", fmt::join(results, ", "));
  }

  const StepsText& text_;
  std::vector<PlanUse> uses_;
  std::set<std::string> steps_, given_;
};

}  // namespace

std::string NamedAsWhole(std::string_view text, const StepPart& part) {
  return WithNames(text, [&](std::string_view given) {
    const std::string name(given);
    const auto found = part.names.find(name);
    if (found != part.names.end()) return found->second;
    return IsStepName(name) && !HasName(part.steps, name) ? name + "_" : name;
  });
}

std::string NamedAsPart(std::string_view text, const StepPart& part) {
  std::map<std::string, std::string> names;
  for (const auto& [own, whole] : part.names) names[whole] = own;
  return WithNames(text, [&](std::string_view name) {
    const auto found = names.find(std::string(name));
    return found == names.end() ? std::string(name) : found->second;
  });
}

std::vector<StepPart> PartsOf(const std::string& steps, const std::string& plan, size_t most) {
  const StepsText text = ReadSteps(steps);
  if (text.effects || most == 0) return {};
  std::vector<PlanUnit> groups;
  size_t count = 0;  // of the last group's steps
  for (PlanUnit& unit : UnitOrder(text, Units(UsesOf(plan))).Run()) {
    std::set<std::string> own;
    for (const PlanUse& use : unit) own.insert(use.steps.begin(), use.steps.end());
    if (groups.empty() || count + own.size() > most) {
      groups.emplace_back();
      count = 0;
    }
    count += own.size();
    std::ranges::move(unit, std::back_inserter(groups.back()));
  }
  std::vector<StepPart> parts;
  if (groups.size() < 2) return parts;
  for (PlanUnit& group : groups) parts.push_back(PartText(text, std::move(group)).Part());
  return parts;
}

}  // namespace davinci::agent
