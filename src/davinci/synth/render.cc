#include "davinci/synth/render.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"

namespace davinci::synth {
namespace {

void NameSymbols(RenderState* s) {
  for (DimId id = 0; id < static_cast<DimId>(s->graph.dims.size()); ++id) {
    const Dim& dim = s->graph.dims[id];
    if (dim.kind != Dim::Kind::kSymbol) continue;
    const SizeRole& role = s->grammar.roles.find(dim.role)->second;
    std::string base =
        dim.hint.size() > 2 && s->Chance(0.6) ? Lower(dim.hint) : s->Pick(role.names);
    std::string name = base;
    const auto taken = [&] {
      return std::any_of(s->symbol_names.begin(), s->symbol_names.end(),
                         [&](const auto& other) { return Lower(other.second) == Lower(name); });
    };
    for (int n = 2; taken(); ++n) name = fmt::format("{}{}", base, n);
    s->symbol_names[id] = name;
  }
}

// Gives a run of pointwise nodes of the outermost scope a scope of its own, to be a function.
void SplitFunction(Graph* graph, SplitMix64* rng) {
  const auto uses = graph->UsesOfValues();
  const auto pointwise = [&](size_t i) {
    const Node& node = graph->nodes[i];
    return node.scope == 0 && node.weights.empty() && node.op->params.empty() &&
           node.outputs.size() == 1 &&
           std::find(node.op->groups.begin(), node.op->groups.end(), "pointwise") !=
               node.op->groups.end() &&
           (node.op->spell.size() > 1 || !node.op->spell.contains("module"));
  };
  std::vector<std::pair<size_t, size_t>> runs;
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    if (!pointwise(i)) continue;
    size_t end = i + 1;
    while (end < graph->nodes.size() && end - i < 4 && pointwise(end)) {
      const ValueId previous = graph->nodes[end - 1].outputs[0];
      const auto& inputs = graph->nodes[end].inputs;
      if (uses[static_cast<size_t>(previous)] != 1 ||
          std::find(inputs.begin(), inputs.end(), previous) == inputs.end())
        break;
      ++end;
    }
    if (end - i >= 2) runs.emplace_back(i, end);
    i = end - 1;
  }
  if (runs.empty()) return;
  const auto [first, last] = runs[rng->Below(runs.size())];
  Scope scope;
  scope.pattern = "function";
  scope.parent = 0;
  scope.outputs = graph->nodes[last - 1].outputs;
  const auto id = static_cast<int32_t>(graph->scopes.size());
  graph->scopes.push_back(scope);
  for (size_t i = first; i < last; ++i) graph->nodes[i].scope = id;
}

std::string Summary(RenderState* s, std::string* title) {
  std::vector<std::string> titles;
  for (const Node& node : s->graph.nodes)
    if (!node.op->view && (titles.empty() || titles.back() != node.op->title))
      titles.push_back(node.op->title);
  const bool many = titles.size() > 4;
  if (!s->graph.pattern->title.empty() && (many || s->Chance(0.5))) {
    *title = s->graph.pattern->title;
  } else {
    if (many) titles.resize(4);
    *title = Join(titles, ", ");
    if (many) *title += " and more";
  }
  std::string summary = Replaced(s->Word("docstring"), "{what}", *title);
  summary[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(summary[0])));
  (*title)[0] = static_cast<char>(std::toupper(static_cast<unsigned char>((*title)[0])));
  return summary;
}

class FileWriter {
 public:
  FileWriter(RenderState* s, const ClassWriter& model) : s_(s), model_(model) {}

  std::string DimText(DimId dim) {
    return s_->graph.dims.Python(dim, [&](DimId part) -> std::string {
      if (s_->graph.dims[part].kind != Dim::Kind::kSymbol) return "";
      if (s_->style.Is("sizes", "literal"))
        return std::to_string(s_->graph.dims.At(part, s_->literal));
      used_.insert(part);
      return s_->ConstantName(part);
    });
  }

  std::string Inputs() {
    const std::string& form = s_->style["inputs"];
    const bool hints = s_->style.Is("hints", "full") && s_->Chance(0.3);
    std::string text = hints ? "def get_inputs() -> list:\n" : "def get_inputs():\n";
    std::vector<std::string> calls;
    std::map<std::string, std::string> shape_names;
    std::vector<std::string> lines;
    for (const ValueId input : s_->graph.inputs) {
      const Value& value = s_->graph.values[static_cast<size_t>(input)];
      std::vector<std::string> parts;
      for (const DimId dim : value.shape) parts.push_back(DimText(dim));
      std::string shape = Join(parts, ", ");
      std::string call = s_->grammar.kinds.find(value.kind)->second.draws[value.draw].call;
      if (form == "shapes" && value.shape.size() > 1 &&
          call.find("({shape}{dt}") != std::string::npos) {
        const std::string tuple = "(" + shape + ")";
        auto [found, added] = shape_names.try_emplace(tuple, "");
        if (added) {
          found->second =
              shape_names.size() == 1 ? "shape" : fmt::format("shape{}", shape_names.size());
          lines.push_back(fmt::format("{} = {}", found->second, tuple));
        }
        shape = found->second;
      }
      // A one-tuple needs its comma: "({shape},)".
      if (value.shape.empty()) call = Replaced(call, "({shape},)", "()");
      call = Replaced(call, "{shape}", value.shape.empty() ? "()" : shape);
      call = Replaced(call, "{bound}", value.bound == kNoDim ? "2" : DimText(value.bound));
      const std::string dtype = s_->graph.precision == Precision::kFp16   ? "torch.float16"
                                : s_->graph.precision == Precision::kBf16 ? "torch.bfloat16"
                                                                          : "";
      const bool has_dt = call.find("{dt}") != std::string::npos;
      const bool behind = s_->Chance(0.5);
      call = Replaced(call, "{dt}", dtype.empty() || behind ? "" : ", dtype=" + dtype);
      if (!dtype.empty() && value.dtype == DType::kFloat && (behind || !has_dt)) {
        const bool weak = call.find(") ") != std::string::npos;
        if (weak) call = "(" + call + ")";
        call += s_->Chance(0.5)            ? ".to(" + dtype + ")"
                : dtype == "torch.float16" ? ".half()"
                                           : ".bfloat16()";
      }
      calls.push_back(call);
    }
    if (s_->style.Is("comments", "steps") && s_->Chance(0.3))
      text += "    # " + s_->Word("input_comment") + "\n";
    for (const std::string& line : lines) text += "    " + line + "\n";
    if (form == "locals" || (form == "shapes" && s_->Chance(0.4))) {
      for (size_t i = 0; i < calls.size(); ++i)
        text += fmt::format("    {} = {}\n", model_.read_names()[i], calls[i]);
      return text + "    return [" + Join(model_.read_names(), ", ") + "]\n";
    }
    const std::string joined = Join(calls, ", ");
    if (joined.size() < 76) return text + "    return [" + joined + "]\n";
    text += "    return [\n";
    for (const std::string& call : calls) text += "        " + call + ",\n";
    return text + "    ]\n";
  }

  std::string InitInputs() {
    std::vector<std::string> values;
    const bool defaults = s_->style.Is("init_default", "yes") && s_->style.Is("sizes", "literal");
    if (!defaults) {
      for (const ClassArgument& argument : model_.arguments()) {
        if (argument.dim != kNoDim) {
          values.push_back(DimText(argument.dim));
        } else if (s_->style.Is("init_inputs", "names")) {
          std::string name = argument.name;
          if (s_->style.Is("const_case", "upper"))
            for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
          std::string unique = name;
          for (int n = 2; s_->names.contains(unique); ++n) unique = fmt::format("{}_{}", name, n);
          s_->names.insert(unique);
          s_->constants.emplace_back(unique, argument.literal);
          values.push_back(unique);
        } else {
          values.push_back(argument.literal);
        }
      }
    }
    return "def get_init_inputs():\n    return [" + Join(values, ", ") + "]\n";
  }

  // Of sizes first, then of attributes.
  std::string Constants() {
    std::string text;
    if (!s_->style.Is("sizes", "literal"))
      for (const auto& [symbol, name] : s_->symbol_names)
        if (used_.contains(symbol))
          text += fmt::format("{} = {}\n", s_->ConstantName(symbol),
                              s_->graph.dims.At(symbol, s_->literal));
    for (const auto& [name, value] : s_->constants) text += fmt::format("{} = {}\n", name, value);
    return text;
  }

  std::set<DimId> used_;

 private:
  RenderState* s_;
  const ClassWriter& model_;
};

// Symbols that the text of a class names.
void UsedInClasses(RenderState* s, const std::string& text, std::set<DimId>* used) {
  for (const auto& [symbol, name] : s->symbol_names) {
    const std::string constant = s->ConstantName(symbol);
    for (size_t at = 0; (at = text.find(constant, at)) != std::string::npos; ++at) {
      const auto word = [&](size_t k) {
        return k < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[k])) || text[k] == '_');
      };
      if ((at > 0 && (word(at - 1) || text[at - 1] == '.')) || word(at + constant.size())) continue;
      used->insert(symbol);
      break;
    }
  }
}

// Of the finished file: nothing is drawn after this.
ClassParts Parts(RenderState* s, ClassWriter* model, const std::string& entry) {
  ClassParts parts;
  parts.nodes.resize(s->graph.nodes.size());
  for (const auto& [index, text] : model->node_texts())
    parts.nodes[static_cast<size_t>(index)] = text;
  parts.inputs = model->read_names();
  for (const std::string& definition : s->definitions)
    if (definition.starts_with("class ")) parts.helpers += definition + "\n\n";
  parts.constructor = model->Text(entry + "New", "");
  parts.constructor.resize(parts.constructor.find("    def forward("));
  const std::string text = parts.helpers + parts.constructor;
  std::set<DimId> used;
  if (s->style.Is("sizes", "module")) UsedInClasses(s, text, &used);
  parts.names_sizes = !used.empty();
  for (size_t b = 0; b < kNumBindings; ++b) {
    for (const DimId symbol : used)
      parts.constants[b] += fmt::format("{} = {}\n", s->ConstantName(symbol),
                                        s->graph.dims.At(symbol, static_cast<Binding>(b)));
    for (const auto& [name, value] : s->constants)
      if (text.find(name) != std::string::npos)
        parts.constants[b] += fmt::format("{} = {}\n", name, value);
  }
  if (s->graph.outputs.size() > 1 && s->style.Is("returns", "list")) parts.result = "list";
  if (s->graph.outputs.size() > 1 && s->style.Is("returns", "dict")) parts.result = "dict";
  parts.result_keys = model->result_keys();
  return parts;
}

}  // namespace

RenderedTask RenderTask(const Graph& original, const Grammar& grammar, const StyleBook& book,
                        const Style& style, uint64_t seed) {
  SplitMix64 rng(seed);
  const StyleChoice choice(style, &rng);
  Graph graph = original;
  if (choice.Is("functions", "yes")) SplitFunction(&graph, &rng);
  RenderState state{graph, grammar, book, choice, rng, {}, {}, {}, {}, {}};
  RenderState* s = &state;
  RenderedTask task;
  task.fixed_sizes = choice.Is("sizes", "literal");
  s->literal = s->Chance(0.7) ? Binding::kCuda : Binding::kCpu;
  if (task.fixed_sizes) s->literal = Binding::kCpu;
  NameSymbols(s);
  for (const auto& [symbol, name] : s->symbol_names) s->names.insert(s->ConstantName(symbol));
  task.entry = choice.Is("entry", "own") ? s->Word("entries") : "Model";
  s->names.insert(task.entry);
  const std::string summary = Summary(s, &task.title);
  ClassWriter model(s, 0);
  model.Write();
  std::string classes;
  const std::string main = model.Text(task.entry, summary);
  for (const std::string& definition : s->definitions) classes += definition + "\n\n";
  classes += main;
  FileWriter file(s, model);
  // Sizes that no get_init_inputs() gives: a candidate's constructor cannot know others.
  std::set<DimId> own_sizes;
  if (choice.Is("sizes", "module")) UsedInClasses(s, classes, &own_sizes);
  file.used_ = own_sizes;
  const std::string inputs = file.Inputs();
  const std::string init_inputs = file.InitInputs();
  const std::string constants = file.Constants();

  if (choice.Is("module_docstring", "line"))
    task.source += fmt::format("\"\"\"{}\"\"\"\n",
                               Replaced(s->Word("module_docstring"), "{what}", task.title));
  std::string body_text = classes + inputs;
  if (s->uses_math || body_text.find("math.") != std::string::npos)
    task.source += "import math\n\n";
  task.source += "import torch\nimport torch.nn as nn\n";
  if (s->uses_f || choice.Is("imports", "usual"))
    task.source += "import torch.nn.functional as F\n";
  const bool top = choice.Is("const_place", "top") || choice.Is("attrs", "constant") ||
                   choice.Is("sizes", "module");
  if (top && !constants.empty()) task.source += "\n" + constants;
  task.source += "\n\n" + classes + "\n\n";
  if (!top && !constants.empty()) task.source += constants + "\n\n";
  task.source += inputs + "\n\n" + init_inputs;

  const auto sizes = [&](Binding binding, const std::set<DimId>& left_out = {}) {
    std::string text;
    for (const auto& [symbol, name] : s->symbol_names)
      if (file.used_.contains(symbol) && !left_out.contains(symbol))
        text += fmt::format("{} = {}\n", s->ConstantName(symbol), graph.dims.At(symbol, binding));
    return text;
  };
  task.sidecar = fmt::format("title = \"{}\"\nprecision = \"{}\"\n", task.title,
                             PrecisionText(graph.precision));
  if (task.entry != "Model") task.sidecar += fmt::format("entry = \"{}\"\n", task.entry);
  if (!graph.mode.empty()) task.sidecar += fmt::format("mode = \"{}\"\n", graph.mode);
  if (!task.fixed_sizes && !file.used_.empty()) {
    task.sidecar += "\n[sizes.cpu]\n" + sizes(Binding::kCpu);
    task.sidecar += "\n[sizes.cuda]\n" + sizes(Binding::kCuda);
    const std::string variant = sizes(Binding::kVariant, own_sizes);
    if (variant != sizes(Binding::kCpu, own_sizes) && variant != sizes(Binding::kCuda, own_sizes))
      task.sidecar += "\n[[variants]]\n" + variant;
  }
  task.parts = Parts(s, &model, task.entry);
  return task;
}

}  // namespace davinci::synth
