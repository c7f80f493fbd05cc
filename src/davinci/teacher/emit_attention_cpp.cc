#include <fmt/format.h>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/kernel_templates.h"

namespace davinci::teacher {

// A task is a block of queries of one head: it packs a tile of keys and one of values, so that both
// products run along the lanes, and keeps the online softmax of its rows.
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
  const bool stops = causal && request.rules.stop_at_diagonal;
  const bool masked = value.operands.size() > 3;
  const bool chooses = masked && p[value.operands[3]].dtype == DType::kBool;
  const int64_t groups = std::stol(option("groups", "1"));
  const std::string type = p.graph.precision == synth::Precision::kFp32   ? "float"
                           : p.graph.precision == synth::Precision::kBf16 ? "Bf16"
                                                                          : "Fp16";
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
  constexpr int64_t kRows = 64, kCols = 64;  // of a tile of scores
  const int64_t width = (dim + 15) / 16 * 16, blocks = (queries + kRows - 1) / kRows;
#pragma omp parallel for schedule({}) if (parallel : batches * heads * queries * keys > 4096)
  for (int64_t task = 0; task < batches * heads * blocks; ++task) {{
    const int64_t batch = task / (heads * blocks), head = task / blocks % heads, first = task % blocks * kRows;
    const int64_t rows = queries - first < kRows ? queries - first : kRows;
    const auto memory = std::make_unique<float[]>((kRows + kCols) * width + kRows * width + dim * kCols);
    float *query = memory.get(), *mixed = query + kRows * width, *values = mixed + kRows * width, *turned = values + kCols * width;
    float scores[kRows * kCols], top[kRows], total[kRows];
    for (int64_t i = 0; i < kRows; ++i) top[i] = -3e38f, total[i] = 0.0f;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t d = 0; d < dim; ++d)
        query[i * width + d] = q[batch * q_batch + head * q_head + (first + i) * q_row + d * q_dim] * scale;
)",
      symbol, parameters, stops ? "dynamic" : "static");
  if (stops)
    source +=
        "    const int64_t last = first + rows < keys ? first + rows : keys;  // no query sees a "
        "later key\n";
  source += fmt::format(
      R"(    for (int64_t start = 0; start < {0}; start += kCols) {{
      const int64_t cols = keys - start < kCols ? keys - start : kCols;
      for (int64_t j = 0; j < kCols; ++j) {{
        if (j >= cols) {{
          for (int64_t d = 0; d < dim; ++d) turned[d * kCols + j] = values[j * width + d] = 0.0f;
          continue;
        }}
        const auto* key = k + batch * k_batch + ({1}) * k_head + (start + j) * k_row;
        const auto* from = v + batch * v_batch + ({1}) * v_head + (start + j) * v_row;
        for (int64_t d = 0; d < dim; ++d) turned[d * kCols + j] = key[d * k_dim];
        for (int64_t d = 0; d < dim; ++d) values[j * width + d] = from[d * v_dim];
      }}
      std::fill(scores, scores + kRows * kCols, 0.0f);
      MultiplyAdd(query, width, turned, kCols, scores, kCols, (rows + 7) / 8 * 8, dim, kCols);
      for (int64_t i = 0; i < rows; ++i) {{
        float* row = scores + i * kCols;
)",
      stops ? "last" : "keys", key_head);
  if (masked) {
    source +=
        "        const auto* mask_of = mask + batch * mask_batch + head * mask_head + (first + i) * "
        "mask_row + start * mask_col;\n";
    const std::string fill = option("fill", "-inf");
    const std::string filling = fill == "-inf" ? "-INFINITY" : synth::FloatText(std::stod(fill)) + "f";
    const std::string at = "mask_of[j * mask_col]";
    source += fmt::format(
        "        for (int64_t j = 0; j < cols; ++j) {};\n",
        !chooses                       ? "row[j] += " + at
        : option("keep", "1") == "1" ? fmt::format("row[j] = {} ? row[j] : {}", at, filling)
                                       : fmt::format("row[j] = {} ? {} : row[j]", at, filling));
  }
  if (causal)
    source +=
        "        const int64_t seen = first + i + 1 - start < cols ? first + i + 1 - start : cols;\n"
        "        for (int64_t j = seen < 0 ? 0 : seen; j < kCols; ++j) row[j] = -INFINITY;\n";
  else
    source += "        for (int64_t j = cols; j < kCols; ++j) row[j] = -INFINITY;\n";
  source += fmt::format(
      R"(        float higher = top[i], sum = 0.0f;
#pragma omp simd reduction(max : higher)
        for (int64_t j = 0; j < kCols; ++j) higher = row[j] > higher ? row[j] : higher;
#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < kCols; ++j) sum += row[j] = Exp(row[j] - higher);
        const float shrink = Exp(top[i] - higher);
        total[i] = total[i] * shrink + sum;
        top[i] = higher;
#pragma omp simd
        for (int64_t d = 0; d < width; ++d) mixed[i * width + d] *= shrink;
      }}
      MultiplyAdd(scores, kCols, values, width, mixed, width, (rows + 7) / 8 * 8, kCols, width);
    }}
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t d = 0; d < dim; ++d)
        out[batch * out_batch + head * out_head + (first + i) * out_row + d * out_dim] = mixed[i * width + d] / total[i];
  }}
}}
)");
  text.source = source;
  text.binding = fmt::format("{} = kernels.get(\"{}\", \"{}i64 i64 i64 i64 i64 f32\")", request.name,
                             symbol, types);
  const std::string lift = rank == 3 ? ".unsqueeze(1)" : "";
  text.call.push_back(
      fmt::format("{} = torch.empty_like({})", request.result, request.host(value.operands[0])));
  std::vector<std::string> hosts;
  for (size_t i = 0; i < 3; ++i) hosts.push_back(request.host(value.operands[i]) + lift);
  const auto dim = [&](size_t of, int axis) { return fmt::format("{}.shape[{}]", hosts[of], axis); };
  if (masked)
    hosts.push_back(fmt::format("{}.expand({}, {}, {}, {})", request.host(value.operands[3]),
                                dim(0, 0), dim(0, 1), dim(0, 2), dim(1, 2)));
  hosts.push_back(request.result + lift);
  std::string arguments;
  for (const std::string& host : hosts) arguments += host + ", ";
  for (const std::string& host : hosts) arguments += fmt::format("*{}.stride(), ", host);
  text.call.push_back(fmt::format("{}({}{}, {}, {}, {}, {}, {})", request.name, arguments, dim(0, 0),
                                  dim(0, 1), dim(0, 2), dim(1, 2), dim(0, 3),
                                  option("scale", dim(0, 3) + " ** -0.5")));
  text.used.insert("flash_attention");
  if (stops) text.used.insert("stop_at_diagonal");
  return text;
}

}  // namespace davinci::teacher
