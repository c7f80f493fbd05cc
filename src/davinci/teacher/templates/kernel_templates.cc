#include "davinci/teacher/templates/kernel_templates.h"

#include <fmt/format.h>

#include <cmath>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

std::string OptionOf(const TensorValue& value, const char* name) {
  const auto found = value.options.find(name);
  return found == value.options.end() ? "" : found->second;
}

// The axes in front of the last one, and the last one, as Python texts of `host`'s shape.
std::string LastSize(const std::string& host) { return host + ".shape[-1]"; }

// k rounds over a row: the largest open element leaves, as does its first place.
std::optional<KernelText> TopKTriton(const TemplateRequest& request) {
  constexpr double kMostInRow = 16384;
  Program& p = *request.program;
  const TensorValue& value = p[request.value];
  const Id x = value.operands[0];
  const double cols = p.At(p[x].shape.back(), synth::Binding::kCuda);
  if (cols > kMostInRow) return std::nullopt;
  KernelText text;
  text.source = fmt::format(R"(@triton.jit
def {}(x_ptr, values_ptr, indices_ptr, cols, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0.0)
    # NaN is larger than every number.
    key = tl.where(x != x, float("inf"), x)
    open = col < cols
    for k in tl.static_range(K):
        largest = tl.max(tl.where(open, key, float("-inf")), axis=0)
        place = tl.min(tl.where(open & (key == largest), col, BLOCK), axis=0)
        tl.store(values_ptr + row * K + k, tl.sum(tl.where(col == place, x, 0.0), axis=0))
        tl.store(indices_ptr + row * K + k, place)
        open = open & (col != place)
)",
                            request.name);
  const std::string host = request.host(x), k = OptionOf(value, "k");
  text.call = {
      fmt::format("{0} = (torch.empty(({1}.shape[:-1] + ({2},)), device={1}.device, "
                  "dtype={1}.dtype), torch.empty(({1}.shape[:-1] + ({2},)), device={1}.device, "
                  "dtype=torch.int64))",
                  request.result, host, k),
      fmt::format("{0}[({1}.numel() // {2},)]({1}.contiguous(), {3}[0], {3}[1], {2}, K={4}, "
                  "BLOCK={6}, num_warps={5})",
                  request.name, host, LastSize(host), request.result, k,
                  cols > 4096   ? 16
                  : cols > 1024 ? 8
                                : 4,
                  NextPowerOfTwo(LastSize(host)))};
  text.used.Insert(Rule::kSelectLargest);
  return text;
}

// The largest so far stand in order; an element moves past the smaller ones.
std::optional<KernelText> TopKCpp(const TemplateRequest& request) {
  const TensorValue& value = (*request.program)[request.value];
  const std::string symbol = synth::CamelCase(request.name), k = OptionOf(value, "k");
  KernelText text;
  text.source = fmt::format(R"(// NaN is larger than every number.
static inline bool {0}Larger(float a, float b) {{ return a > b || (a != a && b == b); }}
extern "C" void {0}(const float* x, float* values, int64_t* indices, int64_t rows, int64_t cols) {{
  constexpr int64_t kLargest = {1};
#pragma omp parallel for schedule(static) if (parallel : rows * cols > 16384)
  for (int64_t row = 0; row < rows; ++row) {{
    const float* from = x + row * cols;
    float best[kLargest];
    int64_t place[kLargest];
    int64_t count = 0;
    for (int64_t col = 0; col < cols; ++col) {{
      if (count == kLargest && !{0}Larger(from[col], best[kLargest - 1])) continue;
      int64_t at = count < kLargest ? count++ : kLargest - 1;
      for (; at > 0 && {0}Larger(from[col], best[at - 1]); --at) {{
        best[at] = best[at - 1];
        place[at] = place[at - 1];
      }}
      best[at] = from[col];
      place[at] = col;
    }}
    for (int64_t i = 0; i < kLargest; ++i) {{
      values[row * kLargest + i] = best[i];
      indices[row * kLargest + i] = place[i];
    }}
  }}
}}
)",
                            symbol, k);
  text.binding =
      fmt::format("{} = kernels.get(\"{}\", \"ptr ptr ptr i64 i64\")", request.name, symbol);
  const std::string host = request.host(value.operands[0]);
  text.call = {
      fmt::format("{0} = (torch.empty(({1}.shape[:-1] + ({2},)), device={1}.device, "
                  "dtype={1}.dtype), torch.empty(({1}.shape[:-1] + ({2},)), device={1}.device, "
                  "dtype=torch.int64))",
                  request.result, host, k),
      fmt::format("{0}_rows = {1}.contiguous()", request.result, host),
      fmt::format("{0}({1}_rows, {1}[0], {1}[1], {2}.numel() // {3}, {3})", request.name,
                  request.result, host, LastSize(host))};
  text.used.Insert(Rule::kSelectLargest);
  return text;
}

// Rows of the result belong to one thread each, so sums are taken in the index' order.
std::optional<KernelText> ScatterCpp(const TemplateRequest& request) {
  const TensorValue& value = (*request.program)[request.value];
  const bool rows = value.kernel == "index_add";
  const std::string how = OptionOf(value, "reduce");
  const std::string symbol = synth::CamelCase(request.name);
  KernelText text;
  const std::string x = request.host(value.operands[0]), index = request.host(value.operands[1]),
                    source = request.host(value.operands[2]);
  if (rows) {
    // Columns are shared out: every thread walks the index, none meets another's elements.
    text.source = fmt::format(
        R"(extern "C" void {}(const float* x, const int64_t* index, const float* source, float* out, int64_t rows, int64_t picks, int64_t cols) {{
  constexpr int64_t kCols = 64;  // of one task
#pragma omp parallel for schedule(static) if (parallel : (rows + picks) * cols > 16384)
  for (int64_t first = 0; first < cols; first += kCols) {{
    const int64_t count = cols - first < kCols ? cols - first : kCols;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t l = 0; l < count; ++l) out[row * cols + first + l] = x[row * cols + first + l];
    for (int64_t pick = 0; pick < picks; ++pick) {{
      float* to = out + index[pick] * cols + first;
      const float* from = source + pick * cols + first;
#pragma omp simd
      for (int64_t l = 0; l < count; ++l) to[l] += from[l];
    }}
  }}
}}
)",
        symbol);
  } else {
    std::string step = "to[place[pick]] += from[pick];", begin, end;
    if (how == "amax" || how == "amin") {
      const std::string helper = how == "amax" ? "Maximum" : "Minimum";
      text.helpers.insert(helper);
      step = fmt::format("to[place[pick]] = {}(to[place[pick]], from[pick]);", helper);
    } else if (how == "mean") {
      begin = "    const auto count = std::make_unique<float[]>(cols);\n";
      step = "to[place[pick]] += from[pick], count[place[pick]] += 1.0f;";
      end = "    for (int64_t col = 0; col < cols; ++col) to[col] /= count[col] + 1.0f;\n";
    }
    text.source = fmt::format(
        R"(extern "C" void {}(const float* x, const int64_t* index, const float* source, float* out, int64_t rows, int64_t picks, int64_t cols) {{
#pragma omp parallel for schedule(static) if (parallel : rows * (picks + cols) > 16384)
  for (int64_t row = 0; row < rows; ++row) {{
    const int64_t* place = index + row * picks;
    const float* from = source + row * picks;
    float* to = out + row * cols;
    for (int64_t col = 0; col < cols; ++col) to[col] = x[row * cols + col];
{}    for (int64_t pick = 0; pick < picks; ++pick) {}
{}  }}
}}
)",
        symbol, begin, step, end);
  }
  text.binding = fmt::format("{} = kernels.get(\"{}\", \"ptr ptr ptr ptr i64 i64 i64\")",
                             request.name, symbol);
  // Arguments stay alive while the kernel reads them.
  text.call = {fmt::format("{0} = torch.empty({1}.shape, device={1}.device, dtype={1}.dtype)",
                           request.result, x),
               fmt::format("{0}_x, {0}_index, {0}_source = {1}.contiguous(), {2}.contiguous(), "
                           "{3}.contiguous()",
                           request.result, x, index, source),
               fmt::format("{0}({1}_x, {1}_index, {1}_source, {1}, {2}.shape[0], {3}.shape[-1], "
                           "{2}.shape[1])",
                           request.name, request.result, x, index)};
  text.used.Insert(Rule::kGatherIntoPlaces);
  return text;
}

}  // namespace

std::optional<KernelText> EmitTemplate(const TemplateRequest& request, Language language) {
  const std::string& kernel = (*request.program)[request.value].kernel;
  const RuleSet& rules = request.rules;
  if (kernel == "attention" && rules.Contains(Rule::kFlashAttentionTriton))
    return EmitAttentionTriton(request);
  if (kernel == "attention" && rules.Contains(Rule::kFlashAttentionCpp))
    return EmitAttentionCpp(request);
  if (kernel == "top_k" && rules.Contains(Rule::kSelectLargest))
    return language == Language::kTriton ? TopKTriton(request) : TopKCpp(request);
  if ((kernel == "scatter" || kernel == "index_add") && rules.Contains(Rule::kGatherIntoPlaces))
    return ScatterCpp(request);
  return std::nullopt;
}

}  // namespace davinci::teacher
