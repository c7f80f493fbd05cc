#include "davinci/teacher/semantics/matmul.h"

#include "davinci/teacher/semantics/functions.h"
#include "davinci/teacher/semantics/reduce.h"

namespace davinci::teacher {
namespace {

using Kind = TensorValue::Kind;

// torch.diag(d): d where row and column are the same.
std::optional<Id> DiagonalOf(const Program& p, Id id) {
  const TensorValue& value = p[id];
  if (value.kind != Kind::kPoint || value.primitive->name != "where" || value.shape.size() != 2 ||
      p[value.operands[2]].number != 0.0)
    return std::nullopt;
  const TensorValue &same = p[value.operands[0]], &load = p[value.operands[1]];
  if (same.kind != Kind::kPoint || same.primitive->name != "eq" || load.kind != Kind::kLoad ||
      p[load.operands[0]].shape.size() != 1 || p[load.operands[1]].kind != Kind::kIota ||
      p[same.operands[0]].kind != Kind::kIota || p[same.operands[1]].kind != Kind::kIota ||
      p[same.operands[0]].axes == p[same.operands[1]].axes)
    return std::nullopt;
  return load.operands[0];
}

// True where only one reader sees the value: it belongs to the node that is being lowered, or it is
// the result of a node with one reader.
bool ReadOnce(const Program& p, Id id) {
  const int node = p[id].node;
  if (node < 0) return true;
  const auto& outputs = p.graph.nodes[static_cast<size_t>(node)].outputs;
  return outputs.size() == 1 && p.graph.UsesOfValues()[static_cast<size_t>(outputs[0])] == 1;
}

// A product with a diagonal matrix scales rows or columns; None: there is none.
Result<Meaning> ScaledByDiagonal(Builder& b, Id left, Id right) {
  const auto x = b.p[left].shape, y = b.p[right].shape;
  if (!b.Allows(Rule::kScaleByDiagonal)) return Meaning{};
  if (const auto of_left = DiagonalOf(b.p, left); of_left && y.size() == 2) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning column, b.Reshape(*of_left, {x[0], b.Constant(1)}));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning scaled, b.Binary("*", column, Meaning::Tensor(right)));
    return b.ByRule(Rule::kScaleByDiagonal, scaled);
  }
  if (const auto of_right = DiagonalOf(b.p, right)) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning scaled,
                             b.Binary("*", Meaning::Tensor(left), Meaning::Tensor(*of_right)));
    return b.ByRule(Rule::kScaleByDiagonal, scaled);
  }
  return Meaning{};
}

// u (v right) in place of (u v) right, where that costs less; None: it does not.
Result<Meaning> Reassociated(Builder& b, Id left, Id right) {
  const auto y = b.p[right].shape;
  const TensorValue& product = b.p[left];
  if (!b.Allows(Rule::kReassociate) || product.kind != TensorValue::Kind::kOpaque ||
      product.text != "torch.matmul({0}, {1})" || !ReadOnce(b.p, left) || y.size() > 2)
    return Meaning{};
  const Id u = product.operands[0], v = product.operands[1];
  const auto us = b.p[u].shape, vs = b.p[v].shape;
  if (us.size() != 2 || vs.size() != 2) return Meaning{};
  const auto at = [&](DimId dim) { return b.p.At(dim, b.options.binding); };
  const double m = at(us[0]), k = at(us[1]), n = at(vs[1]), q = y.size() == 2 ? at(y[1]) : 1;
  constexpr double kGain = 0.8;  // a smaller one does not pay for another shape of product
  if (k * n * q + m * k * q > kGain * (m * k * n + m * n * q)) return Meaning{};
  DAVINCI_ASSIGN_OR_RETURN(const Meaning inner, Matmul(b, v, right));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning outer, Matmul(b, u, inner.id));
  return b.ByRule(Rule::kReassociate, outer);
}

Result<Meaning> LinearFunction(const Call& call) {
  return Linear(call.b, call.x(), call.Argument(1, "weight"), call.Argument(2, "bias"), "");
}

Result<Meaning> LinearModule(const ModuleCall& call) {
  const auto& arguments = call.arguments;
  if (arguments.size() < 2 || arguments[1].dim == synth::kNoDim || call.Shape().empty())
    return call.NotKnown();
  const bool biased = IsTrue(arguments.size() > 2 ? arguments[2] : call.Number("bias", 1));
  const DimId width = call.Shape().back();
  const Meaning bias = biased ? call.Weight("bias", {arguments[1].dim}) : Meaning{};
  const Meaning weight = call.Weight("weight", {arguments[1].dim, width});
  return Linear(call.b, call.x(), weight, bias, call.path);
}

}  // namespace

Result<Meaning> Matmul(Builder& b, Id left, Id right) {
  const std::vector<DimId> x = b.p[left].shape, y = b.p[right].shape;
  for (const auto cheaper : {ScaledByDiagonal, Reassociated}) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning found, cheaper(b, left, right));
    if (!found.IsNone()) return found;
  }
  const bool real = b.p[left].dtype == DType::kFloat && b.p[right].dtype == DType::kFloat;
  // Products with a vector are bound by memory: products of elements and a sum.
  if (y.size() == 1 && !x.empty() && b.p.Same(x.back(), y[0]) && real) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning scaled,
                             b.Binary("*", Meaning::Tensor(left), Meaning::Tensor(right)));
    return Reduce(b, ReduceKind::kSum, scaled.id, Meaning::Number(-1), false);
  }
  if (x.size() < 2 || y.size() < 2 || !b.p.Same(x.back(), y[y.size() - 2]))
    return Unknown("a product of these shapes");
  if (!real) return Unknown("a product of these types");
  // Nothing is summed: each element is a product of two.
  if (b.options.in_cpp && b.p.IsOne(x.back()))
    return b.Binary("*", Meaning::Tensor(left), Meaning::Tensor(right));
  TensorValue value;
  value.kind = TensorValue::Kind::kOpaque;
  value.text = "torch.matmul({0}, {1})";
  value.product = MatrixProduct{left, right, -1, false, false};
  value.what = "matmul";
  value.operands = {left, right};
  const auto& longer = x.size() >= y.size() ? x : y;
  const auto& shorter = x.size() >= y.size() ? y : x;
  value.shape.assign(longer.begin(), longer.end() - 2);
  for (size_t i = 0; i + 2 < shorter.size(); ++i) {
    const DimId own = value.shape[value.shape.size() - 1 - i];
    const DimId other = shorter[shorter.size() - 3 - i];
    if (!b.p.Same(own, other)) return Unknown("a product that broadcasts");
  }
  value.shape.push_back(x[x.size() - 2]);
  value.shape.push_back(y.back());
  return Meaning::Tensor(b.p.Add(std::move(value)));
}

Result<Meaning> Linear(Builder& b, Id x, const Meaning& weight, const Meaning& bias,
                       const std::string& module) {
  const auto shape = b.p[x].shape;
  if (weight.kind != Meaning::Kind::kTensor || shape.empty()) return Unknown("linear");
  const auto of_weight = b.p[weight.id].shape;
  if (of_weight.size() != 2 || !b.p.Same(of_weight[1], shape.back()) ||
      b.p[x].dtype != DType::kFloat)
    return Unknown("linear of these shapes");
  const bool biased = bias.kind == Meaning::Kind::kTensor;
  if (b.options.in_cpp && b.p.IsOne(shape.back())) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning row, b.Reshape(weight.id, {of_weight[0]}));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning scaled, b.Binary("*", Meaning::Tensor(x), row));
    return biased ? b.Binary("+", scaled, bias) : scaled;
  }
  TensorValue value;
  value.kind = TensorValue::Kind::kOpaque;
  value.what = "matmul";
  value.operands = {x};
  value.shape = shape;
  value.shape.back() = of_weight[0];
  if (module.empty()) {
    value.operands.push_back(weight.id);
    if (biased) value.operands.push_back(bias.id);
    value.text = biased ? "F.linear({0}, {1}, {2})" : "F.linear({0}, {1})";
  } else {
    value.text = module + "({0})";
  }
  value.product = MatrixProduct{x, weight.id, biased ? bias.id : -1, false, true};
  if (!biased && !module.empty()) value.product->absent_bias = module + ".bias";
  const Id id = b.p.Add(std::move(value));
  b.p.linear[id] = {x, weight.id, biased ? bias.id : -1};
  return Meaning::Tensor(id);
}

void AddMatmul(FunctionRegistry* registry) {
  registry->Add({"linear"}, LinearFunction);
  registry->AddModules({"nn.Linear"}, LinearModule);
}

}  // namespace davinci::teacher
