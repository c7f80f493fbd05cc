#include "davinci/teacher/program/program.h"

#include <fmt/format.h>

namespace davinci::teacher {

Id Program::Add(TensorValue value) {
  std::string key =
      fmt::format("{}|{}|{}|{}|{}|{}|{}", static_cast<int>(value.kind),
                  static_cast<int>(value.dtype), static_cast<const void*>(value.primitive),
                  static_cast<int>(value.reduce), value.keepdim, value.text, value.item);
  key += "|" + value.kernel;
  for (const auto& [name, option] : value.options) key += fmt::format(" {}={}", name, option);
  for (const Id operand : value.operands) key += fmt::format(" {}", operand);
  for (const int axis : value.axes) key += fmt::format(" a{}", axis);
  for (const DimId dim : value.shape) key += fmt::format(" d{}", dim);
  if (value.number) key += fmt::format(" n{:a}", *value.number);
  const auto [found, added] = known_.try_emplace(key, static_cast<Id>(values.size()));
  if (added) values.push_back(std::move(value));
  return found->second;
}

Id Program::Scalar(double number) {
  TensorValue value;
  value.kind = TensorValue::Kind::kScalar;
  value.number = number;
  return Add(std::move(value));
}

Id Program::ScalarText(const std::string& text) {
  TensorValue value;
  value.kind = TensorValue::Kind::kScalar;
  value.text = text;
  return Add(std::move(value));
}

TensorValue Program::SizeValue(DimId dim) const {
  TensorValue value;
  value.kind = TensorValue::Kind::kScalar;
  value.dtype = DType::kIndex;
  if (graph.dims.IsConstant(dim))
    value.number = static_cast<double>(graph.dims.At(dim, synth::Binding::kCuda));
  else
    value.text =
        SizeText(dim).find(' ') == std::string::npos ? SizeText(dim) : "(" + SizeText(dim) + ")";
  return value;
}

Id Program::Size(DimId dim) { return Add(SizeValue(dim)); }

Id Program::SizeOfAxis(DimId dim, size_t axis) {
  TensorValue value = SizeValue(dim);
  if (!value.number) value.axes = {static_cast<int>(axis)};
  return Add(std::move(value));
}

std::optional<MatrixProduct> Program::MatrixProductOf(Id id) const {
  const TensorValue& value = (*this)[id];
  if (value.kind != TensorValue::Kind::kOpaque || value.what != "matmul") return std::nullopt;
  std::optional<MatrixProduct> product = value.product;
  if (!product) return std::nullopt;
  const auto see_through = [&](Id* operand, bool* transposed) {
    while (true) {
      const TensorValue& view = (*this)[*operand];
      const size_t rank = view.shape.size();
      if (view.kind != TensorValue::Kind::kOpaque || !view.view || rank < 2) return;
      const bool swaps = (rank == 2 && view.text == "{0}.t()") ||
                         view.text == fmt::format("{{0}}.transpose({}, {})", rank - 2, rank - 1) ||
                         view.text == fmt::format("{{0}}.transpose({}, {})", rank - 1, rank - 2);
      if (!swaps) return;
      *operand = view.operands[0];
      *transposed = !*transposed;
    }
  };
  see_through(&product->left, &product->left_transposed);
  see_through(&product->right, &product->right_transposed);
  return product;
}

std::vector<Id> Program::ReadInPlace(Id id) const {
  const TensorValue& value = (*this)[id];
  if (value.kind != TensorValue::Kind::kLoad) return value.operands;
  return {value.operands.begin() + 1, value.operands.end()};
}

DimId Program::Product(const std::vector<DimId>& dims) {
  DimId product = graph.dims.Constant(1);
  for (const DimId dim : dims)
    product = IsOne(product) ? dim : IsOne(dim) ? product : graph.dims.Binary('*', product, dim);
  return product;
}

std::string Program::Variable(Id id) const {
  std::string name = fmt::format("t{}", id);
  for (const TensorValue& value : values)
    if (value.kind == TensorValue::Kind::kLeaf && value.text == name) return "value" + name;
  return name;
}

std::string Program::SizeText(DimId dim) const {
  return graph.dims.Python(dim, [&](DimId part) -> std::string {
    if (graph.dims.IsConstant(part)) return "";
    for (const auto& [known, text] : size_sources)
      if (graph.dims.Equal(known, part)) return text;
    return graph.dims[part].kind == synth::Dim::Kind::kSymbol ? "?" : "";
  });
}

double Program::Elements(Id id, synth::Binding binding) const {
  double elements = 1;
  for (const DimId dim : (*this)[id].shape) elements *= At(dim, binding);
  return elements;
}

std::optional<std::vector<int64_t>> ConstantSizes(const Program& program, Id id) {
  std::vector<int64_t> sizes;
  for (const DimId dim : program[id].shape) {
    if (!program.graph.dims.IsConstant(dim)) return std::nullopt;
    sizes.push_back(static_cast<int64_t>(program.At(dim, synth::Binding::kCpu)));
  }
  return sizes;
}

}  // namespace davinci::teacher
