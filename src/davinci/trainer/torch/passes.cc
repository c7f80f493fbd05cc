// Forward and backward passes of the learner.
#include <c10/core/Event.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "davinci/trainer/torch/learner_impl.h"

namespace davinci::trainer {

using at::Tensor;

namespace {

// Rows of logits that exist at a time unless the caller says otherwise.
int64_t ChunkRows(const LearnerOptions& options, int64_t most_logits, int64_t vocab) {
  return options.head_rows > 0 ? options.head_rows : std::max<int64_t>(16, most_logits / vocab);
}

// What the host reads of a pass, under way while the backward pass runs.
class Download {
 public:
  explicit Download(const Tensor& from) {
    if (!from.defined()) return;
    if (from.is_cpu()) {
      host_ = from.contiguous();
      return;
    }
    host_ = at::empty(from.sizes(), from.options().device(at::kCPU).pinned_memory(true));
    host_.copy_(from, /*non_blocking=*/true);
    arrived_.emplace(from.device().type());
    arrived_->record(c10::impl::VirtualGuardImpl(from.device().type()).getStream(from.device()));
  }

  std::vector<float> Wait() const {
    if (!host_.defined()) return {};
    if (arrived_.has_value()) arrived_->synchronize();
    const auto* const values = host_.const_data_ptr<float>();
    return {values, values + host_.numel()};
  }

 private:
  Tensor host_;
  std::optional<c10::Event> arrived_;
};

}  // namespace

PassResult LearnerImpl::ToHost(const Outputs& from) {
  PassResult result;
  result.outputs = Download(from.outputs).Wait();
  result.entropies = Download(from.entropies).Wait();
  result.hits = Download(from.hits).Wait();
  return result;
}

std::unique_ptr<model::Attention> LearnerImpl::Attend(const Packed& packed) const {
  return model::PackedCausal(config_, packed.borders, device_, attention_);
}

void LearnerImpl::Upload(
    std::initializer_list<std::pair<const std::vector<int64_t>*, Tensor*>> all) const {
  int64_t size = 0;
  for (const auto& [values, tensor] : all) size += std::ssize(*values);
  const Tensor host =
      at::empty({size}, at::TensorOptions().dtype(at::kLong).pinned_memory(!device_.is_cpu()));
  auto* next = host.mutable_data_ptr<int64_t>();
  for (const auto& [values, tensor] : all) next = std::copy(values->begin(), values->end(), next);
  const Tensor there = host.to(device_, /*non_blocking=*/true);
  int64_t begin = 0;
  for (const auto& [values, tensor] : all) {
    *tensor = there.narrow(0, begin, std::ssize(*values));
    begin += std::ssize(*values);
  }
}

Result<PassResult> LearnerImpl::Evaluate(std::span<const SequenceView> sequences,
                                         const PassOptions& options) {
  return Guarded([&]() -> Result<PassResult> {
    const DeterministicScope scope(options_.deterministic);
    DAVINCI_ASSIGN_OR_RETURN(const Packed packed, Pack(sequences, options));
    const c10::AutoGradMode no_gradients(false);
    const model::Forward forward(*weights_, pass_);
    Tensor x = forward.Embed(packed.tokens);
    const auto attention = Attend(packed);
    const model::Rotation rotation = forward.RotationOf(packed.positions);
    for (int64_t i = 0; i < config_.num_layers; ++i)
      x = forward.Block(i, x, packed.positions, rotation, *attention);
    const Tensor hidden = forward.FinalNorm(x).index_select(0, packed.rows);
    return ToHost(Head(packed, hidden, options, {}, nullptr, nullptr));
  });
}

Result<PassResult> LearnerImpl::Accumulate(std::span<const SequenceView> sequences,
                                           const PassOptions& options,
                                           const LossGradient& gradient) {
  return Guarded([&] { return Differentiate(sequences, options, {}, &gradient); });
}

Result<PassResult> LearnerImpl::AccumulateLinear(std::span<const SequenceView> sequences,
                                                 const PassOptions& options,
                                                 std::span<const float> derivatives) {
  size_t num_targets = 0;
  for (const SequenceView& sequence : sequences) num_targets += sequence.targets.size();
  if (derivatives.size() != num_targets)
    return InvalidArgument(
        fmt::format("{} derivatives for {} targets", derivatives.size(), num_targets));
  return Guarded([&] { return Differentiate(sequences, options, derivatives, nullptr); });
}

Result<LearnerImpl::Packed> LearnerImpl::Pack(std::span<const SequenceView> sequences,
                                              const PassOptions& options) const {
  if (!(options.temperature > 0)) return InvalidArgument("temperature must be positive");
  Packed packed;
  std::vector<int64_t> tokens, positions, rows, expected;
  int64_t longest = 0;
  size_t num_tokens = 0, num_targets = 0;
  for (const SequenceView& sequence : sequences) {
    num_tokens += sequence.tokens.size();
    num_targets += sequence.targets.size();
  }
  for (std::vector<int64_t>* each : {&tokens, &positions}) each->reserve(num_tokens);
  for (std::vector<int64_t>* each : {&rows, &expected}) each->reserve(num_targets);
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
  model::ReservePositions(weights_.get(), longest);
  Upload({{&tokens, &packed.tokens},
          {&positions, &packed.positions},
          {&rows, &packed.rows},
          {&expected, &packed.expected}});
  return packed;
}

void LearnerImpl::AddGradient(Slot* slot, const Tensor& gradient) const {
  if (slot->gradient.defined())
    slot->gradient = slot->gradient.to(at::kFloat).add_(gradient);
  else
    slot->gradient =
        (optimizer_->takes_half_gradients() ? gradient : gradient.to(at::kFloat)).contiguous();
}

// Moves what autograd left at the leaves of one layer into the sums.
void LearnerImpl::Collect(int64_t layer) {
  for (Slot& slot : slots_) {
    if (slot.layer != layer || !slot.compute.grad().defined()) continue;
    AddGradient(&slot, slot.compute.grad());
    slot.compute.mutable_grad() = Tensor();
  }
  int64_t kept = 0;
  for (const Slot& slot : slots_)
    for (const Tensor* gradient : {&slot.gradient, &slot.reduced})
      if (gradient->defined()) kept += static_cast<int64_t>(gradient->nbytes());
  gradient_bytes_ = std::max(gradient_bytes_, kept);
}

std::vector<Slot*> LearnerImpl::SlotsOf(int64_t layer) {
  std::vector<Slot*> found;
  for (Slot& slot : slots_)
    if (slot.layer == layer &&
        (!slot.compute.is_same(weights_->embedding) || weights_->head.is_same(slot.compute)))
      found.push_back(&slot);
  return found;
}

Status LearnerImpl::ReduceEmbedding() {
  Slot* const slot = FindSlot(weights_->embedding);
  return slot == nullptr ? Status::Ok() : optimizer_->Reduce({&slot, 1});
}

// In the order of Differentiate().
Status LearnerImpl::AssistPass() {
  if (!optimizer_->shards_gradients()) return Status::Ok();
  DAVINCI_RETURN_IF_ERROR(optimizer_->Reduce(SlotsOf(-1)));
  for (int64_t i = config_.num_layers - 1; i >= 0; --i)
    DAVINCI_RETURN_IF_ERROR(optimizer_->Reduce(SlotsOf(i)));
  return ReduceEmbedding();
}

LearnerImpl::Outputs LearnerImpl::ValueHead(const Tensor& hidden, const Tensor& derivatives,
                                            const LossGradient* gradient, Tensor* d_hidden) {
  const Tensor wide = hidden.to(at::kFloat);
  const Tensor values =
      (at::matmul(wide, value_weight_.detach().t()) + value_bias_.detach()).squeeze(1);
  if (d_hidden == nullptr) return {values, {}, {}};
  Tensor g = derivatives;
  if (gradient != nullptr) {
    std::vector<float> slopes(static_cast<size_t>(values.numel()));
    (*gradient)(0, ToHost({values, {}, {}}).outputs, slopes);
    g = at::tensor(slopes, at::kFloat).to(device_);
  }
  g = g.unsqueeze(1);
  d_hidden->copy_(at::matmul(g, value_weight_.detach()));
  AddGradient(FindSlot(value_weight_), at::matmul(g.t(), wide));
  AddGradient(FindSlot(value_bias_), g.sum(0));
  return {values, {}, {}};
}

LearnerImpl::Outputs LearnerImpl::Head(const Packed& packed, const Tensor& hidden,
                                       const PassOptions& options, const Tensor& derivatives,
                                       const LossGradient* gradient, Tensor* d_hidden) {
  if (options_.value_head) return ValueHead(hidden, derivatives, gradient, d_hidden);
  const int64_t count = hidden.size(0);
  const bool in_place = ops_ != nullptr && model::TrainKernels::CanScore(config_.vocab_size);
  const int64_t chunk_rows =
      ChunkRows(options_, MostHeadLogits(/*cuda=*/!device_.is_cpu(), in_place), config_.vocab_size);
  const Tensor weight = weights_->head.detach();
  Slot* slot = FindSlot(weights_->head);
  const Tensor outputs = at::empty({count}, hidden.options().dtype(at::kFloat));
  const Tensor entropies = options.entropies ? at::empty_like(outputs) : Tensor();
  const Tensor hits = options.hits && d_hidden == nullptr ? at::empty_like(outputs) : Tensor();
  std::vector<float> slopes(gradient != nullptr ? static_cast<size_t>(count) : 0);
  for (int64_t begin = 0; begin < count; begin += chunk_rows) {
    const int64_t rows = std::min(chunk_rows, count - begin);
    const Tensor h = hidden.narrow(0, begin, rows);
    const Tensor expected = packed.expected.narrow(0, begin, rows).unsqueeze(1);
    Tensor logits = at::linear(h, weight);
    if (hits.defined())
      hits.narrow(0, begin, rows).copy_(logits.argmax(1, /*keepdim=*/true).eq(expected).squeeze(1));
    // Derivatives with respect to the log-probabilities just computed.
    const auto slopes_of = [&](const Tensor& picked) {
      if (gradient == nullptr) return derivatives.narrow(0, begin, rows);
      const Tensor host = picked.to(at::kCPU).contiguous();
      const auto first = static_cast<size_t>(begin);
      (*gradient)(first, {host.const_data_ptr<float>(), static_cast<size_t>(rows)},
                  std::span<float>(slopes).subspan(first, static_cast<size_t>(rows)));
      return at::from_blob(slopes.data() + begin, {rows}, at::TensorOptions().dtype(at::kFloat))
          .to(device_);
    };
    const auto backward = [&](const Tensor& d_logits) {
      auto d_h = d_hidden->narrow(0, begin, rows);
      at::mm_out(d_h, d_logits, weight);
      if (slot != nullptr) AddGradient(slot, at::mm(d_logits.t(), h));
    };
    if (ops_ != nullptr && ops_->CanScore(logits)) {
      const Tensor wanted = packed.expected.narrow(0, begin, rows);
      const model::TrainOps::Scores scores = ops_->Score(
          logits, wanted, options.temperature,
          derivatives.defined() ? derivatives.narrow(0, begin, rows) : Tensor(), options.entropies);
      outputs.narrow(0, begin, rows).copy_(scores.log_probs);
      if (options.entropies) entropies.narrow(0, begin, rows).copy_(scores.entropies);
      if (d_hidden == nullptr) continue;
      if (gradient != nullptr)
        ops_->ScoreBackward(logits, wanted, options.temperature, slopes_of(scores.log_probs),
                            scores.log_sums);
      backward(logits);
      continue;
    }
    if (options.temperature != 1) logits = logits.to(at::kFloat).div_(options.temperature);
    Tensor log_p = at::log_softmax(logits, 1, at::kFloat);
    const Tensor picked = log_p.gather(1, expected).squeeze(1);
    outputs.narrow(0, begin, rows).copy_(picked);
    if (options.entropies)
      entropies.narrow(0, begin, rows).copy_(at::sum(log_p.exp() * log_p, 1).neg_());
    if (d_hidden == nullptr) continue;
    // d loss / d logit = slope (1[expected] - p) / temperature
    const Tensor slope = slopes_of(picked).unsqueeze(1) / options.temperature;
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
    backward(d_logits);
  }
  return {outputs, entropies, hits};
}

Result<PassResult> LearnerImpl::Differentiate(std::span<const SequenceView> sequences,
                                              const PassOptions& options,
                                              std::span<const float> derivatives,
                                              const LossGradient* gradient) {
  const DeterministicScope scope(options_.deterministic);
  if (sequences.empty()) {
    DAVINCI_RETURN_IF_ERROR(AssistPass());
    return PassResult{};
  }
  DAVINCI_ASSIGN_OR_RETURN(const Packed packed, Pack(sequences, options));
  const c10::AutoGradMode no_gradients(false);
  // Before the layers: a copy in their midst would wait for them.
  Tensor slopes;
  if (gradient == nullptr)
    slopes = at::tensor(at::ArrayRef<float>(derivatives.data(), derivatives.size()), at::kFloat)
                 .to(device_);
  const model::Forward forward(*weights_, pass_);
  const auto attention = Attend(packed);
  const model::Rotation rotation = forward.RotationOf(packed.positions);
  const int64_t num_layers = config_.num_layers;
  const int64_t recomputed = options_.recomputed_layers < 0
                                 ? num_layers
                                 : std::min(options_.recomputed_layers, num_layers);
  Slot* embedding = FindSlot(weights_->embedding);
  // Layer by layer: its input is a leaf, its output the root of a graph of its own. Of a
  // recomputed layer only the input is kept.
  std::vector<Tensor> inputs(static_cast<size_t>(num_layers) + 1);
  std::vector<Tensor> results(static_cast<size_t>(num_layers));
  const auto block = [&](int64_t i) {
    return forward.Block(i, inputs[static_cast<size_t>(i)], packed.positions, rotation, *attention);
  };
  const auto leaf = [&](const Tensor& x, bool differentiated) {
    Tensor made = x.detach();
    made.set_requires_grad(differentiated);
    return made;
  };
  inputs[0] = leaf(forward.Embed(packed.tokens), embedding != nullptr);
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
    hidden = forward.FinalNorm(inputs.back());
  }
  const Tensor seen = hidden.detach().index_select(0, packed.rows);
  Tensor d_seen = at::empty_like(seen);
  const Outputs made = Head(packed, seen, options, slopes, gradient, &d_seen);
  const Download outputs(made.outputs), entropies(made.entropies);
  Tensor d_hidden = at::zeros_like(hidden.detach());
  d_hidden.index_copy_(0, packed.rows, d_seen);
  hidden.backward(d_hidden);
  Collect(-1);
  DAVINCI_RETURN_IF_ERROR(optimizer_->Reduce(SlotsOf(-1)));
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
    DAVINCI_RETURN_IF_ERROR(optimizer_->Reduce(SlotsOf(i)));
    slope = inputs[at].grad();
    results[at] = Tensor();
    inputs[at] = Tensor();
  }
  if (embedding != nullptr)
    AddGradient(embedding, at::embedding_dense_backward(slope.to(at::kFloat), packed.tokens,
                                                        config_.vocab_size, -1, false));
  DAVINCI_RETURN_IF_ERROR(ReduceEmbedding());
  PassResult result;
  result.outputs = outputs.Wait();
  result.entropies = entropies.Wait();
  return result;
}

}  // namespace davinci::trainer
