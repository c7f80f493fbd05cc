// Sums into places that an index names, and the largest elements of rows. Regions express few of
// them; a kernel of templates/ may compute the others.
#include <fmt/format.h>

#include "davinci/teacher/semantics/functions.h"
#include "davinci/teacher/semantics/reduce.h"

namespace davinci::teacher {
namespace {

bool IsZeros(const Meaning& value) {
  return value.kind == Meaning::Kind::kNumber && value.number == 0.0 && !value.filled.empty();
}

bool NamesAxis(const Meaning& dim, size_t axis, size_t rank) {
  return dim.number && (*dim.number == static_cast<double>(axis) ||
                        *dim.number == static_cast<double>(axis) - static_cast<double>(rank));
}

Result<Meaning> TopK(const Call& call) {
  constexpr double kMostLargest = 16;  // rounds over a row in registers
  Builder& b = call.b;
  const auto shape = call.Shape();
  const size_t rank = shape.size();
  const Meaning k = call.Argument(1, "k"), dim = call.Argument(2, "dim");
  if (rank == 0 || !k.number || *k.number > kMostLargest || call.arguments.size() > 3 ||
      (!dim.IsNone() && !NamesAxis(dim, rank - 1, rank)) || b.p[call.x()].dtype != DType::kFloat ||
      b.p.graph.precision != synth::Precision::kFp32)
    return call.NotKnown();
  const auto count = static_cast<int64_t>(*k.number);
  TensorValue value;
  value.kind = TensorValue::Kind::kOpaque;
  value.what = "reduction";
  value.kernel = "top_k";
  value.contiguous = true;
  value.operands = {call.x()};
  value.text = fmt::format("torch.topk({{0}}, {}, dim=-1)", count);
  value.options["k"] = std::to_string(count);
  const Id pair = b.p.Add(std::move(value));
  Meaning both = Meaning::Sequence({});
  for (const int item : {0, 1}) {
    TensorValue part;
    part.kind = TensorValue::Kind::kItem;
    part.operands = {pair};
    part.item = item;
    part.shape = shape;
    part.shape.back() = b.Constant(count);
    part.dtype = item == 0 ? DType::kFloat : DType::kIndex;
    both.items.push_back(Meaning::Tensor(b.p.Add(std::move(part))));
  }
  return both;
}

// x.index_add(0, index, source), x.scatter_add(1, index, source), x.scatter_reduce(…).
Result<Meaning> IntoPlaces(const Call& call) {
  Builder& b = call.b;
  const Id x = call.x();
  const bool add = call.name == "index_add", scatter = call.name == "scatter_add";
  const Meaning dim = call.Argument(1, "dim"), index = call.Argument(2, "index");
  const Meaning source = call.Argument(3, add ? "source" : "src");
  const Meaning how = call.Argument(4, "reduce");
  if (call.Rank() != 2 || !NamesAxis(dim, add ? 0 : 1, 2) || !index.IsTensor() ||
      !source.IsTensor() || b.p[source.id].shape.size() != 2 ||
      b.p[index.id].dtype != DType::kIndex || b.p[x].dtype != DType::kFloat ||
      b.p.graph.precision != synth::Precision::kFp32 ||
      b.p[index.id].shape.size() != (add ? 1u : 2u))
    return call.NotKnown();
  if (!add && !scatter && how.text != "sum" && how.text != "mean" && how.text != "amax" &&
      how.text != "amin")
    return call.NotKnown();
  TensorValue value;
  value.kind = TensorValue::Kind::kOpaque;
  value.what = "scatter";
  value.kernel = add ? "index_add" : "scatter";
  value.operands = {x, index.id, source.id};
  value.shape = call.Shape();
  value.options["reduce"] = add || scatter ? "sum" : how.text;
  value.text = add ? "torch.index_add({0}, 0, {1}, {2})"
               : scatter
                   ? "torch.scatter_add({0}, 1, {1}, {2})"
                   : fmt::format("torch.scatter_reduce({{0}}, 1, {{1}}, {{2}}, \"{}\")", how.text);
  return Meaning::Tensor(b.p.Add(std::move(value)));
}

// zeros.index_add(…): the tensor of zeros has to exist.
Result<Meaning> IndexAdd(const Call& call) {
  const Meanings& arguments = call.arguments;
  if (arguments.empty()) return call.NotKnown();
  if (arguments[0].IsTensor()) return IntoPlaces(call);
  if (!IsZeros(arguments[0]) || arguments.size() != 4 || !arguments[3].IsTensor())
    return call.NotKnown();
  std::vector<std::string> sizes;
  for (const DimId size : arguments[0].filled) sizes.push_back(call.b.p.SizeText(size));
  TensorValue zeros;
  zeros.kind = TensorValue::Kind::kOpaque;
  zeros.what = "shape";
  zeros.operands = {arguments[3].id};
  zeros.shape = arguments[0].filled;
  zeros.text = fmt::format("torch.zeros(({}), device={{0}}.device, dtype={{0}}.dtype)",
                           fmt::join(sizes, ", "));
  Meanings all = arguments;
  all[0] = Meaning::Tensor(call.b.p.Add(std::move(zeros)));
  return IntoPlaces({call.b, call.defined, call.name, all, {}});
}

// zeros.scatter(dim, index, source) of few places a row: a sum over what goes to each.
Result<Meaning> ScatterOfFew(const Call& call) {
  Builder& b = call.b;
  const Meanings& arguments = call.arguments;
  if (arguments.size() != 4 || !IsZeros(arguments[0])) return call.NotKnown();
  const Meaning &index = arguments[2], &source = arguments[3];
  const auto space = arguments[0].filled;
  const size_t rank = space.size();
  if (index.kind != Meaning::Kind::kTensor || source.kind != Meaning::Kind::kTensor)
    return Unknown("scatter of such");
  const auto own = b.p[index.id].shape;
  DAVINCI_ASSIGN_OR_RETURN(const auto axes, b.Axes(arguments[1], rank));
  if (axes.size() != 1 || axes[0] + 1 != static_cast<int>(rank) || own.size() != rank ||
      !b.p.graph.dims.IsConstant(own.back()))
    return Unknown("scatter along another axis");
  auto lifted = own;
  lifted.insert(lifted.end() - 1, b.p.graph.dims.Constant(1));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning places, b.Reshape(index.id, lifted));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning values, b.Reshape(source.id, lifted));
  auto wide = space;
  wide.push_back(own.back());
  const Meaning position = Meaning::Tensor(b.Position(wide, rank - 1));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning here, b.Point("eq", {position, places}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning kept,
                           b.Point("where", {here, values, Meaning::Number(0)}));
  return Reduce(b, ReduceKind::kSum, kept.id, Meaning::Number(static_cast<double>(rank)), false);
}

}  // namespace

void AddScatters(FunctionRegistry* registry) {
  registry->Add({"topk"}, TopK);
  registry->Add({"scatter_add", "scatter_reduce"}, IntoPlaces);
  registry->AddFree({"index_add"}, IndexAdd);
  registry->AddFree({"scatter"}, ScatterOfFew);
}

}  // namespace davinci::teacher
