#include "davinci/teacher/teacher.h"

namespace davinci::teacher {

const std::vector<Rule>& Rules() {
  static const std::set<Language> all = {Language::kTriton, Language::kCpp, Language::kCuda};
  static const std::vector<Rule> rules = {
      {"fuse_pointwise", "fuse-pointwise-chain", all},
      {"fuse_around_reduction", "fuse-add-into-norm", all},
      {"fuse_reductions", "two-results-from-one-load", all},
      {"vendor_matmul_epilogue", "vendor-matmul-plus-epilogue", all},
      {"vendor_conv_epilogue", "vendor-conv-plus-epilogue", all},
      {"warp_rows", "warp-per-short-row", {Language::kCuda}},
      {"wide_loads", "sixteen-byte-loads", {Language::kCuda}},
      {"scale_by_diagonal", "diagonal-as-row-scale", {Language::kTriton, Language::kCpp}},
      {"reassociate", "reassociate-products", {Language::kTriton, Language::kCpp}},
      {"reduce_weights", "reassociate-products", {Language::kTriton, Language::kCpp}},
      {"compensated_tf32", "fp32-product-as-three-tf32", {Language::kTriton}},
      {"product_epilogue", "matmul-epilogue-activation", {Language::kTriton}},
      {"group_tiles", "group-tiles-for-l2", {Language::kTriton}},
      {"mirror_symmetric", "mirror-symmetric-product", {Language::kTriton}},
      {"skip_triangle", "skip-triangular-tiles", {Language::kTriton}},
      {"softmax_in_registers", "softmax-row-in-registers", {Language::kTriton}},
      {"norm_in_registers", "norm-row-kept-in-registers", {Language::kTriton}},
      {"scan_tiles", "recurrence-as-tile-scan", {Language::kTriton}},
      {"read_slices", "strides-instead-of-contiguous", all},
      {"many_rows", "many-short-rows-per-program", {Language::kTriton}},
      {"split_rows", "split-few-long-rows", {Language::kTriton}},
      {"one_pass_variance", "one-pass-lane-variance", {Language::kTriton}},
      {"plane_blocks", "no-division-in-index", {Language::kTriton}},
      {"constant_sizes", "no-division-in-index", {Language::kTriton}},
      {"replay_graph", "replay-launches-as-graph", {Language::kTriton}},
      {"direct_launch", "launch-compiled-kernel-directly", {Language::kTriton}},
      {"flash_attention_triton", "flash-attention-tiles", {Language::kTriton}},
      {"flash_attention_cpp", "attention-in-cache-tiles", {Language::kCpp}},
      {"stop_at_diagonal_triton", "causal-attention-stop-at-diagonal", {Language::kTriton}},
      {"stop_at_diagonal_cpp", "skip-masked-triangle", {Language::kCpp}},
      {"select_largest", "largest-k-in-one-read", {Language::kTriton, Language::kCpp}},
      {"gather_into_places", "scatter-by-owner", {Language::kCpp}},
      {"columns_triton", "lanes-along-contiguous-dim", {Language::kTriton}},
      {"columns_cpp", "reduce-columns-row-by-row", {Language::kCpp}},
      {"fast_exp", "branch-free-exp", {Language::kCpp}},
      {"inline_erf", "gelu-with-inline-erf", {Language::kCpp}},
      {"stored_values", "branch-free-exp", {Language::kCpp}},
      {"pick_class", "cross-entropy-without-probabilities", {Language::kCpp}},
      {"partial_sums", "independent-partial-sums", {Language::kCpp}},
  };
  return rules;
}

std::string_view LevelName(Level level) {
  return level == Level::kNaive ? "naive" : level == Level::kBetter ? "better" : "best";
}

std::set<std::string> Teacher::RulesOf(Level level, Language language) {
  std::set<std::string> rules;
  if (level == Level::kNaive) return rules;
  for (const Rule& rule : Rules()) {
    if (!rule.languages.contains(language)) continue;
    const bool fusion = rule.name.starts_with("fuse_") || rule.name.starts_with("vendor_");
    if (fusion || level == Level::kBest) rules.insert(rule.name);
  }
  return rules;
}

}  // namespace davinci::teacher
