// Checkpoints: a model folder in Hugging Face layout with all that training needs to continue.
//
//   RUN/checkpoints/step-00000010/
//     config.json, model*.safetensors, tokenizer files   as transformers and davinci load them
//     (LoRA: adapter_config.json, adapter_model.safetensors, as PEFT loads them)
//     optimizer/*.safetensors     fp32 masters where the model's file rounds them, and both moments
//     critic/                     with a critic: its weights and optimizer/, as above
//     state.json                  updates, data cursor, seeds, and what the caller adds
//     manifest.json               SHA-256 of every file above
//
// A checkpoint is written under another name, made durable and renamed: one that has its name is
// whole. It is verified against its manifest before anything of it is used. Bits: the learner that
// reads a checkpoint continues as the one that wrote it would have.
//
// With several ranks every rank calls WriteCheckpoint and ReadCheckpoint and gets the same status;
// rank 0 writes, and verifies. The files do not tell how many ranks there were: a checkpoint is
// read by any number of them. A critic is of one rank.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/trainer/learner.h"

namespace davinci::trainer {

struct CheckpointSource {
  std::filesystem::path model;  // the folder training began with: config and tokenizer files
  LoraOptions lora;
};

// Writes `folder`/step-N and returns its path. `state` is the caller's; "updates" and "skipped" are
// added, and with a critic (may be null) the same of it as "critic".
Result<std::filesystem::path> WriteCheckpoint(const std::filesystem::path& folder, int64_t step,
                                              Learner& learner, const CheckpointSource& source,
                                              nlohmann::json state, Learner* critic = nullptr);

// Every file has the content of its manifest. InvalidArgument names what differs.
Status VerifyCheckpoint(const std::filesystem::path& checkpoint);

// The caller's state; `learner` and `critic` (may be null) get weights (of LoRA the factors; others
// they were opened with), masters, moments and counters.
Result<nlohmann::json> ReadCheckpoint(const std::filesystem::path& checkpoint, Learner& learner,
                                      Learner* critic = nullptr);
Result<nlohmann::json> ReadCheckpointState(const std::filesystem::path& checkpoint);

// Steps that have a checkpoint, ascending. Removes what was left half written.
Result<std::vector<int64_t>> ListCheckpoints(const std::filesystem::path& folder);
std::filesystem::path CheckpointPath(const std::filesystem::path& folder, int64_t step);
// Removes all but the newest `keep_last` and `best`.
Status PruneCheckpoints(const std::filesystem::path& folder, int keep_last,
                        std::optional<int64_t> best);

}  // namespace davinci::trainer
