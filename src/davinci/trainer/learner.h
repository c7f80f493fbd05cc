// Learner: the weights being trained, their gradients and their optimiser. Token sequences in,
// log-probabilities out; a derivative per trained token in, updated weights out.
//
// Decides how a pass is computed (packing, recomputation, chunks of the vocabulary, precision) and
// what an update does (clipping, AdamW, skipping what is not finite). It knows no loss: the caller
// gives d loss / d log-probability of each trained token, computed by rl/ or constant for SFT. It
// knows no recipe, no file name and no algorithm.
//
// The layers are those of model/torch: what trains is what samples. Sequences of one pass lie one
// after the other without padding and do not see each other. Compute is fp32, or bf16 with fp32
// master weights, fp32 gradients summed over passes, and fp32 moments.
//
// With several ranks (comm/rank_group.h) each has all weights and its share of masters and moments.
// Every rank opens a learner with the same options, accumulates sequences of its own, and calls
// Step() as often as the others: gradients are sums over the ranks, and all ranks update, or skip,
// alike. With zero_stage 1 passes concern one rank. With zero_stage 2 each pass sums its gradients
// over the ranks, layer by layer, and a rank keeps its share of them: every rank accumulates as
// often as the others, with no sequences where it has none left. An Accumulate() without sequences
// is allowed in every stage.
//
// The implementation lives in libdavinci_model.so, opened by the first OpenLearner(). One thread at
// a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/comm/rank_group.h"
#include "davinci/trainer/learner_options.h"
#include "davinci/weights/model_config.h"

namespace davinci::trainer {

using TokenId = int32_t;

struct SequenceView {
  std::span<const TokenId> tokens;
  // Ascending indices >= 1 of tokens that are predicted from those before them. A critic's value
  // for index i is that of the state before token i.
  std::span<const int32_t> targets;
};

struct PassOptions {
  double temperature = 1;  // of the distribution whose log-probabilities are meant; > 0
  bool entropies = false;
  bool hits = false;  // Evaluate() of a language model: whether the likeliest token is the target
};

// One entry for each target, sequence by sequence.
struct PassResult {
  std::vector<float> outputs;    // log-probabilities, or a critic's values
  std::vector<float> entropies;  // nats, if asked for
  std::vector<float> hits;       // 1 or 0, if asked for
};

// Fills d loss / d output of targets first, first + 1, …, given their outputs.
using LossGradient =
    std::function<void(size_t first, std::span<const float> outputs, std::span<float> gradients)>;

struct Update {
  bool applied = false;      // false: the norm was not finite, nothing changed
  double gradient_norm = 0;  // before clipping
};

enum class StateKind { kWeights, kGradients, kFirstMoments, kSecondMoments };

// A tensor under the name a Hugging Face checkpoint gives it; "MODULE.lora_A", "MODULE.lora_B",
// "value_head.weight" and "value_head.bias" are additions. `values` are fp32: weights are the
// masters.
struct StateTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::span<const float> values;
};

struct LearnerFacts {
  std::string device;
  std::string compute;  // "fp32", "bf16"
  int64_t parameters = 0;
  int64_t trained_parameters = 0;
  std::string kernels;    // "davinci", or "aten" and why
  std::string attention;  // "flash", "cudnn", or "sdpa" (fp32, and the CPU)
  int64_t updates = 0;
  int64_t skipped_updates = 0;
  int64_t peak_bytes = 0;      // of the device's memory since the last reset; 0 on the CPU
  int64_t gradient_bytes = 0;  // the most that were kept at a time between layers of a pass
};

class Learner {
 public:
  virtual ~Learner() = default;

  // Without gradients.
  virtual Result<PassResult> Evaluate(std::span<const SequenceView> sequences,
                                      const PassOptions& options) = 0;
  // Adds to the gradients what `gradient` says. Sequences of one call share a pass; sum over as
  // many calls as an update needs. InvalidArgument: tokens outside the vocabulary, targets out of
  // order.
  virtual Result<PassResult> Accumulate(std::span<const SequenceView> sequences,
                                        const PassOptions& options,
                                        const LossGradient& gradient) = 0;
  // The same for a loss that is linear in the log-probabilities: known derivatives, one for each
  // target. Never waits for the device.
  virtual Result<PassResult> AccumulateLinear(std::span<const SequenceView> sequences,
                                              const PassOptions& options,
                                              std::span<const float> derivatives) = 0;
  // Clips, updates, forgets the gradients.
  virtual Result<Update> Step(double learning_rate) = 0;

  // Trained tensors, in a fixed order. Before the first update the moments are 0; without gradients
  // so are these. With several ranks: rank 0 visits, and ends with EndVisits(); meanwhile the
  // others are in AssistVisits(). Without them these two do nothing.
  virtual Status Visit(StateKind kind,
                       const std::function<Status(const StateTensor&)>& visitor) = 0;
  virtual Status AssistVisits() { return Status::Ok(); }
  virtual Status EndVisits() { return Status::Ok(); }
  // Weights and moments only. InvalidArgument: a name or size that is not the model's.
  virtual Status Set(StateKind kind, const StateTensor& tensor) = 0;
  // The number of updates that the moments have seen.
  virtual void SetUpdates(int64_t updates, int64_t skipped) = 0;

  virtual comm::RankGroup* ranks() const { return nullptr; }  // of the options
  virtual const weights::ModelConfig& config() const = 0;
  virtual LearnerFacts Facts() = 0;
  virtual void ResetPeak() = 0;
  virtual void Synchronize() = 0;
};

// kInvalidArgument: files of the model; kFailedPrecondition: no library, no device. With several
// ranks called by all; the failure of one is that of all.
Result<std::unique_ptr<Learner>> OpenLearner(const LearnerOptions& options);

// What crosses the border to the library; counted up when a type of this header changes.
inline constexpr int kTrainerAbi = 4;
inline constexpr char kTrainerSymbol[] = "davinci_trainer_library";
struct TrainerApi {
  int abi = 0;
  Result<std::unique_ptr<Learner>> (*make_learner)(const LearnerOptions& options) = nullptr;
};

}  // namespace davinci::trainer

extern "C" const davinci::trainer::TrainerApi* davinci_trainer_library();
