// What PyTorch functions mean that make tensors of numbers or move elements: triangles, shuffles,
// stacking, repetition, rolling, diagonals, patches.
#include <fmt/format.h>

#include <algorithm>

#include "davinci/teacher/semantics/evaluate.h"

namespace davinci::teacher {
namespace {

std::optional<int64_t> Integral(const Meaning& value) {
  if (value.kind == Meaning::Kind::kSequence)
    return value.items.size() == 1 ? Integral(value.items[0]) : std::nullopt;
  if (value.kind != Meaning::Kind::kNumber || !value.number) return std::nullopt;
  return static_cast<int64_t>(*value.number);
}

bool Says(const Meaning& value, std::string_view text) {
  return value.kind == Meaning::Kind::kText && value.text == text;
}

}  // namespace

// arange(end), arange(start, end) of whole numbers.
Result<Meaning> Evaluator::Counted(const Meanings& arguments, const Meaning& type) {
  if (arguments.empty() || arguments.size() > 3) return Unknown("arange");
  if (arguments.size() == 3 && Integral(arguments[2]) != 1) return Unknown("arange with a step");
  const auto begin = arguments.size() == 1 ? std::optional<int64_t>(0) : Integral(arguments[0]);
  const auto end = Integral(arguments[arguments.size() == 1 ? 0 : 1]);
  if (!begin || !end || *end <= *begin) return Unknown("arange");
  const bool real = Says(type, "torch.float32");
  if (type.kind != Meaning::Kind::kNone && !real && !Says(type, "torch.int64") &&
      !Says(type, "torch.long"))
    return Unknown("arange of this type");
  if (real && p_->graph.precision != synth::Precision::kFp32) return Unknown("arange of this type");
  Id index = Position({p_->graph.dims.Constant(*end - *begin)}, 0);
  if (*begin != 0) {
    DAVINCI_ASSIGN_OR_RETURN(index, IntegerBy("iadd", index, *begin));
  }
  return real ? Point("float", {Meaning::Tensor(index)}) : Result<Meaning>(Meaning::Tensor(index));
}

std::optional<Result<Meaning>> Evaluator::Created(const std::string& name,
                                                  const Meanings& arguments,
                                                  const Keywords& keywords) {
  const auto keyword = [&](const char* key) {
    const auto found = keywords.find(key);
    return found == keywords.end() ? Meaning{} : found->second;
  };
  (void)keyword("device");  // it is the inputs' device, or the tensor is foreign
  if (name == "tensor" && arguments.size() == 1 && arguments[0].kind == Meaning::Kind::kNumber)
    return Result<Meaning>(arguments[0]);
  if ((name == "stack") && !arguments.empty() && arguments[0].kind == Meaning::Kind::kSequence) {
    const Meaning dim = arguments.size() > 1 ? arguments[1] : keyword("dim");
    return Stacked(arguments[0].items, dim.kind == Meaning::Kind::kNone ? Meaning::Number(0) : dim);
  }
  if (name == "einsum" && arguments.size() >= 2 && arguments[0].kind == Meaning::Kind::kText)
    return Einsum(arguments[0].text, {arguments.begin() + 1, arguments.end()});
  if ((name == "new_zeros" || name == "new_ones" || name == "new_full") && arguments.size() > 1 &&
      arguments[0].kind == Meaning::Kind::kTensor && !keywords.contains("dtype") &&
      (*p_)[arguments[0].id].dtype == DType::kFloat)
    return Created(name.substr(4), {arguments.begin() + 1, arguments.end()}, keywords);
  if (name == "arange") return Counted(arguments, keyword("dtype"));
  const bool full = name == "full";
  if (full || name == "ones" || name == "zeros") {
    Meanings sizes = arguments;
    Meaning value = Meaning::Number(name == "ones" ? 1 : 0);
    if (full) {
      if (arguments.size() != 2 || arguments[1].kind != Meaning::Kind::kNumber)
        return Result<Meaning>(Unknown(name));
      value = arguments[1];
      sizes.pop_back();
    }
    if (sizes.size() == 1 && sizes[0].kind == Meaning::Kind::kSequence)
      sizes = Meanings(sizes[0].items);
    const Meaning type = keyword("dtype");
    if (Says(type, "torch.long") || Says(type, "torch.int64"))
      return Result<Meaning>(Unknown(name + " of integers"));
    value.boolean = Says(type, "torch.bool");
    for (const Meaning& size : sizes) {
      if (size.dim != synth::kNoDim)
        value.filled.push_back(size.dim);
      else if (const auto number = Integral(size))
        value.filled.push_back(p_->graph.dims.Constant(*number));
      else
        return Result<Meaning>(Unknown(name));
    }
    return Result<Meaning>(value);
  }
  if ((name == "zeros_like" || name == "ones_like" || name == "full_like") && !arguments.empty() &&
      arguments[0].kind == Meaning::Kind::kTensor) {
    Meaning value = Meaning::Number(name == "ones_like" ? 1 : 0);
    if (name == "full_like") {
      if (arguments.size() != 2) return Result<Meaning>(Unknown(name));
      value = arguments[1];
    }
    value.filled = (*p_)[arguments[0].id].shape;
    return Result<Meaning>(value);
  }
  const bool of_zeros = !arguments.empty() && arguments[0].kind == Meaning::Kind::kNumber &&
                        arguments[0].number == 0.0 && !arguments[0].filled.empty();
  if (name == "scatter" && of_zeros && arguments.size() == 4) return Spread(arguments);
  if (name == "index_add" && of_zeros && arguments.size() == 4 &&
      arguments[3].kind == Meaning::Kind::kTensor) {
    std::vector<std::string> sizes;
    for (const DimId size : arguments[0].filled) sizes.push_back(p_->SizeText(size));
    TensorValue zeros;
    zeros.kind = TensorValue::Kind::kOpaque;
    zeros.what = "shape";
    zeros.operands = {arguments[3].id};
    zeros.shape = arguments[0].filled;
    zeros.text = fmt::format("torch.zeros(({}), device={{0}}.device, dtype={{0}}.dtype)",
                             fmt::join(sizes, ", "));
    Meanings all = arguments;
    all[0] = Meaning::Tensor(p_->Add(std::move(zeros)));
    Keywords none;
    return Templated({name, all, none});
  }
  if ((name == "triu" || name == "tril") && !arguments.empty()) {
    const Meaning diagonal = arguments.size() > 1 ? arguments[1] : keyword("diagonal");
    const auto offset =
        diagonal.kind == Meaning::Kind::kNone ? std::optional<int64_t>(0) : Integral(diagonal);
    if (!offset) return Result<Meaning>(Unknown(name));
    return Triangle(arguments[0], name == "triu", *offset);
  }
  return std::nullopt;
}

// zeros.scatter(dim, index, source) of few places a row: a sum over what goes to each.
Result<Meaning> Evaluator::Spread(const Meanings& arguments) {
  const Meaning &index = arguments[2], &source = arguments[3];
  const auto space = arguments[0].filled;
  const size_t rank = space.size();
  if (index.kind != Meaning::Kind::kTensor || source.kind != Meaning::Kind::kTensor)
    return Unknown("scatter of such");
  const auto own = (*p_)[index.id].shape;
  DAVINCI_ASSIGN_OR_RETURN(const auto axes, Axes(arguments[1], rank));
  if (axes.size() != 1 || axes[0] + 1 != static_cast<int>(rank) || own.size() != rank ||
      !p_->graph.dims.IsConstant(own.back()))
    return Unknown("scatter along another axis");
  auto lifted = own;
  lifted.insert(lifted.end() - 1, p_->graph.dims.Constant(1));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning places, Reshape(index.id, lifted));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning values, Reshape(source.id, lifted));
  auto wide = space;
  wide.push_back(own.back());
  const Meaning position = Meaning::Tensor(Position(wide, rank - 1));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning here, Point("eq", {position, places}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning kept, Point("where", {here, values, Meaning::Number(0)}));
  return Reduce(ReduceKind::kSum, kept.id, Meaning::Number(static_cast<double>(rank)), false);
}

// Elements on and above (`upper`), or on and below, a diagonal; 0 elsewhere.
Result<Meaning> Evaluator::Triangle(const Meaning& x, bool upper, int64_t diagonal) {
  const bool tensor = x.kind == Meaning::Kind::kTensor;
  const auto shape = tensor ? (*p_)[x.id].shape : x.filled;
  const size_t rank = shape.size();
  if (rank < 2) return Unknown("a triangle of these");
  Id row = Position(shape, rank - 2), col = Position(shape, rank - 1);
  if (diagonal != 0) {
    Id& lower = diagonal > 0 ? row : col;
    DAVINCI_ASSIGN_OR_RETURN(lower, IntegerBy("iadd", lower, diagonal > 0 ? diagonal : -diagonal));
  }
  DAVINCI_ASSIGN_OR_RETURN(
      const Meaning keep, Point(upper ? "ge" : "le", {Meaning::Tensor(col), Meaning::Tensor(row)}));
  if (!tensor && x.boolean) return IsTrue(x) ? Result<Meaning>(keep) : Unknown("no triangle");
  if (tensor && (*p_)[x.id].dtype == DType::kBool) return Point("and", {keep, x});
  Meaning value = x;
  value.filled.clear();
  return Point("where", {keep, value, Meaning::Number(0)});
}

Result<Meaning> Evaluator::Stacked(const Meanings& parts, const Meaning& dim) {
  if (parts.empty()) return Unknown("stack of nothing");
  for (const Meaning& part : parts) {
    if (part.kind != Meaning::Kind::kTensor || (*p_)[part.id].dtype != DType::kFloat ||
        (*p_)[part.id].shape.size() != (*p_)[parts[0].id].shape.size())
      return Unknown("stack of such");
  }
  auto space = (*p_)[parts[0].id].shape;
  DAVINCI_ASSIGN_OR_RETURN(const auto axes, Axes(dim, space.size() + 1));
  if (axes.size() != 1 || space.empty()) return Unknown("stack along several axes");
  const auto axis = static_cast<size_t>(axes[0]);
  space.insert(space.begin() + static_cast<std::ptrdiff_t>(axis),
               p_->graph.dims.Constant(static_cast<int64_t>(parts.size())));
  const Id position = Position(space, axis);
  std::vector<Id> indices;
  for (size_t i = 0; i < space.size(); ++i)
    if (i != axis) indices.push_back(Position(space, i));
  Meaning result;
  for (size_t k = parts.size(); k-- > 0;) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning own, Load(parts[k].id, indices));
    if (k + 1 == parts.size()) {
      result = own;
      continue;
    }
    const DimId next = p_->graph.dims.Constant(static_cast<int64_t>(k) + 1);
    DAVINCI_ASSIGN_OR_RETURN(const Meaning before, Point("lt", {Meaning::Tensor(position),
                                                                Meaning::Tensor(p_->Size(next))}));
    DAVINCI_ASSIGN_OR_RETURN(result, Point("where", {before, own, result}));
  }
  return result;
}

// Blocks of `factor` x `factor` channels become pixels; `back`: the other way.
Result<Meaning> Evaluator::PixelShuffle(Id x, int64_t factor, bool back) {
  const auto shape = (*p_)[x].shape;
  if (shape.size() != 4 || factor < 2) return Unknown("such a shuffle");
  auto& dims = p_->graph.dims;
  const DimId r = dims.Constant(factor), square = dims.Constant(factor * factor);
  const auto scaled = [&](DimId size, bool up, DimId by) {
    return dims.Binary(up ? '*' : '/', size, by);
  };
  const std::vector<DimId> space = {shape[0], scaled(shape[1], back, square),
                                    scaled(shape[2], !back, r), scaled(shape[3], !back, r)};
  std::vector<Id> at;
  for (size_t i = 0; i < 4; ++i) at.push_back(Position(space, i));
  if (back) {
    DAVINCI_ASSIGN_OR_RETURN(const Id part, IntegerBy("imod", at[1], factor * factor));
    DAVINCI_ASSIGN_OR_RETURN(at[1], IntegerBy("idiv", at[1], factor * factor));
    for (size_t i = 2; i < 4; ++i) {
      DAVINCI_ASSIGN_OR_RETURN(const Id first, IntegerBy("imul", at[i], factor));
      DAVINCI_ASSIGN_OR_RETURN(const Id step, IntegerBy(i == 2 ? "idiv" : "imod", part, factor));
      DAVINCI_ASSIGN_OR_RETURN(at[i], Integer("iadd", first, step));
    }
    return Load(x, at);
  }
  DAVINCI_ASSIGN_OR_RETURN(at[1], IntegerBy("imul", at[1], factor * factor));
  for (size_t i = 2; i < 4; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(Id step, IntegerBy("imod", at[i], factor));
    if (i == 2) {
      DAVINCI_ASSIGN_OR_RETURN(step, IntegerBy("imul", step, factor));
    }
    DAVINCI_ASSIGN_OR_RETURN(at[1], Integer("iadd", at[1], step));
    DAVINCI_ASSIGN_OR_RETURN(at[i], IntegerBy("idiv", at[i], factor));
  }
  return Load(x, at);
}

Result<Meaning> Evaluator::ChannelShuffle(Id x, int64_t groups) {
  const auto shape = (*p_)[x].shape;
  if (shape.size() < 2 || groups < 2) return Unknown("such a shuffle");
  std::vector<Id> at;
  for (size_t i = 0; i < shape.size(); ++i) at.push_back(Position(shape, i));
  const DimId each = p_->graph.dims.Binary('/', shape[1], p_->graph.dims.Constant(groups));
  DAVINCI_ASSIGN_OR_RETURN(const Id group, IntegerBy("imod", at[1], groups));
  DAVINCI_ASSIGN_OR_RETURN(const Id first, Integer("imul", group, p_->Size(each)));
  DAVINCI_ASSIGN_OR_RETURN(const Id within, IntegerBy("idiv", at[1], groups));
  DAVINCI_ASSIGN_OR_RETURN(at[1], Integer("iadd", first, within));
  return Load(x, at);
}

// Each element `count` times side by side (`interleave`), or the whole `count` times.
Result<Meaning> Evaluator::Repeated(Id x, size_t axis, int64_t count, bool interleave) {
  auto space = (*p_)[x].shape;
  if (axis >= space.size() || count < 1) return Unknown("such a repetition");
  const DimId own = space[axis];
  space[axis] = p_->graph.dims.Binary('*', own, p_->graph.dims.Constant(count));
  std::vector<Id> at;
  for (size_t i = 0; i < space.size(); ++i) at.push_back(Position(space, i));
  DAVINCI_ASSIGN_OR_RETURN(at[axis], interleave ? IntegerBy("idiv", at[axis], count)
                                                : Integer("imod", at[axis], p_->Size(own)));
  return Load(x, at);
}

// Square windows as columns: N, C * k * k, number of windows.
Result<Meaning> Evaluator::Unfolded(Id x, int64_t kernel, int64_t stride, int64_t padding) {
  const auto shape = (*p_)[x].shape;
  if (shape.size() != 4 || kernel < 1 || stride < 1 || padding < 0) return Unknown("unfold");
  auto& dims = p_->graph.dims;
  const auto windows = [&](DimId size) {
    const int64_t more = 2 * padding - kernel;
    const DimId inner = more < 0 ? dims.Binary('-', size, dims.Constant(-more))
                                 : dims.Binary('+', size, dims.Constant(more));
    return dims.Binary('+', dims.Binary('/', inner, dims.Constant(stride)), dims.Constant(1));
  };
  const DimId across = windows(shape[3]);
  const std::vector<DimId> space = {shape[0],
                                    dims.Binary('*', shape[1], dims.Constant(kernel * kernel)),
                                    dims.Binary('*', windows(shape[2]), across)};
  const Id channel = Position(space, 1), window = Position(space, 2);
  std::vector<Id> at = {Position(space, 0)};
  DAVINCI_ASSIGN_OR_RETURN(at.emplace_back(), IntegerBy("idiv", channel, kernel * kernel));
  DAVINCI_ASSIGN_OR_RETURN(const Id tap, IntegerBy("imod", channel, kernel * kernel));
  std::optional<Meaning> inside;
  for (const bool vertical : {true, false}) {
    DAVINCI_ASSIGN_OR_RETURN(const Id step, IntegerBy(vertical ? "idiv" : "imod", tap, kernel));
    DAVINCI_ASSIGN_OR_RETURN(Id place,
                             Integer(vertical ? "idiv" : "imod", window, p_->Size(across)));
    DAVINCI_ASSIGN_OR_RETURN(place, IntegerBy("imul", place, stride));
    DAVINCI_ASSIGN_OR_RETURN(place, Integer("iadd", place, step));
    const DimId size = shape[vertical ? 2 : 3];
    if (padding > 0) {
      DAVINCI_ASSIGN_OR_RETURN(place, IntegerBy("isub", place, padding));
      const Meaning zero = Meaning::Tensor(p_->Size(dims.Constant(0)));
      DAVINCI_ASSIGN_OR_RETURN(const Meaning low, Point("ge", {Meaning::Tensor(place), zero}));
      DAVINCI_ASSIGN_OR_RETURN(const Meaning high, Point("lt", {Meaning::Tensor(place),
                                                                Meaning::Tensor(p_->Size(size))}));
      DAVINCI_ASSIGN_OR_RETURN(const Meaning both, Point("and", {low, high}));
      if (inside) {
        DAVINCI_ASSIGN_OR_RETURN(*inside, Point("and", {*inside, both}));
      } else {
        inside = both;
      }
      DAVINCI_ASSIGN_OR_RETURN(place, IntegerBy("imax", place, 0));
      DAVINCI_ASSIGN_OR_RETURN(
          place, Integer("imin", place, p_->Size(dims.Binary('-', size, dims.Constant(1)))));
    }
    at.push_back(place);
  }
  DAVINCI_ASSIGN_OR_RETURN(const Meaning element, Load(x, at));
  if (!inside) return element;
  return Point("where", {*inside, element, Meaning::Number(0)});
}

// `sizes`: before and behind the last axis, then the one before it. A reflection leaves out the
// border itself.
Result<Meaning> Evaluator::Reflected(Id x, const Meanings& sizes, bool replicate) {
  const auto shape = (*p_)[x].shape;
  auto& dims = p_->graph.dims;
  auto space = shape;
  std::vector<int64_t> before(shape.size());
  for (size_t i = 0; i + 1 < sizes.size(); i += 2) {
    const size_t axis = shape.size() - 1 - i / 2;
    const auto left = Integral(sizes[i]), right = Integral(sizes[i + 1]);
    if (!left || !right || *left < 0 || *right < 0) return Unknown("padding that cuts");
    before[axis] = *left;
    space[axis] = dims.Binary('+', shape[axis], dims.Constant(*left + *right));
  }
  std::vector<Id> at;
  for (size_t i = 0; i < shape.size(); ++i) {
    at.push_back(Position(space, i));
    if (p_->Same(space[i], shape[i])) continue;
    const Id last = p_->Size(dims.Binary('-', shape[i], dims.Constant(1)));
    const Id left = p_->Size(dims.Constant(before[i]));
    if (replicate) {
      DAVINCI_ASSIGN_OR_RETURN(const Id place, Integer("isub", at[i], left));
      DAVINCI_ASSIGN_OR_RETURN(const Id least, IntegerBy("imax", place, 0));
      DAVINCI_ASSIGN_OR_RETURN(at[i], Integer("imin", least, last));
      continue;
    }
    // |i - left| in front, and last - |last - that| behind.
    DAVINCI_ASSIGN_OR_RETURN(const Id ahead, Integer("isub", at[i], left));
    DAVINCI_ASSIGN_OR_RETURN(const Id behind, Integer("isub", left, at[i]));
    DAVINCI_ASSIGN_OR_RETURN(const Id front, Integer("imax", ahead, behind));
    DAVINCI_ASSIGN_OR_RETURN(const Id below, Integer("isub", last, front));
    DAVINCI_ASSIGN_OR_RETURN(const Id above, Integer("isub", front, last));
    DAVINCI_ASSIGN_OR_RETURN(const Id far, Integer("imax", below, above));
    DAVINCI_ASSIGN_OR_RETURN(at[i], Integer("isub", last, far));
  }
  return Load(x, at);
}

std::optional<Result<Meaning>> Evaluator::Moved(const NativeCall& call) {
  const std::string& name = call.name;
  const Id x = call.arguments[0].id;
  const std::vector<DimId> shape = (*p_)[x].shape;
  const size_t rank = shape.size();
  const auto unknown = [&] { return Result<Meaning>(Unknown(name)); };
  const auto axis_of = [&](const Meaning& dim) -> std::optional<size_t> {
    auto axes = Axes(dim, rank);
    if (dim.kind == Meaning::Kind::kNone || !axes.ok() || axes->size() != 1) return std::nullopt;
    return static_cast<size_t>((*axes)[0]);
  };
  if (name == "pixel_shuffle" || name == "pixel_unshuffle") {
    const bool back = name == "pixel_unshuffle";
    const auto factor = Integral(call.Argument(1, back ? "downscale_factor" : "upscale_factor"));
    return factor ? PixelShuffle(x, *factor, back) : unknown();
  }
  if (name == "channel_shuffle") {
    const auto groups = Integral(call.Argument(1, "groups"));
    return groups ? ChannelShuffle(x, *groups) : unknown();
  }
  if (name == "repeat_interleave") {
    const auto count = Integral(call.Argument(1, "repeats"));
    const auto axis = axis_of(call.Argument(2, "dim"));
    return count && axis ? Repeated(x, *axis, *count, true) : unknown();
  }
  if (name == "tile" || name == "repeat") {
    Meanings counts(call.arguments.begin() + 1, call.arguments.end());
    if (counts.size() == 1 && counts[0].kind == Meaning::Kind::kSequence)
      counts = Meanings(counts[0].items);
    if (counts.size() != rank) return unknown();
    std::optional<Result<Meaning>> result;
    for (size_t i = 0; i < rank; ++i) {
      const auto count = Integral(counts[i]);
      if (!count || (*count != 1 && result)) return unknown();  // along one axis
      if (*count != 1) result = Repeated(x, i, *count, false);
    }
    return result ? std::move(*result) : unknown();
  }
  if (name == "roll") {
    const auto shift = Integral(call.Argument(1, "shifts"));
    const auto axis = axis_of(call.Argument(2, "dims"));
    if (!shift || !axis || *shift < 0) return unknown();
    std::vector<Id> at;
    for (size_t i = 0; i < rank; ++i) at.push_back(Position(shape, i));
    const DimId left = p_->graph.dims.Binary('-', shape[*axis], p_->graph.dims.Constant(*shift));
    auto moved = Integer("iadd", at[*axis], p_->Size(left));
    if (!moved.ok()) return Result<Meaning>(moved.status());
    moved = Integer("imod", *moved, p_->Size(shape[*axis]));
    if (!moved.ok()) return Result<Meaning>(moved.status());
    at[*axis] = *moved;
    return Load(x, at);
  }
  if ((name == "diagonal" || name == "diag") && rank == 2 && p_->Same(shape[0], shape[1]) &&
      call.arguments.size() == 1 && call.keywords.empty()) {
    const Id at = Position({shape[0]}, 0);
    return Load(x, {at, at});
  }
  if (name == "trace" && rank == 2 && p_->Same(shape[0], shape[1])) {
    const Id at = Position({shape[0]}, 0);
    auto diagonal = Load(x, {at, at});
    if (!diagonal.ok()) return diagonal;
    return Reduce(ReduceKind::kSum, diagonal->id, {}, false);
  }
  if (((name == "diag_embed" && rank >= 1) || (name == "diag" && rank == 1)) &&
      call.arguments.size() == 1 && call.keywords.empty()) {
    auto space = shape;
    space.push_back(shape.back());
    std::vector<Id> at;
    for (size_t i = 0; i < rank; ++i) at.push_back(Position(space, i));
    auto same = Point("eq", {Meaning::Tensor(at.back()), Meaning::Tensor(Position(space, rank))});
    auto element = Load(x, at);
    if (!same.ok() || !element.ok()) return unknown();
    return Point("where", {*same, *element, Meaning::Number(0)});
  }
  if (name == "unfold" && rank == 4) {
    const auto kernel = Integral(call.Argument(1, "kernel_size"));
    const Meaning stride = call.Argument(4, "stride"), padding = call.Argument(3, "padding");
    const auto step = stride.kind == Meaning::Kind::kNone ? 1 : Integral(stride);
    const auto border = padding.kind == Meaning::Kind::kNone ? 0 : Integral(padding);
    if (!kernel || !step || !border || call.Argument(2, "dilation").kind != Meaning::Kind::kNone)
      return unknown();
    return Unfolded(x, *kernel, *step, *border);
  }
  if (name == "pad") {
    const Meaning sizes = call.Argument(1, "pad"), mode = call.Argument(2, "mode");
    const bool replicate = Says(mode, "replicate");
    if ((!replicate && !Says(mode, "reflect")) || sizes.kind != Meaning::Kind::kSequence)
      return std::nullopt;  // padding with a constant is Padded()
    return Reflected(x, sizes.items, replicate);
  }
  if (name == "take_along_dim") {
    const Meaning index = call.Argument(1, "indices");
    const auto axis = axis_of(call.Argument(2, "dim"));
    if (!axis || index.kind != Meaning::Kind::kTensor || (*p_)[index.id].shape.size() != rank ||
        (*p_)[index.id].kind != TensorValue::Kind::kLeaf)
      return unknown();
    auto space = shape;
    space[*axis] = (*p_)[index.id].shape[*axis];
    std::vector<Id> at;
    for (size_t i = 0; i < rank; ++i) at.push_back(Position(space, i));
    at[*axis] = index.id;
    return Load(x, at);
  }
  if (name == "one_hot") {
    const Meaning classes = call.Argument(1, "num_classes");
    auto space = shape;
    if (classes.dim != synth::kNoDim)
      space.push_back(classes.dim);
    else if (const auto number = Integral(classes))
      space.push_back(p_->graph.dims.Constant(*number));
    else
      return unknown();
    auto wide = shape;
    wide.push_back(p_->graph.dims.Constant(1));
    auto lifted = Reshape(x, wide);
    if (!lifted.ok()) return lifted;
    return Point("eq", {Meaning::Tensor(Position(space, rank)), *lifted});
  }
  if (name == "to" && Says(call.Argument(1, "dtype"), "torch.float32") &&
      p_->graph.precision == synth::Precision::kFp32)
    return (*p_)[x].dtype == DType::kBool    ? Point("float", {call.arguments[0]})
           : (*p_)[x].dtype == DType::kFloat ? Result<Meaning>(call.arguments[0])
                                             : unknown();
  if (name == "embedding_bag") {
    const Meaning table = call.Argument(1, "weight");
    const Meaning mode = call.Argument(6, "mode");
    if (table.kind != Meaning::Kind::kTensor || rank != 2 || (*p_)[table.id].shape.size() != 2)
      return unknown();
    auto rows = Select(table.id, 0, x);
    if (!rows.ok()) return rows;
    const Meaning along = Meaning::Number(1);
    if (Says(mode, "max")) return Reduce(ReduceKind::kMax, rows->id, along, false);
    if (Says(mode, "sum")) return Reduce(ReduceKind::kSum, rows->id, along, false);
    return Mean(rows->id, along, false);
  }
  return std::nullopt;
}

}  // namespace davinci::teacher
