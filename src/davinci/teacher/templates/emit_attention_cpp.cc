#include <fmt/format.h>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/templates/kernel_templates.h"

namespace davinci::teacher {

// A task is a block of queries of one head. Scores lie keys by queries, so that the softmax, too,
// runs along the lanes; tiles of keys and values are read where they lie.
std::optional<KernelText> EmitAttentionCpp(const TemplateRequest& request) {
  Program& p = *request.program;
  const TensorValue& value = p[request.value];
  const auto option = [&](const char* name, const std::string& otherwise) {
    const auto found = value.options.find(name);
    return found == value.options.end() ? otherwise : found->second;
  };
  const size_t rank = value.shape.size();
  if (rank != 3 && rank != 4) return std::nullopt;
  const bool causal = value.options.contains("causal");
  const bool stops = causal && request.rules.Contains(Rule::kStopAtDiagonalCpp);
  const bool masked = value.operands.size() > 3;
  const bool chooses = masked && p[value.operands[3]].dtype == DType::kBool;
  const int64_t groups = std::stol(option("groups", "1"));
  const std::string type = p.graph.precision == synth::Precision::kFp32   ? "float"
                           : p.graph.precision == synth::Precision::kBf16 ? "Bf16"
                                                                          : "Fp16";
  // The vendor's call is faster where there is nothing to skip or to fuse.
  if (value.text.starts_with("F.scaled_dot_product_attention") && !causal && !masked)
    return std::nullopt;
  KernelText text;
  text.helpers = {"Exp", "MultiplyAdd"};
  if (type != "float") text.helpers.insert(type);

  std::vector<std::string> tensors = {"q", "k", "v"};
  if (masked) tensors.emplace_back("mask");
  tensors.emplace_back("out");
  std::string parameters, types;
  for (const std::string& name : tensors) {
    parameters += fmt::format("{}{}* {}, ", name == "out" ? "" : "const ",
                              name == "mask" && chooses ? "bool" : type, name);
    types += "ptr ";
  }
  for (const std::string& name : tensors) {
    for (const char* axis : {"batch", "head", "row", name == "mask" ? "col" : "dim"})
      parameters += fmt::format("int64_t {}_{}, ", name, axis);
    types += "i64 i64 i64 i64 ";
  }
  const std::string symbol = synth::CamelCase(request.name);
  const std::string key_head = groups > 1 ? fmt::format("head / {}", groups) : "head";
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
      symbol, parameters, stops ? "dynamic" : "static");
  if (stops)
    source +=
        "    const int64_t last = first + rows < keys ? first + rows : keys;  // no query sees a "
        "later key\n";
  const std::string in_place = type != "float" ? "" : R"(
      // Whole tiles are read where they lie.
      if (cols == kCols && k_dim == 1) key = key_from, key_row = k_row;
      if (cols == kCols && v_dim == 1 && width == dim) value = value_from, value_row = v_row;)";
  source += fmt::format(
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
      stops ? "last" : "keys", key_head, in_place);
  if (masked) {
    const std::string fill = option("fill", "-inf");
    const std::string filling =
        fill == "-inf" ? "-INFINITY" : synth::FloatText(std::stod(fill)) + "f";
    const std::string at = "from[i * mask_row]", row = "scores[j * kRows + i]";
    source += fmt::format(
        R"(      for (int64_t j = 0; j < cols; ++j) {{
        const auto* from = mask + batch * mask_batch + head * mask_head + first * mask_row + (start + j) * mask_col;
        for (int64_t i = 0; i < rows; ++i) {};
      }}
)",
        !chooses                     ? fmt::format("{} += {}", row, at)
        : option("keep", "1") == "1" ? fmt::format("{0} = {1} ? {0} : {2}", row, at, filling)
                                     : fmt::format("{0} = {1} ? {2} : {0}", row, at, filling));
  }
  if (causal)
    source +=
        "      for (int64_t j = 0; j < cols; ++j)\n"
        "        for (int64_t i = 0; i < rows && first + i < start + j; ++i) scores[j * kRows + i] "
        "= -INFINITY;\n";
  source += fmt::format(
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
      option("unseen", "nan") == "zeros" ? "total[i] > 0.0f ? 1.0f / total[i] : 0.0f"
                                         : "1.0f / total[i]");
  text.source = source;
  text.binding = fmt::format("{} = kernels.get(\"{}\", \"{}i64 i64 i64 i64 i64 f32\")",
                             request.name, symbol, types);
  const std::string lift = rank == 3 ? ".unsqueeze(1)" : "";
  text.call.push_back(
      fmt::format("{} = torch.empty_like({})", request.result, request.host(value.operands[0])));
  std::vector<std::string> hosts;
  for (size_t i = 0; i < 3; ++i) hosts.push_back(request.host(value.operands[i]) + lift);
  const auto dim = [&](size_t of, int axis) {
    return fmt::format("{}.shape[{}]", hosts[of], axis);
  };
  if (masked)
    hosts.push_back(fmt::format("{}.expand({}, {}, {}, {})", request.host(value.operands[3]),
                                dim(0, 0), dim(0, 1), dim(0, 2), dim(1, 2)));
  hosts.push_back(request.result + lift);
  std::string arguments;
  for (const std::string& host : hosts) arguments += host + ", ";
  for (const std::string& host : hosts) arguments += fmt::format("*{}.stride(), ", host);
  text.call.push_back(fmt::format("{}({}{}, {}, {}, {}, {}, {})", request.name, arguments,
                                  dim(0, 0), dim(0, 1), dim(0, 2), dim(1, 2), dim(0, 3),
                                  option("scale", dim(0, 3) + " ** -0.5")));
  text.used.Insert(Rule::kFlashAttentionCpp);
  if (stops) text.used.Insert(Rule::kStopAtDiagonalCpp);
  return text;
}

}  // namespace davinci::teacher
