#include "davinci/teacher/semantics/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "davinci/synth/text.h"
#include "davinci/teacher/semantics/called.h"
#include "davinci/teacher/semantics/evaluator.h"
#include "davinci/teacher/semantics/exact_divisions.h"
#include "davinci/teacher/semantics/form_filler.h"

namespace davinci::teacher {
namespace {

using synth::Node;
using synth::NodeText;
using synth::ValueId;

// Calls whose functions know sizes that are no numbers as their arguments. Of another one an
// argument that is no number could count as left out.
bool KnowsSymbols(const std::string& label) {
  static const std::set<std::string> kKnown = {
      "reshape", "expand", "arange", "ones", "zeros", "full", "new_ones", "new_zeros", "new_full",
      "getitem", "add",    "radd",   "sub",  "rsub",  "mul",  "rmul",     "truediv"};
  return kKnown.contains(label);
}

// "changed_copy(a, lambda t: t.__setitem__(i, v))" -> "changed_part(a, i, v)"; other texts stay.
std::string WithChangedPart(std::string text) {
  constexpr std::string_view kCopy = "changed_copy(", kWrite = ", lambda t: t.__setitem__(";
  const size_t at = text.find(kWrite);
  if (!text.starts_with(kCopy) || at == std::string::npos || !text.ends_with("))")) return text;
  const std::string copied = text.substr(kCopy.size(), at - kCopy.size());
  text = text.substr(at + kWrite.size(), text.size() - 1 - (at + kWrite.size()));
  return fmt::format("changed_part({}, {}", copied, synth::Replaced(text, "...", "\"...\""));
}

// The text's result may be a view with another order of axes.
bool MovesAxes(const std::string& text) {
  for (const char* mover : {"einsum", "permute", "transpose", "movedim", ".t()", ".T", ")[", "}["})
    if (text.find(mover) != std::string::npos) return true;
  return false;
}

// A node's function and kind. A text that cannot be parsed counts by its first name.
Program::NodeCall NodeCallOf(const Program& program, const Node& node, const NodeText& text,
                             const CallKinds& kinds) {
  const FormFiller filler{program, node, text, true};
  std::string made_by;
  if (const auto made = PythonExpression::Parse(filler.Fill(text.constructor));
      made.ok() && made->kind == PythonExpression::Kind::kCall)
    made_by = made->parts[0].DottedName();
  const std::string filled = filler.Fill(text.form);
  const auto expression = PythonExpression::Parse(filled);
  std::set<std::string> vectors;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (program.graph.values[static_cast<size_t>(node.inputs[i])].shape.size() == 1)
      vectors.insert(filler.Input(i));
  const auto called =
      expression.ok() ? CalledFunctions(*expression, made_by, vectors) : CalledFunctions(filled);
  return {called.front(), node.transfers ? "transfer"
                          : node.view    ? "view"
                                         : KindOfCall(called, kinds)};
}

class Lowering {
 public:
  Lowering(const synth::Graph& graph, const synth::ClassParts& parts, const Tables& tables,
           const LowerOptions& options)
      : program_(graph), parts_(parts), tables_(tables), options_(options) {}

  Result<Program> Run() {
    const synth::Graph& graph = program_.graph;
    ids_.assign(graph.values.size(), -1);
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      const auto& value = graph.values[static_cast<size_t>(graph.inputs[i])];
      ids_[static_cast<size_t>(graph.inputs[i])] = Leaf(parts_.inputs[i], value);
    }
    for (const auto& [id, name] : parts_.weights)
      ids_[static_cast<size_t>(id)] = Leaf(name, graph.values[static_cast<size_t>(id)]);
    for (size_t i = 0; i < graph.nodes.size(); ++i) Sources(i);
    program_.calls = CallsOf(graph, parts_, tables_);
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      DAVINCI_RETURN_IF_ERROR(LowerNode(static_cast<int>(i)));
    for (const ValueId output : graph.outputs) {
      DAVINCI_RETURN_IF_ERROR(Materialize(output));
      program_.outputs.push_back(ids_[static_cast<size_t>(output)]);
    }
    for (size_t i = 0; i < ids_.size(); ++i)
      if (ids_[i] >= 0) program_.results.emplace(ids_[i], static_cast<ValueId>(i));
    MakeDecidingDivisionsExact(tables_.primitives.at("div_rn"), &program_);
    return std::move(program_);
  }

 private:
  Id Leaf(const std::string& name, const synth::Value& value) {
    TensorValue leaf;
    leaf.text = name;
    leaf.shape = value.shape;
    leaf.dtype = value.dtype;
    leaf.order = value.order;
    leaf.contiguous = value.foreign.empty();
    for (size_t axis = 0; axis < value.shape.size(); ++axis)
      if (!program_.graph.dims.IsConstant(value.shape[axis]))
        program_.size_sources.emplace_back(value.shape[axis],
                                           fmt::format("{}.shape[{}]", name, axis));
    return program_.Add(std::move(leaf));
  }

  // Sizes that weights show.
  void Sources(size_t index) {
    const Node& node = program_.graph.nodes[index];
    const NodeText& text = parts_.nodes[index];
    const bool standard =
        text.constructor.starts_with("nn.Linear") || text.constructor.starts_with("nn.Conv1d") ||
        text.constructor.starts_with("nn.Conv2d") || text.constructor.starts_with("nn.Conv3d");
    for (const ValueId id : node.weights) {
      const auto& value = program_.graph.values[static_cast<size_t>(id)];
      std::string path;
      if (const auto found = text.weights.find(value.hint); found != text.weights.end())
        path = found->second;
      else if (standard && value.hint == "weight")
        path = text.module + ".weight";
      if (path.empty()) continue;
      for (size_t axis = 0; axis < value.shape.size(); ++axis)
        if (!program_.graph.dims.IsConstant(value.shape[axis]))
          program_.size_sources.emplace_back(value.shape[axis],
                                             fmt::format("self.{}.shape[{}]", path, axis));
    }
  }

  Status LowerNode(int index) {
    const Node node = program_.graph.nodes[static_cast<size_t>(index)];
    const NodeText& text = parts_.nodes[static_cast<size_t>(index)];
    if (text.form.empty()) return InvalidArgument("a node without text");
    const size_t before = program_.values.size();
    std::string foreign = ForeignOf(node);
    if (foreign.empty() && text.form.find("{dim:") != std::string::npos &&
        !KnowsSymbols(node.label))
      foreign = "a size that is a symbol";
    auto result = options_.calls_only ? Result<Meaning>(InvalidArgument("PyTorch is as fast"))
                  : node.effect       ? Result<Meaning>(InvalidArgument("it changes state"))
                  : !foreign.empty()  ? Result<Meaning>(InvalidArgument(foreign))
                                      : Evaluated(node, text);
    if (result.ok() && ReadsLight(before))
      result = InvalidArgument("an index that has to be a tensor");
    if (result.ok() && IsLight(*result, node)) {
      light_[node.outputs[0]] = {*result, index};
      for (size_t i = before; i < program_.values.size(); ++i) program_.values[i].node = index;
      return Status::Ok();
    }
    // What knows no numbers in the place of tensors gets the tensors.
    if (!result.ok() && std::any_of(node.inputs.begin(), node.inputs.end(),
                                    [&](ValueId input) { return light_.contains(input); })) {
      for (const ValueId input : node.inputs) DAVINCI_RETURN_IF_ERROR(Materialize(input));
      if (!options_.calls_only && !node.effect && foreign.empty()) result = Evaluated(node, text);
    }
    std::vector<Id> ids;
    if (result.ok()) {
      std::vector<Meaning> all =
          result->kind == Meaning::Kind::kSequence ? result->items : std::vector<Meaning>{*result};
      bool fits = all.size() == node.outputs.size();
      for (size_t i = 0; fits && i < all.size(); ++i) {
        fits = all[i].kind == Meaning::Kind::kTensor && SameShape(all[i].id, node.outputs[i]);
        ids.push_back(all[i].id);
      }
      if (!fits) ids.clear();
    }
    if (ids.empty()) {
      if (!node.view && !node.effect)
        program_.left.push_back({node.label, program_.calls[static_cast<size_t>(index)].kind,
                                 result.ok() ? "another shape or type" : result.status().message(),
                                 text.place});
      DAVINCI_RETURN_IF_ERROR(Whole(index, &ids));
    }
    for (size_t i = 0; i < ids.size(); ++i) ids_[static_cast<size_t>(node.outputs[i])] = ids[i];
    for (size_t i = before; i < program_.values.size(); ++i) program_.values[i].node = index;
    return Status::Ok();
  }

  // Why no kernel may touch a tensor of the node; "": one may.
  std::string ForeignOf(const Node& node) const {
    for (const auto* values : {&node.inputs, &node.outputs})
      for (const ValueId value : *values) {
        const std::string& why = program_.graph.values[static_cast<size_t>(value)].foreign;
        if (!why.empty()) return why;
      }
    return "";
  }

  // Is the one result of a node a tensor full of one number, or made of indices alone? It exists
  // only where something reads it that has to have a tensor.
  bool IsLight(const Meaning& meaning, const Node& node) {
    if (node.outputs.size() != 1) return false;
    const synth::Value& value = program_.graph.values[static_cast<size_t>(node.outputs[0])];
    if (meaning.kind == Meaning::Kind::kTensor)
      return (program_[meaning.id].kind == TensorValue::Kind::kIota ||
              program_[meaning.id].virtual_) &&
             SameShape(meaning.id, node.outputs[0]);
    if (meaning.kind != Meaning::Kind::kNumber || !meaning.number) return false;
    if (value.dtype != (meaning.boolean ? DType::kBool : DType::kFloat)) return false;
    bool same = meaning.filled.size() == value.shape.size();
    for (size_t i = 0; same && i < value.shape.size(); ++i)
      same = program_.Same(meaning.filled[i], value.shape[i]);
    return same;
  }

  // Does a value behind `begin` need in memory what is made of indices alone?
  bool ReadsLight(size_t begin) const {
    if (parts_.imported == std::nullopt) return false;
    for (size_t i = begin; i < program_.values.size(); ++i) {
      const TensorValue& value = program_.values[i];
      const bool all =
          value.kind == TensorValue::Kind::kOpaque || value.kind == TensorValue::Kind::kReshape;
      if (!all && value.kind != TensorValue::Kind::kLoad) continue;
      for (size_t k = 0; k < (all ? value.operands.size() : 1); ++k) {
        const TensorValue& read = program_[value.operands[k]];
        if (read.kind == TensorValue::Kind::kIota || read.virtual_) return true;
      }
    }
    return false;
  }

  // The tensor itself, by the PyTorch call.
  Status Materialize(ValueId value) {
    if (ids_[static_cast<size_t>(value)] >= 0) return Status::Ok();
    const auto found = light_.find(value);
    if (found == light_.end()) return Internal("a value that nothing computes");
    const int index = found->second.second;
    const size_t before = program_.values.size();
    std::vector<Id> ids;
    DAVINCI_RETURN_IF_ERROR(Whole(index, &ids));
    ids_[static_cast<size_t>(value)] = ids[0];
    light_.erase(value);
    for (size_t i = before; i < program_.values.size(); ++i) program_.values[i].node = index;
    return Status::Ok();
  }

  bool SameShape(Id id, ValueId value) {
    const auto& want = program_.graph.values[static_cast<size_t>(value)];
    const auto& have = program_[id].shape;
    if (have.size() != want.shape.size()) return false;
    if ((program_[id].dtype == DType::kFloat) != (want.dtype == DType::kFloat)) return false;
    for (size_t i = 0; i < have.size(); ++i)
      if (!program_.Same(have[i], want.shape[i])) return false;
    return true;
  }

  Result<Meaning> Evaluated(const Node& node, const NodeText& text) {
    const FormFiller filler{program_, node, text, true};
    const std::string filled = filler.Fill(text.form);
    if (const std::string part = options_.in_cpp ? WithChangedPart(filled) : filled; part != filled)
      if (auto changed = EvaluatedText(node, text, part); changed.ok()) return changed;
    return EvaluatedText(node, text, filled);
  }

  Result<Meaning> EvaluatedText(const Node& node, const NodeText& text, const std::string& filled) {
    const FormFiller filler{program_, node, text, true};
    DAVINCI_ASSIGN_OR_RETURN(const auto expression, PythonExpression::Parse(filled));
    Names names;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      names[fmt::format("in_{}", i)] =
          light_.contains(node.inputs[i])
              ? light_[node.inputs[i]].first
              : Meaning::Tensor(ids_[static_cast<size_t>(node.inputs[i])]);
    for (const auto& [name, path] : text.weights) {
      for (const ValueId id : node.weights) {
        const auto& value = program_.graph.values[static_cast<size_t>(id)];
        if (value.hint != name) continue;
        names["w_" + name] = Meaning::Tensor(Leaf("self." + path, value));
      }
    }
    Evaluator evaluator(&program_, tables_, options_);
    if (!text.module.empty()) {
      DAVINCI_ASSIGN_OR_RETURN(auto constructor,
                               PythonExpression::Parse(filler.Fill(text.constructor)));
      evaluator.SetModule(std::move(constructor), "self." + text.module);
    }
    return evaluator.Evaluate(expression, names);
  }

  // The operator as one PyTorch call.
  Status Whole(int index, std::vector<Id>* ids) {
    const Node node = program_.graph.nodes[static_cast<size_t>(index)];
    const NodeText& text = parts_.nodes[static_cast<size_t>(index)];
    const FormFiller filler{program_, node, text, false};
    TensorValue call;
    call.kind = TensorValue::Kind::kOpaque;
    call.text = filler.Fill(text.form);
    if (call.text.find('?') != std::string::npos)
      return InvalidArgument(fmt::format("a size of {} that no tensor shows", node.label));
    for (const ValueId input : node.inputs) {
      DAVINCI_RETURN_IF_ERROR(Materialize(input));
      call.operands.push_back(ids_[static_cast<size_t>(input)]);
    }
    call.what = program_.calls[static_cast<size_t>(index)].kind;
    call.product = ProductOf(node, text);
    call.view = node.view;
    call.contiguous = !node.view && !MovesAxes(call.text) &&
                      (call.what == "conv" || call.what == "matmul" || call.what == "pool");
    if (node.effect) {
      call.effect = true;
      program_.effects.push_back(program_.Add(std::move(call)));
      return Status::Ok();
    }
    if (node.outputs.size() == 1 && (text.items.empty() || text.items[0].empty())) {
      const auto& value = program_.graph.values[static_cast<size_t>(node.outputs[0])];
      call.shape = value.shape;
      call.dtype = value.dtype;
      const Id id = program_.Add(std::move(call));
      for (size_t axis = 0; axis < value.shape.size(); ++axis)
        if (IsReadFromResult(id, value.shape[axis]))
          program_.size_sources.emplace(program_.size_sources.begin(), value.shape[axis],
                                        fmt::format("{}.shape[{}]", program_.Variable(id), axis));
      ids->push_back(id);
      return Status::Ok();
    }
    const Id tuple = program_.Add(std::move(call));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const auto& value = program_.graph.values[static_cast<size_t>(node.outputs[i])];
      TensorValue item;
      item.kind = TensorValue::Kind::kItem;
      item.operands = {tuple};
      item.item = static_cast<int>(i);
      if (!text.items.empty()) item.text = text.items[i];
      item.shape = value.shape;
      item.dtype = value.dtype;
      item.contiguous = false;
      ids->push_back(program_.Add(std::move(item)));
    }
    return Status::Ok();
  }

  // Returns whether the size is read from the call's result: no input and no weight shows it, or
  // not as it is, and no value in front of the call has it.
  bool IsReadFromResult(Id call, DimId size) const {
    const std::string text = program_.SizeText(size);
    if (text.find('?') != std::string::npos) return true;
    const std::string& what = program_[call].what;
    if (!options_.brief || (what != "conv" && what != "pool") ||
        program_.graph.dims.IsConstant(size) ||
        (text.find(' ') == std::string::npos && !text.starts_with("self.")))
      return false;
    return std::none_of(program_.values.begin(), program_.values.begin() + call,
                        [&](const TensorValue& value) {
                          return !value.text.starts_with("self.") &&
                                 std::any_of(value.shape.begin(), value.shape.end(),
                                             [&](DimId dim) { return program_.Same(dim, size); });
                        });
  }

  // The product of matrices that the text is, by the function that it calls.
  std::optional<MatrixProduct> ProductOf(const Node& node, const NodeText& text) {
    const FormFiller filler{program_, node, text, true};
    const auto expression = PythonExpression::Parse(filler.Fill(text.form));
    if (!expression.ok() || !ForeignOf(node).empty()) return std::nullopt;
    std::map<std::string, ValueId> values;
    std::map<std::string, size_t> ranks;
    const auto add = [&](const std::string& name, ValueId id) {
      const auto& value = program_.graph.values[static_cast<size_t>(id)];
      if (value.dtype != DType::kFloat) return;
      values[name] = id;
      ranks[name] = value.shape.size();
    };
    for (size_t i = 0; i < node.inputs.size(); ++i) add(fmt::format("in_{}", i), node.inputs[i]);
    const bool module = text.constructor.starts_with("nn.Linear(");
    for (const ValueId id : node.weights) {
      const std::string& hint = program_.graph.values[static_cast<size_t>(id)].hint;
      if (module || text.weights.contains(hint)) add("w_" + hint, id);
    }
    auto called = davinci::teacher::ProductOf(*expression, ranks);
    if (module && node.inputs.size() == 1 && ranks.contains("in_0") && ranks.contains("w_weight"))
      called =
          CalledProduct{"in_0", "w_weight", ranks.contains("w_bias") ? "w_bias" : "", false, true};
    if (!called) return std::nullopt;
    const auto at = [&](const std::string& name) -> Id {
      if (name.empty()) return -1;
      const ValueId id = values.at(name);
      if (name.starts_with("in_")) return ids_[static_cast<size_t>(id)];
      const auto& value = program_.graph.values[static_cast<size_t>(id)];
      const auto path = text.weights.find(value.hint);
      return Leaf(
          "self." + (path != text.weights.end() ? path->second : text.module + "." + value.hint),
          value);
    };
    return MatrixProduct{at(called->left), at(called->right), at(called->bias),
                         called->left_transposed, called->right_transposed};
  }

  Program program_;
  const synth::ClassParts& parts_;
  const Tables& tables_;
  const LowerOptions& options_;
  std::vector<Id> ids_;                               // by value of the graph; -1: see light_
  std::map<ValueId, std::pair<Meaning, int>> light_;  // and the node
};

}  // namespace

std::vector<Program::NodeCall> CallsOf(const synth::Graph& graph, const synth::ClassParts& parts,
                                       const Tables& tables) {
  const Program program(graph);
  std::vector<Program::NodeCall> calls;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    calls.push_back(NodeCallOf(program, graph.nodes[i], parts.nodes[i], tables.kinds));
  return calls;
}

Result<Program> Lower(const synth::Graph& graph, const synth::ClassParts& parts,
                      const Tables& tables, const LowerOptions& options) {
  return Lowering(graph, parts, tables, options).Run();
}

}  // namespace davinci::teacher
