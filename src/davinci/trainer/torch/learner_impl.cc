#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "davinci/model/torch/transformer.h"
#include "davinci/trainer/learner.h"

namespace davinci::trainer {
namespace {

using at::Tensor;
using model::Transformer;

// Logits that exist at a time unless the caller says otherwise. On CUDA 2 GiB of fp32: each chunk
// also reads and writes the gradient of the whole head.
constexpr int64_t kHeadLogitsCpu = int64_t{64} << 20;
constexpr int64_t kHeadLogitsCuda = int64_t{512} << 20;

// One tensor that is trained.
struct Slot {
  std::vector<Transformer::Part> parts;
  int64_t layer = -1;
  Tensor compute;        // what the layers use; a leaf of every graph
  Tensor master;         // fp32; the same tensor as `compute` where that is fp32
  Tensor gradient;       // fp32, summed over passes; undefined: none yet
  Tensor first, second;  // moments; undefined before the first update
  bool decays = false;
};

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

template <typename F>
auto Guarded(const F& work) -> decltype(work()) {
  try {
    return work();
  } catch (const c10::OutOfMemoryError& error) {
    return ResourceExhausted(fmt::format(
        "the device has no memory left for training: {}; lower batch.tokens_per_pass, raise "
        "model.recomputed_layers, or train LoRA",
        FirstLine(error.what_without_backtrace())));
  } catch (const c10::Error& error) {
    return Internal(FirstLine(error.what_without_backtrace()));
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("no memory left for training; lower batch.tokens_per_pass");
  } catch (const std::exception& error) {
    return Internal(FirstLine(error.what()));
  }
}

// ATen's deterministic algorithms for as long as it lives; strict, because flash attention's
// backward pass ignores a wish that only warns. Not for the whole process: what samples in it uses
// operations that have none.
class DeterministicScope {
 public:
  explicit DeterministicScope(bool wanted)
      : before_(at::globalContext().deterministicAlgorithms()),
        warned_(at::globalContext().deterministicAlgorithmsWarnOnly()),
        filled_(at::globalContext().deterministicFillUninitializedMemory()) {
    at::globalContext().setDeterministicAlgorithms(wanted, /*warn_only=*/false);
    at::globalContext().setDeterministicFillUninitializedMemory(false);
  }
  ~DeterministicScope() {
    at::globalContext().setDeterministicAlgorithms(before_, warned_);
    at::globalContext().setDeterministicFillUninitializedMemory(filled_);
  }
  DeterministicScope(const DeterministicScope&) = delete;
  DeterministicScope& operator=(const DeterministicScope&) = delete;

 private:
  const bool before_, warned_, filled_;
};

// What the head computed, still on the device: it is read once the backward pass has been launched.
struct Outputs {
  Tensor outputs;    // fp32 [targets]
  Tensor entropies;  // the same, or undefined
};

PassResult ToHost(const Outputs& from) {
  PassResult result;
  const auto take = [](const Tensor& tensor, std::vector<float>* into) {
    if (!tensor.defined()) return;
    const Tensor host = tensor.to(at::kCPU).contiguous();
    into->assign(host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel());
  };
  take(from.outputs, &result.outputs);
  take(from.entropies, &result.entropies);
  return result;
}

// The packed sequences of one pass on the device.
struct Packed {
  Tensor tokens, positions;  // int64 [rows]
  Tensor rows, expected;     // int64 [targets]: which hidden states predict which tokens
  std::vector<int64_t> borders{0};
};

class LearnerImpl final : public Learner {
 public:
  explicit LearnerImpl(LearnerOptions options) : options_(std::move(options)) {}

  Status Open();

  Result<PassResult> Evaluate(std::span<const SequenceView> sequences,
                              const PassOptions& options) override {
    return Guarded([&]() -> Result<PassResult> {
      const DeterministicScope scope(options_.deterministic);
      DAVINCI_ASSIGN_OR_RETURN(const Packed packed, Pack(sequences, options));
      const c10::AutoGradMode no_gradients(false);
      Tensor x = model_->Embed(packed.tokens, pass_);
      const auto attention = Attend(packed);
      const auto rotation = model_->RotationOf(packed.positions, pass_);
      for (int64_t i = 0; i < config_.num_layers; ++i)
        x = model_->Block(i, x, packed.positions, rotation, *attention, pass_);
      const Tensor hidden = model_->FinalNorm(x, pass_).index_select(0, packed.rows);
      return ToHost(Head(packed, hidden, options, {}, nullptr, nullptr));
    });
  }

  Result<PassResult> Accumulate(std::span<const SequenceView> sequences, const PassOptions& options,
                                const LossGradient& gradient) override {
    return Guarded([&] { return Differentiate(sequences, options, {}, &gradient); });
  }
  Result<PassResult> AccumulateLinear(std::span<const SequenceView> sequences,
                                      const PassOptions& options,
                                      std::span<const float> derivatives) override {
    size_t num_targets = 0;
    for (const SequenceView& sequence : sequences) num_targets += sequence.targets.size();
    if (derivatives.size() != num_targets)
      return InvalidArgument(
          fmt::format("{} derivatives for {} targets", derivatives.size(), num_targets));
    return Guarded([&] { return Differentiate(sequences, options, derivatives, nullptr); });
  }

  Result<Update> Step(double learning_rate) override {
    return Guarded([&] { return StepNow(learning_rate); });
  }

  Status Visit(StateKind kind, const std::function<Status(const StateTensor&)>& visitor) override {
    return Guarded([&]() -> Status {
      for (const Slot& slot : slots_) {
        const Tensor* of = Of(&slot, kind);
        const Tensor host = of->defined() ? of->detach().to(at::kCPU).contiguous()
                                          : at::zeros(slot.master.sizes(), at::kFloat);
        for (const Transformer::Part& part : slot.parts) {
          const Tensor values = host.narrow(0, part.begin, part.rows);
          const auto sizes = values.sizes();
          DAVINCI_RETURN_IF_ERROR(
              visitor({part.name,
                       {sizes.begin(), sizes.end()},
                       {values.const_data_ptr<float>(), static_cast<size_t>(values.numel())}}));
        }
      }
      return Status::Ok();
    });
  }

  Status Set(StateKind kind, const StateTensor& tensor) override {
    return Guarded([&]() -> Status {
      const c10::AutoGradMode no_gradients(false);
      for (Slot& slot : slots_)
        for (const Transformer::Part& part : slot.parts) {
          if (part.name != tensor.name) continue;
          Tensor* of = const_cast<Tensor*>(Of(&slot, kind));
          if (!of->defined()) *of = at::zeros_like(slot.master);
          const Tensor target = of->detach().narrow(0, part.begin, part.rows);
          if (target.sizes() != at::IntArrayRef(tensor.shape))
            return InvalidArgument(fmt::format("{}: [{}] in the file, [{}] in the model",
                                               tensor.name, fmt::join(tensor.shape, ", "),
                                               fmt::join(target.sizes(), ", ")));
          target.copy_(at::from_blob(const_cast<float*>(tensor.values.data()), tensor.shape,
                                     at::TensorOptions().dtype(at::kFloat)));
          if (kind == StateKind::kWeights && !slot.compute.is_same(slot.master))
            slot.compute.detach().copy_(slot.master);
          return Status::Ok();
        }
      return InvalidArgument(fmt::format("{} is no tensor that is trained", tensor.name));
    });
  }

  void SetUpdates(int64_t updates, int64_t skipped) override {
    updates_ = updates;
    skipped_ = skipped;
  }

  const weights::ModelConfig& config() const override { return config_; }
  LearnerFacts Facts() override {
    LearnerFacts facts;
    facts.device = device_.is_cpu() ? "cpu" : device_.str();
    facts.compute = dtype_ == at::kFloat ? "fp32" : "bf16";
    facts.parameters = model_->num_parameters();
    for (const Slot& slot : slots_) facts.trained_parameters += slot.master.numel();
    facts.updates = updates_;
    facts.skipped_updates = skipped_;
#ifdef DAVINCI_TORCH_CUDA
    if (!device_.is_cpu())
      facts.peak_bytes =
          c10::cuda::CUDACachingAllocator::getDeviceStats(device_.index()).allocated_bytes[0].peak;
#endif
    return facts;
  }
  void ResetPeak() override {
#ifdef DAVINCI_TORCH_CUDA
    if (!device_.is_cpu()) c10::cuda::CUDACachingAllocator::resetPeakStats(device_.index());
#endif
  }
  void Synchronize() override {
#ifdef DAVINCI_TORCH_CUDA
    if (!device_.is_cpu()) c10::cuda::device_synchronize();
#endif
  }

 private:
  static const Tensor* Of(const Slot* slot, StateKind kind) {
    switch (kind) {
      case StateKind::kWeights:
        return &slot->master;
      case StateKind::kGradients:
        return &slot->gradient;
      case StateKind::kFirstMoments:
        return &slot->first;
      case StateKind::kSecondMoments:
        return &slot->second;
    }
    return nullptr;
  }

  std::unique_ptr<model::Attention> Attend(const Packed& packed) const {
    return model::PackedCausal(config_, packed.borders, device_);
  }
  Tensor Upload(std::vector<int64_t> values) const {
    return at::tensor(values, at::kLong).to(device_);
  }
  Slot* FindSlot(const Tensor& compute) {
    for (Slot& slot : slots_)
      if (slot.compute.is_same(compute)) return &slot;
    return nullptr;
  }

  Result<Packed> Pack(std::span<const SequenceView> sequences, const PassOptions& options) const;
  Result<PassResult> Differentiate(std::span<const SequenceView> sequences,
                                   const PassOptions& options, std::span<const float> derivatives,
                                   const LossGradient* gradient);
  // Outputs of all targets, in chunks; with `d_hidden` also the derivatives of the hidden states
  // and of the head, added to the head's slot.
  Outputs Head(const Packed& packed, const Tensor& hidden, const PassOptions& options,
               std::span<const float> derivatives, const LossGradient* gradient, Tensor* d_hidden);
  Outputs ValueHead(const Tensor& hidden, std::span<const float> derivatives,
                    const LossGradient* gradient, Tensor* d_hidden);
  void Collect(int64_t layer);
  static void AddGradient(Slot* slot, const Tensor& gradient);
  Result<Update> StepNow(double learning_rate);
  Status AddSlots(const weights::TensorFile* file);
  Status AddLora();
  Slot MakeSlot(std::vector<Transformer::Part> parts, int64_t layer, Tensor compute) const;

  const LearnerOptions options_;
  weights::ModelConfig config_;
  at::Device device_{at::kCPU};
  at::ScalarType dtype_ = at::kFloat;
  std::unique_ptr<Transformer> model_;
  std::vector<Slot> slots_;
  model::PassOptions pass_;
  Tensor value_weight_, value_bias_;  // fp32 [1, hidden], [1]
  int64_t updates_ = 0;
  int64_t skipped_ = 0;
};

Slot LearnerImpl::MakeSlot(std::vector<Transformer::Part> parts, int64_t layer,
                           Tensor compute) const {
  Slot slot;
  slot.parts = std::move(parts);
  slot.layer = layer;
  slot.decays = compute.dim() >= 2 || options_.adam.decay_all;
  compute.set_requires_grad(true);
  slot.master = compute.scalar_type() == at::kFloat ? compute : compute.detach().to(at::kFloat);
  slot.compute = std::move(compute);
  return slot;
}

Status LearnerImpl::Open() {
  const std::string device =
      options_.device == "auto" ? (at::hasCUDA() ? "cuda" : "cpu") : options_.device;
  if (device.starts_with("cuda")) {
#ifdef DAVINCI_TORCH_CUDA
    if (!at::hasCUDA() || c10::cuda::device_count() == 0)
      return FailedPrecondition("there is no CUDA device; set model.device = \"cpu\"");
    device_ = at::Device(device);
    if (!device_.has_index()) device_.set_index(0);
#else
    return FailedPrecondition("this build's LibTorch has no CUDA; set model.device = \"cpu\"");
#endif
  } else if (device != "cpu") {
    return InvalidArgument(fmt::format("device \"{}\": cpu, cuda or cuda:N", device));
  }
  if (options_.threads > 0) at::set_num_threads(options_.threads);
  // Read by cuBLAS when its handle is made.
  if (options_.deterministic && !device_.is_cpu())
    ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  dtype_ = options_.compute == Compute::kBfloat16 ||
                   (options_.compute == Compute::kAuto && !device_.is_cpu())
               ? at::kBFloat16
               : at::kFloat;
  pass_.differentiable = true;
  DAVINCI_ASSIGN_OR_RETURN(config_, weights::LoadModelConfig(options_.model_dir));
  if (options_.random_weights) {
    at::manual_seed(options_.seed);
    model_ = Transformer::Random(config_, device_, dtype_);
    return AddSlots(nullptr);
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto file, weights::TensorFile::Open(options_.model_dir));
  DAVINCI_ASSIGN_OR_RETURN(model_, Transformer::Load(config_, file, device_, dtype_));
  return AddSlots(&file);
}

Status LearnerImpl::AddSlots(const weights::TensorFile* file) {
  if (options_.lora.rank > 0) {
    DAVINCI_RETURN_IF_ERROR(AddLora());
  } else {
    for (const Transformer::Stored& stored : model_->StoredTensors()) {
      if (options_.value_head && stored.value.is_same(model_->head()) && !config_.tied_embeddings)
        continue;
      slots_.push_back(MakeSlot(stored.parts, stored.layer, stored.value));
      if (file == nullptr || dtype_ == at::kFloat) continue;
      // The masters have what bf16 rounded away.
      for (const Transformer::Part& part : stored.parts) {
        const weights::Tensor* source = file->Find(part.name);
        std::vector<float> values(static_cast<size_t>(source->num_elements()));
        DAVINCI_RETURN_IF_ERROR(weights::ReadFloat32(*source, values));
        DAVINCI_RETURN_IF_ERROR(Set(StateKind::kWeights, {part.name, source->shape, values}));
      }
    }
  }
  if (options_.value_head) {
    const auto fp32 = at::TensorOptions().dtype(at::kFloat).device(device_);
    value_weight_ = at::zeros({1, config_.hidden_size}, fp32);
    value_bias_ = at::zeros({1}, fp32);
    slots_.push_back(MakeSlot({{"value_head.weight", 0, 1}}, -1, value_weight_));
    slots_.push_back(MakeSlot({{"value_head.bias", 0, 1}}, -1, value_bias_));
  }
  return Status::Ok();
}

// Low-rank factors at the modules whose names end in a target: A uniform within 1 / sqrt(in), B 0,
// as PEFT starts them.
Status LearnerImpl::AddLora() {
  const LoraOptions& lora = options_.lora;
  const auto options = at::TensorOptions().dtype(at::kFloat).device(device_);
  at::manual_seed(options_.seed);
  for (const Transformer::Stored& stored : model_->StoredTensors())
    for (const Transformer::Part& part : stored.parts) {
      if (!part.name.ends_with(".weight")) continue;
      const std::string module = part.name.substr(0, part.name.size() - 7);
      if (std::none_of(lora.targets.begin(), lora.targets.end(),
                       [&](const std::string& target) { return module.ends_with("." + target); }))
        continue;
      const int64_t in = stored.value.size(1);
      const double bound = 1 / std::sqrt(static_cast<double>(in));
      const Tensor a = at::empty({lora.rank, in}, options).uniform_(-bound, bound).to(dtype_);
      const Tensor b = at::zeros({part.rows, lora.rank}, options).to(dtype_);
      if (!model_->AddLowRank(module, a, b, lora.alpha / static_cast<double>(lora.rank)))
        return InvalidArgument(fmt::format("lora.targets: {} is no linear layer", module));
      slots_.push_back(MakeSlot({{module + ".lora_A", 0, lora.rank}}, stored.layer, a));
      slots_.push_back(MakeSlot({{module + ".lora_B", 0, part.rows}}, stored.layer, b));
    }
  if (slots_.empty())
    return InvalidArgument(fmt::format("lora.targets: no module of this model ends with {}",
                                       fmt::join(lora.targets, ", ")));
  return Status::Ok();
}

Result<Packed> LearnerImpl::Pack(std::span<const SequenceView> sequences,
                                 const PassOptions& options) const {
  if (!(options.temperature > 0)) return InvalidArgument("temperature must be positive");
  Packed packed;
  std::vector<int64_t> tokens, positions, rows, expected;
  int64_t longest = 0;
  for (const SequenceView& sequence : sequences) {
    const auto base = static_cast<int64_t>(tokens.size());
    const auto size = static_cast<int64_t>(sequence.tokens.size());
    if (size == 0) return InvalidArgument("an empty sequence");
    for (int64_t i = 0; i < size; ++i) {
      const TokenId token = sequence.tokens[static_cast<size_t>(i)];
      if (token < 0 || token >= config_.vocab_size)
        return InvalidArgument(
            fmt::format("token {} is outside the vocabulary of {}", token, config_.vocab_size));
      tokens.push_back(token);
      positions.push_back(i);
    }
    int64_t last = 0;
    for (const int32_t target : sequence.targets) {
      if (target <= last || target >= size)
        return InvalidArgument(fmt::format(
            "target {} of a sequence of {} tokens: targets ascend from 1", target, size));
      last = target;
      rows.push_back(base + target - 1);
      expected.push_back(tokens[static_cast<size_t>(base + target)]);
    }
    packed.borders.push_back(base + size);
    longest = std::max(longest, size);
  }
  if (rows.empty()) return InvalidArgument("a pass without a trained token");
  if (longest > config_.max_positions)
    return InvalidArgument(fmt::format("a sequence of {} tokens; the model's context ends at {}",
                                       longest, config_.max_positions));
  model_->ReservePositions(longest);
  packed.tokens = Upload(std::move(tokens));
  packed.positions = Upload(std::move(positions));
  packed.rows = Upload(std::move(rows));
  packed.expected = Upload(std::move(expected));
  return packed;
}

void LearnerImpl::AddGradient(Slot* slot, const Tensor& gradient) {
  if (slot->gradient.defined())
    slot->gradient.add_(gradient);
  else
    slot->gradient = gradient.to(at::kFloat).contiguous();
}

// Moves what autograd left at the leaves of one layer into the sums.
void LearnerImpl::Collect(int64_t layer) {
  for (Slot& slot : slots_) {
    if (slot.layer != layer || !slot.compute.grad().defined()) continue;
    AddGradient(&slot, slot.compute.grad());
    slot.compute.mutable_grad() = Tensor();
  }
}

Outputs LearnerImpl::ValueHead(const Tensor& hidden, std::span<const float> derivatives,
                               const LossGradient* gradient, Tensor* d_hidden) {
  const Tensor wide = hidden.to(at::kFloat);
  const Tensor values =
      (at::matmul(wide, value_weight_.detach().t()) + value_bias_.detach()).squeeze(1);
  if (d_hidden == nullptr) return {values, {}};
  std::vector<float> slopes(static_cast<size_t>(values.numel()));
  if (gradient != nullptr)
    (*gradient)(0, ToHost({values, {}}).outputs, slopes);
  else
    std::copy(derivatives.begin(), derivatives.end(), slopes.begin());
  const Tensor g = at::tensor(slopes, at::kFloat).to(device_).unsqueeze(1);
  d_hidden->copy_(at::matmul(g, value_weight_.detach()));
  AddGradient(FindSlot(value_weight_), at::matmul(g.t(), wide));
  AddGradient(FindSlot(value_bias_), g.sum(0));
  return {values, {}};
}

Outputs LearnerImpl::Head(const Packed& packed, const Tensor& hidden, const PassOptions& options,
                          std::span<const float> derivatives, const LossGradient* gradient,
                          Tensor* d_hidden) {
  if (options_.value_head) return ValueHead(hidden, derivatives, gradient, d_hidden);
  const int64_t count = hidden.size(0);
  const int64_t chunk_rows =
      options_.head_rows > 0
          ? options_.head_rows
          : std::max<int64_t>(
                16, (device_.is_cpu() ? kHeadLogitsCpu : kHeadLogitsCuda) / config_.vocab_size);
  const Tensor weight = model_->head().detach();
  Slot* slot = FindSlot(model_->head());
  const Tensor outputs = at::empty({count}, hidden.options().dtype(at::kFloat));
  const Tensor entropies = options.entropies ? at::empty_like(outputs) : Tensor();
  std::vector<float> slopes(static_cast<size_t>(count));
  std::copy(derivatives.begin(), derivatives.end(), slopes.begin());
  Tensor device_slopes;
  if (d_hidden != nullptr && gradient == nullptr)
    device_slopes = at::tensor(slopes, at::kFloat).to(device_);
  for (int64_t begin = 0; begin < count; begin += chunk_rows) {
    const int64_t rows = std::min(chunk_rows, count - begin);
    const Tensor h = hidden.narrow(0, begin, rows);
    const Tensor expected = packed.expected.narrow(0, begin, rows).unsqueeze(1);
    Tensor logits = at::linear(h, weight);
    if (options.temperature != 1) logits = logits.to(at::kFloat).div_(options.temperature);
    Tensor log_p = at::log_softmax(logits, 1, at::kFloat);
    const Tensor picked = log_p.gather(1, expected).squeeze(1);
    outputs.narrow(0, begin, rows).copy_(picked);
    if (options.entropies)
      entropies.narrow(0, begin, rows).copy_(at::sum(log_p.exp() * log_p, 1).neg_());
    if (d_hidden == nullptr) continue;
    if (gradient != nullptr) {
      const Tensor host = picked.to(at::kCPU).contiguous();
      const auto first = static_cast<size_t>(begin);
      (*gradient)(first, {host.const_data_ptr<float>(), static_cast<size_t>(rows)},
                  std::span<float>(slopes).subspan(first, static_cast<size_t>(rows)));
    }
    // d loss / d logit = slope (1[expected] - p) / temperature
    const Tensor slope = (gradient != nullptr ? at::from_blob(slopes.data() + begin, {rows},
                                                              at::TensorOptions().dtype(at::kFloat))
                                                    .to(device_)
                                              : device_slopes.narrow(0, begin, rows))
                             .unsqueeze(1) /
                         options.temperature;
    Tensor d_logits = log_p.exp_();
    const Tensor at_expected = slope * (1 - d_logits.gather(1, expected));
    if (dtype_ == at::kFloat) {
      d_logits.mul_(-slope);
    } else {
      if (logits.scalar_type() != dtype_) logits = at::empty(logits.sizes(), h.options());
      at::mul_out(logits, d_logits, -slope);
      d_logits = logits;
    }
    d_logits.scatter_(1, expected, at_expected.to(dtype_));
    auto d_h = d_hidden->narrow(0, begin, rows);
    at::mm_out(d_h, d_logits, weight);
    if (slot != nullptr) AddGradient(slot, at::mm(d_logits.t(), h));
  }
  return {outputs, entropies};
}

Result<PassResult> LearnerImpl::Differentiate(std::span<const SequenceView> sequences,
                                              const PassOptions& options,
                                              std::span<const float> derivatives,
                                              const LossGradient* gradient) {
  const DeterministicScope scope(options_.deterministic);
  DAVINCI_ASSIGN_OR_RETURN(const Packed packed, Pack(sequences, options));
  const c10::AutoGradMode no_gradients(false);
  const auto attention = Attend(packed);
  const auto rotation = model_->RotationOf(packed.positions, pass_);
  const int64_t num_layers = config_.num_layers;
  const int64_t recomputed = options_.recomputed_layers < 0
                                 ? num_layers
                                 : std::min(options_.recomputed_layers, num_layers);
  Slot* embedding = FindSlot(model_->embedding());
  // Layer by layer: its input is a leaf, its output the root of a graph of its own. Of a
  // recomputed layer only the input is kept.
  std::vector<Tensor> inputs(static_cast<size_t>(num_layers) + 1);
  std::vector<Tensor> results(static_cast<size_t>(num_layers));
  const auto block = [&](int64_t i) {
    return model_->Block(i, inputs[static_cast<size_t>(i)], packed.positions, rotation, *attention,
                         pass_);
  };
  const auto leaf = [&](const Tensor& x, bool differentiated) {
    Tensor made = x.detach();
    made.set_requires_grad(differentiated);
    return made;
  };
  inputs[0] = leaf(model_->Embed(packed.tokens, pass_), embedding != nullptr);
  for (int64_t i = 0; i < num_layers; ++i) {
    const auto at = static_cast<size_t>(i);
    const c10::AutoGradMode mode(i >= recomputed);
    Tensor y = block(i);
    inputs[at + 1] = leaf(y, true);
    if (i >= recomputed) results[at] = std::move(y);
  }
  Tensor hidden;
  {
    const c10::AutoGradMode mode(true);
    hidden = model_->FinalNorm(inputs.back(), pass_);
  }
  const Tensor seen = hidden.detach().index_select(0, packed.rows);
  Tensor d_seen = at::empty_like(seen);
  const Outputs outputs = Head(packed, seen, options, derivatives, gradient, &d_seen);
  Tensor d_hidden = at::zeros_like(hidden.detach());
  d_hidden.index_copy_(0, packed.rows, d_seen);
  hidden.backward(d_hidden);
  Collect(-1);
  hidden = Tensor();
  Tensor slope = inputs.back().grad();
  inputs.back() = Tensor();
  for (int64_t i = num_layers - 1; i >= 0; --i) {
    const auto at = static_cast<size_t>(i);
    if (!results[at].defined()) {
      const c10::AutoGradMode mode(true);
      results[at] = block(i);
    }
    results[at].backward(slope);
    Collect(i);
    slope = inputs[at].grad();
    results[at] = Tensor();
    inputs[at] = Tensor();
  }
  if (embedding != nullptr)
    AddGradient(embedding, at::embedding_dense_backward(slope.to(at::kFloat), packed.tokens,
                                                        config_.vocab_size, -1, false));
  return ToHost(outputs);
}

Result<Update> LearnerImpl::StepNow(double learning_rate) {
  const DeterministicScope scope(options_.deterministic);
  const c10::AutoGradMode no_gradients(false);
  std::vector<Slot*> moved;
  std::vector<Tensor> gradients;
  for (Slot& slot : slots_)
    if (slot.gradient.defined()) {
      moved.push_back(&slot);
      gradients.push_back(slot.gradient);
    }
  if (moved.empty()) return InvalidArgument("an update without gradients");
  Update update;
  const Tensor norm = at::stack(at::_foreach_norm(gradients, 2)).norm();
  update.gradient_norm = norm.item<double>();
  update.applied = std::isfinite(update.gradient_norm);
  if (update.applied) {
    ++updates_;
    const AdamOptions& adam = options_.adam;
    if (adam.clip_norm > 0 && update.gradient_norm > adam.clip_norm)
      at::_foreach_mul_(gradients, adam.clip_norm / (update.gradient_norm + 1e-6));
    const Tensor steps = at::full({}, static_cast<double>(updates_), norm.options());
    for (const bool decays : {true, false}) {
      std::vector<Tensor> weights, slopes, first, second, at_step;
      for (Slot* slot : moved) {
        if (slot->decays != decays) continue;
        if (!slot->first.defined()) slot->first = at::zeros_like(slot->master.detach());
        if (!slot->second.defined()) slot->second = at::zeros_like(slot->master.detach());
        weights.push_back(slot->master.detach());
        slopes.push_back(slot->gradient);
        first.push_back(slot->first);
        second.push_back(slot->second);
        at_step.push_back(steps);
      }
      if (weights.empty()) continue;
      at::_fused_adamw_(weights, slopes, first, second, {}, at_step, learning_rate, adam.beta1,
                        adam.beta2, decays ? adam.weight_decay : 0.0, adam.epsilon,
                        /*amsgrad=*/false, /*maximize=*/false);
    }
    for (Slot* slot : moved)
      if (!slot->compute.is_same(slot->master)) slot->compute.detach().copy_(slot->master);
  } else {
    ++skipped_;
  }
  for (Slot* slot : moved) slot->gradient = Tensor();
  return update;
}

Result<std::unique_ptr<Learner>> MakeLearner(const LearnerOptions& options) {
  auto learner = std::make_unique<LearnerImpl>(options);
  DAVINCI_RETURN_IF_ERROR(Guarded([&] { return learner->Open(); }));
  return std::unique_ptr<Learner>(std::move(learner));
}

}  // namespace
}  // namespace davinci::trainer

extern "C" const davinci::trainer::TrainerApi* davinci_trainer_library() {
  static const davinci::trainer::TrainerApi api{davinci::trainer::kTrainerAbi,
                                                davinci::trainer::MakeLearner};
  return &api;
}
