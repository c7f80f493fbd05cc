#include "davinci/weights/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/weights/inert_fields.h"

namespace davinci::weights {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kLargestConfig_bytes = 10 << 20;
// Sizes above which a file is corrupt, and products of its numbers may overflow.
constexpr int64_t kLargestSize = int64_t{1} << 28;
constexpr int64_t kMostLayers = 4096;

// The members of an object, each read once; what is left over at the end is an error.
class Fields {
 public:
  Fields(const json& object, std::string where) : object_(object), where_(std::move(where)) {}

  Status Bad(std::string_view field, std::string_view what) const {
    return InvalidArgument(fmt::format("{}{} {}", where_, field, what));
  }

  const json* Take(const char* field) {
    taken_.insert(field);
    const auto found = object_.find(field);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  Result<int64_t> Size(const char* field, std::optional<int64_t> absent, int64_t most) {
    const json* value = Take(field);
    if (value == nullptr) {
      if (absent) return *absent;
      return Bad(field, "is missing");
    }
    if (!value->is_number_integer() || value->get<json::number_integer_t>() < 1 ||
        (value->is_number_unsigned() &&
         value->get<json::number_unsigned_t>() > static_cast<uint64_t>(most)))
      return Bad(field, fmt::format("is {}, expected an integer between 1 and {}", JsonText(*value),
                                    most));
    return value->get<int64_t>();
  }

  Result<double> Positive(const char* field, std::optional<double> absent) {
    const json* value = Take(field);
    if (value == nullptr) {
      if (absent) return *absent;
      return Bad(field, "is missing");
    }
    if (!value->is_number() || !(value->get<double>() > 0) || std::isinf(value->get<double>()))
      return Bad(field, fmt::format("is {}, expected a number above 0", JsonText(*value)));
    return value->get<double>();
  }

  Result<bool> Flag(const char* field, bool absent) {
    const json* value = Take(field);
    if (value == nullptr) return absent;
    if (!value->is_boolean())
      return Bad(field, fmt::format("is {}, expected true or false", JsonText(*value)));
    return value->get<bool>();
  }

  Result<std::string> Text(const char* field, std::string_view absent) {
    const json* value = Take(field);
    if (value == nullptr) return std::string(absent);
    if (!value->is_string())
      return Bad(field, fmt::format("is {}, expected a string", JsonText(*value)));
    return value->get<std::string>();
  }

  // `is_inert(key, value)`: such a member may be left over.
  template <typename IsInert>
  Status NothingElse(IsInert is_inert) const {
    for (const auto& [key, value] : object_.items())
      if (!taken_.contains(key) && !value.is_null() && !is_inert(key, value))
        return Bad(key, "is not known here, and may change what the model computes");
    return Status::Ok();
  }

 private:
  const json& object_;
  std::string where_;
  std::set<std::string, std::less<>> taken_;
};

Status ReadTokenIds(Fields& fields, ModelConfig* config) {
  const auto id = [&](const char* field, const json& value) -> Result<int64_t> {
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() &&
         value.get<json::number_unsigned_t>() > static_cast<uint64_t>(kLargestSize)) ||
        value.get<json::number_integer_t>() < -1)
      return fields.Bad(field, fmt::format("is {}, expected a token's number", JsonText(value)));
    return value.get<int64_t>();
  };
  if (const json* value = fields.Take("bos_token_id")) {
    DAVINCI_ASSIGN_OR_RETURN(config->bos_token_id, id("bos_token_id", *value));
  }
  if (const json* value = fields.Take("pad_token_id")) {
    DAVINCI_ASSIGN_OR_RETURN(config->pad_token_id, id("pad_token_id", *value));
  }
  if (const json* value = fields.Take("eos_token_id")) {
    const json list = value->is_array() ? *value : json::array({*value});
    for (const json& item : list) {
      DAVINCI_ASSIGN_OR_RETURN(const int64_t token, id("eos_token_id", item));
      if (token >= 0) config->eos_token_ids.push_back(token);
    }
  }
  return Status::Ok();
}

double Mscale(double scale, double mscale) {
  return scale <= 1 ? 1.0 : 0.1 * mscale * std::log(scale) + 1.0;
}

Status ReadYarn(Fields& fields, RopeScaling* scaling) {
  const json* given = fields.Take("attention_factor");
  const json* mscale = fields.Take("mscale");
  const json* mscale_all = fields.Take("mscale_all_dim");
  for (const auto& [name, value] :
       {std::pair("attention_factor", given), {"mscale", mscale}, {"mscale_all_dim", mscale_all}})
    if (value != nullptr && !value->is_number()) return fields.Bad(name, "is not a number");
  const auto number = [](const json* value) {
    return value == nullptr ? 0.0 : value->get<double>();
  };
  if (given != nullptr)
    scaling->attention_factor = number(given);
  else if (number(mscale) != 0 && number(mscale_all) != 0)
    scaling->attention_factor =
        Mscale(scaling->factor, number(mscale)) / Mscale(scaling->factor, number(mscale_all));
  else
    scaling->attention_factor = Mscale(scaling->factor, 1);
  DAVINCI_ASSIGN_OR_RETURN(scaling->beta_fast, fields.Positive("beta_fast", 32));
  DAVINCI_ASSIGN_OR_RETURN(scaling->beta_slow, fields.Positive("beta_slow", 1));
  DAVINCI_ASSIGN_OR_RETURN(scaling->truncate, fields.Flag("truncate", true));
  return Status::Ok();
}

// rope_theta and rope_scaling of old files, rope_parameters of new ones.
Status ReadRope(Fields& fields, const std::string& where, ModelConfig* config) {
  const json* theta = fields.Take("rope_theta");
  const json* old_style = fields.Take("rope_scaling");
  const json* new_style = fields.Take("rope_parameters");
  if (old_style != nullptr && new_style != nullptr && *old_style != *new_style)
    return fields.Bad("rope_scaling", "and rope_parameters say different things");
  const json* object = new_style != nullptr ? new_style : old_style;
  const char* name = new_style != nullptr ? "rope_parameters" : "rope_scaling";
  static const json kNothing = json::object();
  if (object == nullptr) object = &kNothing;
  if (!object->is_object()) return fields.Bad(name, "is not an object");
  if (object->contains("full_attention") || object->contains("sliding_attention"))
    return fields.Bad(name, "differs between layers, which is not supported");

  Fields rope(*object, fmt::format("{}{}.", where, name));
  const json* inner_theta = rope.Take("rope_theta");
  if (theta != nullptr && inner_theta != nullptr && *theta != *inner_theta)
    return fields.Bad("rope_theta", fmt::format("and {}.rope_theta differ", name));
  if (inner_theta != nullptr) theta = inner_theta;
  if (theta != nullptr) {
    if (!theta->is_number() || !(theta->get<double>() > 1))
      return fields.Bad("rope_theta", "is not a number above 1");
    config->rope_theta = theta->get<double>();
  }
  DAVINCI_ASSIGN_OR_RETURN(std::string kind, rope.Text("rope_type", ""));
  DAVINCI_ASSIGN_OR_RETURN(const std::string old_kind, rope.Text("type", kind));
  if (kind.empty()) kind = old_kind;
  if (kind.empty()) kind = "default";
  if (!old_kind.empty() && kind != old_kind)
    return rope.Bad("type", "and rope_type say different things");
  DAVINCI_ASSIGN_OR_RETURN(const double partial, rope.Positive("partial_rotary_factor", 1));
  if (partial != 1) return rope.Bad("partial_rotary_factor", "other than 1 is not supported");

  using Kind = RopeScaling::Kind;
  RopeScaling& scaling = config->rope_scaling;
  // What is said of a kind that does not use it.
  const auto is_inert = [&](std::string_view field, const json& value) {
    if (field == "finetuned") return true;
    if (field == "factor" || field == "attention_factor") return value == 1;
    return field == "original_max_position_embeddings" &&
           (scaling.kind != Kind::kDynamic || value == scaling.original_max_positions);
  };
  if (kind == "default") return rope.NothingElse(is_inert);
  if (kind == "linear")
    scaling.kind = Kind::kLinear;
  else if (kind == "dynamic")
    scaling.kind = Kind::kDynamic;
  else if (kind == "yarn")
    scaling.kind = Kind::kYarn;
  else if (kind == "llama3")
    scaling.kind = Kind::kLlama3;
  else
    return rope.Bad("rope_type", fmt::format("\"{}\" is not supported; supported are default, "
                                             "linear, dynamic, yarn and llama3",
                                             kind));
  DAVINCI_ASSIGN_OR_RETURN(scaling.factor, rope.Positive("factor", std::nullopt));
  if (scaling.factor < 1) return rope.Bad("factor", "is below 1");
  if (scaling.kind == Kind::kDynamic) {
    scaling.original_max_positions = config->max_positions;
  } else if (scaling.kind != Kind::kLinear) {
    DAVINCI_ASSIGN_OR_RETURN(
        scaling.original_max_positions,
        rope.Size("original_max_position_embeddings", std::nullopt, kLargestSize));
  }
  if (scaling.kind == Kind::kYarn) DAVINCI_RETURN_IF_ERROR(ReadYarn(rope, &scaling));
  if (scaling.kind == Kind::kLlama3) {
    DAVINCI_ASSIGN_OR_RETURN(scaling.low_freq_factor,
                             rope.Positive("low_freq_factor", std::nullopt));
    DAVINCI_ASSIGN_OR_RETURN(scaling.high_freq_factor,
                             rope.Positive("high_freq_factor", std::nullopt));
    if (scaling.high_freq_factor <= scaling.low_freq_factor)
      return rope.Bad("high_freq_factor", "is not above low_freq_factor");
  }
  return rope.NothingElse(is_inert);
}

// Sliding windows are not supported; fields that switch them off are fine.
Status ReadSlidingWindow(Fields& fields, const ModelConfig& config) {
  DAVINCI_ASSIGN_OR_RETURN(const bool use, fields.Flag("use_sliding_window", false));
  const json* window = fields.Take("sliding_window");
  const json* first = fields.Take("max_window_layers");
  const json* types = fields.Take("layer_types");
  if (types != nullptr) {
    if (!types->is_array() || types->size() != static_cast<size_t>(config.num_layers))
      return fields.Bad("layer_types", "does not name one type for each layer");
    for (const json& type : *types)
      if (type != "full_attention")
        return fields.Bad("layer_types",
                          fmt::format("has {}; only full attention is supported", JsonText(type)));
    return Status::Ok();
  }
  if (!use || window == nullptr) return Status::Ok();
  // Layers from max_window_layers on slide.
  if (first != nullptr && first->is_number_integer() && first->get<int64_t>() >= config.num_layers)
    return Status::Ok();
  return fields.Bad("use_sliding_window", "is true; sliding-window attention is not supported");
}

Status ReadStoredType(Fields& fields, ModelConfig* config) {
  for (const char* field : {"torch_dtype", "dtype"}) {
    DAVINCI_ASSIGN_OR_RETURN(const std::string name, fields.Text(field, ""));
    if (name == "float32")
      config->stored_dtype = DType::kF32;
    else if (name == "float16")
      config->stored_dtype = DType::kF16;
    else if (name == "bfloat16")
      config->stored_dtype = DType::kBF16;
    else if (!name.empty())
      return fields.Bad(field, fmt::format("\"{}\" is not supported", name));
  }
  return Status::Ok();
}

Status CheckShapes(const ModelConfig& config, std::string_view where) {
  const auto bad = [&](std::string_view what) {
    return InvalidArgument(fmt::format("{}{}", where, what));
  };
  if (config.num_heads % config.num_kv_heads != 0)
    return bad(fmt::format("{} attention heads cannot share {} key-value heads", config.num_heads,
                           config.num_kv_heads));
  if (config.head_dim % 2 != 0 || config.head_dim < 2)
    return bad(fmt::format("head_dim {} is odd; RoPE needs pairs", config.head_dim));
  if (config.rope_scaling.kind == RopeScaling::Kind::kDynamic && config.head_dim < 4)
    return bad("dynamic RoPE scaling needs a head_dim above 2");
  if (config.num_heads * config.head_dim > kLargestSize)
    return bad(fmt::format("{} heads of {} are too large", config.num_heads, config.head_dim));
  return Status::Ok();
}

Result<ModelConfig> Parse(const json& root, const std::string& where) {
  Fields fields(root, where);
  ModelConfig config;
  DAVINCI_ASSIGN_OR_RETURN(const std::string type, fields.Text("model_type", ""));
  if (type == "llama")
    config.family = Family::kLlama;
  else if (type == "qwen2")
    config.family = Family::kQwen2;
  else if (type == "qwen3")
    config.family = Family::kQwen3;
  else
    return fields.Bad("model_type", fmt::format("\"{}\" is not supported; supported are llama, "
                                                "qwen2 and qwen3",
                                                type));
  static const std::string kClasses[] = {"LlamaForCausalLM", "Qwen2ForCausalLM",
                                         "Qwen3ForCausalLM"};
  const std::string& expected = kClasses[static_cast<size_t>(config.family)];
  if (const json* architectures = fields.Take("architectures")) {
    if (!architectures->is_array() || architectures->size() != 1 || (*architectures)[0] != expected)
      return fields.Bad("architectures", fmt::format("is {}, expected [\"{}\"]",
                                                     JsonText(*architectures), expected));
  }
  if (const json* quantization = fields.Take("quantization_config");
      quantization != nullptr && !IsInertQuantization(*quantization))
    return fields.Bad("quantization_config",
                      "is set; quantized checkpoints are supported as GGUF only");
  DAVINCI_ASSIGN_OR_RETURN(const std::string activation, fields.Text("hidden_act", "silu"));
  if (activation != "silu")
    return fields.Bad("hidden_act", fmt::format("\"{}\" is not supported, only silu", activation));

  const auto size = [&](const char* field, std::optional<int64_t> absent = std::nullopt) {
    return fields.Size(field, absent, kLargestSize);
  };
  DAVINCI_ASSIGN_OR_RETURN(config.vocab_size, size("vocab_size"));
  DAVINCI_ASSIGN_OR_RETURN(config.hidden_size, size("hidden_size"));
  DAVINCI_ASSIGN_OR_RETURN(config.intermediate_size, size("intermediate_size"));
  DAVINCI_ASSIGN_OR_RETURN(config.num_layers,
                           fields.Size("num_hidden_layers", std::nullopt, kMostLayers));
  DAVINCI_ASSIGN_OR_RETURN(config.num_heads, size("num_attention_heads"));
  const bool llama = config.family == Family::kLlama;
  // transformers' own default for the Qwen families is a number unrelated to the file.
  DAVINCI_ASSIGN_OR_RETURN(
      config.num_kv_heads,
      size("num_key_value_heads", llama ? std::optional(config.num_heads) : std::nullopt));
  std::optional<int64_t> head_dim;
  if (config.family != Family::kQwen3 && config.hidden_size % config.num_heads == 0)
    head_dim = config.hidden_size / config.num_heads;
  DAVINCI_ASSIGN_OR_RETURN(config.head_dim, size("head_dim", head_dim));
  if (config.family == Family::kQwen2 && config.head_dim * config.num_heads != config.hidden_size)
    return fields.Bad("head_dim", "of a qwen2 model must be hidden_size / num_attention_heads");
  DAVINCI_ASSIGN_OR_RETURN(config.max_positions, size("max_position_embeddings"));
  DAVINCI_ASSIGN_OR_RETURN(config.rms_norm_eps, fields.Positive("rms_norm_eps", 1e-6));
  DAVINCI_ASSIGN_OR_RETURN(config.tied_embeddings, fields.Flag("tie_word_embeddings", false));
  DAVINCI_RETURN_IF_ERROR(ReadRope(fields, where, &config));

  bool attention_bias = false;
  if (config.family != Family::kQwen2) {
    DAVINCI_ASSIGN_OR_RETURN(attention_bias, fields.Flag("attention_bias", false));
  }
  config.qkv_bias = attention_bias || config.family == Family::kQwen2;
  config.o_bias = attention_bias;
  config.qk_norm = config.family == Family::kQwen3;
  if (llama) {
    DAVINCI_ASSIGN_OR_RETURN(config.mlp_bias, fields.Flag("mlp_bias", false));
    DAVINCI_ASSIGN_OR_RETURN(const bool interleaved, fields.Flag("rope_interleaved", false));
    if (interleaved) return fields.Bad("rope_interleaved", "is true, which is not supported");
  }
  DAVINCI_RETURN_IF_ERROR(ReadSlidingWindow(fields, config));
  DAVINCI_RETURN_IF_ERROR(ReadTokenIds(fields, &config));
  DAVINCI_RETURN_IF_ERROR(ReadStoredType(fields, &config));
  DAVINCI_RETURN_IF_ERROR(fields.NothingElse([&](std::string_view field, const json& value) {
    return IsInertField(field, value, config);
  }));
  DAVINCI_RETURN_IF_ERROR(CheckShapes(config, where));
  return config;
}

void AddGenerationConfig(const fs::path& path, ModelConfig* config) {
  std::error_code error;
  if (!fs::exists(path, error)) return;
  const auto text = ReadFile(path, kLargestConfig_bytes);
  if (!text.ok()) return;
  const json root = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object() || !root.contains("eos_token_id")) return;
  const json& given = root["eos_token_id"];
  for (const json& id : given.is_array() ? given : json::array({given})) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() > static_cast<uint64_t>(kLargestSize))
      continue;
    const auto token = id.get<int64_t>();
    auto& known = config->eos_token_ids;
    if (std::find(known.begin(), known.end(), token) == known.end()) known.push_back(token);
  }
}

}  // namespace

Result<ModelConfig> ParseModelConfig(std::string_view text, std::string_view name) {
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return InvalidArgument(fmt::format("{}: not a JSON object", name));
  return Parse(root, fmt::format("{}: ", name));
}

Result<ModelConfig> LoadModelConfig(const fs::path& path) {
  std::error_code error;
  fs::path file = path;
  if (fs::is_directory(path, error)) file = path / "config.json";
  if (file.extension() == ".gguf" || !fs::exists(file, error)) {
    if (file.extension() != ".gguf" && file.extension() == ".json" && file == path)
      return NotFound(fmt::format("{}: no such file", file.string()));
    DAVINCI_ASSIGN_OR_RETURN(const TensorFile tensors, TensorFile::Open(path));
    if (tensors.container() != Container::kGguf)
      return NotFound(fmt::format("{}: no config.json", path.string()));
    return ModelConfigFromGguf(tensors);
  }
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kLargestConfig_bytes));
  DAVINCI_ASSIGN_OR_RETURN(ModelConfig config, ParseModelConfig(text, file.string()));
  AddGenerationConfig(file.parent_path() / "generation_config.json", &config);
  return config;
}

Result<nlohmann::ordered_json> ToHfConfig(const ModelConfig& config) {
  static const char* const kClasses[] = {"LlamaForCausalLM", "Qwen2ForCausalLM",
                                         "Qwen3ForCausalLM"};
  nlohmann::ordered_json root;
  const auto token = [](int64_t id) { return id < 0 ? json(nullptr) : json(id); };
  root["architectures"] = {kClasses[static_cast<size_t>(config.family)]};
  root["model_type"] = FamilyName(config.family);
  root["vocab_size"] = config.vocab_size;
  root["hidden_size"] = config.hidden_size;
  root["intermediate_size"] = config.intermediate_size;
  root["num_hidden_layers"] = config.num_layers;
  root["num_attention_heads"] = config.num_heads;
  root["num_key_value_heads"] = config.num_kv_heads;
  if (config.family != Family::kQwen2) root["head_dim"] = config.head_dim;
  root["hidden_act"] = "silu";
  root["max_position_embeddings"] = config.max_positions;
  root["rms_norm_eps"] = config.rms_norm_eps;
  root["rope_theta"] = config.rope_theta;
  const RopeScaling& scaling = config.rope_scaling;
  using Kind = RopeScaling::Kind;
  nlohmann::ordered_json rope = nullptr;
  switch (scaling.kind) {
    case Kind::kNone:
      break;
    case Kind::kLinear:
      rope = {{"rope_type", "linear"}, {"factor", scaling.factor}};
      break;
    case Kind::kDynamic:
      rope = {{"rope_type", "dynamic"}, {"factor", scaling.factor}};
      break;
    case Kind::kYarn:
      rope = {{"rope_type", "yarn"},
              {"factor", scaling.factor},
              {"original_max_position_embeddings", scaling.original_max_positions},
              {"attention_factor", scaling.attention_factor},
              {"beta_fast", scaling.beta_fast},
              {"beta_slow", scaling.beta_slow}};
      if (!scaling.truncate) rope["truncate"] = false;
      break;
    case Kind::kLlama3:
      rope = {{"rope_type", "llama3"},
              {"factor", scaling.factor},
              {"low_freq_factor", scaling.low_freq_factor},
              {"high_freq_factor", scaling.high_freq_factor},
              {"original_max_position_embeddings", scaling.original_max_positions}};
      break;
    case Kind::kFactors:
      return InvalidArgument(
          "this model has its own list of RoPE factors, which config.json cannot "
          "express; use the GGUF file itself");
  }
  root["rope_scaling"] = rope;
  if (config.family != Family::kQwen2) root["attention_bias"] = config.qkv_bias;
  if (config.family == Family::kLlama) root["mlp_bias"] = config.mlp_bias;
  if (config.family != Family::kLlama) root["use_sliding_window"] = false;
  root["tie_word_embeddings"] = config.tied_embeddings;
  root["bos_token_id"] = token(config.bos_token_id);
  root["eos_token_id"] = config.eos_token_ids.empty()       ? json(nullptr)
                         : config.eos_token_ids.size() == 1 ? json(config.eos_token_ids[0])
                                                            : json(config.eos_token_ids);
  root["pad_token_id"] = token(config.pad_token_id);
  root["torch_dtype"] = config.stored_dtype == DType::kF32   ? "float32"
                        : config.stored_dtype == DType::kF16 ? "float16"
                                                             : "bfloat16";
  return root;
}

}  // namespace davinci::weights
