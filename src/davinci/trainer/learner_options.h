// LearnerOptions: how a learner computes a pass and an update (learner.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "davinci/comm/rank_group.h"

namespace davinci::trainer {

enum class Compute { kAuto, kFloat32, kBfloat16 };  // kAuto: bf16 on CUDA, fp32 on the CPU

// In bf16 on CUDA. cuDNN's kernels are the faster ones from Hopper on, and their gradients do not
// have the same bits twice. kAuto: cuDNN unless deterministic, for head sizes that it has.
enum class AttentionChoice { kAuto, kFlash, kCudnn };

// The defaults are those of daVinci-kernel's published training scripts.
struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  bool decay_all = false;  // false: matrices only, not norms and biases
  double clip_norm = 1.0;  // of the gradient of all tensors together; 0: none
  // Matrices of the layers are updated by Muon, all other tensors by AdamW.
  bool muon = false;
  double momentum = 0.95;  // Muon's
};

struct LoraOptions {
  int64_t rank = 0;   // 0: all weights are trained
  double alpha = 32;  // the addition is scaled by alpha / rank
  // Endings of module names: "q_proj".
  std::vector<std::string> targets = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                      "gate_proj", "up_proj", "down_proj"};
};

// Logits that a pass holds at a time. On CUDA every chunk also reads and writes the gradient of the
// whole head: with derivatives in place of the logits (bf16: 5 GiB) a pass of 16,384 rows of a
// vocabulary of 152k is one chunk, else 2 GiB of fp32 are kept.
constexpr int64_t MostHeadLogits(bool cuda, bool in_place) {
  return !cuda ? int64_t{64} << 20 : in_place ? int64_t{5} << 29 : int64_t{512} << 20;
}

struct LearnerOptions {
  std::string model_dir;  // Hugging Face layout; config.json alone where weights are random
  bool random_weights = false;
  std::string device = "auto";  // "cpu", "cuda", "cuda:1"
  Compute compute = Compute::kAuto;
  // Layers whose activations are computed again in the backward pass; -1: all of them.
  int64_t recomputed_layers = -1;
  int64_t head_rows = 0;  // rows of logits that exist at a time; 0: MostHeadLogits() are
  // The same bits for the same calls on the same machine with the same number of threads. On CUDA
  // this costs speed.
  bool deterministic = true;
  // bf16 on CUDA: kernels of our own between matrix products. False: ATen's, for comparisons.
  bool own_kernels = true;
  // With own_kernels: one of ours for the update. False: ATen's, for comparisons.
  bool own_update = true;
  AttentionChoice attention = AttentionChoice::kAuto;
  int threads = 0;    // of the CPU; 0: all cores
  uint64_t seed = 1;  // of random weights
  LoraOptions lora;
  // A critic: a linear layer from the hidden state to one number takes the place of the vocabulary.
  bool value_head = false;
  AdamOptions adam;
  comm::RankGroup* ranks = nullptr;  // nullptr: one rank; must outlive the learner
  int zero_stage = 1;                // of several ranks: shards optimiser state; 2: gradients, too
};

}  // namespace davinci::trainer
