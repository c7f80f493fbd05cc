#include "model_convert.h"

#include <fmt/format.h>

#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/text/tokenizer.h"
#include "davinci/weights/dequantize.h"
#include "davinci/weights/gguf_names.h"
#include "davinci/weights/gguf_writer.h"
#include "davinci/weights/lora_adapter.h"
#include "davinci/weights/model_config.h"
#include "davinci/weights/safetensors_writer.h"
#include "davinci/weights/tensor_file.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;
using namespace weights;  // NOLINT: nearly every name here is one of its

struct Source {
  ModelConfig config;
  TensorFile tensors;
  std::optional<text::TokenizerDefinition> tokenizer;  // nothing: the model has none
  std::optional<LoraAdapter> lora;
};

Result<std::optional<text::TokenizerDefinition>> FindTokenizer(const fs::path& from,
                                                               const TensorFile& tensors) {
  std::optional<text::TokenizerDefinition> none;
  const fs::path folder = fs::is_directory(from) ? from : from.parent_path();
  if (tensors.gguf() != nullptr) {
    if (tensors.gguf()->Find("tokenizer.ggml.model") == nullptr) return none;
    DAVINCI_ASSIGN_OR_RETURN(auto definition,
                             text::ReadGgufTokenizer(*tensors.gguf(), from.string()));
    return std::optional(std::move(definition));
  }
  if (!fs::exists(folder / "tokenizer.json")) return none;
  DAVINCI_ASSIGN_OR_RETURN(auto definition, text::ReadTokenizerFolder(folder / "tokenizer.json"));
  return std::optional(std::move(definition));
}

Result<std::vector<float>> Values(const Source& source, const Tensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.num_elements()));
  DAVINCI_RETURN_IF_ERROR(ReadFloat32(tensor, values));
  if (!source.lora) return values;
  const std::string_view suffix = ".weight";
  if (!tensor.name.ends_with(suffix)) return values;
  const auto module =
      source.lora->modules.find(tensor.name.substr(0, tensor.name.size() - suffix.size()));
  if (module != source.lora->modules.end())
    DAVINCI_RETURN_IF_ERROR(MergeLora(*source.lora, module->second, values));
  return values;
}

DType TypeFor(const Tensor& tensor, const ConvertOptions& options, bool gguf) {
  if (gguf && tensor.shape.size() < 2) return DType::kF32;
  if (options.dtype) {
    // A row that is no whole number of blocks stays exact enough in F16.
    const bool blocks = tensor.shape.back() % BlockOf(*options.dtype).elements == 0;
    return blocks ? *options.dtype : DType::kF16;
  }
  if (gguf && tensor.dtype == DType::kQ8_0) return DType::kQ8_0;
  return IsQuantized(tensor.dtype) || tensor.dtype == DType::kF64 ? DType::kBF16 : tensor.dtype;
}

DType DeclaredType(const Source& source, const ConvertOptions& options) {
  const Tensor* matrix = source.tensors.Find("model.layers.0.self_attn.v_proj.weight");
  return matrix == nullptr ? DType::kF32 : TypeFor(*matrix, options, false);
}

Result<std::vector<std::string>> ToFolder(Source& source, const ConvertOptions& options) {
  source.config.stored_dtype = DeclaredType(source, options);
  DAVINCI_ASSIGN_OR_RETURN(const auto config, ToHfConfig(source.config));
  std::vector<TensorSpec> specs;
  for (const TensorShape& shape : TensorShapes(source.config)) {
    const Tensor& tensor = *source.tensors.Find(shape.name);
    DType dtype = TypeFor(tensor, options, false);
    // A GGUF's vectors are F32 whatever its matrices are; here one type is the rule.
    if (source.tensors.gguf() != nullptr) dtype = source.config.stored_dtype;
    specs.push_back({tensor.name, dtype, tensor.shape});
  }
  SafetensorsOptions layout;
  layout.max_shard_bytes = options.max_file_bytes;
  DAVINCI_ASSIGN_OR_RETURN(auto writer, SafetensorsWriter::Create(options.to, specs, layout));
  for (const TensorSpec& spec : specs) {
    DAVINCI_ASSIGN_OR_RETURN(const auto values, Values(source, *source.tensors.Find(spec.name)));
    DAVINCI_ASSIGN_OR_RETURN(const auto bytes, Quantize(spec.dtype, values));
    DAVINCI_RETURN_IF_ERROR(writer.Write(spec.name, bytes));
  }
  std::vector<std::string> written = {"config.json"};
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(options.to / "config.json", JsonText(config, 2) + "\n"));
  if (source.tokenizer) {
    for (const auto& [name, document] :
         {std::pair("tokenizer.json", text::ToTokenizerJson(*source.tokenizer)),
          {"tokenizer_config.json", text::ToTokenizerConfig(*source.tokenizer)}}) {
      DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(options.to / name, JsonText(document, 1) + "\n"));
      written.emplace_back(name);
    }
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto names, writer.Finish());
  written.insert(written.end(), names.begin(), names.end());
  return written;
}

Status AddTokenizer(const Source& source, GgufMetadata* metadata) {
  if (!source.tokenizer) return Status::Ok();
  const text::TokenizerDefinition& definition = *source.tokenizer;
  const std::string pre = text::GgufPreTokenizerName(definition);
  if (pre.empty())
    return InvalidArgument(
        "GGUF has no name for this tokenizer's pre-tokenizer; known are those of "
        "GPT-2, Llama-3, Qwen2 and SmolLM");
  // Every row of the embedding needs a token.
  const auto rows = static_cast<size_t>(source.config.vocab_size);
  std::vector<std::string> tokens = definition.tokens;
  std::vector<int32_t> types(rows, 1);
  for (const text::AddedToken& token : definition.added) {
    const auto id = static_cast<size_t>(token.id);
    if (id >= tokens.size()) tokens.resize(id + 1);
    tokens[id] = token.content;
    if (id < rows) types[id] = token.special ? 3 : 4;
  }
  if (tokens.size() > rows)
    return InvalidArgument(
        fmt::format("the tokenizer has {} tokens, the embedding {} rows", tokens.size(), rows));
  tokens.resize(rows);
  for (size_t id = 0; id < rows; ++id)
    if (tokens[id].empty()) tokens[id] = fmt::format("[PAD{}]", id), types[id] = 5;
  std::vector<std::string> merges;
  for (const auto& [left, right] : definition.merges) merges.push_back(left + " " + right);
  metadata->emplace_back("tokenizer.ggml.model", std::string("gpt2"));
  metadata->emplace_back("tokenizer.ggml.pre", pre);
  metadata->emplace_back("tokenizer.ggml.tokens", std::move(tokens));
  metadata->emplace_back("tokenizer.ggml.token_type", std::move(types));
  metadata->emplace_back("tokenizer.ggml.merges", std::move(merges));
  const auto id = [&](const char* key, int64_t value) {
    if (value >= 0) metadata->emplace_back(key, static_cast<uint32_t>(value));
  };
  const ModelConfig& config = source.config;
  id("tokenizer.ggml.bos_token_id",
     definition.bos_id >= 0 ? definition.bos_id : config.bos_token_id);
  id("tokenizer.ggml.eos_token_id", definition.eos_id >= 0         ? definition.eos_id
                                    : config.eos_token_ids.empty() ? -1
                                                                   : config.eos_token_ids.front());
  id("tokenizer.ggml.padding_token_id", definition.pad_id);
  metadata->emplace_back("tokenizer.ggml.add_bos_token", !definition.prefix.empty());
  if (!definition.suffix.empty()) metadata->emplace_back("tokenizer.ggml.add_eos_token", true);
  if (!definition.chat_template.empty())
    metadata->emplace_back("tokenizer.chat_template", definition.chat_template);
  return Status::Ok();
}

Result<std::vector<std::string>> ToGguf(const Source& source, const ConvertOptions& options) {
  DAVINCI_ASSIGN_OR_RETURN(auto metadata,
                           GgufMetadataOf(source.config, options.to.stem().string()));
  DAVINCI_RETURN_IF_ERROR(AddTokenizer(source, &metadata));
  std::vector<TensorSpec> specs;
  std::vector<std::string> hf_names;
  for (const TensorShape& shape : TensorShapes(source.config)) {
    const Tensor& tensor = *source.tensors.Find(shape.name);
    specs.push_back({GgufNameOf(shape.name).value(), TypeFor(tensor, options, true), shape.shape});
    hf_names.push_back(shape.name);
  }
  const std::vector<float> factors = GgufRopeFactors(source.config);
  if (!factors.empty())
    specs.push_back({"rope_freqs.weight", DType::kF32, {static_cast<int64_t>(factors.size())}});
  if (options.to.has_parent_path()) DAVINCI_RETURN_IF_ERROR(MakeDirs(options.to.parent_path()));
  DAVINCI_ASSIGN_OR_RETURN(auto writer,
                           GgufWriter::Create(options.to, metadata, specs, options.max_file_bytes));
  for (size_t i = 0; i < hf_names.size(); ++i) {
    DAVINCI_ASSIGN_OR_RETURN(auto values, Values(source, *source.tensors.Find(hf_names[i])));
    values = InGgufOrder(source.config, hf_names[i], std::move(values));
    DAVINCI_ASSIGN_OR_RETURN(const auto bytes, Quantize(specs[i].dtype, values));
    DAVINCI_RETURN_IF_ERROR(writer.Write(specs[i].name, bytes));
  }
  if (!factors.empty())
    DAVINCI_RETURN_IF_ERROR(writer.Write("rope_freqs.weight", std::as_bytes(std::span(factors))));
  return writer.Finish();
}

}  // namespace

Result<std::vector<std::string>> ConvertModel(const ConvertOptions& options) {
  const bool gguf = options.to.extension() == ".gguf";
  if (options.dtype && (!IsWritable(*options.dtype) || (!gguf && IsQuantized(*options.dtype))))
    return InvalidArgument(fmt::format("{} cannot be written to {}", DTypeName(*options.dtype),
                                       gguf ? "GGUF" : "safetensors; name a *.gguf file"));
  DAVINCI_ASSIGN_OR_RETURN(auto config, LoadModelConfig(options.from));
  DAVINCI_ASSIGN_OR_RETURN(auto tensors, TensorFile::Open(options.from));
  DAVINCI_RETURN_IF_ERROR(CheckTensors(config, tensors));
  DAVINCI_ASSIGN_OR_RETURN(auto tokenizer, FindTokenizer(options.from, tensors));
  Source source{std::move(config), std::move(tensors), std::move(tokenizer), std::nullopt};
  if (!options.lora.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(source.lora, LoadLoraAdapter(options.lora));
    DAVINCI_RETURN_IF_ERROR(CheckLoraAdapter(*source.lora, source.config));
  }
  std::error_code error;
  if (fs::equivalent(options.from, options.to, error))
    return InvalidArgument(fmt::format("{}: source and target are the same", options.to.string()));
  return gguf ? ToGguf(source, options) : ToFolder(source, options);
}

}  // namespace davinci::app
