#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/text.h"
#include "davinci/teacher/templates/kernel_templates.h"

namespace davinci::teacher {

// Four axes with strides, whatever the tensors' layout; a row of a head lies in a tile's registers.
std::optional<KernelText> EmitAttentionTriton(const TemplateRequest& request) {
  Program& p = *request.program;
  const TensorValue& value = p[request.value];
  const auto option = [&](const char* name, const std::string& otherwise) {
    const auto found = value.options.find(name);
    return found == value.options.end() ? otherwise : found->second;
  };
  const size_t rank = value.shape.size();
  const auto size = [&](Id id, size_t from_end) {
    const auto& shape = p[id].shape;
    return p.At(shape[shape.size() - from_end], synth::Binding::kCuda);
  };
  const Id q = value.operands[0], k = value.operands[1];
  const double width = std::max(16.0, std::exp2(std::ceil(std::log2(size(q, 1)))));
  constexpr double kMostWidth = 128;  // of a head: more leaves no registers for the tiles
  if ((rank != 3 && rank != 4) || width > kMostWidth) return std::nullopt;
  const bool half = p.graph.precision != synth::Precision::kFp32;
  // Of one call of PyTorch wide heads in fp32 are faster by its kernel: three products of TF32
  // leave too few registers (1,417 against 801 us on an H200, 64 heads of 1,024 x 128).
  constexpr double kMostWidthFp32 = 64;
  if (!half && width > kMostWidthFp32 && value.text.starts_with("F.scaled_dot"))
    return std::nullopt;
  const bool causal = value.options.contains("causal");
  const bool stops = causal && request.rules.Contains(Rule::kStopAtDiagonalTriton);
  const bool masked = value.operands.size() > 3;
  const bool chooses = masked && p[value.operands[3]].dtype == DType::kBool;
  const int64_t groups = std::stol(option("groups", "1"));
  // Rows of queries and keys of a tile: fp32 products in three parts need more registers.
  const auto fitting = [](double length, int most) {
    int tile = 16;
    while (tile < most && tile < length) tile *= 2;
    return tile;
  };
  const int rows = fitting(size(q, 2), half ? 128 : 64);
  const int columns = fitting(size(k, 2), half || width <= 64 ? 64 : 32);
  const std::string precision = half ? "" : ", input_precision=\"tf32x3\"";

  std::string body;
  const auto line = [&](const std::string& text, int indent = 4) {
    body += std::string(static_cast<size_t>(indent), ' ') + text + "\n";
  };
  line("# BM queries of one head against all keys, BN at a time; weights never leave registers.");
  line("batch = tl.program_id(1).to(tl.int64) // heads");
  line("head = tl.program_id(1) % heads");
  line("rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]");
  line("dims = tl.arange(0, WIDTH)");
  line("inside = (rows < queries) & (dims[None, :] < dim)");
  line(
      "q = tl.load(q_ptr + batch * q_batch + head * q_head + rows * q_row + dims[None, :] * q_dim, "
      "mask=inside, other=0.0)");
  const std::string key_head = groups > 1 ? fmt::format("head // {}", groups) : "head";
  line(fmt::format("k_ptr += batch * k_batch + {} * k_head", key_head));
  line(fmt::format("v_ptr += batch * v_batch + {} * v_head", key_head));
  if (masked) line("mask_ptr += batch * mask_batch + head * mask_head");
  line("top = tl.full((BM, 1), -3.0e38, tl.float32)");
  line("total = tl.zeros((BM, 1), tl.float32)");
  line("mixed = tl.zeros((BM, WIDTH), tl.float32)");
  if (stops) {
    line("last = tl.minimum((tl.program_id(0) + 1) * BM, keys)  # no query sees a later key");
    line("for start in range(0, last, BN):");
  } else {
    line("for start in range(0, keys, BN):");
  }
  line("cols = start + tl.arange(0, BN)", 8);
  line(
      "k = tl.load(k_ptr + cols[None, :] * k_row + dims[:, None] * k_dim, "
      "mask=(cols[None, :] < keys) & (dims[:, None] < dim), other=0.0)",
      8);
  line(fmt::format("scores = tl.dot(q, k{}) * scale", precision), 8);
  if (masked) {
    line(fmt::format("mask = tl.load(mask_ptr + rows * mask_row + cols[None, :] * mask_col, "
                     "mask=(rows < queries) & (cols[None, :] < keys), other=0{})",
                     chooses ? "" : ".0"),
         8);
    const std::string fill = option("fill", "-inf");
    const std::string filling = fill == "-inf" ? "float(\"-inf\")" : fill;
    if (!chooses)
      line(fmt::format("scores += mask{}", half ? ".to(tl.float32)" : ""), 8);
    else if (option("keep", "1") == "1")
      line(fmt::format("scores = tl.where(mask != 0, scores, {})", filling), 8);
    else
      line(fmt::format("scores = tl.where(mask != 0, {}, scores)", filling), 8);
  }
  line(fmt::format("scores = tl.where({}(cols[None, :] < keys), scores, float(\"-inf\"))",
                   causal ? "(cols[None, :] <= rows) & " : ""),
       8);
  line("higher = tl.maximum(top, tl.max(scores, axis=1)[:, None])", 8);
  line("weights = tl.exp(scores - higher)", 8);
  line("shrink = tl.exp(top - higher)", 8);
  line("total = total * shrink + tl.sum(weights, axis=1)[:, None]", 8);
  line(
      "v = tl.load(v_ptr + cols[:, None] * v_row + dims[None, :] * v_dim, "
      "mask=(cols[:, None] < keys) & (dims[None, :] < dim), other=0.0)",
      8);
  line(fmt::format("mixed = tl.dot(weights{}, v, mixed * shrink{})", half ? ".to(v.dtype)" : "",
                   precision),
       8);
  line("top = higher", 8);
  if (option("unseen", "nan") == "zeros") line("total = tl.where(total == 0.0, 1.0, total)");
  line(
      "tl.store(out_ptr + batch * out_batch + head * out_head + rows * out_row + dims[None, :] * "
      "out_dim, mixed / total, mask=inside)");

  std::vector<std::string> tensors = {"q", "k", "v"};
  if (masked) tensors.emplace_back("mask");
  tensors.emplace_back("out");
  std::string parameters, strides;
  for (const std::string& name : tensors) parameters += name + "_ptr, ";
  for (const std::string& name : tensors)
    strides += fmt::format("{0}_batch, {0}_head, {0}_row, {0}_{1}, ", name,
                           name == "mask" ? "col" : "dim");
  KernelText text;
  text.source = fmt::format(
      "@triton.jit\ndef {}({}{}heads, queries, keys, dim, scale, WIDTH: tl.constexpr, BM: "
      "tl.constexpr, BN: tl.constexpr):\n{}",
      request.name, parameters, strides, body);
  const std::string lift = rank == 3 ? ".unsqueeze(1)" : "";
  const std::string result = request.result;
  text.call.push_back(fmt::format("{} = torch.empty_like({})", result, request.host(q)));
  std::vector<std::string> hosts;
  for (size_t i = 0; i < 3; ++i) hosts.push_back(request.host(value.operands[i]) + lift);
  const auto dim = [&](size_t of, int axis) {
    return fmt::format("{}.shape[{}]", hosts[of], axis);
  };
  if (masked)
    hosts.push_back(fmt::format("{}.expand({}, {}, {}, {})", request.host(value.operands[3]),
                                dim(0, 0), dim(0, 1), dim(0, 2), dim(1, 2)));
  hosts.push_back(result + lift);
  std::string arguments;
  for (const std::string& host : hosts) arguments += host + ", ";
  for (const std::string& host : hosts) arguments += fmt::format("*{}.stride(), ", host);
  const std::string scale = option("scale", dim(0, 3) + " ** -0.5");
  const int warps = half && rows == 128 && width > 64 ? 8 : 4;
  text.call.push_back(fmt::format(
      "{}[({}, {} * {})]({}{}, {}, {}, {}, {}, WIDTH=max(16, "
      "{}), BM={}, BN={}, num_warps={}, num_stages=2)",
      request.name, CeilDiv(dim(0, 2), rows), dim(0, 0), dim(0, 1), arguments, dim(0, 1), dim(0, 2),
      dim(1, 2), dim(0, 3), scale, NextPowerOfTwo(dim(0, 3)), rows, columns, warps));
  text.used.Insert(Rule::kFlashAttentionTriton);
  if (stops) text.used.Insert(Rule::kStopAtDiagonalTriton);
  return text;
}

}  // namespace davinci::teacher
