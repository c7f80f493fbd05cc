// Products that the structure of their operands makes cheaper: diagonal matrices, the order of a
// chain, sums behind a linear map. Each by a rule of the teacher.
#include <algorithm>

#include "davinci/teacher/semantics/evaluate.h"

namespace davinci::teacher {

bool Evaluator::Allows(const char* rule) const { return options_.rules.contains(rule); }

// Whether only one reader sees the value: it is of the node that is being lowered, or the result of
// a node with one reader.
bool Evaluator::ReadOnce(Id id) const {
  const int node = (*p_)[id].node;
  if (node < 0) return true;
  const auto& outputs = p_->graph.nodes[static_cast<size_t>(node)].outputs;
  return outputs.size() == 1 && p_->graph.UsesOfValues()[static_cast<size_t>(outputs[0])] == 1;
}

Meaning Evaluator::ByRule(const char* rule, const Meaning& value) {
  p_->by_rule[value.id] = rule;
  return value;
}

namespace {

// torch.diag(d): d where row and column are the same.
std::optional<Id> DiagonalOf(const Program& p, Id id) {
  using Kind = TensorValue::Kind;
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

}  // namespace

std::optional<Result<Meaning>> Evaluator::Structured(Id a, Id b) {
  const auto x = (*p_)[a].shape, y = (*p_)[b].shape;
  if (Allows("scale_by_diagonal")) {
    if (const auto left = DiagonalOf(*p_, a); left && y.size() == 2) {
      auto column = Reshape(*left, {x[0], p_->graph.dims.Constant(1)});
      if (!column.ok()) return column;
      auto scaled = Binary("*", *column, Meaning::Tensor(b));
      return scaled.ok() ? ByRule("scale_by_diagonal", *scaled) : std::move(scaled);
    }
    if (const auto right = DiagonalOf(*p_, b)) {
      auto scaled = Binary("*", Meaning::Tensor(a), Meaning::Tensor(*right));
      return scaled.ok() ? ByRule("scale_by_diagonal", *scaled) : std::move(scaled);
    }
  }
  // (u v) b against u (v b).
  const TensorValue& product = (*p_)[a];
  if (!Allows("reassociate") || product.kind != TensorValue::Kind::kOpaque ||
      product.text != "torch.matmul({0}, {1})" || !ReadOnce(a) || y.size() > 2)
    return std::nullopt;
  const Id u = product.operands[0], v = product.operands[1];
  const auto us = (*p_)[u].shape, vs = (*p_)[v].shape;
  if (us.size() != 2 || vs.size() != 2) return std::nullopt;
  const auto at = [&](DimId dim) { return p_->At(dim, options_.binding); };
  const double m = at(us[0]), k = at(us[1]), n = at(vs[1]), q = y.size() == 2 ? at(y[1]) : 1;
  constexpr double kGain = 0.8;  // a smaller one does not pay for another shape of product
  if (k * n * q + m * k * q > kGain * (m * k * n + m * n * q)) return std::nullopt;
  auto inner = Matmul(v, b);
  if (!inner.ok()) return inner;
  auto outer = Matmul(u, inner->id);
  return outer.ok() ? ByRule("reassociate", *outer) : std::move(outer);
}

// The sum of a linear map's results is one product with the sum of its weights.
std::optional<Result<Meaning>> Evaluator::SummedProduct(Id x, const std::vector<int>& axes,
                                                        bool keepdim) {
  const TensorValue product = (*p_)[x];
  const size_t rank = product.shape.size();
  if (!Allows("reduce_weights") || product.kind != TensorValue::Kind::kOpaque ||
      p_->graph.precision != synth::Precision::kFp32 || rank < 2 || axes.size() != 1 ||
      axes[0] != static_cast<int>(rank) - 1)
    return std::nullopt;
  Id rows = -1, weight = -1, bias = -1;
  int along = 0;  // axis of the weight that is summed
  if (const auto linear = p_->linear.find(x); linear != p_->linear.end()) {
    rows = linear->second.x;
    weight = linear->second.weight;
    bias = linear->second.bias;
  } else if (product.text == "torch.matmul({0}, {1})" &&
             (*p_)[product.operands[1]].kind == TensorValue::Kind::kLeaf &&
             (*p_)[product.operands[1]].shape.size() == 2) {
    rows = product.operands[0];
    weight = product.operands[1];
    along = 1;
  }
  if (rows < 0) return std::nullopt;
  auto total = Reduce(ReduceKind::kSum, weight, Meaning::Number(along), false);
  if (!total.ok()) return total;
  auto scaled = Binary("*", Meaning::Tensor(rows), *total);
  if (!scaled.ok()) return scaled;
  auto sum = Reduce(ReduceKind::kSum, scaled->id, Meaning::Number(axes[0]), keepdim);
  if (!sum.ok()) return sum;
  if (bias >= 0) {
    auto constant = Reduce(ReduceKind::kSum, bias, Meaning::Number(0), false);
    if (!constant.ok()) return constant;
    sum = Binary("+", *sum, *constant);
    if (!sum.ok()) return sum;
  }
  return ByRule("reduce_weights", *sum);
}

// F.linear and nn.Linear: a vendor product that remembers its parts.
Result<Meaning> Evaluator::Linear(Id x, const Meaning& weight, const Meaning& bias,
                                  const std::string& module) {
  const auto shape = (*p_)[x].shape;
  if (weight.kind != Meaning::Kind::kTensor || shape.empty()) return Unknown("linear");
  const auto of_weight = (*p_)[weight.id].shape;
  if (of_weight.size() != 2 || !p_->Same(of_weight[1], shape.back()) ||
      (*p_)[x].dtype != DType::kFloat)
    return Unknown("linear of these shapes");
  TensorValue value;
  value.kind = TensorValue::Kind::kOpaque;
  value.what = "matmul";
  value.operands = {x};
  value.shape = shape;
  value.shape.back() = of_weight[0];
  const bool biased = bias.kind == Meaning::Kind::kTensor;
  if (module.empty()) {
    value.operands.push_back(weight.id);
    if (biased) value.operands.push_back(bias.id);
    value.text = biased ? "F.linear({0}, {1}, {2})" : "F.linear({0}, {1})";
  } else {
    value.text = module + "({0})";
  }
  value.product = MatrixProduct{x, weight.id, biased ? bias.id : -1, false, true};
  const Id id = p_->Add(std::move(value));
  p_->linear[id] = {x, weight.id, biased ? bias.id : -1};
  return Meaning::Tensor(id);
}

}  // namespace davinci::teacher
