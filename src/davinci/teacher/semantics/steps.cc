#include "davinci/teacher/semantics/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "davinci/synth/text.h"
#include "davinci/teacher/semantics/python_expression.h"

namespace davinci::teacher {
namespace {

using Form = PythonExpression::Kind;

// What PyTorch's tensors say of themselves, which is no tensor.
constexpr std::array<std::string_view, 4> kFacts = {"shape", "dtype", "device", "ndim"};
constexpr std::array<std::string_view, 4> kFactCalls = {"size", "dim", "numel", "item"};
constexpr std::array<std::string_view, 4> kNoTensors = {"torch.finfo", "torch.iinfo", "torch.Size",
                                                        "torch.device"};

bool Among(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// How tightly the outermost operator binds.
int LevelOf(const PythonExpression& e) {
  if (e.kind == Form::kUnary) return 6;
  if (e.kind != Form::kBinary) return 8;
  static const std::map<std::string, int> levels = {{"|", 2}, {"&", 3}, {"+", 4}, {"-", 4},
                                                    {"*", 5}, {"/", 5}, {"%", 5}, {"//", 5},
                                                    {"@", 5}, {"**", 7}};
  const auto found = levels.find(e.text);
  return found == levels.end() ? 1 : found->second;
}

std::string TextOf(const PythonExpression& e);

std::string OperandText(const PythonExpression& e, int least) {
  return LevelOf(e) < least ? "(" + TextOf(e) + ")" : TextOf(e);
}

std::string ListText(std::span<const PythonExpression> parts) {
  std::vector<std::string> texts;
  for (const PythonExpression& part : parts) texts.push_back(TextOf(part));
  return synth::Join(texts, ", ");
}

std::string CallText(const PythonExpression& e) {
  std::string arguments = ListText(std::span(e.parts).subspan(1));
  for (const auto& [name, value] : e.keywords)
    arguments += fmt::format("{}{}={}", arguments.empty() ? "" : ", ", name, TextOf(value));
  return fmt::format("{}({})", OperandText(e.parts[0], 8), arguments);
}

std::string TextOf(const PythonExpression& e) {
  switch (e.kind) {
    case Form::kNumber:
    case Form::kName:
      return e.text;
    case Form::kString:
      return '"' + e.text + '"';
    case Form::kAttribute:
      return OperandText(e.parts[0], 8) + "." + e.text;
    case Form::kCall:
      return CallText(e);
    case Form::kSubscript:
      return fmt::format("{}[{}]", OperandText(e.parts[0], 8),
                         ListText(std::span(e.parts).subspan(1)));
    case Form::kSlice: {
      std::string text = TextOf(e.parts[0]) + ":" + TextOf(e.parts[1]);
      if (e.parts[2].kind != Form::kNone) text += ":" + TextOf(e.parts[2]);
      return text;
    }
    case Form::kNone:
      return "";
    case Form::kUnary:
      return e.text + OperandText(e.parts[0], 6);
    case Form::kBinary: {
      const int level = LevelOf(e);
      const bool power = e.text == "**";
      return fmt::format("{} {} {}", OperandText(e.parts[0], power ? 8 : level), e.text,
                         OperandText(e.parts[1], power ? 6 : level + 1));
    }
    case Form::kSequence:
      return fmt::format("({}{})", ListText(e.parts), e.parts.size() == 1 ? "," : "");
  }
  return "";
}

// "self.blocks[0].weight": a place below self.
bool IsPlace(const PythonExpression& e) {
  if (e.kind == Form::kName) return e.text == "self";
  return (e.kind == Form::kAttribute || e.kind == Form::kSubscript) && IsPlace(e.parts[0]);
}

bool IsLetter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Straightening {
 public:
  std::string Run(std::string_view text) {
    bool inside = false;
    for (const std::string& line : Statements(text)) {
      constexpr std::string_view kForward = "def forward(self";
      if (line.starts_with(kForward)) {
        inside = true;
        Begin(std::string_view(line).substr(kForward.size()));
      } else if (inside) {
        Statement(line);
      }
    }
    return std::move(lines_);
  }

 private:
  // Lines without their indentation; one with an open bracket goes on in the next.
  static std::vector<std::string> Statements(std::string_view text) {
    std::vector<std::string> statements;
    int open = 0;
    for (const std::string_view line : synth::Split(text, '\n')) {
      const size_t begin = line.find_first_not_of(' ');
      if (begin == std::string_view::npos) continue;
      if (open > 0)
        statements.back() += line.substr(begin);
      else
        statements.emplace_back(line.substr(begin));
      for (const char c : line) open += c == '(' || c == '[' || c == '{';
      for (const char c : line) open -= c == ')' || c == ']' || c == '}';
    }
    return statements;
  }

  // `rest`: ", x, mask=None):"
  void Begin(std::string_view rest) {
    rest = rest.substr(0, rest.rfind(')'));
    while (!rest.empty() && (rest[0] == ',' || rest[0] == ' ')) rest.remove_prefix(1);
    lines_ = fmt::format("forward({}):\n", rest);
    for (const std::string_view part : synth::Split(rest, ',')) {
      const size_t begin = part.find_first_not_of(" *");
      if (begin == std::string_view::npos) continue;
      size_t end = begin;
      while (end < part.size() && IsLetter(part[end])) ++end;
      tensors_.emplace(part.substr(begin, end - begin));
    }
  }

  void Statement(const std::string& line) {
    constexpr std::string_view kReturn = "return ", kIs = " = ";
    if (line.starts_with(kReturn)) {
      auto value = PythonExpression::Parse(std::string_view(line).substr(kReturn.size()));
      if (!value.ok()) return Emit(Renamed(line));
      Rename(&*value);
      Child(&*value);
      return Emit(std::string(kReturn) + TextOf(*value));
    }
    const size_t is = line.find(kIs);
    auto value = is == std::string::npos
                     ? Result<PythonExpression>(InvalidArgument("no assignment"))
                     : PythonExpression::Parse(std::string_view(line).substr(is + kIs.size()));
    const std::vector<std::string> targets = TargetsOf(line.substr(0, is));
    if (targets.empty()) return Emit(Renamed(line));
    if (!value.ok()) {
      const std::string text = Renamed(line.substr(is + kIs.size()));
      return Emit(fmt::format("{} = {}", NewNames(targets), text));
    }
    Rename(&*value);
    if (!IsTensor(*value)) return Emit(fmt::format("{} = {}", line.substr(0, is), TextOf(*value)));
    if (targets.size() == 1 && IsAtom(*value)) {
      names_[targets[0]] = *value;
      return;
    }
    Parts(&*value);
    const std::string text = TextOf(*value);
    Emit(fmt::format("{} = {}", NewNames(targets), text));
  }

  // "a, b" -> {"a", "b"}; nothing: the left side is no names.
  static std::vector<std::string> TargetsOf(std::string_view left) {
    std::vector<std::string> targets;
    for (std::string_view part : synth::Split(left, ',')) {
      while (part.starts_with(' ')) part.remove_prefix(1);
      if (part.empty() || !std::ranges::all_of(part, IsLetter)) return {};
      targets.emplace_back(part);
    }
    return targets;
  }

  void Emit(const std::string& line) { lines_ += line + "\n"; }

  std::string NewName() {
    std::string name;
    do {
      name = fmt::format("t{}", ++count_);
    } while (tensors_.contains(name));
    tensors_.insert(name);
    return name;
  }

  std::string NewNames(const std::vector<std::string>& targets) {
    std::vector<std::string> made;
    for (const std::string& target : targets) {
      made.push_back(target == "_" ? "_" : NewName());
      names_[target] = {Form::kName, made.back(), {}, {}};
    }
    return synth::Join(made, ", ");
  }

  void Rename(PythonExpression* e) const {
    if (e->kind == Form::kName)
      if (const auto found = names_.find(e->text); found != names_.end()) *e = found->second;
    for (PythonExpression& part : e->parts) Rename(&part);
    for (auto& keyword : e->keywords) Rename(&keyword.value);
  }

  // The same in a text that is not parsed: names that follow no dot and stand in no quotes.
  std::string Renamed(std::string_view text) const {
    std::string renamed;
    for (size_t i = 0; i < text.size();) {
      size_t end = i;
      while (end < text.size() && IsLetter(text[end])) ++end;
      if (text[i] == '"' || text[i] == '\'') {
        end = std::min(text.find(text[i], i + 1), text.size() - 1) + 1;
        renamed += text.substr(i, end - i);
        i = end;
        continue;
      }
      if (end == i) {
        renamed += text[i++];
        continue;
      }
      const std::string word(text.substr(i, end - i));
      const auto found = names_.find(word);
      const bool member = i > 0 && text[i - 1] == '.';
      renamed += found == names_.end() || member ? word : TextOf(found->second);
      i = end;
    }
    return renamed;
  }

  bool IsTensor(const PythonExpression& e) const {
    switch (e.kind) {
      case Form::kName:
        return tensors_.contains(e.text);
      case Form::kAttribute:
        return !Among(kFacts, e.text) && (IsPlace(e) || IsTensor(e.parts[0]));
      case Form::kSubscript:
        return IsPlace(e) || IsTensor(e.parts[0]);
      case Form::kUnary:
      case Form::kBinary:
        return std::ranges::any_of(e.parts, [&](const auto& part) { return IsTensor(part); });
      case Form::kCall:
        return GivesTensor(e);
      default:
        return false;
    }
  }

  bool GivesTensor(const PythonExpression& call) const {
    const PythonExpression& function = call.parts[0];
    const std::string name = function.DottedName();
    if (Among(kNoTensors, name)) return false;
    if (name.starts_with("torch.") || name.starts_with("F.") || IsPlace(function)) return true;
    if (function.kind == Form::kAttribute)
      return !Among(kFactCalls, function.text) && IsTensor(function.parts[0]);
    return std::any_of(call.parts.begin() + 1, call.parts.end(),
                       [&](const PythonExpression& part) { return IsTensor(part); });
  }

  static bool IsAtom(const PythonExpression& e) { return e.kind == Form::kName || IsPlace(e); }

  // Tensors that the expression computes first get names.
  void Parts(PythonExpression* e) {
    size_t first = 0;
    if (e->kind == Form::kCall) {
      first = 1;  // a function is no tensor; what it is a method of may be one
      PythonExpression& function = e->parts[0];
      if (function.kind == Form::kAttribute) Child(&function.parts[0]);
    }
    for (size_t i = first; i < e->parts.size(); ++i) Child(&e->parts[i]);
    for (auto& keyword : e->keywords) Child(&keyword.value);
  }

  void Child(PythonExpression* e) {
    if (e->kind == Form::kSequence || e->kind == Form::kSlice) {
      for (PythonExpression& part : e->parts) Child(&part);
      return;
    }
    if (!IsTensor(*e) || IsAtom(*e)) return;
    Parts(e);
    const std::string text = TextOf(*e), name = NewName();
    Emit(fmt::format("{} = {}", name, text));
    *e = {Form::kName, name, {}, {}};
  }

  std::string lines_;
  std::set<std::string, std::less<>> tensors_;     // names of arguments and results
  std::map<std::string, PythonExpression> names_;  // of the text's variables
  int count_ = 0;
};

}  // namespace

std::string StepsOf(std::string_view text) { return Straightening().Run(text); }

}  // namespace davinci::teacher
