// The rules of the teacher: one table that everything reads. docs/synth.md shows it; rules_test.cc
// compares the two.
#pragma once

#include <bitset>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace davinci::teacher {

enum class Language { kTriton, kCpp, kCuda };
std::string_view LanguageName(Language language);

// naive has no rule, best has all.
enum class Level { kNaive, kBetter, kBest };
std::string_view LevelName(Level level);

// Rule, name, skill (a folder of skills/), languages, the lowest level that has it. The order is
// the one in which `synth demos --skills` takes rules.
#define DAVINCI_TEACHER_RULES(RULE)                                                              \
  RULE(kFusePointwise, "fuse_pointwise", "fuse-pointwise-chain", kAll, kBetter)                  \
  RULE(kFuseAroundReduction, "fuse_around_reduction", "fuse-add-into-norm", kAll, kBetter)       \
  RULE(kFuseReductions, "fuse_reductions", "two-results-from-one-load", kAll, kBetter)           \
  RULE(kVendorMatmulEpilogue, "vendor_matmul_epilogue", "vendor-matmul-plus-epilogue", kAll,     \
       kBetter)                                                                                  \
  RULE(kVendorConvEpilogue, "vendor_conv_epilogue", "vendor-conv-plus-epilogue", kAll, kBetter)  \
  RULE(kWarpRows, "warp_rows", "warp-per-short-row", kCuda, kBest)                               \
  RULE(kWideLoads, "wide_loads", "sixteen-byte-loads", kCuda, kBest)                             \
  RULE(kScaleByDiagonal, "scale_by_diagonal", "diagonal-as-row-scale", kTritonCpp, kBest)        \
  RULE(kReassociate, "reassociate", "reassociate-products", kTritonCpp, kBest)                   \
  RULE(kReduceWeights, "reduce_weights", "reassociate-products", kTritonCpp, kBest)              \
  RULE(kCompensatedTf32, "compensated_tf32", "fp32-product-as-three-tf32", kTriton, kBest)       \
  RULE(kSplitOperands, "split_operands", "fp32-product-as-three-tf32", kTriton, kBest)           \
  RULE(kProductEpilogue, "product_epilogue", "matmul-epilogue-activation", kTriton, kBest)       \
  RULE(kGroupTiles, "group_tiles", "group-tiles-for-l2", kTriton, kBest)                         \
  RULE(kMirrorSymmetric, "mirror_symmetric", "mirror-symmetric-product", kTriton, kBest)         \
  RULE(kSkipTriangle, "skip_triangle", "skip-triangular-tiles", kTriton, kBest)                  \
  RULE(kSoftmaxInRegisters, "softmax_in_registers", "softmax-row-in-registers", kTriton, kBest)  \
  RULE(kNormInRegisters, "norm_in_registers", "norm-row-kept-in-registers", kTriton, kBest)      \
  RULE(kScanTiles, "scan_tiles", "recurrence-as-tile-scan", kTriton, kBest)                      \
  RULE(kReadSlices, "read_slices", "strides-instead-of-contiguous", kAll, kBest)                 \
  RULE(kManyRows, "many_rows", "many-short-rows-per-program", kTriton, kBest)                    \
  RULE(kSplitRows, "split_rows", "split-few-long-rows", kTriton, kBest)                          \
  RULE(kOnePassVariance, "one_pass_variance", "one-pass-lane-variance", kTriton, kBest)          \
  RULE(kPlaneBlocks, "plane_blocks", "no-division-in-index", kTriton, kBest)                     \
  RULE(kConstantSizes, "constant_sizes", "no-division-in-index", kTritonCpp, kBest)              \
  RULE(kReplayGraph, "replay_graph", "replay-launches-as-graph", kTriton, kBest)                 \
  RULE(kDirectLaunch, "direct_launch", "launch-compiled-kernel-directly", kTriton, kBest)        \
  RULE(kFlashAttentionTriton, "flash_attention_triton", "flash-attention-tiles", kTriton, kBest) \
  RULE(kFlashAttentionCpp, "flash_attention_cpp", "attention-in-cache-tiles", kCpp, kBest)       \
  RULE(kStopAtDiagonalTriton, "stop_at_diagonal_triton", "causal-attention-stop-at-diagonal",    \
       kTriton, kBest)                                                                           \
  RULE(kStopAtDiagonalCpp, "stop_at_diagonal_cpp", "skip-masked-triangle", kCpp, kBest)          \
  RULE(kSelectLargest, "select_largest", "largest-k-in-one-read", kTritonCpp, kBest)             \
  RULE(kGatherIntoPlaces, "gather_into_places", "scatter-by-owner", kCpp, kBest)                 \
  RULE(kColumnsTriton, "columns_triton", "lanes-along-contiguous-dim", kTriton, kBest)           \
  RULE(kColumnsCpp, "columns_cpp", "reduce-columns-row-by-row", kCpp, kBest)                     \
  RULE(kFastExp, "fast_exp", "branch-free-exp", kCpp, kBest)                                     \
  RULE(kInlineErf, "inline_erf", "gelu-with-inline-erf", kCpp, kBest)                            \
  RULE(kStoredValues, "stored_values", "branch-free-exp", kCpp, kBest)                           \
  RULE(kPickClass, "pick_class", "cross-entropy-without-probabilities", kCpp, kBest)             \
  RULE(kPartialSums, "partial_sums", "independent-partial-sums", kCpp, kBest)

#define DAVINCI_RULE(rule, name, skill, languages, level) rule,
enum class Rule { DAVINCI_TEACHER_RULES(DAVINCI_RULE) kCount };
#undef DAVINCI_RULE

struct RuleInfo {
  Rule rule;
  std::string_view name, skill;
  std::set<Language> languages;
  Level level;
};
std::span<const RuleInfo> Rules();
const RuleInfo& InfoOf(Rule rule);
// Nothing: there is no such rule.
std::optional<Rule> RuleNamed(std::string_view name);

class RuleSet {
 public:
  RuleSet() = default;
  RuleSet(std::initializer_list<Rule> rules) {
    for (const Rule rule : rules) Insert(rule);
  }
  // All rules of a level in a language.
  static RuleSet Of(Level level, Language language);

  bool Contains(Rule rule) const { return rules_.test(static_cast<size_t>(rule)); }
  void Insert(Rule rule) { rules_.set(static_cast<size_t>(rule)); }
  void Insert(const RuleSet& others) { rules_ |= others.rules_; }
  void Erase(Rule rule) { rules_.reset(static_cast<size_t>(rule)); }
  void Erase(const RuleSet& others) { rules_ &= ~others.rules_; }
  // Those that the language has.
  RuleSet In(Language language) const;
  std::set<std::string> Names() const;
  std::set<std::string> Skills() const;
  bool operator==(const RuleSet&) const = default;

 private:
  std::bitset<static_cast<size_t>(Rule::kCount)> rules_;
};

}  // namespace davinci::teacher
