#include "davinci/teacher/cards/veil.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/cards/names.h"

namespace davinci::teacher {
namespace {

using synth::AttrSpec;
using synth::Node;
using synth::NodeText;

const std::vector<std::string>& Modules() {
  static const std::vector<std::string> all = {"ops",    "layers",   "custom_ops", "functional",
                                               "extra",  "modules",  "nn_ops",     "primitives",
                                               "common", "building", "core_ops",   "blocks"};
  return all;
}

template <typename T>
const T& Pick(const std::vector<T>& from, SplitMix64* rng) {
  return from[rng->Below(from.size())];
}

// Positions at which a text calls a name.
size_t FindCall(std::string_view text, const std::string& call, size_t from) {
  const std::string with_bracket = call + "(";
  for (size_t at = text.find(with_bracket, from); at != std::string_view::npos;
       at = text.find(with_bracket, at + 1))
    if (at == 0 || (!synth::IsWordChar(text[at - 1]) && text[at - 1] != '.')) return at;
  return std::string_view::npos;
}

bool Calls(std::string_view text, const std::string& call) {
  return FindCall(text, call, 0) != std::string_view::npos;
}

std::string WithCall(std::string text, const std::string& call, const std::string& instead) {
  for (size_t at = FindCall(text, call, 0); at != std::string::npos;
       at = FindCall(text, call, at + instead.size()))
    text.replace(at, call.size(), instead);
  return text;
}

// The spelling that makes a node's call: a module's constructor, or the form itself.
const std::string& CallText(const NodeText& text) {
  return text.module.empty() ? text.form : text.constructor;
}

// Three digits, which PyTorch prints as they are.
double Rounded(double value) {
  if (value == 0) return 0;
  const double scale = std::pow(10.0, 2 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

// The form with other real numbers; "": it has none.
std::string OtherForm(const std::string& form, SplitMix64* rng) {
  std::string other;
  bool changed = false;
  for (size_t i = 0; i < form.size();) {
    const bool digit = std::isdigit(static_cast<unsigned char>(form[i])) != 0;
    if (!digit || (i > 0 && (synth::IsWordChar(form[i - 1]) || form[i - 1] == '.'))) {
      other += form[i++];
      continue;
    }
    size_t end = i;
    while (end < form.size() &&
           (std::isdigit(static_cast<unsigned char>(form[end])) != 0 || form[end] == '.' ||
            form[end] == 'e' || (form[end] == '-' && form[end - 1] == 'e')))
      ++end;
    const std::string number = form.substr(i, end - i);
    i = end;
    const double value = std::strtod(number.c_str(), nullptr);
    if (number.find('.') == std::string::npos || value == 0 || rng->Uniform() < 0.25) {
      other += number;
      continue;
    }
    other += synth::FloatText(OtherNumber(value, rng));
    changed = true;
  }
  return changed ? other : "";
}

// Attributes that the text leaves out because they are PyTorch's defaults: they may be others.
std::map<std::string, double> OtherDefaults(const CardSubject& subject,
                                            const synth::SampledTask& task, SplitMix64* rng) {
  std::map<std::string, double> attrs;
  for (const AttrSpec& attr : subject.op->attrs) {
    if (attr.kind != AttrSpec::Kind::kFloats || !attr.default_number || *attr.default_number == 0)
      continue;
    bool left_out = !synth::HasWord(task.text.source, attr.py);
    for (size_t i = 0; i < task.graph.nodes.size(); ++i) {
      const Node& node = task.graph.nodes[i];
      if (node.op != subject.op) continue;
      const auto* value = std::get_if<double>(&node.attrs.find(attr.name)->second);
      left_out = left_out && value != nullptr && *value == attr.default_number.value() &&
                 CallText(task.text.parts.nodes[i]).find("{kw:") != std::string::npos;
    }
    if (left_out && rng->Uniform() < 0.8)
      attrs[attr.name] = OtherNumber(attr.default_number.value(), rng);
  }
  return attrs;
}

// The operator's definition as Python in the task's file.
std::string Definition(const CardSubject& subject, const Veil& veil, bool as_class) {
  const synth::Operator& op = *subject.op;
  std::string body = veil.form.empty() ? subject.form : veil.form;
  std::vector<std::string> inputs, given;
  for (const synth::InputSpec& input : op.inputs) {
    inputs.push_back(input.name);
    body = synth::Replaced(body, "{" + input.name + "}", input.name);
  }
  std::string kept;
  for (const AttrSpec& attr : op.attrs) {
    const auto other = veil.attrs.find(attr.name);
    const std::optional<double> number =
        other != veil.attrs.end() ? std::optional(other->second) : attr.default_number;
    given.push_back(number ? fmt::format("{}={}", attr.py, synth::FloatText(*number)) : attr.py);
    kept += fmt::format("        self.{0} = {0}\n", attr.py);
    body = synth::Replaced(body, "{" + attr.name + "}", (as_class ? "self." : "") + attr.py);
  }
  if (!as_class) {
    inputs.insert(inputs.end(), given.begin(), given.end());
    return fmt::format("\n\ndef {}({}):\n    return {}\n", veil.function, synth::Join(inputs, ", "),
                       body);
  }
  given.insert(given.begin(), "self");
  const std::string init = fmt::format("    def __init__({}):\n        super().__init__()\n{}\n",
                                       synth::Join(given, ", "), kept);
  return fmt::format("\n\nclass {}(nn.Module):\n{}    def forward(self, {}):\n        return {}\n",
                     veil.klass, kept.empty() ? "" : init, synth::Join(inputs, ", "), body);
}

// May the task's file hold the definition: numbers are all that a call gives, in their order?
bool CanBeDefined(const CardSubject& subject, const synth::SampledTask& task) {
  const synth::Operator& op = *subject.op;
  if (!subject.form_is_python || !op.params.empty()) return false;
  if (!std::all_of(op.attrs.begin(), op.attrs.end(),
                   [](const AttrSpec& attr) { return attr.kind == AttrSpec::Kind::kFloats; }))
    return false;
  for (size_t i = 0; i < task.graph.nodes.size(); ++i)
    if (task.graph.nodes[i].op == subject.op &&
        CallText(task.text.parts.nodes[i]).find('=') != std::string::npos)
      return false;
  std::string left = subject.form;
  for (const synth::InputSpec& input : op.inputs)
    left = synth::Replaced(left, "{" + input.name + "}", "");
  for (const AttrSpec& attr : op.attrs) left = synth::Replaced(left, "{" + attr.name + "}", "");
  return left.find('{') == std::string::npos;
}

}  // namespace

double OtherNumber(double value, SplitMix64* rng) {
  return Rounded(value * std::exp2(2 * rng->Uniform() - 1));
}

std::optional<Veil> DrawVeil(const CardSubject& subject, const synth::SampledTask& task,
                             const synth::Corpus& corpus, SplitMix64* rng) {
  if (subject.op == nullptr) return std::nullopt;
  bool called = false, all_called = true;
  for (const std::string& call : subject.calls) {
    called = called || Calls(task.text.source, call);
    for (size_t i = 0; i < task.graph.nodes.size(); ++i) {
      const NodeText& text = task.text.parts.nodes[i];
      if (task.graph.nodes[i].op != subject.op &&
          (Calls(text.form, call) || Calls(text.constructor, call)))
        return std::nullopt;
    }
  }
  for (size_t i = 0; i < task.graph.nodes.size(); ++i)
    if (task.graph.nodes[i].op == subject.op)
      all_called = all_called && !CallOfForm(CallText(task.text.parts.nodes[i])).empty();
  if (!called || !all_called) return std::nullopt;
  Veil veil;
  const double source = rng->Uniform();
  veil.source = source < 0.3    ? Veil::Source::kPyTorch
                : source < 0.55 ? Veil::Source::kNameOfModule
                : source < 0.8  ? Veil::Source::kModule
                                : Veil::Source::kDefined;
  veil.function = veil.source == Veil::Source::kPyTorch
                      ? InventedCompound(corpus, task.text.source, rng)
                      : InventedName(corpus, task.text.source, rng);
  veil.klass = synth::CamelCase(veil.function);
  veil.module = Pick(Modules(), rng);
  if (veil.source == Veil::Source::kDefined && !CanBeDefined(subject, task))
    veil.source = Veil::Source::kNameOfModule;
  if (synth::HasWord(task.text.source, veil.module)) veil.module += "_lib";
  if (rng->Uniform() < 0.7) veil.attrs = OtherDefaults(subject, task, rng);
  if (subject.op->params.empty() && !subject.form.empty() && rng->Uniform() < 0.6)
    veil.form = OtherForm(subject.form, rng);
  return veil;
}

std::string VeiledCall(const Veil& veil, const std::string& call) {
  const std::string& name = call.starts_with("nn.") ? veil.klass : veil.function;
  if (veil.source == Veil::Source::kPyTorch) return call.substr(0, call.find('.') + 1) + name;
  return veil.source == Veil::Source::kModule ? veil.module + "." + name : name;
}

std::string Veiled(std::string text, const CardSubject& subject, const Veil& veil) {
  for (const std::string& call : subject.calls)
    text = WithCall(std::move(text), call, VeiledCall(veil, call));
  return text;
}

void ApplyNumbers(const CardSubject& subject, const Veil& veil, synth::SampledTask* task) {
  for (size_t i = 0; i < task->graph.nodes.size(); ++i) {
    Node& node = task->graph.nodes[i];
    if (node.op != subject.op) continue;
    for (const auto& [name, value] : veil.attrs) node.attrs[name] = value;
    if (veil.form.empty()) continue;
    NodeText& text = task->text.parts.nodes[i];
    text.form = veil.form;
    text.constructor.clear();
    text.module.clear();
  }
}

void ApplyNames(const CardSubject& subject, const Veil& veil, synth::SampledTask* task) {
  std::string& source = task->text.source;
  std::vector<std::string> names;  // that the file calls
  bool function = false, klass = false;
  for (const std::string& call : subject.calls) {
    if (!Calls(source, call)) continue;
    (call.starts_with("nn.") ? klass : function) = true;
  }
  if (function) names.push_back(veil.function);
  if (klass) names.push_back(veil.klass);
  source = Veiled(std::move(source), subject, veil);
  std::string added;
  if (veil.source == Veil::Source::kPyTorch) return;
  if (veil.source == Veil::Source::kModule) {
    added = fmt::format("import {}\n", veil.module);
  } else if (veil.source == Veil::Source::kNameOfModule) {
    added = fmt::format("from {} import {}\n", veil.module, synth::Join(names, ", "));
  } else {
    if (function) added += Definition(subject, veil, false);
    if (klass) added += Definition(subject, veil, true);
  }
  // Behind the last import.
  size_t at = 0;
  for (size_t begin = 0; begin < source.size();) {
    const size_t end = std::min(source.find('\n', begin), source.size() - 1) + 1;
    const std::string_view line(source.data() + begin, end - begin);
    if (line.starts_with("import ") || line.starts_with("from ")) at = end;
    if (line.starts_with("class ") || line.starts_with("def ")) break;
    begin = end;
  }
  if (added.find("F.") != std::string::npos && source.find(" as F\n") == std::string::npos)
    added = "import torch.nn.functional as F\n" + added;
  if (added.find("math.") != std::string::npos && source.find("import math\n") == std::string::npos)
    added = "import math\n" + added;
  source.insert(at, added);
}

}  // namespace davinci::teacher
