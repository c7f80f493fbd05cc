// The Learner on LibTorch: learner_impl.cc makes it and holds its weights, passes.cc computes with
// them, optimizer.h updates them.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "davinci/model/torch/forward.h"
#include "davinci/trainer/learner.h"
#include "davinci/trainer/torch/optimizer.h"
#include "davinci/trainer/torch/slot.h"

namespace davinci::trainer {

std::string FirstLine(const std::string& text);

template <typename F>
auto Guarded(const F& work) -> decltype(work()) {
  try {
    return work();
  } catch (const c10::OutOfMemoryError& error) {
    return ResourceExhausted(fmt::format(
        "the device has no memory left for training: {}; lower model.tokens_per_pass, raise "
        "model.recomputed_layers, or train LoRA",
        FirstLine(error.what_without_backtrace())));
  } catch (const c10::Error& error) {
    return Internal(FirstLine(error.what_without_backtrace()));
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("no memory left for training; lower model.tokens_per_pass");
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

class LearnerImpl final : public Learner {
 public:
  explicit LearnerImpl(LearnerOptions options) : options_(std::move(options)) {}

  Status Open();

  Result<PassResult> Evaluate(std::span<const SequenceView> sequences,
                              const PassOptions& options) override;
  Result<PassResult> Accumulate(std::span<const SequenceView> sequences, const PassOptions& options,
                                const LossGradient& gradient) override;
  Result<PassResult> AccumulateLinear(std::span<const SequenceView> sequences,
                                      const PassOptions& options,
                                      std::span<const float> derivatives) override;
  Result<Update> Step(double learning_rate) override;

  Status Visit(StateKind kind, const std::function<Status(const StateTensor&)>& visitor) override;
  Status AssistVisits() override;
  Status EndVisits() override;
  Status Set(StateKind kind, const StateTensor& tensor) override;
  void SetUpdates(int64_t updates, int64_t skipped) override;

  comm::RankGroup* ranks() const override { return options_.ranks; }
  const weights::ModelConfig& config() const override { return config_; }
  LearnerFacts Facts() override;
  void ResetPeak() override;
  void Synchronize() override;

 private:
  // The packed sequences of one pass on the device.
  struct Packed {
    at::Tensor tokens, positions;  // int64 [rows]
    at::Tensor rows, expected;     // int64 [targets]: which hidden states predict which tokens
    std::vector<int64_t> borders{0};
  };
  // What the head computed, still on the device.
  struct Outputs {
    at::Tensor outputs;    // fp32 [targets]
    at::Tensor entropies;  // the same, or undefined
    at::Tensor hits;       // the same, or undefined
  };

  Status ChooseDevice();
  Status OpenCommunicator();
  Status Load();
  Status ChooseAttention();
  // Generators of different devices may differ: all ranks begin with rank 0's weights.
  Status ShareRandomWeights();
  Slot MakeSlot(std::vector<model::StoredPart> parts, int64_t layer, at::Tensor compute) const;
  Status AddSlots(const weights::TensorFile* file);
  Status AddLora();
  Slot* FindSlot(const at::Tensor& compute);
  Status VisitSlots(StateKind kind, const std::function<Status(const StateTensor&)>& visitor);

  Result<Packed> Pack(std::span<const SequenceView> sequences, const PassOptions& options) const;
  std::unique_ptr<model::Attention> Attend(const Packed& packed) const;
  // The tensors of these vectors (int64), in one copy.
  void Upload(std::initializer_list<std::pair<const std::vector<int64_t>*, at::Tensor*>> all) const;
  Result<PassResult> Differentiate(std::span<const SequenceView> sequences,
                                   const PassOptions& options, std::span<const float> derivatives,
                                   const LossGradient* gradient);
  // Outputs of all targets, in chunks; with `d_hidden` also the derivatives of the hidden states
  // and of the head, added to the head's slot: from `derivatives` (fp32 [targets]), or `gradient`.
  Outputs Head(const Packed& packed, const at::Tensor& hidden, const PassOptions& options,
               const at::Tensor& derivatives, const LossGradient* gradient, at::Tensor* d_hidden);
  Outputs ValueHead(const at::Tensor& hidden, const at::Tensor& derivatives,
                    const LossGradient* gradient, at::Tensor* d_hidden);
  void Collect(int64_t layer);
  // The slots of a layer; -1: those outside of the layers, but for an embedding that is not the
  // head as well.
  std::vector<Slot*> SlotsOf(int64_t layer);
  // ZeRO stage 2: sums gradients over the ranks as a pass does; this rank has none.
  Status AssistPass();
  Status ReduceEmbedding();
  static PassResult ToHost(const Outputs& from);
  void AddGradient(Slot* slot, const at::Tensor& gradient) const;

  const LearnerOptions options_;
  weights::ModelConfig config_;
  at::Device device_{at::kCPU};
  at::ScalarType dtype_ = at::kFloat;
  std::unique_ptr<model::Weights> weights_;
  std::unique_ptr<comm::Communicator> communicator_;  // of several ranks
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<Slot> slots_;
  std::unique_ptr<model::TrainOps> ops_;      // null: ATen's
  std::string ops_missing_ = "as asked for";  // why there are none
  model::AttentionKernel attention_ = model::AttentionKernel::kFlash;
  model::PassOptions pass_;
  int64_t gradient_bytes_ = 0;            // of the facts
  at::Tensor value_weight_, value_bias_;  // fp32 [1, hidden], [1]
};

}  // namespace davinci::trainer
