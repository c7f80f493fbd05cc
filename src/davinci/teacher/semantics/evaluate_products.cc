// What PyTorch functions mean that sum products: einsum and attention.
#include <fmt/format.h>

#include <algorithm>

#include "davinci/teacher/semantics/evaluate.h"

namespace davinci::teacher {
namespace {

bool Has(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

// "...k,ko->...o" for operands of these ranks with a letter for every axis; nothing: not of this
// kind.
struct Equation {
  std::string a, b, out;
};
std::optional<Equation> ParseEquation(std::string text, size_t rank_a, size_t rank_b) {
  std::erase(text, ' ');
  const size_t comma = text.find(','), arrow = text.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || comma > arrow ||
      text.find(',', comma + 1) != std::string::npos)
    return std::nullopt;
  Equation parts{text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1),
                 text.substr(arrow + 2)};
  size_t wide = 0;
  for (const auto& [letters, rank] : {std::pair{parts.a, rank_a}, {parts.b, rank_b}})
    if (letters.find("...") != std::string::npos) {
      if (letters.size() - 3 > rank) return std::nullopt;
      const size_t own = rank - (letters.size() - 3);
      if (wide != 0 && own != wide) return std::nullopt;  // they would broadcast
      wide = own;
    }
  std::string many;
  for (size_t i = 0; i < wide; ++i) many += static_cast<char>('A' + i);
  for (std::string* letters : {&parts.a, &parts.b, &parts.out})
    if (const size_t dots = letters->find("..."); dots != std::string::npos)
      letters->replace(dots, 3, many);
  if (parts.a.size() != rank_a || parts.b.size() != rank_b) return std::nullopt;
  for (const std::string& letters : {parts.a, parts.b, parts.out})
    for (const char letter : letters)
      if (!std::isalpha(static_cast<unsigned char>(letter)) ||
          std::count(letters.begin(), letters.end(), letter) != 1)
        return std::nullopt;
  for (const char letter : parts.out)
    if (!Has(parts.a, letter) && !Has(parts.b, letter)) return std::nullopt;
  for (const std::string& letters : {parts.a, parts.b})
    for (const char letter : letters)
      if (!Has(parts.out, letter) && !(Has(parts.a, letter) && Has(parts.b, letter)))
        return std::nullopt;  // summed on its own
  return parts;
}

}  // namespace

Result<Meaning> Evaluator::Einsum(const std::string& equation, const Meanings& operands) {
  if (operands.size() != 2 || operands[0].kind != Meaning::Kind::kTensor ||
      operands[1].kind != Meaning::Kind::kTensor)
    return Unknown("einsum of these");
  Id a = operands[0].id, b = operands[1].id;
  const auto shape_a = (*p_)[a].shape, shape_b = (*p_)[b].shape;
  const auto parts = ParseEquation(equation, shape_a.size(), shape_b.size());
  if (!parts || (*p_)[a].dtype != DType::kFloat || (*p_)[b].dtype != DType::kFloat)
    return Unknown("this einsum");
  std::map<char, DimId> size;
  for (size_t i = 0; i < shape_a.size(); ++i) size[parts->a[i]] = shape_a[i];
  for (size_t i = 0; i < shape_b.size(); ++i) {
    const auto [found, added] = size.try_emplace(parts->b[i], shape_b[i]);
    if (!added && !p_->Same(found->second, shape_b[i])) return Unknown("einsum that broadcasts");
  }
  std::string batch, left, right, summed;
  for (const char letter : parts->out)
    (!Has(parts->b, letter) ? left : !Has(parts->a, letter) ? right : batch) += letter;
  for (const char letter : parts->a)
    if (!Has(parts->out, letter)) summed += letter;
  if (summed.empty() || left.empty() || right.empty()) {
    // One pass over the larger operand: products and a sum.
    const std::string space = parts->out + summed;
    std::vector<DimId> sizes;
    for (const char letter : space) sizes.push_back(size.at(letter));
    const auto read = [&](Id id, const std::string& letters) -> Result<Meaning> {
      std::vector<size_t> places;
      for (const char letter : letters) places.push_back(space.find(letter));
      if (std::is_sorted(places.begin(), places.end())) {
        std::vector<DimId> shape(space.size(), p_->graph.dims.Constant(1));
        for (const size_t place : places) shape[place] = sizes[place];
        while (!shape.empty() && shape.size() > letters.size() && p_->IsOne(shape.front()) &&
               !places.empty() && places.front() > 0 &&
               shape.size() > space.size() - places.front())
          shape.erase(shape.begin());
        return shape.size() == letters.size() ? Meaning::Tensor(id) : Reshape(id, shape);
      }
      std::vector<Id> at;
      for (const size_t place : places) at.push_back(Position(sizes, place));
      return Load(id, at);
    };
    DAVINCI_ASSIGN_OR_RETURN(const Meaning x, read(a, parts->a));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning y, read(b, parts->b));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning product, Point("mul", {x, y}));
    if (summed.empty()) return product;
    Meaning axes;
    axes.kind = Meaning::Kind::kSequence;
    for (size_t i = parts->out.size(); i < space.size(); ++i)
      axes.items.push_back(Meaning::Number(static_cast<double>(i)));
    return Reduce(ReduceKind::kSum, product.id, axes, false);
  }
  const auto transposed = [&](Id id, const std::vector<DimId>& shape) {
    auto swapped = shape;
    std::swap(swapped[shape.size() - 1], swapped[shape.size() - 2]);
    return View(id, fmt::format("{{0}}.transpose({}, {})", shape.size() - 2, shape.size() - 1),
                swapped)
        .id;
  };
  // A product of matrices, perhaps of batches of them.
  if (summed.size() == 1 && right.size() == 1 && parts->out.ends_with(right)) {
    const bool plain = parts->a == batch + left + summed && parts->out == batch + left + right;
    const bool turned =
        left.size() == 1 && parts->a == batch + summed + left && parts->out == batch + left + right;
    const bool straight = parts->b == batch + summed + right;
    const bool across = parts->b == batch + right + summed;
    const bool fits = batch.empty() || left.size() == 1;
    if (fits && (plain || turned) && (straight || across)) {
      if (turned) a = transposed(a, shape_a);
      if (across) b = transposed(b, shape_b);
      return Matmul(a, b);
    }
  }
  TensorValue value;
  value.kind = TensorValue::Kind::kOpaque;
  value.text = fmt::format("torch.einsum(\"{}\", {{0}}, {{1}})", equation);
  value.what = "matmul";
  value.contiguous = false;  // its axes may be permuted
  value.operands = {a, b};
  for (const char letter : parts->out) value.shape.push_back(size.at(letter));
  return Meaning::Tensor(p_->Add(std::move(value)));
}

// F.scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal, scale, enable_gqa).
std::optional<Result<Meaning>> Evaluator::Attention(const NativeCall& call) {
  if (call.name != "scaled_dot_product_attention") return std::nullopt;
  const auto unknown = [&] { return Result<Meaning>(Unknown(call.name)); };
  const Meaning k = call.Argument(1, "key"), v = call.Argument(2, "value");
  const Meaning mask = call.Argument(3, "attn_mask"), dropout = call.Argument(4, "dropout_p");
  const Meaning scale = call.Argument(6, "scale");
  const bool causal = IsTrue(call.Argument(5, "is_causal"));
  if (k.kind != Meaning::Kind::kTensor || v.kind != Meaning::Kind::kTensor || IsTrue(dropout) ||
      (scale.kind != Meaning::Kind::kNone && !scale.number))
    return unknown();
  TensorValue value;
  value.kind = TensorValue::Kind::kOpaque;
  value.what = "attention";
  value.kernel = "attention";
  value.contiguous = false;
  value.operands = {call.arguments[0].id, k.id, v.id};
  std::string more;
  int64_t groups = 1;
  // Heads that repeat_interleave gives are read in place.
  const auto repeats = [&](Id id) -> std::optional<std::pair<Id, int64_t>> {
    const TensorValue& load = (*p_)[id];
    if (load.kind != TensorValue::Kind::kLoad || load.shape.size() != 4) return std::nullopt;
    for (const size_t i : {0u, 2u, 3u})
      if ((*p_)[load.operands[1 + i]].kind != TensorValue::Kind::kIota) return std::nullopt;
    const TensorValue& head = (*p_)[load.operands[2]];
    if (head.kind != TensorValue::Kind::kPoint || head.primitive->name != "idiv" ||
        (*p_)[head.operands[0]].kind != TensorValue::Kind::kIota)
      return std::nullopt;
    const auto count = (*p_)[head.operands[1]].number;
    if (!count) return std::nullopt;
    return std::pair{load.operands[0], static_cast<int64_t>(*count)};
  };
  const auto of_k = repeats(k.id), of_v = repeats(v.id);
  if (of_k && of_v && of_k->second == of_v->second) {
    groups = of_k->second;
    value.operands[1] = of_k->first;
    value.operands[2] = of_v->first;
  }
  const auto& q_shape = (*p_)[value.operands[0]].shape;
  const auto& k_shape = (*p_)[value.operands[1]].shape;
  const auto& v_shape = (*p_)[value.operands[2]].shape;
  if (q_shape.size() != 4 || k_shape.size() != 4 || v_shape.size() != 4) return unknown();
  if (IsTrue(call.Argument(7, "enable_gqa"))) {
    const DimId ratio = p_->graph.dims.Binary('/', q_shape[1], k_shape[1]);
    if (ratio == synth::kNoDim || !p_->graph.dims.IsConstant(ratio)) return unknown();
    groups = p_->graph.dims.At(ratio, synth::Binding::kCuda);
  }
  if (mask.kind == Meaning::Kind::kTensor) {
    if ((*p_)[mask.id].shape.size() != 4) return unknown();
    value.operands.push_back(mask.id);
    more += ", attn_mask={3}";
  } else if (mask.kind != Meaning::Kind::kNone) {
    return unknown();
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
  return Meaning::Tensor(p_->Add(std::move(value)));
}

// Self-attention of sequences of rows: projections, heads as views, attention, projection.
Result<Meaning> Evaluator::MultiheadAttention(const Meanings& arguments, Keywords& keywords,
                                              const Meanings& inputs) {
  const Meaning heads = arguments.size() > 1 ? arguments[1] : keywords["num_heads"];
  const auto shape = (*p_)[inputs[0].id].shape;
  if (!heads.number || *heads.number < 1 || shape.size() != 3 || inputs.size() != 3 ||
      inputs[1].id != inputs[0].id || inputs[2].id != inputs[0].id ||
      !IsTrue(keywords["batch_first"]) || keywords.contains("bias"))
    return Unknown("attention of other sequences");
  auto& dims = p_->graph.dims;
  const auto linear = [&](Id x, const char* weight, const char* bias, DimId out) {
    TensorValue value;
    value.kind = TensorValue::Kind::kOpaque;
    value.what = "matmul";
    value.text = "F.linear({0}, {1}, {2})";
    value.operands = {x, Weight(weight, {out, shape[2]}).id, Weight(bias, {out}).id};
    value.shape = {shape[0], shape[1], out};
    return p_->Add(std::move(value));
  };
  const Id all = linear(inputs[0].id, "in_proj_weight", "in_proj_bias",
                        dims.Binary('*', shape[2], dims.Constant(3)));
  const auto count = static_cast<int64_t>(*heads.number);
  const DimId width = dims.Binary('/', shape[2], dims.Constant(count));
  Meanings parts;
  for (int k = 0; k < 3; ++k)
    parts.push_back(View(
        all,
        fmt::format("{{0}}.unflatten(-1, (3, {}, -1)).select(2, {}).transpose(1, 2)", count, k),
        {shape[0], dims.Constant(count), shape[1], width}));
  Keywords none;
  auto attended = Attention({"scaled_dot_product_attention", parts, none});
  if (!attended->ok()) return *attended;
  const Meaning merged = View((*attended)->id, "{0}.transpose(1, 2).flatten(2)", shape);
  Meaning pair;  // with the weights, which nothing asks for
  pair.kind = Meaning::Kind::kSequence;
  pair.id = linear(merged.id, "out_proj.weight", "out_proj.bias", shape[2]);
  pair.items = {Meaning::Tensor(pair.id)};
  return pair;
}

}  // namespace davinci::teacher
