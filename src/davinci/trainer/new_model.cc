#include "davinci/trainer/new_model.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/base/rng.h"
#include "davinci/text/tokenizer.h"
#include "davinci/trainer/tokenizer_training.h"
#include "davinci/weights/safetensors_writer.h"

namespace davinci::trainer {
namespace {

constexpr double kDeviation = 0.02;

Status CheckSizes(const NewModel& model) {
  const auto multiple = [](const char* option, int64_t value, int64_t of) {
    return value > 0 && value % of == 0
               ? Status::Ok()
               : InvalidArgument(fmt::format("{} {} is not a multiple of {}", option, value, of));
  };
  if (model.layers < 1) return InvalidArgument("--layers must be at least 1");
  if (model.context < 16) return InvalidArgument("--context must be at least 16");
  DAVINCI_RETURN_IF_ERROR(multiple("--head-size", model.head_size, 16));
  DAVINCI_RETURN_IF_ERROR(multiple("--width", model.width, model.head_size));
  if (model.intermediate != 0)
    DAVINCI_RETURN_IF_ERROR(multiple("--intermediate", model.intermediate, 32));
  if (model.kv_heads != 0 && (model.width / model.head_size) % model.kv_heads != 0)
    return InvalidArgument(fmt::format("--kv-heads {} does not divide the {} heads", model.kv_heads,
                                       model.width / model.head_size));
  return Status::Ok();
}

// The values of one tensor: normal numbers of its own, whatever the other tensors are.
std::vector<float> NormalValues(std::string_view name, uint64_t seed, size_t count,
                                double deviation) {
  SplitMix64 rng(HashBytes(name, seed));
  const auto uniform = [&] {  // in (0, 1)
    return (static_cast<double>(rng.Next() >> 11) + 0.5) * 0x1p-53;
  };
  std::vector<float> values(count);
  for (size_t i = 0; i < count; i += 2) {
    const double radius = deviation * std::sqrt(-2 * std::log(uniform()));
    const double angle = 2 * std::numbers::pi * uniform();
    values[i] = static_cast<float>(radius * std::cos(angle));
    if (i + 1 < count) values[i + 1] = static_cast<float>(radius * std::sin(angle));
  }
  return values;
}

}  // namespace

Result<weights::ModelConfig> WriteNewModel(const NewModel& model) {
  DAVINCI_RETURN_IF_ERROR(CheckSizes(model));
  DAVINCI_ASSIGN_OR_RETURN(const text::Tokenizer tokenizer, text::Tokenizer::Load(model.tokenizer));
  DAVINCI_ASSIGN_OR_RETURN(const text::TokenizerDefinition definition,
                           text::ReadTokenizerFolder(model.tokenizer / "tokenizer.json"));
  weights::ModelConfig config;
  config.family = weights::Family::kQwen3;
  config.vocab_size = (tokenizer.vocab_size() + 63) / 64 * 64;
  config.hidden_size = model.width;
  config.intermediate_size = model.intermediate != 0 ? model.intermediate : 3 * model.width;
  config.num_layers = model.layers;
  config.num_heads = model.width / model.head_size;
  config.num_kv_heads = model.kv_heads != 0 ? model.kv_heads : config.num_heads;
  config.head_dim = model.head_size;
  config.max_positions = model.context;
  config.qk_norm = true;
  config.tied_embeddings = true;
  config.bos_token_id = tokenizer.bos_id();
  config.pad_token_id = tokenizer.pad_id();
  if (tokenizer.eos_id() >= 0) config.eos_token_ids = {tokenizer.eos_id()};
  DAVINCI_ASSIGN_OR_RETURN(const auto json, weights::ToHfConfig(config));
  DAVINCI_RETURN_IF_ERROR(WriteTokenizer(definition, model.out));
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(model.out / "config.json", JsonText(json, 2) + "\n"));
  std::vector<weights::TensorSpec> specs;
  for (const weights::TensorShape& shape : weights::TensorShapes(config))
    specs.push_back({shape.name, weights::DType::kF32, shape.shape});
  DAVINCI_ASSIGN_OR_RETURN(auto writer, weights::SafetensorsWriter::Create(model.out, specs));
  const double deep = kDeviation / std::sqrt(2.0 * static_cast<double>(model.layers));
  for (const weights::TensorSpec& spec : specs) {
    size_t count = 1;
    for (const int64_t size : spec.shape) count *= static_cast<size_t>(size);
    const bool residual =
        spec.name.ends_with("o_proj.weight") || spec.name.ends_with("down_proj.weight");
    const std::vector<float> values =
        spec.name.ends_with("norm.weight")
            ? std::vector<float>(count, 1.0F)
            : NormalValues(spec.name, model.seed, count, residual ? deep : kDeviation);
    DAVINCI_RETURN_IF_ERROR(writer.Write(spec.name, std::as_bytes(std::span(values))));
  }
  DAVINCI_RETURN_IF_ERROR(writer.Finish().status());
  return config;
}

}  // namespace davinci::trainer
