// LoRA adapters in PEFT's layout: adapter_config.json and adapter_model.safetensors.
//
// A module's weight W [out, in] becomes W + scale * B * A with A [rank, in] and B [out, rank];
// scale is alpha / rank, or alpha / sqrt(rank) with use_rslora.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/weights/dtype.h"
#include "davinci/weights/model_config.h"

namespace davinci::weights {

struct LoraModule {
  std::vector<float> a;  // [rank, in_features]
  std::vector<float> b;  // [out_features, rank]
  int64_t in_features = 0;
  int64_t out_features = 0;
  bool operator==(const LoraModule&) const = default;
};

struct LoraAdapter {
  int64_t rank = 0;
  double alpha = 0;
  bool use_rslora = false;
  double dropout = 0;      // of training; has no part in the weights
  std::string base_model;  // base_model_name_or_path
  // By the name of the weight without ".weight": "model.layers.0.self_attn.q_proj".
  std::map<std::string, LoraModule> modules;

  double scale() const;
  bool operator==(const LoraAdapter&) const = default;
};

// InvalidArgument: other kinds than LoRA, and what changes the formula above (DoRA, biases, ranks
// or alphas per module, modules_to_save, fan_in_fan_out); an A without its B; shapes that do not
// fit.
Result<LoraAdapter> LoadLoraAdapter(const std::filesystem::path& folder);
// Both files; `dtype` is F32, F16 or BF16. Loads in `peft`.
Status SaveLoraAdapter(const LoraAdapter& adapter, const std::filesystem::path& folder,
                       DType dtype = DType::kF32);
// InvalidArgument when a module is not one of the model's linear layers, or of another shape.
Status CheckLoraAdapter(const LoraAdapter& adapter, const ModelConfig& config);

// weight [out, in] += scale * B * A, sums in fp64.
Status MergeLora(const LoraAdapter& adapter, const LoraModule& module, std::span<float> weight);

}  // namespace davinci::weights
