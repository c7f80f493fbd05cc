// Operators that regions cannot express and a kernel of kernel_templates.h computes: the k largest
// elements of a row, sums into places that an index names.
#include <fmt/format.h>

#include "davinci/teacher/semantics/evaluate.h"

namespace davinci::teacher {

std::optional<Result<Meaning>> Evaluator::Templated(const NativeCall& call) {
  constexpr double kMostLargest = 16;  // rounds over a row in registers
  const std::string& name = call.name;
  const Id x = call.arguments[0].id;
  const std::vector<DimId> shape = (*p_)[x].shape;
  const size_t rank = shape.size();
  const auto unknown = [&] { return Result<Meaning>(Unknown(name)); };
  const auto is_axis = [&](const Meaning& dim, size_t axis) {
    return dim.number && (*dim.number == static_cast<double>(axis) ||
                          *dim.number == static_cast<double>(axis) - static_cast<double>(rank));
  };
  if (name == "topk") {
    const Meaning k = call.Argument(1, "k"), dim = call.Argument(2, "dim");
    if (rank == 0 || !k.number || *k.number > kMostLargest || call.arguments.size() > 3 ||
        (dim.kind != Meaning::Kind::kNone && !is_axis(dim, rank - 1)) ||
        (*p_)[x].dtype != DType::kFloat || p_->graph.precision != synth::Precision::kFp32)
      return unknown();
    const auto count = static_cast<int64_t>(*k.number);
    TensorValue value;
    value.kind = TensorValue::Kind::kOpaque;
    value.what = "reduction";
    value.kernel = "top_k";
    value.contiguous = true;
    value.operands = {x};
    value.text = fmt::format("torch.topk({{0}}, {}, dim=-1)", count);
    value.options["k"] = std::to_string(count);
    const Id pair = p_->Add(std::move(value));
    Meaning both;
    both.kind = Meaning::Kind::kSequence;
    for (const int item : {0, 1}) {
      TensorValue part;
      part.kind = TensorValue::Kind::kItem;
      part.operands = {pair};
      part.item = item;
      part.shape = shape;
      part.shape.back() = p_->graph.dims.Constant(count);
      part.dtype = item == 0 ? DType::kFloat : DType::kIndex;
      both.items.push_back(Meaning::Tensor(p_->Add(std::move(part))));
    }
    return Result<Meaning>(both);
  }
  const bool add = name == "index_add", scatter = name == "scatter_add";
  if (!add && !scatter && name != "scatter_reduce") return std::nullopt;
  const Meaning dim = call.Argument(1, "dim"), index = call.Argument(2, "index");
  const Meaning source = call.Argument(3, add ? "source" : "src");
  const Meaning how = call.Argument(4, "reduce");
  if (rank != 2 || !is_axis(dim, add ? 0 : 1) || index.kind != Meaning::Kind::kTensor ||
      source.kind != Meaning::Kind::kTensor || (*p_)[source.id].shape.size() != 2 ||
      (*p_)[index.id].dtype != DType::kIndex || (*p_)[x].dtype != DType::kFloat ||
      p_->graph.precision != synth::Precision::kFp32 ||
      (*p_)[index.id].shape.size() != (add ? 1u : 2u))
    return unknown();
  TensorValue value;
  value.kind = TensorValue::Kind::kOpaque;
  value.what = "scatter";
  value.kernel = add ? "index_add" : "scatter";
  value.operands = {x, index.id, source.id};
  value.shape = shape;
  value.options["reduce"] = add || scatter ? "sum" : how.text;
  if (!add && !scatter && how.text != "sum" && how.text != "mean" && how.text != "amax" &&
      how.text != "amin")
    return unknown();
  value.text = add ? "torch.index_add({0}, 0, {1}, {2})"
               : scatter
                   ? "torch.scatter_add({0}, 1, {1}, {2})"
                   : fmt::format("torch.scatter_reduce({{0}}, 1, {{1}}, {{2}}, \"{}\")", how.text);
  return Meaning::Tensor(p_->Add(std::move(value)));
}

}  // namespace davinci::teacher
