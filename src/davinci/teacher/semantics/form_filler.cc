#include "davinci/teacher/semantics/form_filler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <variant>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"

namespace davinci::teacher {

using synth::AttrSpec;

std::string FormFiller::Dim(DimId dim) const {
  return evaluate ? fmt::format("dimid_{}", dim) : program.SizeText(dim);
}

std::string FormFiller::Attr(const AttrSpec& spec) const {
  const auto& value = node.attrs.find(spec.name)->second;
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* real = std::get_if<double>(&value)) return synth::FloatText(*real);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "True" : "False";
  if (const auto* word = std::get_if<std::string>(&value)) return '"' + *word + '"';
  if (const auto* size = std::get_if<synth::SizeAttr>(&value)) return Dim(size->dim);
  const auto& axes = std::get<std::vector<int>>(value);
  if (axes.size() == 1) return std::to_string(axes[0]);
  return fmt::format("({})", fmt::join(axes, ", "));
}

std::string FormFiller::Weight(const std::string& name) const {
  const auto found = text.weights.find(name);
  if (found == text.weights.end()) return "None";
  return evaluate ? "w_" + name : "self." + found->second;
}

std::string FormFiller::Input(size_t index) const {
  return evaluate ? fmt::format("in_{}", index) : fmt::format("{{{}}}", index);
}

std::string FormFiller::Dims(const std::vector<DimId>& dims) const {
  std::vector<std::string> parts;
  for (const DimId dim : dims) parts.push_back(Dim(dim));
  return synth::Join(parts, ", ");
}

std::string FormFiller::Value(const std::string& name) const {
  const synth::Graph& graph = program.graph;
  if (name.starts_with("dim:")) {  // of an imported text
    const std::string size = Dim(static_cast<DimId>(std::stol(name.substr(4))));
    return size.find(' ') == std::string::npos ? size : "(" + size + ")";
  }
  if (name == "m") return evaluate ? "module_" : "self." + text.module;
  if (name.starts_with("kw:")) {
    std::string all;
    for (const auto attr : synth::Split(std::string_view(name).substr(3), ','))
      if (const AttrSpec* spec = node.op->Attr(attr))
        all += fmt::format(", {}={}", spec->py, Attr(*spec));
    return all;
  }
  if (name.starts_with("opt:")) {
    const std::string weight = Weight(name.substr(4));
    return weight == "None" ? "" : ", " + weight;
  }
  if (name == "out") return Dims(graph.values[static_cast<size_t>(node.outputs[0])].shape);
  if (name == "star") return Dims(node.star);
  if (name == "all") {
    std::vector<std::string> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(Input(i));
    return synth::Join(inputs, ", ");
  }
  if (!name.empty() &&
      std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return Input(std::stoul(name));
  if (node.op == nullptr) return "?";
  for (size_t k = 0; k < node.op->inputs.size() && k < node.inputs.size(); ++k)
    if (node.op->inputs[k].name == name) return Input(k);
  for (const auto& param : node.op->params)
    if (param.name == name) return Weight(name);
  if (const AttrSpec* spec = node.op->Attr(name)) {
    const std::string value = Attr(*spec);
    return value.starts_with('-') || value.find(' ') != std::string::npos ? "(" + value + ")"
                                                                          : value;
  }
  if (const auto dim = node.dims.find(name); dim != node.dims.end()) {
    const std::string value = Dim(dim->second);
    return value.find(' ') == std::string::npos ? value : "(" + value + ")";
  }
  return "?";
}

std::string FormFiller::Fill(std::string_view form) const {
  std::string filled;
  for (size_t i = 0; i < form.size();) {
    // A doubled brace is one brace of an imported text; what is written later keeps it.
    if (node.op == nullptr && (form[i] == '{' || form[i] == '}') && i + 1 < form.size() &&
        form[i + 1] == form[i]) {
      filled.append(evaluate ? 1 : 2, form[i]);
      i += 2;
      continue;
    }
    if (form[i] != '{') {
      filled += form[i++];
      continue;
    }
    const size_t end = form.find('}', i);
    filled += Value(std::string(form.substr(i + 1, end - i - 1)));
    i = end + 1;
  }
  return synth::Replaced(std::move(filled), "(, ", "(");
}

std::string Filled(const std::string& form, const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < form.size(); ++i) {
    size_t end = i + 1;
    while (end < form.size() && std::isdigit(static_cast<unsigned char>(form[end])) != 0) ++end;
    if (form[i] == '{' && end > i + 1 && end < form.size() && form[end] == '}') {
      text += names[std::stoul(form.substr(i + 1, end - i - 1))];
      i = end;
      continue;
    }
    text += form[i];
    // A doubled brace is one brace of an imported text.
    if ((form[i] == '{' || form[i] == '}') && i + 1 < form.size() && form[i + 1] == form[i]) ++i;
  }
  return text;
}

}  // namespace davinci::teacher
