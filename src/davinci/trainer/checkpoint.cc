#include "davinci/trainer/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/base/number.h"
#include "davinci/comm/agree.h"
#include "davinci/weights/half.h"
#include "davinci/weights/lora_adapter.h"
#include "davinci/weights/safetensors_writer.h"
#include "davinci/weights/tensor_file.h"

namespace davinci::trainer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kTokenizerFiles[] = {
    "tokenizer.json", "tokenizer_config.json",   "chat_template.jinja", "vocab.json",
    "merges.txt",     "special_tokens_map.json", "added_tokens.json",   "generation_config.json"};

bool IsAddition(const std::string& name) { return name.starts_with("value_head."); }

Status SyncFolder(const fs::path& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) != 0) return FromErrno(errno, folder.string());
  return Status::Ok();
}

std::span<const std::byte> BytesOf(std::span<const float> values) { return std::as_bytes(values); }

// Names and shapes without the values.
Status Specs(Learner& learner, const std::string& prefix, weights::DType dtype, bool additions,
             std::vector<weights::TensorSpec>* specs) {
  return learner.Visit(StateKind::kWeights, [&](const StateTensor& tensor) {
    if (additions || !IsAddition(tensor.name))
      specs->push_back({prefix + tensor.name, dtype, tensor.shape});
    return Status::Ok();
  });
}

Status WriteModel(const fs::path& folder, Learner& learner, const CheckpointSource& source) {
  const bool half = learner.Facts().compute == "bf16";
  const weights::DType dtype = half ? weights::DType::kBF16 : weights::DType::kF32;
  std::vector<weights::TensorSpec> specs;
  DAVINCI_RETURN_IF_ERROR(Specs(learner, "", dtype, false, &specs));
  DAVINCI_ASSIGN_OR_RETURN(auto writer, weights::SafetensorsWriter::Create(folder, specs));
  std::vector<uint16_t> rounded;
  DAVINCI_RETURN_IF_ERROR(
      learner.Visit(StateKind::kWeights, [&](const StateTensor& tensor) -> Status {
        if (IsAddition(tensor.name)) return Status::Ok();
        if (!half) return writer.Write(tensor.name, BytesOf(tensor.values));
        rounded.resize(tensor.values.size());
        std::transform(tensor.values.begin(), tensor.values.end(), rounded.begin(),
                       weights::Bf16FromFloat);
        return writer.Write(tensor.name, std::as_bytes(std::span<const uint16_t>(rounded)));
      }));
  DAVINCI_RETURN_IF_ERROR(writer.Finish().status());
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(source.model / "config.json"));
  ordered_json config = ordered_json::parse(text, nullptr, false);
  if (!config.is_object()) return InvalidArgument("config.json is not a JSON object");
  config.erase("dtype");
  config["torch_dtype"] = half ? "bfloat16" : "float32";
  return WriteFileAtomic(folder / "config.json", JsonText(config, 2) + "\n");
}

Status WriteAdapter(const fs::path& folder, Learner& learner, const CheckpointSource& source) {
  weights::LoraAdapter adapter;
  adapter.rank = source.lora.rank;
  adapter.alpha = source.lora.alpha;
  adapter.base_model = fs::absolute(source.model).string();
  DAVINCI_RETURN_IF_ERROR(
      learner.Visit(StateKind::kWeights, [&](const StateTensor& tensor) -> Status {
        if (IsAddition(tensor.name)) return Status::Ok();
        const std::string module = tensor.name.substr(0, tensor.name.rfind('.'));
        weights::LoraModule& entry = adapter.modules[module];
        const bool is_a = tensor.name.ends_with(".lora_A");
        (is_a ? entry.a : entry.b).assign(tensor.values.begin(), tensor.values.end());
        (is_a ? entry.in_features : entry.out_features) = tensor.shape[is_a ? 1 : 0];
        return Status::Ok();
      }));
  return weights::SaveLoraAdapter(adapter, folder);
}

// Which weights the model's own files do not hold to the last bit.
bool NeedsMaster(const LearnerFacts& facts, bool lora, const std::string& name) {
  return IsAddition(name) || (!lora && facts.compute == "bf16");
}

Status WriteOptimizer(const fs::path& folder, Learner& learner, bool lora) {
  const LearnerFacts facts = learner.Facts();
  std::vector<weights::TensorSpec> all;
  DAVINCI_RETURN_IF_ERROR(Specs(learner, "", weights::DType::kF32, true, &all));
  std::vector<weights::TensorSpec> specs;
  for (const weights::TensorSpec& spec : all) {
    if (NeedsMaster(facts, lora, spec.name))
      specs.push_back({"master." + spec.name, spec.dtype, spec.shape});
    specs.push_back({"first." + spec.name, spec.dtype, spec.shape});
    specs.push_back({"second." + spec.name, spec.dtype, spec.shape});
  }
  DAVINCI_ASSIGN_OR_RETURN(auto writer, weights::SafetensorsWriter::Create(folder, specs));
  for (const auto& [prefix, kind] : {std::pair{"master.", StateKind::kWeights},
                                     {"first.", StateKind::kFirstMoments},
                                     {"second.", StateKind::kSecondMoments}}) {
    DAVINCI_RETURN_IF_ERROR(
        learner.Visit(kind, [&, prefix = prefix, kind = kind](const StateTensor& tensor) -> Status {
          if (kind == StateKind::kWeights && !NeedsMaster(facts, lora, tensor.name))
            return Status::Ok();
          return writer.Write(prefix + tensor.name, BytesOf(tensor.values));
        }));
  }
  return writer.Finish().status();
}

// Weights and optimiser below `folder`.
Status WriteLearner(const fs::path& folder, Learner& learner, const CheckpointSource& source) {
  const bool lora = source.lora.rank > 0;
  DAVINCI_RETURN_IF_ERROR(MakeDirs(folder / "optimizer"));
  DAVINCI_RETURN_IF_ERROR(lora ? WriteAdapter(folder, learner, source)
                               : WriteModel(folder, learner, source));
  return WriteOptimizer(folder / "optimizer", learner, lora);
}

void PutCounters(Learner& learner, json* state) {
  const LearnerFacts facts = learner.Facts();
  (*state)["updates"] = facts.updates;
  (*state)["skipped"] = facts.skipped_updates;
}

Status SetAll(const fs::path& file, Learner& learner,
              const std::function<bool(const std::string&, StateKind*, std::string*)>& meaning) {
  DAVINCI_ASSIGN_OR_RETURN(const auto tensors, weights::TensorFile::Open(file));
  std::vector<float> values;
  for (const weights::Tensor& tensor : tensors.tensors()) {
    StateKind kind = StateKind::kWeights;
    std::string name;
    if (!meaning(tensor.name, &kind, &name)) continue;
    values.resize(static_cast<size_t>(tensor.num_elements()));
    DAVINCI_RETURN_IF_ERROR(weights::ReadFloat32(tensor, values));
    DAVINCI_RETURN_IF_ERROR(learner.Set(kind, {name, tensor.shape, values}));
  }
  return Status::Ok();
}

// The inverse of WriteLearner and PutCounters.
Status ReadLearner(const fs::path& folder, const json& state, Learner& learner) {
  const fs::path adapter = folder / "adapter_model.safetensors";
  std::error_code error;
  const bool lora = fs::exists(adapter, error);
  DAVINCI_RETURN_IF_ERROR(
      SetAll(lora ? adapter : folder, learner,
             [&](const std::string& from, StateKind* kind, std::string* name) {
               *name = from;
               *kind = StateKind::kWeights;
               constexpr std::string_view kPrefix = "base_model.model.";
               constexpr std::string_view kSuffix = ".weight";
               if (lora)
                 *name = from.substr(kPrefix.size(), from.size() - kPrefix.size() - kSuffix.size());
               return true;
             }));
  DAVINCI_RETURN_IF_ERROR(SetAll(folder / "optimizer", learner,
                                 [](const std::string& from, StateKind* kind, std::string* name) {
                                   const size_t dot = from.find('.');
                                   const std::string prefix = from.substr(0, dot);
                                   *name = from.substr(dot + 1);
                                   *kind = prefix == "first"    ? StateKind::kFirstMoments
                                           : prefix == "second" ? StateKind::kSecondMoments
                                                                : StateKind::kWeights;
                                   return true;
                                 }));
  learner.SetUpdates(state.value("updates", int64_t{0}), state.value("skipped", int64_t{0}));
  return Status::Ok();
}

Result<fs::path> WriteFiles(const fs::path& folder, int64_t step, Learner& learner,
                            const CheckpointSource& source, json state, Learner* critic) {
  const fs::path final_path = CheckpointPath(folder, step);
  const fs::path partial = folder / fmt::format(".partial-{:08}", step);
  DAVINCI_RETURN_IF_ERROR(RemoveAll(partial));
  DAVINCI_RETURN_IF_ERROR(WriteLearner(partial, learner, source));
  std::error_code error;
  if (source.lora.rank == 0)
    for (const char* name : kTokenizerFiles)
      if (fs::exists(source.model / name, error)) {
        DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(source.model / name));
        DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(partial / name, text));
      }
  PutCounters(learner, &state);
  if (critic != nullptr) {
    DAVINCI_RETURN_IF_ERROR(WriteLearner(partial / "critic", *critic, source));
    PutCounters(*critic, &state["critic"]);
  }
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(partial / "state.json", JsonText(state, 2) + "\n"));
  json manifest = {{"format", "davinci.checkpoint/1"}, {"step", step}, {"files", json::object()}};
  DAVINCI_ASSIGN_OR_RETURN(const auto files, ListFiles(partial, "", /*recursive=*/true));
  for (const fs::path& file : files) {
    DAVINCI_ASSIGN_OR_RETURN(const std::string hash, Sha256HexOfFile(file));
    manifest["files"][fs::relative(file, partial).string()] = hash;
  }
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(partial / "manifest.json", JsonText(manifest, 2) + "\n"));
  DAVINCI_RETURN_IF_ERROR(SyncFolder(partial));
  DAVINCI_RETURN_IF_ERROR(RemoveAll(final_path));
  fs::rename(partial, final_path, error);
  if (error) return FromErrno(error.value(), final_path.string());
  DAVINCI_RETURN_IF_ERROR(SyncFolder(folder));
  return final_path;
}

Result<json> ReadFiles(const fs::path& checkpoint, Learner& learner, Learner* critic) {
  DAVINCI_ASSIGN_OR_RETURN(json state, ReadCheckpointState(checkpoint));
  DAVINCI_RETURN_IF_ERROR(ReadLearner(checkpoint, state, learner));
  if (critic == nullptr) return state;
  if (!state.contains("critic") || !state["critic"].is_object())
    return InvalidArgument(fmt::format("{}: the checkpoint holds no critic", checkpoint.string()));
  DAVINCI_RETURN_IF_ERROR(ReadLearner(checkpoint / "critic", state["critic"], *critic));
  return state;
}

}  // namespace

fs::path CheckpointPath(const fs::path& folder, int64_t step) {
  return folder / fmt::format("step-{:08}", step);
}

Result<fs::path> WriteCheckpoint(const fs::path& folder, int64_t step, Learner& learner,
                                 const CheckpointSource& source, json state, Learner* critic) {
  comm::RankGroup* ranks = learner.ranks();
  Result<fs::path> written = CheckpointPath(folder, step);
  Status gathered;
  if (ranks != nullptr && ranks->world().rank != 0) {
    gathered = learner.AssistVisits();
  } else {
    written = WriteFiles(folder, step, learner, source, std::move(state), critic);
    gathered = learner.EndVisits();
  }
  // The ranks cannot be brought together again.
  if (!gathered.ok() && ranks != nullptr) ranks->Abort(gathered);
  DAVINCI_RETURN_IF_ERROR(comm::Agree(ranks, written.status()));
  return written;
}

Status VerifyCheckpoint(const fs::path& checkpoint) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(checkpoint / "manifest.json"));
  const json manifest = json::parse(text, nullptr, false);
  if (!manifest.is_object() || !manifest.contains("files") || !manifest["files"].is_object())
    return InvalidArgument(fmt::format("{}: corrupt manifest.json", checkpoint.string()));
  for (const auto& [name, wanted] : manifest["files"].items()) {
    const auto hash = Sha256HexOfFile(checkpoint / name);
    if (!hash.ok()) return hash.status();
    if (wanted != *hash)
      return InvalidArgument(fmt::format(
          "{}: its content is not what was written (SHA-256 differs from manifest.json); remove "
          "this checkpoint to continue from the one before",
          (checkpoint / name).string()));
  }
  return Status::Ok();
}

Result<json> ReadCheckpointState(const fs::path& checkpoint) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(checkpoint / "state.json"));
  json state = json::parse(text, nullptr, false);
  if (!state.is_object() || !state.contains("updates"))
    return InvalidArgument(fmt::format("{}: corrupt state.json", checkpoint.string()));
  return state;
}

Result<json> ReadCheckpoint(const fs::path& checkpoint, Learner& learner, Learner* critic) {
  comm::RankGroup* ranks = learner.ranks();
  const bool verifies = ranks == nullptr || ranks->world().rank == 0;
  DAVINCI_RETURN_IF_ERROR(
      comm::Agree(ranks, verifies ? VerifyCheckpoint(checkpoint) : Status::Ok()));
  Result<json> state = ReadFiles(checkpoint, learner, critic);
  DAVINCI_RETURN_IF_ERROR(comm::Agree(ranks, state.status()));
  return state;
}

Result<std::vector<int64_t>> ListCheckpoints(const fs::path& folder) {
  std::vector<int64_t> steps;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(".partial-")) {
      DAVINCI_RETURN_IF_ERROR(RemoveAll(entry.path()));
    } else if (name.starts_with("step-") && name.size() == 13) {
      if (const auto step = WholeNumber<int64_t>(name.substr(5)); step && *step >= 0)
        steps.push_back(*step);
    }
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

Status PruneCheckpoints(const fs::path& folder, int keep_last, std::optional<int64_t> best) {
  DAVINCI_ASSIGN_OR_RETURN(const auto steps, ListCheckpoints(folder));
  for (size_t i = 0; i + static_cast<size_t>(keep_last) < steps.size(); ++i)
    if (steps[i] != best) DAVINCI_RETURN_IF_ERROR(RemoveAll(CheckpointPath(folder, steps[i])));
  return Status::Ok();
}

}  // namespace davinci::trainer
