// Attributes of an operator, drawn or given by the pattern, and the numbers that conditions read.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/graph_builder.h"

namespace davinci::synth {

std::optional<double> Builder::NumberOf(std::string_view name, const Node& node,
                                        size_t binding) const {
  if (const auto attr = node.attrs.find(name); attr != node.attrs.end()) {
    if (const auto* number = std::get_if<int64_t>(&attr->second))
      return static_cast<double>(*number);
    if (const auto* real = std::get_if<double>(&attr->second)) return *real;
    if (const auto* flag = std::get_if<bool>(&attr->second)) return *flag;
    if (const auto* size = std::get_if<SizeAttr>(&attr->second))
      return static_cast<double>(graph_.dims[size->dim].at[binding]);
  }
  if (const auto dim = node.dims.find(name); dim != node.dims.end())
    return static_cast<double>(graph_.dims[dim->second].at[binding]);
  if (name == "inf") return HUGE_VAL;
  if (name == "axis_size") return AxisSize(node, binding);
  if (name == "saturated")
    return !node.inputs.empty() && graph_.values[static_cast<size_t>(node.inputs[0])].saturated;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Value& value = graph_.values[static_cast<size_t>(node.inputs[i])];
    const std::string suffix = i == 0 ? "" : std::to_string(i);
    if (name == "lo" + suffix) return value.lo;
    if (name == "hi" + suffix) return value.hi;
    if (name == "m" + suffix) return std::max(std::abs(value.lo), std::abs(value.hi));
    if (name == "rank" + suffix) return static_cast<double>(value.shape.size());
  }
  return std::nullopt;
}

double Builder::AxisSize(const Node& node, size_t binding) const {
  if (node.inputs.empty()) return 1;
  const auto& shape = graph_.values[static_cast<size_t>(node.inputs[0])].shape;
  double product = 1;
  const auto attr = node.attrs.find("dim");
  const auto* axes =
      attr == node.attrs.end() ? nullptr : std::get_if<std::vector<int>>(&attr->second);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (axes != nullptr &&
        std::find(axes->begin(), axes->end(), static_cast<int>(i)) == axes->end())
      continue;
    product *= static_cast<double>(graph_.dims[shape[i]].at[binding]);
  }
  return product;
}

NumberLookup Builder::LookupOf(const Node& node, size_t binding) const {
  NumberLookup lookup;
  lookup.number = [this, &node, binding](std::string_view name) {
    return NumberOf(name, node, binding);
  };
  lookup.word = [&node](std::string_view name) -> std::optional<std::string> {
    const auto attr = node.attrs.find(name);
    if (attr == node.attrs.end()) return std::nullopt;
    if (const auto* word = std::get_if<std::string>(&attr->second)) return *word;
    return std::nullopt;
  };
  return lookup;
}

std::optional<std::vector<int>> Builder::DrawAxes(const std::string& word, size_t rank, bool many) {
  const int r = static_cast<int>(rank);
  const auto range = [](int from, int to) {
    std::vector<int> axes;
    for (int i = from; i < to; ++i) axes.push_back(i);
    return axes;
  };
  if (r == 0) return std::nullopt;
  if (word == "any") return std::vector<int>{static_cast<int>(rng_.Below(rank))};
  if (word == "last") return std::vector<int>{r - 1};
  if (word == "first") return std::vector<int>{0};
  if (word == "channel" && r >= 2) return std::vector<int>{1};
  if (word == "inner" && r >= 2) {
    if (!many) return std::vector<int>{1 + static_cast<int>(rng_.Below(rank - 1))};
    return range(1, r);
  }
  if (word == "spatial" && r >= 3) return range(2, r);
  if (word == "last2" && r >= 2) return range(r - 2, r);
  if (word == "but_channel" && r >= 3) {
    auto axes = range(2, r);
    axes.insert(axes.begin(), 0);
    return axes;
  }
  if (word == "some" && r >= 2) {
    std::vector<int> axes;
    for (int i = 0; i < r; ++i)
      if (rng_.Below(2) == 0) axes.push_back(i);
    if (axes.empty()) axes.push_back(r - 1);
    return axes;
  }
  return std::nullopt;
}

bool Builder::DrawAttrs(const Operator& op, size_t rank, Node* node) {
  using Kind = AttrSpec::Kind;
  for (const AttrSpec& spec : op.attrs) {
    if (node->attrs.contains(spec.name)) continue;
    AttrValue value;
    switch (spec.kind) {
      case Kind::kInts:
        value = static_cast<int64_t>(Pick(spec.numbers));
        break;
      case Kind::kFloats:
        value = Pick(spec.numbers);
        break;
      case Kind::kBools:
        value = Pick(spec.numbers) != 0;
        break;
      case Kind::kWords:
        value = Pick(spec.words);
        break;
      case Kind::kSize: {
        const auto bound = node->dims.find(spec.name);  // by the shape of an input
        const DimId dim = bound != node->dims.end() ? bound->second
                                                    : NewSymbol(spec.role, spec.py, spec.multiple);
        if (dim == kNoDim) return false;
        value = SizeAttr{dim};
        break;
      }
      case Kind::kAxis:
      case Kind::kAxes: {
        std::optional<std::vector<int>> axes;
        for (int i = 0; i < 4 && !axes; ++i)
          axes = DrawAxes(Pick(spec.words), rank, spec.kind == Kind::kAxes);
        if (!axes) return !Reject("shape");
        value = *axes;
        break;
      }
      case Kind::kDerived: {
        const auto number = EvaluateNumber(Pick(spec.derived),
                                           LookupOf(*node, static_cast<size_t>(Binding::kCuda)));
        if (!number)
          return !Reject(
              fmt::format("grammar: attribute {} of {} has unknown names", spec.name, op.name));
        value = static_cast<int64_t>(*number);
        break;
      }
    }
    node->attrs[spec.name] = std::move(value);
  }
  return true;
}

bool Builder::DrawSizes(const Operator& op, Node* node) {
  for (const AttrSpec& spec : op.attrs) {
    if (node->attrs.contains(spec.name)) continue;
    if (spec.kind == AttrSpec::Kind::kSize) {
      const DimId dim = NewSymbol(spec.role, spec.py, spec.multiple);
      if (dim == kNoDim) return false;
      node->attrs[spec.name] = SizeAttr{dim};
    } else if (spec.kind == AttrSpec::Kind::kInts) {
      node->attrs[spec.name] = static_cast<int64_t>(Pick(spec.numbers));
    }
  }
  return true;
}

bool Builder::SetNamed(const Operator& op, const Named& named, const Environment& environment,
                       Node* node, size_t rank) {
  for (const auto& [name, choices] : named) {
    const Expression& expression = Pick(choices);
    const AttrSpec* attr = op.Attr(name);
    const auto dim = [&] {
      return EvaluateDim(expression, &graph_.dims,
                         [&](std::string_view used) { return LookUp(used, environment.dims); });
    };
    if (attr == nullptr || attr->kind == AttrSpec::Kind::kSize) {
      const auto size = dim();
      if (!size)
        return !Reject(fmt::format("grammar: {}={} has unknown names", name, expression.source));
      if (attr == nullptr)
        node->dims[name] = *size;
      else
        node->attrs[name] = SizeAttr{*size};
      continue;
    }
    if (attr->kind == AttrSpec::Kind::kWords) {
      node->attrs[name] = expression.text;
      continue;
    }
    if (attr->kind == AttrSpec::Kind::kAxis || attr->kind == AttrSpec::Kind::kAxes) {
      if (expression.kind == Expression::Kind::kWord) {
        const auto axes = DrawAxes(expression.text, rank, attr->kind == AttrSpec::Kind::kAxes);
        if (!axes) return !Reject("shape");
        node->attrs[name] = *axes;
        continue;
      }
      const auto number =
          EvaluateNumber(expression, {[](std::string_view) { return std::nullopt; }, {}});
      if (!number) return !Reject("grammar: axis is no number");
      const int axis = static_cast<int>(*number);
      node->attrs[name] = std::vector<int>{axis < 0 ? axis + static_cast<int>(rank) : axis};
      continue;
    }
    NumberLookup lookup;
    lookup.number = [&](std::string_view used) -> std::optional<double> {
      const auto size = LookUp(used, environment.dims);
      if (!size || !graph_.dims.IsConstant(*size)) return std::nullopt;
      return static_cast<double>(graph_.dims.At(*size, Binding::kCuda));
    };
    const auto number = EvaluateNumber(expression, lookup);
    if (!number)
      return !Reject(fmt::format("grammar: {}={} is no number", name, expression.source));
    if (attr->kind == AttrSpec::Kind::kBools)
      node->attrs[name] = *number != 0;
    else if (attr->kind == AttrSpec::Kind::kFloats)
      node->attrs[name] = *number;
    else
      node->attrs[name] = static_cast<int64_t>(*number);
  }
  return true;
}

}  // namespace davinci::synth
