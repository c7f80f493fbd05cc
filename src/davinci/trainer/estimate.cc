#include "davinci/trainer/estimate.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace davinci::trainer {
namespace {

int64_t LayerMatrices(const weights::ModelConfig& c) {
  const int64_t q = c.num_heads * c.head_dim;
  const int64_t kv = c.num_kv_heads * c.head_dim;
  return c.hidden_size * (2 * q + 2 * kv + 3 * c.intermediate_size);
}

}  // namespace

CostEstimate EstimateMemory(const weights::ModelConfig& c, const LearnerOptions& options, bool bf16,
                            int64_t rows, int ranks) {
  CostEstimate estimate;
  int64_t moments = 0;
  // Trained parameters whose gradients are finished together: those of a layer, or one outside.
  std::map<std::string, int64_t> together;
  for (const weights::TensorShape& tensor : weights::TensorShapes(c)) {
    int64_t size = 1;
    for (const int64_t dimension : tensor.shape) size *= dimension;
    estimate.parameters += size;
    int64_t trained = 0;
    if (options.lora.rank == 0) {
      trained = size;
    } else if (tensor.shape.size() == 2) {
      for (const std::string& target : options.lora.targets)
        if (tensor.name.ends_with("." + target + ".weight"))
          trained += options.lora.rank * (tensor.shape[0] + tensor.shape[1]);
    }
    estimate.trained_parameters += trained;
    constexpr std::string_view kLayers = "model.layers.";
    const bool in_layer = tensor.name.starts_with(kLayers);
    moments += (options.adam.muon && in_layer && tensor.shape.size() == 2 ? 1 : 2) * trained;
    together[in_layer ? tensor.name.substr(0, tensor.name.find('.', kLayers.size()))
                      : tensor.name] += trained;
  }
  int64_t at_once = 0;
  for (const auto& [name, size] : together) at_once = std::max(at_once, size);
  const int64_t element = bf16 ? 2 : 4;
  estimate.weight_bytes =
      estimate.parameters * element + (bf16 ? 4 * estimate.trained_parameters / ranks : 0);
  estimate.gradient_bytes = 4 * estimate.trained_parameters;
  if (options.zero_stage == 2 && ranks > 1)
    estimate.gradient_bytes = 4 * (estimate.trained_parameters / ranks + at_once);
  estimate.moment_bytes = 4 * moments / ranks;
  const bool cuda = bf16 && options.device != "cpu";
  const bool in_place = cuda && options.own_kernels && c.vocab_size % 8 == 0;
  // Of one layer and token: what is kept between forward and backward pass, less with the kernels
  // of training (model/train_kernels.h).
  const int64_t q = c.num_heads * c.head_dim;
  const int64_t kv = c.num_kv_heads * c.head_dim;
  const int64_t kept = cuda && options.own_kernels
                           ? 4 * c.hidden_size + 3 * (q + kv) + 3 * c.intermediate_size
                           : 5 * c.hidden_size + 4 * (q + kv) + 2 * q + 5 * c.intermediate_size;
  const int64_t recomputed = options.recomputed_layers < 0
                                 ? c.num_layers
                                 : std::min(options.recomputed_layers, c.num_layers);
  const int64_t live = c.num_layers - recomputed + (recomputed > 0 ? 1 : 0);
  const int64_t logits = std::max(MostHeadLogits(cuda, in_place), 16 * c.vocab_size);
  const int64_t logit_bytes = in_place ? element : 4 + 2 * element;
  estimate.activation_bytes = rows * element * (c.num_layers * c.hidden_size + live * kept) +
                              std::min(logits, rows * c.vocab_size) * logit_bytes +
                              (options.lora.rank == 0 ? c.vocab_size * c.hidden_size * 4 : 0);
  return estimate;
}

double ModelFlops(const weights::ModelConfig& c, int64_t tokens, int64_t head_rows) {
  const auto n = static_cast<double>(tokens);
  const double matrices = static_cast<double>(c.num_layers) * static_cast<double>(LayerMatrices(c));
  const double head = static_cast<double>(c.vocab_size * c.hidden_size);
  // Causal: half of the square, twice (scores and values), forward once and backward twice.
  const double attention = static_cast<double>(c.num_layers * c.num_heads * c.head_dim) * n * n;
  return 6 * (matrices * n + head * static_cast<double>(head_rows)) + 6 * attention;
}

}  // namespace davinci::trainer
