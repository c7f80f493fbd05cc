// Tensors made of numbers: full, arange, triangles.
#include "davinci/teacher/semantics/functions.h"

namespace davinci::teacher {
namespace {

bool IsWholeType(const Meaning& type) {
  return Says(type, "torch.int64") || Says(type, "torch.long");
}

// arange(end), arange(start, end) of whole numbers.
Result<Meaning> Counted(const Call& call) {
  Builder& b = call.b;
  const Meanings& arguments = call.arguments;
  const Meaning type = call.Keyword("dtype");
  if (arguments.empty() || arguments.size() > 3) return Unknown("arange");
  if (arguments.size() == 3 && Integral(arguments[2]) != 1) return Unknown("arange with a step");
  const Meaning& last = arguments[arguments.size() == 1 ? 0 : 1];
  const bool symbol = last.dim != synth::kNoDim && !last.number;
  const auto begin = arguments.size() == 1 ? std::optional<int64_t>(0) : Integral(arguments[0]);
  const auto end = Integral(last);
  if (!begin || (symbol ? *begin != 0 : !end || *end <= *begin)) return Unknown("arange");
  const bool real = Says(type, "torch.float32");
  if (!type.IsNone() && !real && !IsWholeType(type)) return Unknown("arange of this type");
  if (real && b.p.graph.precision != synth::Precision::kFp32) return Unknown("arange of this type");
  Id index = b.Position({symbol ? last.dim : b.p.graph.dims.Constant(*end - *begin)}, 0);
  if (*begin != 0) {
    DAVINCI_ASSIGN_OR_RETURN(index, b.IntegerBy("iadd", index, *begin));
  }
  return real ? b.Point("float", {Meaning::Tensor(index)})
              : Result<Meaning>(Meaning::Tensor(index));
}

// A number, and the shape of the tensor that is full of it.
Result<Meaning> Filled(const Call& call, const std::string& name, Meanings sizes) {
  Meaning value = Meaning::Number(name == "ones" ? 1 : 0);
  if (name == "full") {
    if (sizes.size() != 2 || sizes[1].kind != Meaning::Kind::kNumber) return Unknown(name);
    value = sizes[1];
    sizes.pop_back();
  }
  const Meaning type = call.Keyword("dtype");
  if (IsWholeType(type)) return Unknown(name + " of integers");
  value.boolean = Says(type, "torch.bool");
  for (const Meaning& size : Spread(sizes, 0)) {
    if (size.dim != synth::kNoDim)
      value.filled.push_back(size.dim);
    else if (const auto number = Integral(size))
      value.filled.push_back(call.b.Constant(*number));
    else
      return Unknown(name);
  }
  return value;
}

Result<Meaning> Full(const Call& call) { return Filled(call, call.name, call.arguments); }

// x.new_zeros(…) of a tensor of floating type.
Result<Meaning> NewFull(const Call& call) {
  const Meanings& arguments = call.arguments;
  if (arguments.size() < 2 || !arguments[0].IsTensor() || call.keywords.contains("dtype") ||
      call.b.p[arguments[0].id].dtype != DType::kFloat)
    return call.NotKnown();
  return Filled(call, call.name.substr(4), {arguments.begin() + 1, arguments.end()});
}

Result<Meaning> FullLike(const Call& call) {
  if (call.arguments.empty() || !call.arguments[0].IsTensor()) return call.NotKnown();
  Meaning value = Meaning::Number(call.name == "ones_like" ? 1 : 0);
  if (call.name == "full_like") {
    if (call.arguments.size() != 2) return call.NotKnown();
    value = call.arguments[1];
  }
  value.filled = call.Shape();
  return value;
}

Result<Meaning> TensorOfNumber(const Call& call) {
  if (call.arguments.size() != 1 || call.arguments[0].kind != Meaning::Kind::kNumber)
    return call.NotKnown();
  return call.arguments[0];
}

// Elements on and above (`upper`), or on and below, a diagonal; 0 elsewhere.
Result<Meaning> Triangle(Builder& b, const Meaning& x, bool upper, int64_t diagonal) {
  const bool tensor = x.kind == Meaning::Kind::kTensor;
  const auto shape = tensor ? b.p[x.id].shape : x.filled;
  const size_t rank = shape.size();
  if (rank < 2) return Unknown("a triangle of these");
  Id row = b.Position(shape, rank - 2), col = b.Position(shape, rank - 1);
  if (diagonal != 0) {
    Id& lower = diagonal > 0 ? row : col;
    DAVINCI_ASSIGN_OR_RETURN(lower,
                             b.IntegerBy("iadd", lower, diagonal > 0 ? diagonal : -diagonal));
  }
  DAVINCI_ASSIGN_OR_RETURN(
      const Meaning keep,
      b.Point(upper ? "ge" : "le", {Meaning::Tensor(col), Meaning::Tensor(row)}));
  if (!tensor && x.boolean) return IsTrue(x) ? Result<Meaning>(keep) : Unknown("no triangle");
  if (tensor && b.p[x.id].dtype == DType::kBool) return b.Point("and", {keep, x});
  Meaning value = x;
  value.filled.clear();
  return b.Point("where", {keep, value, Meaning::Number(0)});
}

Result<Meaning> TriangleOf(const Call& call) {
  if (call.arguments.empty()) return call.NotKnown();
  const Meaning diagonal = call.Argument(1, "diagonal");
  const auto offset = diagonal.IsNone() ? std::optional<int64_t>(0) : Integral(diagonal);
  if (!offset) return call.NotKnown();
  return Triangle(call.b, call.arguments[0], call.name == "triu", *offset);
}

}  // namespace

void AddCreation(FunctionRegistry* registry) {
  registry->AddFree({"arange"}, Counted);
  registry->AddFree({"full", "ones", "zeros"}, Full);
  registry->AddFree({"new_full", "new_ones", "new_zeros"}, NewFull);
  registry->AddFree({"full_like", "ones_like", "zeros_like"}, FullLike);
  registry->AddFree({"tensor"}, TensorOfNumber);
  registry->AddFree({"tril", "triu"}, TriangleOf);
}

}  // namespace davinci::teacher
