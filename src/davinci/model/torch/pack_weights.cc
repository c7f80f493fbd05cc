#include <array>

#include "davinci/model/cpu_kernels.h"
#include "davinci/model/torch/cpu_ops.h"
#include "davinci/model/torch/weights.h"

namespace davinci::model {
namespace {

using at::Tensor;

bool PackTiled(Weights* weights) {
  const int64_t q = weights->config.num_heads * weights->config.head_dim;
  if (weights->dtype != at::kBFloat16 || !HasTiles()) return false;
  for (const int64_t inner : {weights->config.hidden_size, q, weights->config.intermediate_size})
    if (inner % kTileInner != 0) return false;
  for (Layer& layer : weights->layers)
    for (const Linear* linear : {&layer.qkv, &layer.o, &layer.gate_up, &layer.down})
      if (!linear->low_rank.empty()) return false;
  const auto pack = [](Tensor* weight, TileOrder order) {
    PackedWeight packed = PackTiledWeight(*weight, order);
    *weight = Tensor();
    return packed;
  };
  for (Layer& layer : weights->layers)
    for (Linear* linear : {&layer.qkv, &layer.o, &layer.gate_up, &layer.down})
      linear->packed =
          pack(&linear->weight, linear == &layer.gate_up ? TileOrder::kGated : TileOrder::kPlain);
  weights->packed_head = pack(&weights->head, TileOrder::kPlain);
  if (weights->config.tied_embeddings) weights->embedding = Tensor();
  weights->tiled = true;
  return true;
}

}  // namespace

bool PackWeights(Weights* weights) {
  if (!weights->device.is_cpu() || weights->layers.empty()) return false;
  if (PackTiled(weights)) return true;
  const auto linears = [](Layer& layer) {
    return std::array<Linear*, 4>{&layer.qkv, &layer.o, &layer.gate_up, &layer.down};
  };
  // All layers have the same shapes: what the first allows, all do.
  for (const Linear* linear : linears(weights->layers[0]))
    if (!linear->low_rank.empty() || !PackWeight(linear->weight).matrix.defined()) return false;
  for (Layer& layer : weights->layers)
    for (Linear* linear : linears(layer)) {
      linear->packed = PackWeight(linear->weight);
      linear->weight = Tensor();
    }
  if (weights->dtype == at::kFloat) {
    weights->packed_head = PackWeight(weights->head);
    weights->head = Tensor();
    if (weights->config.tied_embeddings) weights->embedding = Tensor();
  }
  return true;
}

}  // namespace davinci::model
