#include "davinci/agent/part_code.h"

#include <fmt/format.h>

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
    for (const PlanUse& use : UsesOf(NamedAsWhole(part.plan, part)))
      written_.insert(use.writes.begin(), use.writes.end());
    own_.tail = whole.tail;
  }

  // Adds the use, with what its launch needs. False: the code has no such launch.
  bool Add(const KernelUse& use) {
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

}  // namespace

std::string CodeOfPart(const std::string& code, const StepPart& part) {
  const CodePieces pieces = PiecesOf(code);
  if (!pieces.tail.ends_with("        ...\n")) return "";
  PartCode chosen(pieces, part);
  for (const KernelUse& use : part.uses)
    if (!chosen.Add(use)) return "";
  CodePieces& own = chosen.own();
  const StepsText shown = ReadSteps(NamedAsWhole(part.steps, part));
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
  return NamedAsPart(TextOf(own), part);
}

JoinedCode JoinParts(const std::vector<std::string>& codes) {
  JoinedCode made;
  CodePieces joined;
  std::map<std::string, std::string> texts;  // of functions and constants, by their names
  size_t replayed = 0;
  for (const std::string& code : codes) {
    CodePieces pieces = PiecesOf(code);
    if (joined.tail.empty()) joined.tail = pieces.tail;
    replayed += pieces.tail.find("@replay") != std::string::npos ? 1 : 0;
    std::map<std::string, std::string> names;
    const auto place = [&](const std::string& name, const std::string& text) {
      std::string free = name;
      for (size_t n = 2; texts.contains(free); ++n) free = fmt::format("{}_{}", name, n);
      if (free != name) names[name] = free;
      texts[free] = text;
    };
    std::erase_if(pieces.lines, [&](const TopStatement& line) {
      const Statement& statement = line.statement;
      if (!statement.reads.empty() || statement.makes.size() != 1) return false;
      const auto known = texts.find(statement.makes[0]);
      if (known != texts.end() && known->second == statement.text) return true;
      place(statement.makes[0], statement.text);
      return false;
    });
    made.kernels.emplace_back();
    for (const CodePieces::Function& function : pieces.functions) {
      place(function.name, function.text);
      const auto name = names.find(function.name);
      made.kernels.back().push_back(name == names.end() ? function.name : name->second);
    }
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
  constexpr std::string_view kDecorator = "    @replay\n", kDef = "    def forward(";
  if (const size_t at = joined.tail.find(kDecorator); at != std::string::npos)
    joined.tail.erase(at, kDecorator.size());
  if (const size_t at = joined.tail.find(kDef);
      at != std::string::npos && 2 * replayed >= codes.size() && replayed > 0)
    joined.tail.insert(at, kDecorator);
  if (!codes.empty()) made.code = TextOf(joined);
  return made;
}

}  // namespace davinci::agent
