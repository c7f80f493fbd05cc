#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/text.h"
#include "davinci/teacher/templates/attention_call.h"

namespace davinci::teacher {
namespace {

// AttentionTiles are the rows of queries and of keys that a program holds.
struct AttentionTiles {
  int rows = 0;
  int columns = 0;
  int warps = 4;
};

// Nothing where a head is too wide for the registers, or PyTorch's kernel is faster.
std::optional<AttentionTiles> AttentionTilesOf(const TemplateRequest& request,
                                               const AttentionCall& call) {
  Program& p = *request.program;
  const auto size = [&](Id id, size_t from_end) {
    const auto& shape = p[id].shape;
    return p.At(shape[shape.size() - from_end], synth::Binding::kCuda);
  };
  const Id q = call.value->operands[0], k = call.value->operands[1];
  const double width = std::max(16.0, std::exp2(std::ceil(std::log2(size(q, 1)))));
  constexpr double kMostWidth = 128;  // of a head: more leaves no registers for the tiles
  if (width > kMostWidth) return std::nullopt;
  // Of one call of PyTorch wide heads in fp32 are faster by its kernel: three products of TF32
  // leave too few registers (1,417 against 801 us on an H200, 64 heads of 1,024 x 128).
  constexpr double kMostWidthFp32 = 64;
  if (!call.is_half && width > kMostWidthFp32 && call.value->text.starts_with("F.scaled_dot"))
    return std::nullopt;
  const auto fitting = [](double length, int most) {
    int tile = 16;
    while (tile < most && tile < length) tile *= 2;
    return tile;
  };
  // Fp32 products in three parts need more registers.
  AttentionTiles tiles;
  tiles.rows = fitting(size(q, 2), call.is_half ? 128 : 64);
  tiles.columns = fitting(size(k, 2), call.is_half || width <= 64 ? 64 : 32);
  if (call.is_half && tiles.rows == 128 && width > 64) tiles.warps = 8;
  return tiles;
}

// Returns the body of the kernel.
std::string TritonBodyOf(const AttentionCall& call) {
  const std::string precision = call.is_half ? "" : ", input_precision=\"tf32x3\"";
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
  const std::string key_head = call.groups > 1 ? fmt::format("head // {}", call.groups) : "head";
  line(fmt::format("k_ptr += batch * k_batch + {} * k_head", key_head));
  line(fmt::format("v_ptr += batch * v_batch + {} * v_head", key_head));
  if (call.is_masked) line("mask_ptr += batch * mask_batch + head * mask_head");
  line("top = tl.full((BM, 1), -3.0e38, tl.float32)");
  line("total = tl.zeros((BM, 1), tl.float32)");
  line("mixed = tl.zeros((BM, WIDTH), tl.float32)");
  if (call.stops) {
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
  if (call.is_masked) {
    line(fmt::format("mask = tl.load(mask_ptr + rows * mask_row + cols[None, :] * mask_col, "
                     "mask=(rows < queries) & (cols[None, :] < keys), other=0{})",
                     call.chooses ? "" : ".0"),
         8);
    const std::string fill = call.Option("fill", "-inf");
    const std::string filling = fill == "-inf" ? "float(\"-inf\")" : fill;
    if (!call.chooses)
      line(fmt::format("scores += mask{}", call.is_half ? ".to(tl.float32)" : ""), 8);
    else if (call.Option("keep", "1") == "1")
      line(fmt::format("scores = tl.where(mask != 0, scores, {})", filling), 8);
    else
      line(fmt::format("scores = tl.where(mask != 0, {}, scores)", filling), 8);
  }
  line(fmt::format("scores = tl.where({}(cols[None, :] < keys), scores, float(\"-inf\"))",
                   call.is_causal ? "(cols[None, :] <= rows) & " : ""),
       8);
  line("higher = tl.maximum(top, tl.max(scores, axis=1)[:, None])", 8);
  line("weights = tl.exp(scores - higher)", 8);
  line("shrink = tl.exp(top - higher)", 8);
  line("total = total * shrink + tl.sum(weights, axis=1)[:, None]", 8);
  line(
      "v = tl.load(v_ptr + cols[:, None] * v_row + dims[None, :] * v_dim, "
      "mask=(cols[:, None] < keys) & (dims[None, :] < dim), other=0.0)",
      8);
  line(fmt::format("mixed = tl.dot(weights{}, v, mixed * shrink{})",
                   call.is_half ? ".to(v.dtype)" : "", precision),
       8);
  line("top = higher", 8);
  if (call.Option("unseen", "nan") == "zeros") line("total = tl.where(total == 0.0, 1.0, total)");
  line(
      "tl.store(out_ptr + batch * out_batch + head * out_head + rows * out_row + dims[None, :] * "
      "out_dim, mixed / total, mask=inside)");
  return body;
}

std::string TritonParametersOf(const AttentionCall& call) {
  std::string pointers, strides;
  for (const std::string& name : call.tensors) pointers += name + "_ptr, ";
  for (const std::string& name : call.tensors)
    strides += fmt::format("{0}_batch, {0}_head, {0}_row, {0}_{1}, ", name,
                           name == "mask" ? "col" : "dim");
  return pointers + strides;
}

}  // namespace

// Four axes with strides, whatever the tensors' layout; a row of a head lies in a tile's registers.
std::optional<KernelText> EmitAttentionTriton(const TemplateRequest& request) {
  const auto call = ReadAttention(request, Rule::kStopAtDiagonalTriton);
  const auto tiles = call ? AttentionTilesOf(request, *call) : std::nullopt;
  if (!tiles) return std::nullopt;
  KernelText text;
  text.source = fmt::format(
      "@triton.jit\ndef {}({}heads, queries, keys, dim, scale, WIDTH: tl.constexpr, BM: "
      "tl.constexpr, BN: tl.constexpr):\n{}",
      request.name, TritonParametersOf(*call), TritonBodyOf(*call));
  text.call.push_back(fmt::format("{} = torch.empty_like({})", request.result,
                                  request.host(call->value->operands[0])));
  const AttentionArguments arguments = ArgumentsOf(*call, request);
  const std::string batch = arguments.Size(0, 0), heads = arguments.Size(0, 1),
                    queries = arguments.Size(0, 2), width = arguments.Size(0, 3);
  text.call.push_back(
      fmt::format("{}[({}, {} * {})]({}{}, {}, {}, {}, {}, WIDTH=max(16, "
                  "{}), BM={}, BN={}, num_warps={}, num_stages=2)",
                  request.name, CeilDiv(queries, tiles->rows), batch, heads, arguments.text, heads,
                  queries, arguments.Size(1, 2), width, call->Option("scale", width + " ** -0.5"),
                  NextPowerOfTwo(width), tiles->rows, tiles->columns, tiles->warps));
  text.used.Insert(Rule::kFlashAttentionTriton);
  if (call->stops) text.used.Insert(Rule::kStopAtDiagonalTriton);
  return text;
}

}  // namespace davinci::teacher
