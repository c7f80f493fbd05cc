#include "davinci/teacher/cards/card_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

using synth::AttrSpec;
using synth::Operator;
using synth::OutputSpec;
using synth::ShapeSpec;
using synth::ShapeToken;

std::string ShapeText(const ShapeSpec& shape) {
  std::vector<std::string> parts;
  for (const ShapeToken& token : shape) {
    switch (token.kind) {
      case ShapeToken::Kind::kStar:
        parts.emplace_back("...");
        break;
      case ShapeToken::Kind::kStarOnes:
        parts.emplace_back("1...");
        break;
      case ShapeToken::Kind::kBroadcast:
        parts.emplace_back("broadcast");
        break;
      case ShapeToken::Kind::kName:
        parts.push_back(token.name);
        break;
      case ShapeToken::Kind::kExpression:
        parts.push_back(token.expression.source);
        break;
    }
  }
  return "(" + synth::Join(parts, ", ") + ")";
}

std::string OutputText(const OutputSpec& output) {
  switch (output.rule) {
    case OutputSpec::Rule::kShape:
      return ShapeText(output.shape);
    case OutputSpec::Rule::kReduce:
      return "without dim";
    case OutputSpec::Rule::kBroadcast:
      return "broadcast";
    case OutputSpec::Rule::kConcat:
      return "joined";
    case OutputSpec::Rule::kSwap:
      return "swapped";
    case OutputSpec::Rule::kInsert:
      return "with one axis more";
    case OutputSpec::Rule::kMove:
      return "moved";
  }
  return "";
}

// "x (R, D), y (R, D) -> (R)"
std::string Shapes(const Operator& op) {
  std::vector<std::string> inputs, outputs;
  for (const synth::InputSpec& input : op.inputs)
    inputs.push_back(input.name + " " + ShapeText(input.shape));
  for (const OutputSpec& output : op.outputs) outputs.push_back(OutputText(output));
  return synth::Join(inputs, ", ") + " -> " + synth::Join(outputs, ", ");
}

// Numbers that the definition names, as the minimal module has them; of an invented operator, all
// arguments.
std::string Numbers(const CardSubject& subject, const synth::SampledTask& task) {
  std::string text;
  for (const synth::Node& node : task.graph.nodes) {
    if (node.op != subject.op) continue;
    for (const AttrSpec& attr : node.op->attrs) {
      const auto& value = node.attrs.find(attr.name)->second;
      std::string number;
      if (const auto* real = std::get_if<double>(&value)) number = synth::FloatText(*real);
      if (const auto* whole = std::get_if<int64_t>(&value)) number = std::to_string(*whole);
      if (const auto* word = std::get_if<std::string>(&value)) number = "\"" + *word + "\"";
      if (subject.invented != nullptr) {
        if (const auto* flag = std::get_if<bool>(&value)) number = *flag ? "True" : "False";
        if (const auto* axes = std::get_if<std::vector<int>>(&value))
          number = fmt::format("{}", fmt::join(*axes, ", "));
      }
      if (!number.empty())
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", attr.py, number);
    }
    break;
  }
  return text;
}

// The form in names of its arguments, without those that have a default.
std::string Readable(const std::string& form, const Operator& op) {
  std::string text = synth::WithPlaceholders(form, [&](const std::string& name, bool) {
    if (name.starts_with("kw:")) return std::string();
    const AttrSpec* attr = op.Attr(name);
    return name.starts_with("opt:") ? ", " + name.substr(4) : attr != nullptr ? attr->py : name;
  });
  return synth::Replaced(synth::Replaced(std::move(text), "(, ", "("), "prim_", "");
}

// How PyTorch calls it, each name once.
std::string CallsText(const CardSubject& subject, const Veil* veil) {
  constexpr size_t kMostShown = 3;
  std::vector<std::string> shown;
  for (size_t i = 0; i < subject.calls.size() && shown.size() < kMostShown; ++i) {
    std::string text = Readable(subject.call_forms[i], *subject.op);
    if (veil != nullptr) text = Veiled(std::move(text), subject, *veil);
    if (std::find(shown.begin(), shown.end(), text) == shown.end()) shown.push_back(text);
  }
  return synth::Join(shown, ", ");
}

// PyTorch's names of the operators of a block: retrieval finds the block by them.
std::string NamesInBlock(const synth::Graph& graph) {
  std::vector<std::string> names;
  const auto add = [&](std::string name) {
    name.erase(0, name.rfind('.') + 1);
    const auto same = [&](const std::string& other) {
      return synth::Lower(synth::Replaced(other, "_", "")) ==
             synth::Lower(synth::Replaced(name, "_", ""));
    };
    if (std::none_of(names.begin(), names.end(), same)) names.push_back(name);
  };
  for (const synth::Node& node : graph.nodes) {
    if (node.op->view) continue;
    for (const auto& [kind, forms] : node.op->spell)
      for (const std::string& form : forms)
        if (const std::string call = CallOfForm(form); !call.empty()) add(call);
  }
  return synth::Join(names, ", ");
}

// The constructor's modules, unless forward alone is asked for, and the lines of forward.
std::string ModuleLines(const std::string& source, bool forward_alone) {
  std::string text;
  bool forward = false, open = false;  // open: a constructor over several lines
  for (const std::string_view line : synth::Split(source, '\n')) {
    const std::string_view trimmed = synth::Trim(line);
    if (line.starts_with("    def ")) forward = line.starts_with("    def forward");
    if (line.starts_with("def ")) break;
    if (!line.starts_with("        ") || trimmed.starts_with("super(")) continue;
    if (!forward && forward_alone) continue;
    if (!forward && !open && trimmed.find("= nn.") == std::string_view::npos) continue;
    if (!forward) open = trimmed.ends_with('(') || (open && !trimmed.starts_with(')'));
    text += std::string(trimmed) + "\n";
  }
  return text;
}

// Pitfalls of a kernel of this kind.
std::string Pitfalls(const CardSubject& subject, const std::string& example) {
  const auto has = [&](std::string_view text) { return example.find(text) != std::string::npos; };
  std::string text;
  if (has("row_sum(") || has("tl.sum(")) text += " Lanes outside of a row add 0.";
  if (has("row_max") || has("row_min")) text += " Lanes outside of a row hold an infinity.";
  if (has("_nan(")) text += " NaN stays NaN.";
  if (has(" % ") && has(" // ")) text += " The index is taken apart by the sizes of the result.";
  if (subject.op != nullptr && !subject.op->half) text += " For fp32.";
  return text;
}

// The kernels of a block without those that have one tensor beside the result: pointwise ones.
std::string WithoutPointwise(const std::string& example) {
  constexpr std::string_view kKernel = "@kernel\ndef ", kBetween = "\n\n\n";
  std::vector<std::string> pieces;
  std::string left_out;
  bool kernels = false;
  for (size_t begin = 0; begin < example.size();) {
    const size_t end = std::min(example.find(kBetween, begin), example.size());
    const std::string piece = example.substr(begin, end - begin);
    begin = end + kBetween.size();
    const size_t at = piece.find(kKernel);
    const std::string head =
        at == std::string::npos ? "" : piece.substr(at, piece.find(":\n", at) - at);
    if (head.ends_with("(o, N)") || head.ends_with("(x, o, N)")) {
      left_out += fmt::format("{}{}", left_out.empty() ? "" : ", ",
                              head.substr(kKernel.size(), head.find('(') - kKernel.size()));
      continue;
    }
    kernels = kernels || !head.empty();
    if (piece.starts_with("class ") && !left_out.empty())
      pieces.push_back(fmt::format("# {}: pointwise", left_out));
    pieces.push_back(piece);
  }
  return left_out.empty() || !kernels ? example : synth::Join(pieces, kBetween);
}

}  // namespace

std::string CardName(std::string_view subject) {
  return synth::Lower(synth::Replaced(std::string(subject), "_", "-"));
}

skill::Skill CardSkill(const CardSubject& subject, const synth::SampledTask& task,
                       const std::string& example, Language language, const Veil* veil,
                       bool shortened) {
  skill::Skill card;
  const std::string name = veil != nullptr ? veil->function : subject.name;
  card.name = CardName(name);
  card.scope = std::string(skill::Skill::kCardScope) + name;
  card.tags = {std::string(LanguageName(language)), language == Language::kCpp ? "cpu" : "cuda"};
  const std::string calls = CallsText(subject, veil);
  // A card of an invented name looks like any other, or a model would read these alone.
  std::string title = veil != nullptr ? synth::Replaced(name, "_", " ") : subject.title;
  if (subject.op == nullptr) title += ": " + NamesInBlock(task.graph);
  card.description = calls.empty() ? title : calls + ": " + title;
  std::string what, idea, kernels = example;
  if (subject.op != nullptr) {
    what = Shapes(*subject.op);
    const std::string numbers = Numbers(subject, task);
    if (!numbers.empty()) what += "; " + numbers;
    const std::string& form = veil != nullptr && !veil->form.empty() ? veil->form : subject.form;
    idea = !subject.means.empty() ? "`" + subject.means + "`."
           : !form.empty()        ? "`" + Readable(form, *subject.op) + "`."
                                  : title + ".";
  } else {
    if (shortened) kernels = WithoutPointwise(example);
    what = subject.title;
    idea = "```python\n" + ModuleLines(task.text.source, shortened) + "```\n";
  }
  idea += Pitfalls(subject, kernels);
  card.content =
      fmt::format("## Motivation\n\n{}\n\n## Key Idea\n\n{}\n\n## Example\n\n```python\n{}```",
                  what, synth::Trim(idea), kernels);
  return card;
}

}  // namespace davinci::teacher
