#include "davinci/synth/graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace davinci::synth {

std::string_view PrecisionText(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kFp16:
      return "fp16";
    case Precision::kBf16:
      return "bf16";
  }
  return "";
}

std::vector<int> Graph::UsesOfValues() const {
  std::vector<int> uses(values.size());
  for (const Node& node : nodes)
    for (const ValueId value : node.inputs) ++uses[static_cast<size_t>(value)];
  for (const ValueId value : outputs) ++uses[static_cast<size_t>(value)];
  return uses;
}

std::vector<std::string> Graph::OperatorSequence() const {
  std::vector<std::string> sequence;
  for (const Node& node : nodes)
    if (!node.view) sequence.push_back(node.label);
  return sequence;
}

uint64_t Graph::CombinationHash() const {
  std::vector<std::string> names = OperatorSequence();
  std::sort(names.begin(), names.end());
  uint64_t hash = 1;
  for (const std::string& name : names) hash = HashBytes(name, hash);
  return hash;
}

uint64_t Graph::StructureHash() const {
  uint64_t hash = HashBytes(PrecisionText(precision));
  for (const Node& node : nodes) {
    hash = HashBytes(node.label, hash);
    for (const ValueId input : node.inputs) hash = HashBytes(fmt::format("<{}", input), hash);
    for (const auto& [name, value] : node.attrs) {
      std::string text = name;
      if (const auto* number = std::get_if<int64_t>(&value)) text += fmt::format("{}", *number);
      if (const auto* real = std::get_if<double>(&value)) text += fmt::format("{}", *real);
      if (const auto* flag = std::get_if<bool>(&value)) text += *flag ? "T" : "F";
      if (const auto* word = std::get_if<std::string>(&value)) text += *word;
      if (const auto* axes = std::get_if<std::vector<int>>(&value))
        for (const int axis : *axes) text += fmt::format("{},", axis);
      hash = HashBytes(text, hash);
    }
    for (const ValueId output : node.outputs)
      hash = HashBytes(fmt::format("r{}", values[static_cast<size_t>(output)].shape.size()), hash);
  }
  for (const ValueId output : outputs) hash = HashBytes(fmt::format(">{}", output), hash);
  return hash;
}

double Graph::Elements(Binding binding) const {
  double sum = 0;
  for (const Value& value : values) {
    if (value.origin == Value::Origin::kNode && nodes[static_cast<size_t>(value.node)].view)
      continue;
    double elements = 1;
    for (const DimId dim : value.shape) elements *= static_cast<double>(dims.At(dim, binding));
    sum += elements;
  }
  return sum;
}

double Graph::Flops(Binding binding) const {
  double sum = 0;
  for (const Node& node : nodes) {
    double elements = 0;
    for (const ValueId output : node.outputs) {
      double product = 1;
      for (const DimId dim : values[static_cast<size_t>(output)].shape)
        product *= static_cast<double>(dims.At(dim, binding));
      elements += product;
    }
    if (node.op == nullptr || !node.op->flops) {
      sum += elements;
      continue;
    }
    double stars = 1;
    for (const DimId dim : node.star) stars *= static_cast<double>(dims.At(dim, binding));
    NumberLookup lookup;
    lookup.number = [&](std::string_view name) -> std::optional<double> {
      if (name == "out") return elements;
      if (name == "star") return stars;
      if (const auto dim = node.dims.find(name); dim != node.dims.end())
        return static_cast<double>(dims.At(dim->second, binding));
      if (const auto attr = node.attrs.find(name); attr != node.attrs.end()) {
        if (const auto* number = std::get_if<int64_t>(&attr->second))
          return static_cast<double>(*number);
        if (const auto* size = std::get_if<SizeAttr>(&attr->second))
          return static_cast<double>(dims.At(size->dim, binding));
      }
      return std::nullopt;
    };
    sum += EvaluateNumber(node.op->flops.value(), lookup).value_or(elements);
  }
  return sum;
}

}  // namespace davinci::synth
