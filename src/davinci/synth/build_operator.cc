// One operator applied to values: inputs, conditions, weights, results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/graph_builder.h"

namespace davinci::synth {
namespace {

constexpr int kGroupTries = 12;
constexpr double kLargestFp16 = 2e4;
constexpr double kLargestFp32 = 1e18;

}  // namespace

void Builder::Undo(const Mark& mark) {
  graph_.values.erase(graph_.values.begin() + static_cast<ptrdiff_t>(mark.values),
                      graph_.values.end());
  graph_.nodes.resize(mark.nodes);
  graph_.inputs.resize(mark.inputs);
}

std::optional<std::vector<ValueId>> Builder::Apply(const Operator& op,
                                                   const std::vector<ValueId>& arguments,
                                                   const Named& named,
                                                   const Environment& environment) {
  if (options_.allowed && !options_.allowed(op)) {
    Reject("held_out");
    return std::nullopt;
  }
  if (options_.precision != Precision::kFp32 && !op.half) {
    Reject("half");
    return std::nullopt;
  }
  if (!op.mode.empty() && !graph_.mode.empty() && graph_.mode != op.mode) {
    Reject("mode");
    return std::nullopt;
  }
  const Mark mark = Now();
  auto made = ApplyOrFail(op, arguments, named, environment);
  if (!made) {
    Undo(mark);
    return std::nullopt;
  }
  if (!op.mode.empty()) graph_.mode = op.mode;
  return made;
}

std::optional<std::vector<ValueId>> Builder::ApplyOrFail(const Operator& op,
                                                         const std::vector<ValueId>& arguments,
                                                         const Named& named,
                                                         const Environment& environment) {
  if (arguments.size() > op.inputs.size() && op.outputs[0].rule != OutputSpec::Rule::kConcat) {
    Reject(fmt::format("grammar: {} takes {} inputs, not {}", op.name, op.inputs.size(),
                       arguments.size()));
    return std::nullopt;
  }
  Node node;
  node.op = &op;
  node.label = op.name;
  node.view = op.view;
  node.scope = scope_;
  const size_t rank =
      arguments.empty() ? 0 : graph_.values[static_cast<size_t>(arguments[0])].shape.size();
  if (!SetNamed(op, named, environment, &node, rank)) return std::nullopt;
  BindSizes(&node);
  if (!MakeInputs(op, arguments, rank, &node)) return std::nullopt;
  const size_t first_rank =
      node.inputs.empty() ? 0 : graph_.values[static_cast<size_t>(node.inputs[0])].shape.size();
  if (!DrawAttrs(op, first_rank, &node)) return std::nullopt;
  BindSizes(&node);
  double lo = 0, hi = 0;
  if (!Holds(op, node) || !RangeOf(op, node, &lo, &hi)) return std::nullopt;
  const auto node_index = static_cast<int32_t>(graph_.nodes.size());
  if (!MakeWeights(op, node_index, &node) || !MakeOutputs(op, node_index, lo, hi, &node))
    return std::nullopt;
  auto outputs = node.outputs;
  graph_.nodes.push_back(std::move(node));
  return outputs;
}

void Builder::BindSizes(Node* node) {
  for (const auto& [name, value] : node->attrs) {
    if (const auto* size = std::get_if<SizeAttr>(&value)) node->dims.emplace(name, size->dim);
    if (const auto* number = std::get_if<int64_t>(&value))
      node->dims.emplace(name, graph_.dims.Constant(*number));
  }
}

bool Builder::MakeInputs(const Operator& op, const std::vector<ValueId>& arguments, size_t rank,
                         Node* node) {
  bool star_bound = false;
  for (size_t i = 0; i < std::max(op.inputs.size(), arguments.size()); ++i) {
    const InputSpec& spec = op.inputs[std::min(i, op.inputs.size() - 1)];
    if (i < arguments.size()) {
      const Value& value = graph_.values[static_cast<size_t>(arguments[i])];
      const DType want = grammar_.kinds.find(spec.kind)->second.dtype;
      if (value.dtype != want ||
          (i < op.inputs.size() &&
           !Match(spec.shape, value.shape, &node->dims, &node->star, &star_bound))) {
        Reject("shape");
        return false;
      }
      node->inputs.push_back(arguments[i]);
      continue;
    }
    // Attributes may stand in the shape of what is made here.
    if (i == arguments.size() && !node->inputs.empty()) {
      if (!DrawAttrs(op, rank, node)) return false;
      BindSizes(node);
    } else if (i == 0) {
      Node sizes_only = *node;
      if (!DrawSizes(op, &sizes_only)) return false;
      node->attrs = sizes_only.attrs;
      BindSizes(node);
    }
    const auto made = NewInput(spec, &node->dims, &node->star, star_bound);
    if (!made) return false;
    star_bound = star_bound || std::any_of(spec.shape.begin(), spec.shape.end(), [](const auto& t) {
                   return t.kind == ShapeToken::Kind::kStar;
                 });
    node->inputs.push_back(*made);
  }
  return true;
}

bool Builder::Holds(const Operator& op, const Node& node) {
  for (size_t binding = 0; binding < kNumBindings; ++binding) {
    const NumberLookup lookup = LookupOf(node, binding);
    for (const Expression& condition : op.require) {
      const auto holds = EvaluateNumber(condition, lookup);
      if (!holds) {
        Reject(fmt::format("grammar: condition '{}' of {} has unknown names", condition.source,
                           op.name));
        return false;
      }
      if (*holds == 0) {
        Reject("require");
        return false;
      }
    }
  }
  const NumberLookup lookup = LookupOf(node, static_cast<size_t>(Binding::kCuda));
  for (const Expression& condition : op.needs) {
    const auto holds = EvaluateNumber(condition, lookup);
    if (!holds) {
      Reject(fmt::format("grammar: need '{}' of {} has unknown names", condition.source, op.name));
      return false;
    }
    if (*holds == 0) {
      Reject("range");
      return false;
    }
  }
  return true;
}

bool Builder::RangeOf(const Operator& op, const Node& node, double* lo, double* hi) {
  const NumberLookup lookup = LookupOf(node, static_cast<size_t>(Binding::kCuda));
  *lo = node.inputs.empty() ? -1 : graph_.values[static_cast<size_t>(node.inputs[0])].lo;
  *hi = node.inputs.empty() ? 1 : graph_.values[static_cast<size_t>(node.inputs[0])].hi;
  if (op.lo) {
    const auto low = EvaluateNumber(*op.lo, lookup);
    const auto high = EvaluateNumber(op.hi.value(), lookup);
    if (!low || !high) {
      Reject(fmt::format("grammar: range of {} has unknown names", op.name));
      return false;
    }
    *lo = *low;
    *hi = *high;
  }
  const double largest = options_.precision == Precision::kFp16 ? kLargestFp16 : kLargestFp32;
  if (!(*lo <= *hi) || !(std::abs(*lo) <= largest) || !(std::abs(*hi) <= largest)) {
    Reject("range");
    return false;
  }
  return true;
}

bool Builder::MakeWeights(const Operator& op, int32_t node_index, Node* node) {
  for (const ParamSpec& spec : op.params) {
    if (!spec.condition.empty()) {
      const auto attr = node->attrs.find(spec.condition);
      if (attr == node->attrs.end() || !std::get<bool>(attr->second)) continue;
    }
    auto dims = node->dims;
    const auto shape = Instantiate(spec.shape, &dims, &node->star, true);
    if (!shape) return false;
    Value weight;
    weight.origin = spec.buffer ? Value::Origin::kBuffer : Value::Origin::kParameter;
    weight.hint = spec.name;
    weight.shape = *shape;
    weight.node = node_index;
    weight.param = &spec;
    node->weights.push_back(static_cast<ValueId>(graph_.values.size()));
    graph_.values.push_back(std::move(weight));
  }
  return true;
}

bool Builder::MakeOutputs(const Operator& op, int32_t node_index, double lo, double hi,
                          Node* node) {
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const auto shape = OutputShape(op.outputs[i], node);
    if (!shape) {
      Reject("shape");
      return false;
    }
    for (const DimId dim : *shape) {
      for (const int64_t size : graph_.dims[dim].at) {
        if (size > 0) continue;
        Reject("require");
        return false;
      }
    }
    Value value;
    value.hint = op.vars.empty() ? "" : op.vars[std::min(i, op.vars.size() - 1)];
    value.shape = *shape;
    value.dtype = op.outputs[i].dtype;
    value.lo = lo;
    value.hi = hi;
    value.saturated = op.saturates;
    if (op.keeps_saturation)
      for (const ValueId input : node->inputs)
        value.saturated = value.saturated || graph_.values[static_cast<size_t>(input)].saturated;
    value.node = node_index;
    value.output = static_cast<int32_t>(i);
    node->outputs.push_back(static_cast<ValueId>(graph_.values.size()));
    graph_.values.push_back(std::move(value));
  }
  return true;
}

std::optional<std::vector<DimId>> Builder::OutputShape(const OutputSpec& spec, Node* node) {
  using Rule = OutputSpec::Rule;
  std::map<std::string, DimId, std::less<>> dims = node->dims;
  if (spec.rule == Rule::kShape) return Instantiate(spec.shape, &dims, &node->star, true);
  const auto& first = graph_.values[static_cast<size_t>(node->inputs[0])].shape;
  const auto axes_of = [&](std::string_view name) -> std::vector<int> {
    const auto attr = node->attrs.find(name);
    if (attr == node->attrs.end()) return {};
    const auto* axes = std::get_if<std::vector<int>>(&attr->second);
    return axes == nullptr ? std::vector<int>() : *axes;
  };
  if (spec.rule == Rule::kReduce) {
    const auto axes = axes_of("dim");
    const auto keep = node->attrs.find("keepdim");
    const bool keepdim = keep != node->attrs.end() && std::get<bool>(keep->second);
    std::vector<DimId> shape;
    for (size_t i = 0; i < first.size(); ++i) {
      const bool reduced = std::find(axes.begin(), axes.end(), static_cast<int>(i)) != axes.end();
      if (!reduced) shape.push_back(first[i]);
      if (reduced && keepdim) shape.push_back(graph_.dims.Constant(1));
    }
    return shape;
  }
  if (spec.rule == Rule::kConcat) {
    const auto axes = axes_of("dim");
    std::vector<DimId> shape = first;
    const auto at = static_cast<size_t>(axes.at(0));
    for (size_t i = 1; i < node->inputs.size(); ++i) {
      const auto& other = graph_.values[static_cast<size_t>(node->inputs[i])].shape;
      if (other.size() != shape.size()) return std::nullopt;
      for (size_t d = 0; d < shape.size(); ++d) {
        if (d == at)
          shape[d] = graph_.dims.Binary('+', shape[d], other[d]);
        else if (!graph_.dims.Equal(shape[d], other[d]))
          return std::nullopt;
      }
    }
    return shape;
  }
  if (spec.rule == Rule::kSwap) {
    const auto a = axes_of("dim0"), b = axes_of("dim1");
    std::vector<DimId> shape = first;
    if (a.empty() || b.empty() || a == b) return std::nullopt;
    std::swap(shape[static_cast<size_t>(a[0])], shape[static_cast<size_t>(b[0])]);
    return shape;
  }
  if (spec.rule == Rule::kInsert) {
    const auto axes = axes_of("dim");
    std::vector<DimId> shape = first;
    shape.insert(shape.begin() + axes.at(0), graph_.dims.Constant(1));
    return shape;
  }
  // kBroadcast: of all inputs.
  std::vector<DimId> shape = first;
  for (const ValueId input : node->inputs) {
    const auto& other = graph_.values[static_cast<size_t>(input)].shape;
    while (shape.size() < other.size()) shape.insert(shape.begin(), graph_.dims.Constant(1));
    for (size_t i = 0; i < other.size(); ++i) {
      DimId& mine = shape[shape.size() - other.size() + i];
      if (graph_.dims.IsConstant(mine, 1))
        mine = other[i];
      else if (!graph_.dims.IsConstant(other[i], 1) && !graph_.dims.Equal(mine, other[i]))
        return std::nullopt;
    }
  }
  return shape;
}

std::optional<std::vector<ValueId>> Builder::ApplyGroup(const std::string& group,
                                                        const std::vector<ValueId>& arguments,
                                                        const Named& named,
                                                        const Environment& environment,
                                                        const std::vector<const Operator*>& avoid) {
  const auto& members = grammar_.groups.find(group)->second;
  double total = 0;
  for (const Operator* op : members) total += op->weight;
  for (int attempt = 0; attempt < kGroupTries; ++attempt) {
    double at = rng_.Uniform() * total;
    const Operator* chosen = members.back();
    for (const Operator* op : members) {
      at -= op->weight;
      if (at > 0) continue;
      chosen = op;
      break;
    }
    if (std::find(avoid.begin(), avoid.end(), chosen) != avoid.end()) continue;
    if (arguments.size() > chosen->inputs.size() &&
        chosen->outputs[0].rule != OutputSpec::Rule::kConcat)
      continue;
    Named fitting;
    for (const auto& [name, choices] : named)
      if (chosen->Attr(name) != nullptr) fitting[name] = choices;
    if (auto made = Apply(*chosen, arguments, fitting, environment)) {
      last_ = chosen;
      return made;
    }
    if (why_.starts_with("grammar")) return std::nullopt;
  }
  Reject("group");
  return std::nullopt;
}

}  // namespace davinci::synth
