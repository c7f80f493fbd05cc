#include "davinci/model/torch/train_ops.h"

#include <torch/csrc/autograd/custom_function.h>

#include "davinci/model/torch/cuda_step.h"
#include "davinci/model/torch/nvrtc_directories.h"

namespace davinci::model {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

void* Address(const Tensor& x) { return x.defined() ? x.data_ptr() : nullptr; }
float* Floats(const Tensor& x) { return x.defined() ? x.data_ptr<float>() : nullptr; }
Tensor MakeParts(const Tensor& like, int64_t count, int64_t width) {
  return at::empty({count, width}, like.options().dtype(at::kFloat).requires_grad(false));
}
Tensor SumParts(const TrainOps& ops, const Tensor& parts, const Tensor& like) {
  Tensor out = at::empty({parts.size(1)}, like.options().requires_grad(false));
  CheckLaunch(
      ops.kernels().Sum(ops.stream(), Floats(parts), Address(out), parts.size(0), parts.size(1)));
  return out;
}
// The nodes keep the address: a graph does not outlive the learner that made it.
const TrainOps& OpsOf(AutogradContext* context) {
  const int64_t address = context->saved_data["ops"].toInt();
  // NOLINTNEXTLINE(performance-no-int-to-ptr): saved_data holds no pointers
  return *reinterpret_cast<const TrainOps*>(address);
}
void Keep(AutogradContext* context, const TrainOps* ops, bool trains) {
  context->set_materialize_grads(false);
  context->saved_data["ops"] = reinterpret_cast<int64_t>(ops);
  context->saved_data["trains"] = trains;
}

struct NormNode : Function<NormNode> {
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                               const TrainOps* ops) {
    Keep(context, ops, weight.requires_grad());
    context->save_for_backward({x, weight});
    Tensor out = at::empty_like(x);
    CheckLaunch(ops->kernels().Norm(ops->stream(), Address(x), Address(weight), ops->shape().eps,
                                    Address(out), x.size(0), x.size(1)));
    // The same memory, but no view: autograd has nothing to follow.
    return {x.variable_data(), out};
  }

  static variable_list backward(AutogradContext* context, variable_list slopes) {
    const TrainOps& ops = OpsOf(context);
    const variable_list saved = context->get_saved_variables();
    const Tensor& x = saved[0];
    const Tensor& weight = saved[1];
    if (!slopes[1].defined()) return {slopes[0], Tensor(), Tensor()};
    const int64_t rows = x.size(0), width = x.size(1);
    const Tensor d_out = slopes[1].contiguous();
    const Tensor d_sum = slopes[0].defined() ? slopes[0].contiguous() : Tensor();
    Tensor d_x = at::empty_like(x);
    Tensor parts;
    if (context->saved_data["trains"].toBool())
      parts = MakeParts(x, TrainKernels::NormParts(rows, width), width);
    CheckLaunch(ops.kernels().NormBackward(ops.stream(), Address(x), Address(weight),
                                           Address(d_out), Address(d_sum), ops.shape().eps,
                                           Address(d_x), Floats(parts), rows, width));
    return {d_x, parts.defined() ? SumParts(ops, parts, weight) : Tensor(), Tensor()};
  }
};

struct HeadsNode : Function<HeadsNode> {
  static variable_list forward(AutogradContext* context, const Tensor& qkv,
                               const std::optional<Tensor>& q_weight,
                               const std::optional<Tensor>& k_weight, const Tensor& cos_sin,
                               const Tensor& positions, const TrainOps* ops) {
    const Tensor q_norm = q_weight.value_or(Tensor()), k_norm = k_weight.value_or(Tensor());
    const TrainKernels::HeadShape& shape = ops->shape();
    const int64_t rows = qkv.size(0), heads = shape.heads, kv_heads = shape.kv_heads;
    const bool norms = q_norm.defined();
    Keep(context, ops, norms && q_norm.requires_grad());
    // The gradient of a norm needs what went in; that of the rotation does not.
    Tensor turned = norms ? at::empty({rows, heads + kv_heads, shape.dim}, qkv.options()) : qkv;
    context->save_for_backward({norms ? qkv : Tensor(), q_norm, k_norm, cos_sin, positions});
    CheckLaunch(ops->kernels().Heads(ops->stream(), shape, Address(qkv), Address(turned),
                                     Address(q_norm), Address(k_norm), Floats(cos_sin),
                                     positions.const_data_ptr<int64_t>(), rows));
    return {turned.narrow(1, 0, heads).variable_data(),
            turned.narrow(1, heads, kv_heads).variable_data(),
            qkv.narrow(1, heads + kv_heads, kv_heads).variable_data()};
  }

  static variable_list backward(AutogradContext* context, variable_list slopes) {
    const TrainOps& ops = OpsOf(context);
    const variable_list saved = context->get_saved_variables();
    const TrainKernels::HeadShape& shape = ops.shape();
    for (Tensor& slope : slopes) {
      TORCH_CHECK(slope.defined(), "attention without a gradient");
      slope = slope.contiguous();
    }
    const Tensor& q_norm = saved[1];
    const int64_t rows = slopes[0].size(0);
    Tensor d_qkv =
        at::empty({rows, shape.heads + 2 * shape.kv_heads, shape.dim}, slopes[0].options());
    Tensor parts;
    if (context->saved_data["trains"].toBool())
      parts = MakeParts(d_qkv, TrainKernels::HeadParts(shape, rows), int64_t{2} * shape.dim);
    CheckLaunch(ops.kernels().HeadsBackward(
        ops.stream(), shape, Address(saved[0]), Address(slopes[0]), Address(slopes[1]),
        Address(slopes[2]), Address(d_qkv), Address(q_norm), Address(saved[2]), Floats(saved[3]),
        saved[4].const_data_ptr<int64_t>(), Floats(parts), rows));
    Tensor d_q_norm, d_k_norm;
    if (parts.defined()) {
      const Tensor both = SumParts(ops, parts, q_norm);
      d_q_norm = both.narrow(0, 0, shape.dim);
      d_k_norm = both.narrow(0, shape.dim, shape.dim);
    }
    return {d_qkv, d_q_norm, d_k_norm, Tensor(), Tensor(), Tensor()};
  }
};

struct SiluNode : Function<SiluNode> {
  static Tensor forward(AutogradContext* context, const Tensor& both, const TrainOps* ops) {
    Keep(context, ops, false);
    context->save_for_backward({both});
    const int64_t width = both.size(1) / 2;
    Tensor out = at::empty({both.size(0), width}, both.options());
    CheckLaunch(
        ops->kernels().Silu(ops->stream(), Address(both), Address(out), both.size(0), width));
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list slopes) {
    const TrainOps& ops = OpsOf(context);
    const Tensor both = context->get_saved_variables()[0];
    const Tensor d_out = slopes[0].contiguous();
    Tensor d_both = at::empty_like(both);
    CheckLaunch(ops.kernels().SiluBackward(ops.stream(), Address(both), Address(d_out),
                                           Address(d_both), both.size(0), both.size(1) / 2));
    return {d_both, Tensor()};
  }
};

bool IsDense(const Tensor& x) { return x.scalar_type() == at::kBFloat16 && x.is_contiguous(); }

}  // namespace

std::unique_ptr<TrainOps> TrainOps::Make(const weights::ModelConfig& config, at::Device device,
                                         at::ScalarType dtype, std::string* why) {
  const auto none = [&](const char* reason) {
    if (why != nullptr) *why = reason;
    return nullptr;
  };
#ifdef DAVINCI_TORCH_CUDA
  if (device.is_cpu()) return none("the device is the CPU");
  if (dtype != at::kBFloat16) return none("compute is fp32");
  auto kernels = TrainKernels::Load(device.index(), NvrtcDirectories());
  if (!kernels.ok()) return none(kernels.status().message().c_str());
  std::unique_ptr<TrainOps> ops(new TrainOps());
  ops->kernels_ = std::move(kernels).value();
  ops->device_ = device;
  ops->shape_ = {static_cast<int>(config.num_heads), static_cast<int>(config.num_kv_heads),
                 static_cast<int>(config.head_dim), static_cast<float>(config.rms_norm_eps)};
  return ops;
#else
  static_cast<void>(config);
  static_cast<void>(device);
  static_cast<void>(dtype);
  return none("this build's LibTorch has no CUDA");
#endif
}

void* TrainOps::stream() const {
#ifdef DAVINCI_TORCH_CUDA
  return c10::cuda::getCurrentCUDAStream(device_.index()).stream();
#else
  return nullptr;
#endif
}

TrainOps::Normed TrainOps::Norm(const Tensor& x, const Tensor& weight) const {
  if (!IsDense(x) || x.dim() != 2 || !TrainKernels::CanNorm(x.size(1))) return {};
  variable_list made = NormNode::apply(x, weight, this);
  return {made[0], made[1]};
}

TrainOps::Rotated TrainOps::Heads(const Tensor& qkv, const Tensor& q_norm, const Tensor& k_norm,
                                  const Tensor& cos_sin, const Tensor& positions) const {
  if (!CanHeads()) return {};
  const auto given = [](const Tensor& x) {
    return x.defined() ? std::optional<Tensor>(x) : std::nullopt;
  };
  variable_list made =
      HeadsNode::apply(qkv, given(q_norm), given(k_norm), cos_sin, positions, this);
  return {made[0], made[1], made[2]};
}

Tensor TrainOps::SiluMul(const Tensor& both) const {
  if (!IsDense(both) || !TrainKernels::CanSilu(both.size(0), both.size(1) / 2)) return {};
  return SiluNode::apply(both, this);
}

bool TrainOps::CanScore(const Tensor& logits) const {
  return IsDense(logits) && TrainKernels::CanScore(logits.size(1));
}

TrainOps::Scores TrainOps::Score(const Tensor& logits, const Tensor& expected, double temperature,
                                 const Tensor& slopes, bool entropies) const {
  const int64_t rows = logits.size(0);
  Scores scores;
  scores.log_probs = at::empty({rows}, logits.options().dtype(at::kFloat));
  scores.log_sums = at::empty_like(scores.log_probs);
  if (entropies) scores.entropies = at::empty_like(scores.log_probs);
  CheckLaunch(kernels_->Score(
      stream(), Address(logits), rows, logits.size(1), static_cast<float>(1 / temperature),
      expected.const_data_ptr<int64_t>(), Floats(slopes), Floats(scores.log_probs),
      Floats(scores.log_sums), Floats(scores.entropies)));
  return scores;
}

void TrainOps::ScoreBackward(const Tensor& logits, const Tensor& expected, double temperature,
                             const Tensor& slopes, const Tensor& log_sums) const {
  CheckLaunch(kernels_->ScoreBackward(stream(), Address(logits), logits.size(0), logits.size(1),
                                      static_cast<float>(1 / temperature),
                                      expected.const_data_ptr<int64_t>(), Floats(slopes),
                                      Floats(log_sums)));
}

}  // namespace davinci::model
