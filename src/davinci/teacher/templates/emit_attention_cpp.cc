#include <fmt/format.h>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/templates/attention_call.h"

namespace davinci::teacher {
namespace {

// CppParameters holds those of the kernel in C++, and their types as kernels.get() names them.
struct CppParameters {
  std::string text;
  std::string types;
};
CppParameters CppParametersOf(const AttentionCall& call, const std::string& type) {
  CppParameters parameters;
  for (const std::string& name : call.tensors) {
    parameters.text += fmt::format("{}{}* {}, ", name == "out" ? "" : "const ",
                                   name == "mask" && call.chooses ? "bool" : type, name);
    parameters.types += "ptr ";
  }
  for (const std::string& name : call.tensors) {
    for (const char* axis : {"batch", "head", "row", name == "mask" ? "col" : "dim"})
      parameters.text += fmt::format("int64_t {}_{}, ", name, axis);
    parameters.types += "i64 i64 i64 i64 ";
  }
  return parameters;
}

// Returns the text up to the loop over keys; a task is a block of queries of one head.
std::string BlockOfQueries(const AttentionCall& call, const std::string& symbol,
                           const std::string& parameters) {
  std::string source = fmt::format(
      R"(extern "C" void {}({}int64_t batches, int64_t heads, int64_t queries, int64_t keys, int64_t dim, float scale) {{
  constexpr int64_t kRows = 64, kCols = 64;  // queries and keys of a tile
  const int64_t width = (dim + 15) / 16 * 16, blocks = (queries + kRows - 1) / kRows;
#pragma omp parallel for schedule({}) if (parallel : batches * heads * queries * keys > 4096)
  for (int64_t task = 0; task < batches * heads * blocks; ++task) {{
    const int64_t batch = task / (heads * blocks), head = task / blocks % heads, first = task % blocks * kRows;
    const int64_t rows = queries - first < kRows ? queries - first : kRows, lanes = (rows + 15) / 16 * 16;
    const auto memory = std::make_unique<float[]>(dim * kRows + kRows * width + 2 * kCols * width);
    float *turned = memory.get(), *mixed = turned + dim * kRows, *key_tile = mixed + kRows * width, *value_tile = key_tile + kCols * width;
    float scores[kCols * kRows], top[kRows], higher[kRows], shrink[kRows], total[kRows];
    std::fill(top, top + kRows, -3e38f);
    std::fill(total, total + kRows, 0.0f);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t d = 0; d < dim; ++d)
        turned[d * kRows + i] = q[batch * q_batch + head * q_head + (first + i) * q_row + d * q_dim] * scale;
)",
      symbol, parameters, call.stops ? "dynamic" : "static");
  if (call.stops)
    source +=
        "    const int64_t last = first + rows < keys ? first + rows : keys;  // no query sees a "
        "later key\n";
  return source;
}

// Returns the text that computes the scores of a tile of keys, masked.
std::string ScoresOfTile(const AttentionCall& call, const std::string& type) {
  const std::string key_head = call.groups > 1 ? fmt::format("head / {}", call.groups) : "head";
  const std::string in_place = type != "float" ? "" : R"(
      // Whole tiles are read where they lie.
      if (cols == kCols && k_dim == 1) key = key_from, key_row = k_row;
      if (cols == kCols && v_dim == 1 && width == dim) value = value_from, value_row = v_row;)";
  std::string source = fmt::format(
      R"(    for (int64_t start = 0; start < {0}; start += kCols) {{
      const int64_t cols = keys - start < kCols ? keys - start : kCols;
      const auto* key_from = k + batch * k_batch + ({1}) * k_head + start * k_row;
      const auto* value_from = v + batch * v_batch + ({1}) * v_head + start * v_row;
      const float *key = key_tile, *value = value_tile;
      int64_t key_row = width, value_row = width;{2}
      if (key == key_tile)
        for (int64_t j = 0; j < kCols; ++j)
          for (int64_t d = 0; d < dim; ++d) key_tile[j * width + d] = j < cols ? static_cast<float>(key_from[j * k_row + d * k_dim]) : 0.0f;
      if (value == value_tile)
        for (int64_t j = 0; j < kCols; ++j)
          for (int64_t d = 0; d < dim; ++d) value_tile[j * width + d] = j < cols ? static_cast<float>(value_from[j * v_row + d * v_dim]) : 0.0f;
      // Keys by queries: what follows runs along the queries.
      std::fill(scores, scores + kCols * kRows, 0.0f);
      MultiplyAdd(key, key_row, 1, turned, kRows, scores, kRows, kCols, dim, lanes);
)",
      call.stops ? "last" : "keys", key_head, in_place);
  if (call.is_masked) {
    const std::string fill = call.Option("fill", "-inf");
    const std::string filling =
        fill == "-inf" ? "-INFINITY" : synth::FloatText(std::stod(fill)) + "f";
    const std::string at = "from[i * mask_row]", row = "scores[j * kRows + i]";
    source += fmt::format(
        R"(      for (int64_t j = 0; j < cols; ++j) {{
        const auto* from = mask + batch * mask_batch + head * mask_head + first * mask_row + (start + j) * mask_col;
        for (int64_t i = 0; i < rows; ++i) {};
      }}
)",
        !call.chooses                     ? fmt::format("{} += {}", row, at)
        : call.Option("keep", "1") == "1" ? fmt::format("{0} = {1} ? {0} : {2}", row, at, filling)
                                          : fmt::format("{0} = {1} ? {2} : {0}", row, at, filling));
  }
  if (call.is_causal)
    source +=
        "      for (int64_t j = 0; j < cols; ++j)\n"
        "        for (int64_t i = 0; i < rows && first + i < start + j; ++i) scores[j * kRows + i] "
        "= -INFINITY;\n";
  return source;
}

// Returns the text of their softmax so far, the values that it weighs, and the end of the loops.
std::string SoftmaxOfTile(const AttentionCall& call) {
  return fmt::format(
      R"(      std::fill(scores + cols * kRows, scores + kCols * kRows, -INFINITY);
      std::copy(top, top + kRows, higher);
      for (int64_t j = 0; j < cols; ++j)
#pragma omp simd
        for (int64_t i = 0; i < lanes; ++i) higher[i] = scores[j * kRows + i] > higher[i] ? scores[j * kRows + i] : higher[i];
#pragma omp simd
      for (int64_t i = 0; i < lanes; ++i) {{
        shrink[i] = Exp(top[i] - higher[i]);
        total[i] *= shrink[i];
        top[i] = higher[i];
      }}
      for (int64_t j = 0; j < kCols; ++j)
#pragma omp simd
        for (int64_t i = 0; i < lanes; ++i) {{
          const float weight = Exp(scores[j * kRows + i] - higher[i]);
          scores[j * kRows + i] = weight;
          total[i] += weight;
        }}
      for (int64_t i = 0; i < rows; ++i)
#pragma omp simd
        for (int64_t d = 0; d < width; ++d) mixed[i * width + d] *= shrink[i];
      MultiplyAdd(scores, 1, kRows, value, value_row, mixed, width, (rows + 7) / 8 * 8, kCols, width);
    }}
    for (int64_t i = 0; i < rows; ++i) {{
      const float share = {};
      for (int64_t d = 0; d < dim; ++d)
        out[batch * out_batch + head * out_head + (first + i) * out_row + d * out_dim] = mixed[i * width + d] * share;
    }}
  }}
}}
)",
      call.Option("unseen", "nan") == "zeros" ? "total[i] > 0.0f ? 1.0f / total[i] : 0.0f"
                                              : "1.0f / total[i]");
}

}  // namespace

// Scores lie keys by queries, so that the softmax, too, runs along the lanes; tiles of keys and
// values are read where they lie.
std::optional<KernelText> EmitAttentionCpp(const TemplateRequest& request) {
  const auto call = ReadAttention(request, Rule::kStopAtDiagonalCpp);
  // The vendor's call is faster where there is nothing to skip or to fuse.
  if (!call || (call->value->text.starts_with("F.scaled_dot_product_attention") &&
                !call->is_causal && !call->is_masked))
    return std::nullopt;
  const std::string type = !call->is_half                                                ? "float"
                           : request.program->graph.precision == synth::Precision::kBf16 ? "Bf16"
                                                                                         : "Fp16";
  KernelText text;
  text.helpers = {"Exp", "MultiplyAdd"};
  if (type != "float") text.helpers.insert(type);
  const CppParameters parameters = CppParametersOf(*call, type);
  const std::string symbol = synth::CamelCase(request.name);
  text.source = BlockOfQueries(*call, symbol, parameters.text) + ScoresOfTile(*call, type) +
                SoftmaxOfTile(*call);
  text.binding = fmt::format("{} = kernels.get(\"{}\", \"{}i64 i64 i64 i64 i64 f32\")",
                             request.name, symbol, parameters.types);
  text.call.push_back(fmt::format("{} = torch.empty_like({})", request.result,
                                  request.host(call->value->operands[0])));
  const AttentionArguments arguments = ArgumentsOf(*call, request);
  const std::string width = arguments.Size(0, 3);
  text.call.push_back(fmt::format("{}({}{}, {}, {}, {}, {}, {})", request.name, arguments.text,
                                  arguments.Size(0, 0), arguments.Size(0, 1), arguments.Size(0, 2),
                                  arguments.Size(1, 2), width,
                                  call->Option("scale", width + " ** -0.5")));
  text.used.Insert(Rule::kFlashAttentionCpp);
  if (call->stops) text.used.Insert(Rule::kStopAtDiagonalCpp);
  return text;
}

}  // namespace davinci::teacher
