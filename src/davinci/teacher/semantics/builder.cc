#include "davinci/teacher/semantics/builder.h"

#include <algorithm>

#include "davinci/teacher/program/precedence.h"

namespace davinci::teacher {

Result<std::vector<DimId>> Builder::Broadcast(const std::vector<Id>& values,
                                              const char* otherwise) const {
  size_t rank = 0;
  for (const Id id : values) rank = std::max(rank, p[id].shape.size());
  std::vector<DimId> all(rank, p.graph.dims.Constant(1));
  for (const Id id : values) {
    const auto& shape = p[id].shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      DimId& own = all[rank - shape.size() + i];
      if (p.IsOne(own)) {
        own = shape[i];
      } else if (!p.IsOne(shape[i]) && !p.Same(own, shape[i])) {
        return Unknown(otherwise);
      }
    }
  }
  return all;
}

Result<Id> Builder::Integer(const char* primitive, Id a, Id b) {
  const auto& second = p[b];
  const std::string_view name = primitive;
  if (second.kind == TensorValue::Kind::kScalar && second.number) {
    if (*second.number == 0 && (name == "iadd" || name == "isub")) return a;
    if (*second.number == 1 && (name == "imul" || name == "idiv")) return a;
  }
  DAVINCI_ASSIGN_OR_RETURN(const Meaning result,
                           Point(primitive, {Meaning::Tensor(a), Meaning::Tensor(b)}));
  return result.id;
}

Id Builder::Position(const std::vector<DimId>& shape, size_t axis) {
  TensorValue iota;
  iota.kind = TensorValue::Kind::kIota;
  iota.dtype = DType::kIndex;
  iota.axes = {static_cast<int>(axis)};
  iota.shape.assign(shape.size(), Constant(1));
  iota.shape[axis] = shape[axis];
  return p.Add(std::move(iota));
}

std::vector<Id> Builder::Positions(const std::vector<DimId>& shape) {
  std::vector<Id> all;
  for (size_t i = 0; i < shape.size(); ++i) all.push_back(Position(shape, i));
  return all;
}

Id SizeOfAxis(Builder& b, const std::vector<DimId>& shape, size_t axis) {
  return b.options.brief ? b.p.SizeOfAxis(shape[axis], axis) : b.p.Size(shape[axis]);
}

Result<Id> LastOfAxis(Builder& b, const std::vector<DimId>& shape, size_t axis) {
  if (!b.options.brief || b.p.graph.dims.IsConstant(shape[axis]))
    return b.p.Size(b.p.graph.dims.Binary('-', shape[axis], b.Constant(1)));
  return b.IntegerBy("isub", SizeOfAxis(b, shape, axis), 1);
}

Result<Meaning> Builder::Reshape(Id x, std::vector<DimId> shape) {
  // An index with further axes of size 1 is an index. No other value of indices alone exists in
  // memory.
  if (p.graph.pattern == nullptr && p[x].kind == TensorValue::Kind::kIota) {
    size_t axis = shape.size();
    for (size_t i = 0; i < shape.size(); ++i)
      if (!p.IsOne(shape[i])) {
        if (axis < shape.size()) return Unknown("an index in another shape");
        axis = i;
      }
    if (axis < shape.size()) return Meaning::Tensor(Position(shape, axis));
  }
  if (p.graph.pattern == nullptr && p[x].virtual_) return Unknown("an index that is computed");
  TensorValue value;
  value.kind = TensorValue::Kind::kReshape;
  value.operands = {x};
  value.dtype = p[x].dtype;
  value.shape = std::move(shape);
  return Meaning::Tensor(p.Add(std::move(value)));
}

Meaning Builder::View(Id x, const std::string& text, std::vector<DimId> shape) {
  TensorValue value;
  value.kind = TensorValue::Kind::kOpaque;
  value.what = "view";
  value.view = true;
  value.contiguous = false;
  value.operands = {x};
  value.text = text;
  value.dtype = p[x].dtype;
  value.shape = std::move(shape);
  return Meaning::Tensor(p.Add(std::move(value)));
}

Meaning Builder::ReadAs(const Meaning& view, const Result<Meaning>& load) {
  if (load.ok()) p.read_as[view.id] = load->id;
  return view;
}

Id Builder::Readable(Id id) const {
  const auto found = p.read_as.find(id);
  return found == p.read_as.end() ? id : found->second;
}

Meaning Builder::Size(DimId dim) {
  Meaning size = Meaning::Number(0);
  size.dim = dim;
  if (p.graph.dims.IsConstant(dim)) {
    size.number = static_cast<double>(p.graph.dims.At(dim, synth::Binding::kCuda));
  } else {
    size.number.reset();
    size.text = Bracketed(p.SizeText(dim));
  }
  return size;
}

Result<std::vector<int>> Builder::Axes(const Meaning& dim, size_t rank) {
  std::vector<int> axes;
  if (dim.IsNone()) {
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int>(i));
    return axes;
  }
  const Meanings all = dim.IsSequence() ? dim.items : Meanings{dim};
  for (const Meaning& one : all) {
    if (one.kind != Meaning::Kind::kNumber || !one.number) return Unknown("such an axis");
    int axis = static_cast<int>(*one.number);
    if (axis < 0) axis += static_cast<int>(rank);
    if (axis < 0 || axis >= static_cast<int>(rank)) return Unknown("an axis out of range");
    axes.push_back(axis);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

Meaning Builder::ByRule(Rule rule, const Meaning& value) {
  p.by_rule[value.id] = rule;
  return value;
}

}  // namespace davinci::teacher
