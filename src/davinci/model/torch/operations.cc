#include "davinci/model/torch/operations.h"

namespace davinci::model {

using at::Tensor;

Tensor SplitHeads(const Tensor& qkv, const weights::ModelConfig& config) {
  return qkv.view({qkv.size(0), config.num_heads + 2 * config.num_kv_heads, config.head_dim});
}

Tensor AttendAll(Attention& attention, int64_t index, const Tensor& qkv,
                 const weights::ModelConfig& config) {
  const int64_t heads = config.num_heads;
  const int64_t kv_heads = config.num_kv_heads;
  return attention.Attend(index, qkv.narrow(1, 0, heads), qkv.narrow(1, heads, kv_heads),
                          qkv.narrow(1, heads + kv_heads, kv_heads));
}

}  // namespace davinci::model
