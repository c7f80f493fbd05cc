// Attention by one function or module: a value that a kernel of templates/ may compute.
#include <fmt/format.h>

#include "davinci/teacher/semantics/functions.h"

namespace davinci::teacher {
namespace {

// Heads that repeat_interleave gives: the tensor that it repeats, and how often.
std::optional<std::pair<Id, int64_t>> RepeatedHeads(const Program& p, Id id) {
  const TensorValue& load = p[id];
  if (load.kind != TensorValue::Kind::kLoad || load.shape.size() != 4) return std::nullopt;
  for (const size_t i : {0u, 2u, 3u})
    if (p[load.operands[1 + i]].kind != TensorValue::Kind::kIota) return std::nullopt;
  const TensorValue& head = p[load.operands[2]];
  if (head.kind != TensorValue::Kind::kPoint || head.primitive->name != "idiv" ||
      p[head.operands[0]].kind != TensorValue::Kind::kIota)
    return std::nullopt;
  const auto count = p[head.operands[1]].number;
  if (!count) return std::nullopt;
  return std::pair{load.operands[0], static_cast<int64_t>(*count)};
}

// F.scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal, scale, enable_gqa).
Result<Meaning> Attention(const Call& call) {
  Builder& b = call.b;
  const Meaning k = call.Argument(1, "key"), v = call.Argument(2, "value");
  const Meaning mask = call.Argument(3, "attn_mask"), dropout = call.Argument(4, "dropout_p");
  const Meaning scale = call.Argument(6, "scale");
  const bool causal = IsTrue(call.Argument(5, "is_causal"));
  if (!k.IsTensor() || !v.IsTensor() || IsTrue(dropout) || (!scale.IsNone() && !scale.number))
    return call.NotKnown();
  TensorValue value;
  value.kind = TensorValue::Kind::kOpaque;
  value.what = "attention";
  value.kernel = "attention";
  value.contiguous = false;
  value.operands = {call.x(), k.id, v.id};
  std::string more;
  int64_t groups = 1;
  // Repeated heads are read in place.
  const auto of_k = RepeatedHeads(b.p, k.id), of_v = RepeatedHeads(b.p, v.id);
  if (of_k && of_v && of_k->second == of_v->second) {
    groups = of_k->second;
    value.operands[1] = of_k->first;
    value.operands[2] = of_v->first;
  }
  const auto& q_shape = b.p[value.operands[0]].shape;
  const auto& k_shape = b.p[value.operands[1]].shape;
  const auto& v_shape = b.p[value.operands[2]].shape;
  if (q_shape.size() != 4 || k_shape.size() != 4 || v_shape.size() != 4) return call.NotKnown();
  if (IsTrue(call.Argument(7, "enable_gqa"))) {
    const DimId ratio = b.p.graph.dims.Binary('/', q_shape[1], k_shape[1]);
    if (ratio == synth::kNoDim || !b.p.graph.dims.IsConstant(ratio)) return call.NotKnown();
    groups = b.p.graph.dims.At(ratio, synth::Binding::kCuda);
  }
  if (mask.IsTensor()) {
    if (b.p[mask.id].shape.size() != 4) return call.NotKnown();
    value.operands.push_back(mask.id);
    more += ", attn_mask={3}";
    value.options["unseen"] = "zeros";
  } else if (!mask.IsNone()) {
    return call.NotKnown();
  }
  if (causal) {
    more += ", is_causal=True";
    value.options["causal"] = "1";
  }
  if (scale.number) {
    more += fmt::format(", scale={}", *scale.number);
    value.options["scale"] = fmt::format("{}", *scale.number);
  }
  if (groups > 1) {
    more += ", enable_gqa=True";
    value.options["groups"] = std::to_string(groups);
  }
  value.text = "F.scaled_dot_product_attention({0}, {1}, {2}" + more + ")";
  value.shape = q_shape;
  value.shape.back() = v_shape.back();
  return Meaning::Tensor(b.p.Add(std::move(value)));
}

// Self-attention of sequences of rows: projections, heads as views, attention, projection.
Result<Meaning> MultiheadAttention(const ModuleCall& call) {
  Builder& b = call.b;
  const Meanings& inputs = call.inputs;
  const Meaning heads = call.Argument(1, "num_heads");
  const auto shape = call.Shape();
  if (!heads.number || *heads.number < 1 || shape.size() != 3 || inputs.size() != 3 ||
      inputs[1].id != inputs[0].id || inputs[2].id != inputs[0].id ||
      !IsTrue(call.Number("batch_first", 0)) || call.keywords.contains("bias"))
    return Unknown("attention of other sequences");
  auto& dims = b.p.graph.dims;
  const auto linear = [&](Id x, const char* weight, const char* bias, DimId out) {
    TensorValue value;
    value.kind = TensorValue::Kind::kOpaque;
    value.what = "matmul";
    value.text = "F.linear({0}, {1}, {2})";
    value.operands = {x, call.Weight(weight, {out, shape[2]}).id, call.Weight(bias, {out}).id};
    value.shape = {shape[0], shape[1], out};
    return b.p.Add(std::move(value));
  };
  const Id all = linear(inputs[0].id, "in_proj_weight", "in_proj_bias",
                        dims.Binary('*', shape[2], dims.Constant(3)));
  const auto count = static_cast<int64_t>(*heads.number);
  const DimId width = dims.Binary('/', shape[2], dims.Constant(count));
  Meanings parts;
  for (int k = 0; k < 3; ++k)
    parts.push_back(b.View(
        all,
        fmt::format("{{0}}.unflatten(-1, (3, {}, -1)).select(2, {}).transpose(1, 2)", count, k),
        {shape[0], dims.Constant(count), shape[1], width}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning attended,
                           Attention({b, call.defined, "scaled_dot_product_attention", parts, {}}));
  const Meaning merged = b.View(attended.id, "{0}.transpose(1, 2).flatten(2)", shape);
  const Id result = linear(merged.id, "out_proj.weight", "out_proj.bias", shape[2]);
  Meaning pair = Meaning::Sequence({Meaning::Tensor(result)});
  pair.id = result;  // with the weights, which nothing asks for
  return pair;
}

}  // namespace

void AddAttention(FunctionRegistry* registry) {
  registry->Add({"scaled_dot_product_attention"}, Attention);
  registry->AddModules({"nn.MultiheadAttention"}, MultiheadAttention);
}

}  // namespace davinci::teacher
