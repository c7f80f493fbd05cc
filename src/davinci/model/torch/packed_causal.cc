// Causal attention over packed sequences.
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "davinci/model/attention_groups.h"
#include "davinci/model/torch/attention.h"

namespace davinci::model {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// An AttentionGroup on the device.
struct Batch {
  int64_t length = 0;
  int64_t count = 0;
  Tensor rows, places;  // undefined: all packed rows, as they lie

  // [rows, heads, dim] → [count, heads, length, dim], zeros behind the ends of sequences.
  Tensor Gather(const Tensor& packed) const {
    Tensor dense = packed;
    if (rows.defined()) {
      dense = at::zeros({count * length, packed.size(1), packed.size(2)}, packed.options());
      dense.index_copy_(0, places, packed.index_select(0, rows));
    }
    return dense.unflatten(0, {count, length}).transpose(1, 2);
  }

  // The other way round, into those rows of `packed`; undefined: makes it.
  void Scatter(const Tensor& dense, Tensor* packed) const {
    const Tensor lying = dense.transpose(1, 2).flatten(0, 1);
    if (!rows.defined())
      *packed = lying;
    else
      packed->index_copy_(0, rows, lying.index_select(0, places));
  }
};

struct CudnnNode : Function<CudnnNode> {
  static constexpr size_t kSaved = 7;  // of each batch: q, k, v, out, log-sums, seed, offset

  static Tensor forward(AutogradContext* context, const Tensor& q, const Tensor& k, const Tensor& v,
                        const std::vector<Batch>* batches, double scale) {
    context->saved_data["batches"] = reinterpret_cast<int64_t>(batches);
    context->saved_data["scale"] = scale;
    Tensor out;
    if (batches->front().rows.defined()) out = at::empty(q.sizes(), q.options());
    variable_list saved;
    for (const Batch& batch : *batches) {
      const Tensor dense_q = batch.Gather(q), dense_k = batch.Gather(k), dense_v = batch.Gather(v);
      const auto made = at::_scaled_dot_product_cudnn_attention(
          dense_q, dense_k, dense_v, std::nullopt, /*compute_log_sumexp=*/true, /*dropout_p=*/0,
          /*is_causal=*/true, /*return_debug_mask=*/false, scale);
      batch.Scatter(std::get<0>(made), &out);
      for (const Tensor& kept : {dense_q, dense_k, dense_v, std::get<0>(made), std::get<1>(made),
                                 std::get<6>(made), std::get<7>(made)})
        saved.push_back(kept);
    }
    context->save_for_backward(std::move(saved));
    return out.flatten(1).variable_data();
  }

  static variable_list backward(AutogradContext* context, variable_list slopes) {
    const int64_t address = context->saved_data["batches"].toInt();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): saved_data holds no pointers
    const auto& batches = *reinterpret_cast<const std::vector<Batch>*>(address);
    const double scale = context->saved_data["scale"].toDouble();
    const variable_list saved = context->get_saved_variables();
    const int64_t heads = saved[0].size(1), kv_heads = saved[1].size(1), dim = saved[0].size(3);
    const Tensor slope = slopes[0].contiguous().view({-1, heads, dim});
    Tensor d_q, d_k, d_v;
    if (batches.front().rows.defined()) {
      d_q = at::empty_like(slope);
      d_k = at::empty({slope.size(0), kv_heads, dim}, slope.options());
      d_v = at::empty_like(d_k);
    }
    for (size_t i = 0; i < batches.size(); ++i) {
      const Tensor* const of = &saved[i * kSaved];
      const auto made = at::_scaled_dot_product_cudnn_attention_backward(
          batches[i].Gather(slope), of[0], of[1], of[2], of[3], of[4], of[5], of[6],
          /*attn_bias=*/Tensor(), /*cum_seq_q=*/Tensor(), /*cum_seq_k=*/Tensor(), batches[i].length,
          batches[i].length, /*dropout_p=*/0, /*is_causal=*/true, scale);
      batches[i].Scatter(std::get<0>(made), &d_q);
      batches[i].Scatter(std::get<1>(made), &d_k);
      batches[i].Scatter(std::get<2>(made), &d_v);
    }
    return {d_q, d_k, d_v, Tensor(), Tensor()};
  }
};

class PackedCausalAttention final : public Attention {
 public:
  PackedCausalAttention(const weights::ModelConfig& config, std::vector<int64_t> borders,
                        const at::Device& device, AttentionKernel kernel)
      : scale_(1.0 / std::sqrt(static_cast<double>(config.head_dim))),
        borders_(std::move(borders)) {
    for (size_t i = 1; i < borders_.size(); ++i)
      longest_ = std::max(longest_, borders_[i] - borders_[i - 1]);
    if (device.is_cpu()) return;
    device_borders_ = at::tensor(borders_, at::kInt).to(device);
    if (kernel != AttentionKernel::kCudnn) return;
    for (const AttentionGroup& group : GroupSequences(borders_)) {
      const bool all = group.count * group.length == borders_.back();
      const auto indices = [&](const std::vector<int64_t>& values) {
        return all ? Tensor() : at::tensor(values, at::kLong).to(device);
      };
      batches_.push_back({group.length, group.count, indices(group.rows), indices(group.places)});
    }
  }

  Tensor Attend(int64_t, const Tensor& q, const Tensor& k, const Tensor& v) override {
    const bool half = q.is_cuda() && q.scalar_type() != at::kFloat;
    if (half && !batches_.empty()) return CudnnNode::apply(q, k, v, &batches_, scale_);
    return half ? Flash(q, k, v) : SequenceBySequence(q, k, v);
  }

 private:
  Tensor Flash(const Tensor& q, const Tensor& k, const Tensor& v) const {
    const int64_t dim = q.size(2);
    const int64_t pad = (8 - dim % 8) % 8;
    const auto padded = [&](const Tensor& x) {
      return pad == 0 ? x : at::constant_pad_nd(x, {0, pad});
    };
    Tensor out = std::get<0>(at::_flash_attention_forward(
        padded(q), padded(k), padded(v), device_borders_, device_borders_, longest_, longest_, 0,
        /*is_causal=*/true, /*return_debug_mask=*/false, scale_));
    if (pad != 0) out = out.narrow(2, 0, dim);
    return out.reshape({-1, q.size(1) * dim});
  }

  Tensor SequenceBySequence(const Tensor& q, const Tensor& k, const Tensor& v) const {
    std::vector<Tensor> parts;
    for (size_t i = 0; i + 1 < borders_.size(); ++i) {
      const auto part = [&](const Tensor& x) {
        return x.narrow(0, borders_[i], borders_[i + 1] - borders_[i]).transpose(0, 1).unsqueeze(0);
      };
      parts.push_back(at::scaled_dot_product_attention(part(q), part(k), part(v), {}, 0, true,
                                                       scale_, /*enable_gqa=*/true)
                          .squeeze(0)
                          .transpose(0, 1)
                          .reshape({-1, q.size(1) * q.size(2)}));
    }
    return parts.size() == 1 ? parts[0] : at::cat(parts);
  }

  const double scale_;
  const std::vector<int64_t> borders_;
  int64_t longest_ = 0;
  Tensor device_borders_;
  std::vector<Batch> batches_;  // of cuDNN; empty: flash attention
};

}  // namespace

bool CanCudnn(const weights::ModelConfig& config, const at::Device& device) {
  if (!device.is_cuda() || !at::globalContext().hasCuDNN() || config.head_dim % 8 != 0 ||
      config.head_dim > 128)
    return false;
  // Which devices and head counts it has plans for, its version knows.
  try {
    const c10::AutoGradMode gradients(true);
    const auto options = at::TensorOptions().device(device).dtype(at::kBFloat16);
    const auto heads = [&](int64_t count) {
      return at::zeros({128, count, config.head_dim}, options).requires_grad_(true);
    };
    const auto attention = PackedCausal(config, {0, 128}, device, AttentionKernel::kCudnn);
    const Tensor out = attention->Attend(0, heads(config.num_heads), heads(config.num_kv_heads),
                                         heads(config.num_kv_heads));
    out.backward(at::zeros_like(out));
    return true;
  } catch (const c10::Error&) {
    return false;
  }
}

std::unique_ptr<Attention> PackedCausal(const weights::ModelConfig& config,
                                        std::vector<int64_t> borders, const at::Device& device,
                                        AttentionKernel kernel) {
  return std::make_unique<PackedCausalAttention>(config, std::move(borders), device, kernel);
}

}  // namespace davinci::model
