#include "davinci/model/engine_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace davinci::model {
namespace {

int64_t NumParameters(const weights::ModelConfig& config) {
  int64_t sum = 0;
  for (const weights::TensorShape& tensor : weights::TensorShapes(config)) {
    int64_t size = 1;
    for (const int64_t dimension : tensor.shape) size *= dimension;
    sum += size;
  }
  return sum;
}

}  // namespace

Result<EngineFacts> PlanEngine(const EngineOptions& options, const weights::ModelConfig& config,
                               const std::string& device) {
  const bool cpu = device == "cpu";
  const bool half = options.dtype == Dtype::kAuto
                        ? !cpu || config.stored_dtype == weights::DType::kBF16
                        : options.dtype == Dtype::kBfloat16;
  const int64_t element_bytes = half ? 2 : 4;
  EngineFacts facts;
  facts.device = device;
  facts.dtype = half ? "bf16" : "fp32";
  facts.deterministic = options.deterministic < 0 ? cpu : options.deterministic != 0;
  facts.max_batch = options.max_batch > 0 ? options.max_batch : cpu ? 8 : 64;
  int64_t context = config.max_positions;
  // Beyond, every key would have to be turned again.
  if (config.rope_scaling.kind == weights::RopeScaling::Kind::kDynamic)
    context = std::min(context, config.rope_scaling.original_max_positions);
  if (options.max_context > 0) {
    if (options.max_context > context)
      return InvalidArgument(fmt::format("max_context {} exceeds the model's {} positions",
                                         options.max_context, context));
    context = options.max_context;
  }
  facts.max_context = static_cast<int>(context);
  facts.cache_tokens = options.cache_tokens > 0
                           ? options.cache_tokens
                           : std::max(context, facts.max_batch * std::min<int64_t>(2048, context));
  facts.vocab = config.vocab_size;
  facts.parameters = NumParameters(config);
  facts.weight_bytes = facts.parameters * element_bytes;
  facts.cache_bytes = 2 * config.num_layers * facts.cache_tokens * config.num_kv_heads *
                      config.head_dim * element_bytes;
  facts.model = fmt::format("{} {} layers, {} wide, {:.3g} M parameters",
                            weights::FamilyName(config.family), config.num_layers,
                            config.hidden_size, static_cast<double>(facts.parameters) / 1e6);
  return facts;
}

}  // namespace davinci::model
