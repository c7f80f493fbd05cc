#include "davinci/agent/step_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "davinci/agent/python_statements.h"

namespace davinci::agent {
namespace {

constexpr std::string_view kAlso = "also ";

bool IsStepName(std::string_view name) {
  return name.size() > 1 && name[0] == 't' && std::ranges::all_of(name.substr(1), [](char c) {
           return std::isdigit(static_cast<unsigned char>(c)) != 0;
         });
}

// 12 of "t12" and of "a12", a further tensor of that step; 0 of other names.
int StepNumber(std::string_view name) {
  size_t at = name.size();
  while (at > 0 && std::isdigit(static_cast<unsigned char>(name[at - 1])) != 0) --at;
  return at == 0 || at == name.size() ? 0 : std::stoi(std::string(name.substr(at)));
}

std::string_view Stripped(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// What stands between commas outside of brackets.
std::vector<std::string> Items(std::string_view text) {
  std::vector<std::string> items;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] != ',' || depth > 0)) {
      depth += text[i] == '(' || text[i] == '[' ? 1 : text[i] == ')' || text[i] == ']' ? -1 : 0;
      continue;
    }
    if (const auto item = Stripped(text.substr(begin, i - begin)); !item.empty())
      items.emplace_back(item);
    begin = i + 1;
  }
  return items;
}

std::set<std::string> NamesOf(std::string_view text) {
  std::set<std::string> names;
  ForNames(text,
           [&](std::string_view name, int, size_t, size_t) { names.emplace(std::string(name)); });
  return names;
}

// A line of the plan.
struct PlanUse {
  StepPart::Use id;
  std::string text;  // without "# " and "also "
  std::vector<std::string> steps, reads, writes;
};

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
    for (const std::string& step : Items(line.substr(0, colon)))
      use.steps.push_back(step.substr(0, step.find(' ')));
    use.reads = Items(line.substr(colon + 2, arrow - colon - 2));
    use.writes = Items(line.substr(arrow + 4));
    uses.push_back(std::move(use));
  }
  return uses;
}

// The text of steps, line by line.
struct StepsText {
  struct Step {
    std::string type, line;
    std::set<std::string> reads;
  };
  std::vector<std::string> arguments;  // "mask=None"; tensors within an argument behind them
  std::map<std::string, std::string> types;
  std::vector<std::string> sizes;                            // "A = 512"
  std::vector<std::pair<std::string, std::string>> members;  // "m1", its line
  std::vector<std::pair<std::string, std::string>> weights;  // "self.fc.weight", its line
  std::map<std::string, Step> steps;
  bool effects = false;
};

std::string NameOfArgument(const std::string& argument) {
  return argument.substr(0, argument.find('='));
}

StepsText Parsed(const std::string& steps) {
  StepsText text;
  bool body = false;
  for (const std::string_view line : LinesOf(steps)) {
    if (line.empty() || line.starts_with("return ")) continue;
    if (line.starts_with("forward(")) {
      text.arguments = Items(line.substr(8, line.rfind(')') - 8));
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
      text.sizes = Items(line);
    } else if (!body && equals != std::string_view::npos) {
      continue;  // a tensor within an argument: "part_1 = pair[0]"
    } else {
      text.effects = true;
    }
  }
  return text;
}

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
    const std::set<std::string> names = NamesOf(body);
    for (const auto& [name, line] : text_.members)
      if (Names(body, name)) part.steps += line + "\n";
    part.steps += weights;
    for (const std::string& line : lines) part.steps += line + "\n";
    part.steps += "return " + Result() + "\n";
    return part;
  }

 private:
  static constexpr int kFarthest = 4;

  static bool Names(const std::string& text, const std::string& member) {
    for (size_t at = text.find(member); at != std::string::npos; at = text.find(member, at + 1)) {
      const size_t end = at + member.size();
      if ((at == 0 || !IsNamePart(text[at - 1])) && (end == text.size() || !IsNamePart(text[end])))
        return true;
    }
    return false;
  }

  static std::vector<std::string> Sorted(const std::set<std::string>& names) {
    std::vector<std::string> sorted(names.begin(), names.end());
    std::ranges::stable_sort(sorted, {}, StepNumber);
    return sorted;
  }

  // Steps between what kernels read and what their steps read, views for the most part: true where
  // the step's tensors are given, or all made of these.
  bool AddReads(const std::string& name, int farthest) {
    const auto step = text_.steps.find(name);
    if (step == text_.steps.end()) return true;
    std::set<std::string> added;
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

std::vector<StepPart> PartsOf(const std::string& steps, const std::string& plan, size_t most) {
  const StepsText text = Parsed(steps);
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

namespace {

// The code of a reply: functions with their notes, the lines between them, and the class.
struct CodePieces {
  struct Function {
    std::string name, notes, text;
    size_t uses = 0;  // notes
  };
  std::vector<Function> functions;
  std::vector<TopStatement> lines;
  std::string tail;  // from the class on
};

CodePieces PiecesOf(const std::string& code) {
  CodePieces pieces;
  const size_t at = code.starts_with("class ") ? 0 : code.find("\nclass ") + 1;
  const std::string head = at == 0 && !code.starts_with("class ") ? code : code.substr(0, at);
  pieces.tail = code.substr(head.size());
  pieces.lines = TopStatements(head);
  std::string notes;
  bool within = false;  // a function
  for (const std::string_view line : LinesOf(head)) {
    const bool top = !line.empty() && IndentOf(line) == 0;
    if (top && (line.starts_with("@") || line.starts_with("def "))) {
      if (!within || !pieces.functions.back().name.empty()) {
        pieces.functions.push_back({"", std::exchange(notes, ""), "", 0});
        pieces.functions.back().uses =
            static_cast<size_t>(std::ranges::count(pieces.functions.back().notes, '\n'));
      }
      within = true;
      if (line.starts_with("def "))
        pieces.functions.back().name = line.substr(4, line.find('(') - 4);
    } else if (top && !line.starts_with(')')) {
      within = false;
      if (line.starts_with("# ")) notes += std::string(line) + "\n";
      if (!line.starts_with("#")) notes.clear();
    }
    if (within) pieces.functions.back().text += std::string(line) + "\n";
  }
  for (CodePieces::Function& function : pieces.functions)
    while (function.text.ends_with("\n\n")) function.text.pop_back();
  return pieces;
}

// The functions, each in front of the lines up to the first that calls it, and the class.
std::string TextOf(const CodePieces& pieces) {
  std::string text, pending;
  std::set<std::string> written;
  const auto write = [&](const CodePieces::Function& function) {
    if (!written.insert(function.name).second) return;
    text += (text.empty() ? "" : "\n\n") + function.notes + function.text;
  };
  std::set<std::string> names;
  for (const CodePieces::Function& function : pieces.functions) names.insert(function.name);
  for (const TopStatement& line : pieces.lines) {
    pending += line.statement.text + "\n";
    if (!IsLaunchOf(line.statement, names)) continue;
    for (const CodePieces::Function& function : pieces.functions) {
      write(function);
      if (function.name == line.statement.reads[0]) break;
    }
    text += "\n" + std::exchange(pending, "");
  }
  for (const CodePieces::Function& function : pieces.functions) write(function);
  return text + (pending.empty() ? "" : "\n" + pending) + "\n\n" + pieces.tail;
}

// "A, C" of "t3: [A, C]", where that is of the task's floating point type.
std::optional<std::string> FloatShape(std::string_view type) {
  type = type.substr(std::min(type.find(": "), type.size()));
  if (!type.starts_with(": [") || !type.ends_with(']')) return std::nullopt;
  return std::string(type.substr(3, type.size() - 4));
}

// Memory is made as beside the part's steps alone: like its first input of that shape, else by its
// first input, or a weight where it has none. `hidden`: names of the whole that the part does not
// show. Returns whether all lines name what is shown.
bool MakeMemoryOfInputs(const StepsText& part, const std::set<std::string>& hidden,
                        std::vector<TopStatement>* lines) {
  std::vector<std::pair<std::string, std::string>> inputs;  // of the floating point type, shapes
  for (const std::string& argument : part.arguments)
    if (const auto type = part.types.find(NameOfArgument(argument)); type != part.types.end())
      if (const auto shape = FloatShape(type->second)) inputs.emplace_back(type->first, *shape);
  if (inputs.empty())
    for (const auto& [name, line] : part.weights)
      if (const auto shape = FloatShape(line)) inputs.emplace_back(name, *shape);
  for (TopStatement& line : *lines) {
    Statement& statement = line.statement;
    constexpr std::string_view kNew = ".new_empty((", kLike = "torch.empty_like(";
    const std::string begin = statement.makes.size() == 1 ? statement.makes[0] + " = " : "";
    if (begin.empty() || !statement.text.starts_with(begin)) continue;
    std::string call = statement.text.substr(begin.size());
    const size_t new_empty = call.find(kNew);
    const bool like = call.starts_with(kLike);
    if ((!like && new_empty == std::string::npos) || inputs.empty()) continue;
    const auto step = part.steps.find(statement.makes[0]);
    const auto shape =
        step == part.steps.end() ? std::nullopt : FloatShape(": " + step->second.type);
    const auto same = std::ranges::find_if(
        inputs, [&](const auto& input) { return shape && input.second == *shape; });
    if (same != inputs.end()) {
      call = fmt::format("{}{})", kLike, same->first);
    } else if (!like) {
      call.replace(0, new_empty, inputs[0].first);
    } else if (shape) {
      call = fmt::format("{}{}{}{}))", inputs[0].first, kNew, *shape,
                         shape->find(',') == std::string::npos ? "," : "");
    }
    statement = {begin + call, {}, {}};
    Describe(&statement);
  }
  return std::ranges::none_of(*lines, [&](const TopStatement& line) {
    return std::ranges::any_of(line.statement.reads,
                               [&](const std::string& name) { return hidden.contains(name); });
  });
}

std::string Renamed(const std::string& text, const std::map<std::string, std::string>& names) {
  std::string result;
  size_t done = 0;
  ForNames(text, [&](std::string_view name, int, size_t begin, size_t end) {
    const auto found = names.find(std::string(name));
    if (found == names.end()) return;
    result += text.substr(done, begin - done) + found->second;
    done = end;
  });
  return result + text.substr(done);
}

}  // namespace

namespace {

// The names of one use's steps for another use's, by their places in the notes.
std::map<std::string, std::string> OtherSteps(const PlanUse& from, const PlanUse& to) {
  std::map<std::string, std::string> names;
  for (const auto& [old, now] :
       {std::pair(&from.steps, &to.steps), std::pair(&from.reads, &to.reads),
        std::pair(&from.writes, &to.writes)})
    for (size_t i = 0; i < std::min(old->size(), now->size()); ++i)
      if (IsStepName((*old)[i]) && IsStepName((*now)[i])) names.emplace((*old)[i], (*now)[i]);
  return names;
}

// Chooses what a part needs of a whole code.
class PartCode {
 public:
  PartCode(const CodePieces& whole, const StepPart& part) : whole_(whole) {
    for (const CodePieces::Function& function : whole.functions)
      if (function.uses > 0) kernels_.push_back(&function);
    for (const PlanUse& use : UsesOf(part.plan))
      written_.insert(use.writes.begin(), use.writes.end());
    own_.tail = whole.tail;
  }

  // Of a use, with what its launch needs. False: the code has no such launch.
  bool Add(const StepPart::Use& use) {
    if (use.kernel >= kernels_.size()) return false;
    const CodePieces::Function& kernel = *kernels_[use.kernel];
    std::vector<size_t> launches;
    for (size_t i = 0; i < whole_.lines.size(); ++i)
      if (IsLaunchOf(whole_.lines[i].statement, {kernel.name})) launches.push_back(i);
    if (launches.size() != kernel.uses) return false;
    const auto uses = UsesOf(kernel.notes);
    if (uses.size() != kernel.uses) return false;
    AddKernel(kernel, uses[0], uses[use.use]);
    std::set<std::string> needed;
    std::vector<TopStatement> lines;
    for (size_t i = launches[use.use] + 1; i-- > 0;) {
      const Statement& statement = whole_.lines[i].statement;
      const bool makes = std::ranges::any_of(statement.makes, [&](const std::string& name) {
        return needed.contains(name) && (!IsStepName(name) || written_.contains(name));
      });
      if (i != launches[use.use] && !makes) continue;
      for (const std::string& name : statement.makes) needed.erase(name);
      needed.insert(statement.reads.begin(), statement.reads.end());
      if (taken_.insert(i).second) lines.push_back(whole_.lines[i]);
    }
    std::ranges::reverse(lines);
    std::ranges::move(lines, std::back_inserter(own_.lines));
    return true;
  }

  CodePieces& own() { return own_; }

 private:
  // Functions that the kernel calls come with it.
  void AddKernel(const CodePieces::Function& kernel, const PlanUse& first, const PlanUse& use) {
    const auto known = std::ranges::find(own_.functions, kernel.name, &CodePieces::Function::name);
    if (known != own_.functions.end()) {
      known->notes += fmt::format("# {}{}\n", kAlso, use.text);
      return;
    }
    for (const std::string& name : NamesOf(kernel.text)) {
      const auto called = std::ranges::find(whole_.functions, name, &CodePieces::Function::name);
      if (called != whole_.functions.end() && called->uses == 0 &&
          std::ranges::find(own_.functions, name, &CodePieces::Function::name) ==
              own_.functions.end())
        own_.functions.push_back(*called);
    }
    own_.functions.push_back(kernel);
    own_.functions.back().notes = fmt::format("# {}\n", use.text);
    own_.functions.back().text = Renamed(kernel.text, OtherSteps(first, use));
  }

  const CodePieces& whole_;
  std::set<std::string> written_;                     // by the part's kernels
  std::vector<const CodePieces::Function*> kernels_;  // those of the plan
  std::set<size_t> taken_;                            // lines
  CodePieces own_;
};

// The head of the class with the part's signature: "(self, t1, t3)".
std::string WithSignature(std::string tail, const std::vector<std::string>& arguments) {
  constexpr std::string_view kDef = "def forward(self";
  const size_t begin = tail.find(kDef), end = tail.find("):\n", begin);
  if (begin == std::string::npos || end == std::string::npos) return tail;
  std::string signature(kDef);
  for (const std::string& argument : arguments) signature += ", " + argument;
  return tail.replace(begin, end - begin, signature);
}

// Without its name and its steps' numbers, which a kernel's text may differ in.
std::string WithoutNames(const std::string& text, const std::string& name) {
  std::map<std::string, std::string> names = {{name, "_"}};
  ForNames(text, [&](std::string_view found, int, size_t, size_t) {
    if (IsStepName(found)) names.emplace(found, fmt::format("_{}", names.size()));
  });
  return Renamed(text, names);
}

}  // namespace

std::string CodeOfPart(const std::string& code, const StepPart& part) {
  const CodePieces pieces = PiecesOf(code);
  if (!pieces.tail.ends_with("        ...\n")) return "";
  PartCode chosen(pieces, part);
  for (const StepPart::Use& use : part.uses)
    if (!chosen.Add(use)) return "";
  CodePieces& own = chosen.own();
  const StepsText shown = Parsed(part.steps);
  std::set<std::string> hidden;
  if (const auto forward = ForwardOf(pieces.tail)) hidden = forward->parameters;
  for (const TopStatement& line : own.lines)
    for (const std::string& name : line.statement.reads)
      if (IsStepName(name)) hidden.insert(name);
  for (const auto& [name, step] : shown.steps) hidden.erase(name);
  for (const std::string& argument : shown.arguments) hidden.erase(NameOfArgument(argument));
  hidden.erase("self");
  if (!MakeMemoryOfInputs(shown, hidden, &own.lines)) return "";
  own.tail = WithSignature(std::move(own.tail), shown.arguments);
  return TextOf(own);
}

std::string JoinedCode(const std::vector<std::string>& codes) {
  CodePieces joined;
  std::map<std::string, std::string> texts;  // of functions and constants, by their names
  size_t replayed = 0;
  for (const std::string& code : codes) {
    CodePieces pieces = PiecesOf(code);
    if (joined.tail.empty()) joined.tail = pieces.tail;
    replayed += pieces.tail.find("@replay") != std::string::npos ? 1 : 0;
    std::map<std::string, std::string> names;
    const auto place = [&](const std::string& name, const std::string& text) {
      const std::string alike = WithoutNames(text, name);
      for (const auto& [other, known] : texts)
        if (known == alike) {
          if (other != name) names[name] = other;
          return false;
        }
      std::string free = name;
      for (size_t n = 2; texts.contains(free); ++n) free = fmt::format("{}_{}", name, n);
      if (free != name) names[name] = free;
      texts[free] = alike;
      return true;
    };
    std::erase_if(pieces.lines, [&](const TopStatement& line) {
      const Statement& statement = line.statement;
      return statement.reads.empty() && statement.makes.size() == 1 &&
             !place(statement.makes[0], statement.text);
    });
    std::erase_if(pieces.functions, [&](const CodePieces::Function& function) {
      return !place(function.name, function.text);
    });
    for (CodePieces::Function& function : pieces.functions) {
      function.text = Renamed(function.text, names);
      if (const auto name = names.find(function.name); name != names.end())
        function.name = name->second;
      joined.functions.push_back(std::move(function));
    }
    for (TopStatement& line : pieces.lines) {
      line.statement = {Renamed(line.statement.text, names), {}, {}};
      Describe(&line.statement);
      joined.lines.push_back(std::move(line));
    }
  }
  constexpr std::string_view kReplay = "    @replay\n", kDef = "    def forward(";
  if (const size_t at = joined.tail.find(kReplay); at != std::string::npos)
    joined.tail.erase(at, kReplay.size());
  if (const size_t at = joined.tail.find(kDef);
      at != std::string::npos && 2 * replayed >= codes.size() && replayed > 0)
    joined.tail.insert(at, kReplay);
  return codes.empty() ? "" : TextOf(joined);
}

}  // namespace davinci::agent
