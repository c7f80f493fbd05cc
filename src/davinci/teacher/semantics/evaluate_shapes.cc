// What PyTorch functions mean that need shapes: sizes, axes, views, subscripts; and which file
// knows a function (Native).
#include <fmt/format.h>

#include <algorithm>

#include "davinci/teacher/regions/kernel_form.h"
#include "davinci/teacher/semantics/evaluate.h"

namespace davinci::teacher {

Meaning Evaluator::Size(DimId dim) {
  Meaning size = Meaning::Number(0);
  size.dim = dim;
  if (p_->graph.dims.IsConstant(dim)) {
    size.number = static_cast<double>(p_->graph.dims.At(dim, synth::Binding::kCuda));
  } else {
    size.number.reset();
    size.text = Bracketed(p_->SizeText(dim));
  }
  return size;
}

Result<std::vector<int>> Evaluator::Axes(const Meaning& dim, size_t rank) {
  std::vector<int> axes;
  if (dim.kind == Meaning::Kind::kNone) {
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int>(i));
    return axes;
  }
  Meanings all = dim.kind == Meaning::Kind::kSequence ? dim.items : Meanings{dim};
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

Result<Meaning> Evaluator::Reshape(Id x, std::vector<DimId> shape) {
  // An index with further axes of size 1 is an index. No other value of indices alone exists in
  // memory.
  if (p_->graph.pattern == nullptr && (*p_)[x].kind == TensorValue::Kind::kIota) {
    size_t axis = shape.size();
    for (size_t i = 0; i < shape.size(); ++i)
      if (!p_->IsOne(shape[i])) {
        if (axis < shape.size()) return Unknown("an index in another shape");
        axis = i;
      }
    if (axis < shape.size()) return Meaning::Tensor(Position(shape, axis));
  }
  if (p_->graph.pattern == nullptr && (*p_)[x].virtual_)
    return Unknown("an index that is computed");
  TensorValue value;
  value.kind = TensorValue::Kind::kReshape;
  value.operands = {x};
  value.dtype = (*p_)[x].dtype;
  value.shape = std::move(shape);
  return Meaning::Tensor(p_->Add(std::move(value)));
}

Meaning Evaluator::View(Id x, const std::string& text, std::vector<DimId> shape) {
  TensorValue value;
  value.kind = TensorValue::Kind::kOpaque;
  value.what = "view";
  value.view = true;
  value.contiguous = false;
  value.operands = {x};
  value.text = text;
  value.dtype = (*p_)[x].dtype;
  value.shape = std::move(shape);
  return Meaning::Tensor(p_->Add(std::move(value)));
}

std::optional<Result<Meaning>> Evaluator::Viewed(const NativeCall& call) {
  const std::string& name = call.name;
  const Meanings& arguments = call.arguments;
  const auto argument = [&](size_t at, const char* keyword) { return call.Argument(at, keyword); };
  const Id x = call.arguments[0].id;
  const std::vector<DimId> shape = (*p_)[x].shape;
  const size_t rank = shape.size();
  const DimId one = p_->graph.dims.Constant(1);
  if (name == "size" || name == "dim") {
    auto axes = Axes(argument(1, "dim"), rank);
    if (!axes.ok() || axes->size() != 1) return Result<Meaning>(Unknown("size"));
    return Result<Meaning>(Size(shape[static_cast<size_t>((*axes)[0])]));
  }
  if (name == "contiguous" || name == "clone" || name == "detach") {
    return Result<Meaning>(arguments[0]);
  }
  if (name == "unsqueeze") {
    const Meaning dim = argument(1, "dim");
    if (!dim.number) return Result<Meaning>(Unknown(name));
    int axis = static_cast<int>(*dim.number);
    if (axis < 0) axis += static_cast<int>(rank) + 1;
    if (axis < 0 || axis > static_cast<int>(rank)) return Result<Meaning>(Unknown(name));
    auto wide = shape;
    wide.insert(wide.begin() + axis, one);
    return Reshape(x, wide);
  }
  if (name == "squeeze") {
    auto axes = Axes(argument(1, "dim"), rank);
    if (!axes.ok() || axes->size() != 1) return Result<Meaning>(Unknown(name));
    auto narrow = shape;
    if (!p_->IsOne(narrow[static_cast<size_t>((*axes)[0])])) return Result<Meaning>(Unknown(name));
    narrow.erase(narrow.begin() + (*axes)[0]);
    return Reshape(x, narrow);
  }
  if (name == "flatten") {
    auto begin = argument(1, "start_dim"), end = argument(2, "end_dim");
    int from = begin.number ? static_cast<int>(*begin.number) : 0;
    int to = end.number ? static_cast<int>(*end.number) : -1;
    if (from < 0) from += static_cast<int>(rank);
    if (to < 0) to += static_cast<int>(rank);
    if (from > to || to >= static_cast<int>(rank)) return Result<Meaning>(Unknown(name));
    std::vector<DimId> flat(shape.begin(), shape.begin() + from);
    flat.push_back(p_->Product({shape.begin() + from, shape.begin() + to + 1}));
    flat.insert(flat.end(), shape.begin() + to + 1, shape.end());
    return Reshape(x, flat);
  }
  if (name == "view" || name == "reshape") {
    Meanings sizes(arguments.begin() + 1, arguments.end());
    if (sizes.size() == 1 && sizes[0].kind == Meaning::Kind::kSequence)
      sizes = Meanings(sizes[0].items);
    std::vector<DimId> to;
    int open = -1;
    for (const Meaning& size : sizes) {
      if (size.dim != synth::kNoDim) {
        to.push_back(size.dim);
      } else if (size.number && *size.number == -1 && open < 0) {
        open = static_cast<int>(to.size());
        to.push_back(one);
      } else if (size.number) {
        to.push_back(p_->graph.dims.Constant(static_cast<int64_t>(*size.number)));
      } else {
        return Result<Meaning>(Unknown(name));
      }
    }
    if (open >= 0) {
      const DimId rest = p_->graph.dims.Binary('/', p_->Product(shape), p_->Product(to));
      if (rest == synth::kNoDim) return Result<Meaning>(Unknown(name));
      to[static_cast<size_t>(open)] = rest;
    }
    if (!p_->Same(p_->Product(shape), p_->Product(to))) return Result<Meaning>(Unknown(name));
    return Reshape(x, to);
  }
  if (name == "t" && rank == 2) return Result<Meaning>(View(x, "{0}.t()", {shape[1], shape[0]}));
  if (name == "transpose" && rank >= 2) {
    auto a = Axes(argument(1, "dim0"), rank), b = Axes(argument(2, "dim1"), rank);
    if (!a.ok() || !b.ok() || a->size() != 1 || b->size() != 1)
      return Result<Meaning>(Unknown(name));
    auto swapped = shape;
    std::swap(swapped[static_cast<size_t>((*a)[0])], swapped[static_cast<size_t>((*b)[0])]);
    return Result<Meaning>(View(x,
                                fmt::format("{{0}}.transpose({}, {})", std::min((*a)[0], (*b)[0]),
                                            std::max((*a)[0], (*b)[0])),
                                swapped));
  }
  if (name == "permute") {
    Meanings order(arguments.begin() + 1, arguments.end());
    if (order.size() == 1 && order[0].kind == Meaning::Kind::kSequence)
      order = Meanings(order[0].items);
    if (order.size() != rank) return Result<Meaning>(Unknown(name));
    std::vector<DimId> to;
    std::vector<int> axes;
    for (const Meaning& axis : order) {
      auto one_axis = Axes(axis, rank);
      if (!one_axis.ok()) return Result<Meaning>(one_axis.status());
      axes.push_back((*one_axis)[0]);
      to.push_back(shape[static_cast<size_t>(axes.back())]);
    }
    return Result<Meaning>(View(x, fmt::format("{{0}}.permute({})", fmt::join(axes, ", ")), to));
  }
  if (name == "half_first" || name == "half_second") {
    auto axes = Axes(argument(1, "dim"), rank);
    if (!axes.ok() || axes->size() != 1) return Result<Meaning>(Unknown(name));
    auto half = shape;
    const auto axis = static_cast<size_t>((*axes)[0]);
    const DimId size = p_->graph.dims.Binary('/', half[axis], p_->graph.dims.Constant(2));
    half[axis] = size;
    const Meaning view = View(
        x, fmt::format("{{0}}.chunk(2, dim={})[{}]", axis, name == "half_first" ? 0 : 1), half);
    return ReadAs(view,
                  Slice(x, axis, name == "half_first" ? p_->graph.dims.Constant(0) : size, size));
  }
  if (name == "chunk") {
    const Meaning count = argument(1, "chunks");
    auto axes = Axes(argument(2, "dim"), rank);
    if (!count.number || !axes.ok() || axes->size() != 1) return Result<Meaning>(Unknown(name));
    auto part = shape;
    DimId& size = part[static_cast<size_t>((*axes)[0])];
    size = p_->graph.dims.Binary('/', size,
                                 p_->graph.dims.Constant(static_cast<int64_t>(*count.number)));
    Meaning all;
    all.kind = Meaning::Kind::kSequence;
    for (int k = 0; k < static_cast<int>(*count.number); ++k) {
      const Meaning view =
          View(x, fmt::format("{{0}}.chunk({}, dim={})[{}]", *count.number, (*axes)[0], k), part);
      const DimId from = p_->graph.dims.Binary('*', size, p_->graph.dims.Constant(k));
      all.items.push_back(ReadAs(view, Slice(x, static_cast<size_t>((*axes)[0]), from, size)));
    }
    return Result<Meaning>(all);
  }
  return std::nullopt;
}

std::optional<Result<Meaning>> Evaluator::Native(const std::string& name, Meanings& arguments,
                                                 Keywords& keywords) {
  const NativeCall call{name, arguments, keywords};
  // Lists are of tensors: cat, stack, einsum.
  for (const Meaning& list : arguments)
    if (list.kind == Meaning::Kind::kSequence &&
        std::any_of(list.items.begin(), list.items.end(),
                    [](const Meaning& item) { return !item.filled.empty(); }))
      return Result<Meaning>(Unknown(name + " of numbers"));
  const auto argument = [&](size_t at, const char* keyword) { return call.Argument(at, keyword); };
  if ((name == "cat" || name == "concat") && !arguments.empty() &&
      arguments[0].kind == Meaning::Kind::kSequence) {
    const Meaning dim = argument(1, "dim");
    return Concatenated(arguments[0].items,
                        dim.kind == Meaning::Kind::kNone ? Meaning::Number(0) : dim);
  }
  if (auto made = Created(name, arguments, keywords)) return made;
  if (arguments.empty() || arguments[0].kind != Meaning::Kind::kTensor) return std::nullopt;
  for (const auto handle : {&Evaluator::Templated, &Evaluator::Reduced, &Evaluator::Viewed,
                            &Evaluator::Moved, &Evaluator::Resampled, &Evaluator::Attention,
                            &Evaluator::Normalization, &Evaluator::ClassLoss})
    if (auto meaning = (this->*handle)(call)) return meaning;
  const Id x = arguments[0].id;
  const std::vector<DimId> shape = (*p_)[x].shape;
  const size_t rank = shape.size();
  if (name == "gather") {
    auto axes = Axes(argument(1, "dim"), rank);
    const Meaning index = argument(2, "index");
    if (!axes.ok() || axes->size() != 1 || index.kind != Meaning::Kind::kTensor)
      return Result<Meaning>(Unknown(name));
    const auto axis = static_cast<size_t>((*axes)[0]);
    const auto& to = (*p_)[index.id].shape;
    bool rows = to.size() == rank && p_->IsOne(to[axis]);
    for (size_t i = 0; rows && i < rank; ++i) rows = i == axis || p_->Same(to[i], shape[i]);
    if (!rows) return Indexed(name, arguments, keywords);
    return PickClass(x, index.id, axis, true);
  }
  if (name == "linear") return Linear(x, argument(1, "weight"), argument(2, "bias"), "");
  if (name == "pow") return Power(arguments[0], argument(1, "exponent"));
  return Indexed(name, arguments, keywords);
}

Result<Meaning> Evaluator::Subscript(const PythonExpression& e, const Names& names) {
  DAVINCI_ASSIGN_OR_RETURN(const Meaning value, Evaluate(e.parts[0], names));
  if (value.kind == Meaning::Kind::kSequence) {
    if (e.parts.size() != 2) return Unknown("[]");
    if (e.parts[1].kind == PythonExpression::Kind::kSlice) {
      DAVINCI_ASSIGN_OR_RETURN(const Meaning from, Evaluate(e.parts[1].parts[0], names));
      Meaning rest = value;
      int begin = from.number ? static_cast<int>(*from.number) : 0;
      if (begin < 0) begin += static_cast<int>(value.items.size());
      if (begin < 0 || e.parts[1].parts[1].kind != PythonExpression::Kind::kNone)
        return Unknown("[:]");
      rest.items.erase(rest.items.begin(), rest.items.begin() + begin);
      return rest;
    }
    DAVINCI_ASSIGN_OR_RETURN(const Meaning index, Evaluate(e.parts[1], names));
    if (!index.number) return Unknown("[]");
    int at = static_cast<int>(*index.number);
    if (at < 0) at += static_cast<int>(value.items.size());
    if (at < 0 || at >= static_cast<int>(value.items.size())) return Unknown("[]");
    if (at == 0 && value.id >= 0) return Meaning::Tensor(value.id);
    return value.items[static_cast<size_t>(at)];
  }
  if (value.kind != Meaning::Kind::kTensor) return Unknown("[]");
  const auto old = (*p_)[value.id].shape;
  if (e.parts.size() == 2 && e.parts[1].kind == PythonExpression::Kind::kName) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning index, Evaluate(e.parts[1], names));
    if (index.kind == Meaning::Kind::kTensor) return Select(value.id, 0, index.id);
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto part, Part(value.id, e, names));
  if (part) return *part;
  // x[:, :, None], x[None]
  std::vector<DimId> shape;
  size_t axis = 0;
  for (size_t i = 1; i < e.parts.size(); ++i) {
    const PythonExpression& item = e.parts[i];
    if (item.kind == PythonExpression::Kind::kName && item.text == "None") {
      shape.push_back(p_->graph.dims.Constant(1));
    } else if (item.kind == PythonExpression::Kind::kSlice &&
               item.parts[0].kind == PythonExpression::Kind::kNone &&
               item.parts[1].kind == PythonExpression::Kind::kNone &&
               item.parts[2].kind == PythonExpression::Kind::kNone && axis < old.size()) {
      shape.push_back(old[axis++]);
    } else {
      return Unknown("a slice");
    }
  }
  shape.insert(shape.end(), old.begin() + static_cast<std::ptrdiff_t>(axis), old.end());
  return Reshape(value.id, shape);
}

}  // namespace davinci::teacher
