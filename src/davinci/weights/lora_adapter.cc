#include "davinci/weights/lora_adapter.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/weights/dequantize.h"
#include "davinci/weights/safetensors_writer.h"
#include "davinci/weights/tensor_file.h"

namespace davinci::weights {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kPrefix = "base_model.model.";
constexpr uint64_t kLargestAdapterConfig_bytes = 10 << 20;

// True for null, false, 0, "", [], {} and "none": what leaves a switch off.
bool IsOff(const json& value) {
  // NOLINTNEXTLINE(readability-container-size-empty): empty() is false for the JSON text ""
  return value.is_null() || value == false || value == 0 || value == "" || value == "none" ||
         ((value.is_array() || value.is_object()) && value.empty());
}

Status ReadConfig(const fs::path& path, LoraAdapter* adapter) {
  const auto bad = [&](std::string_view what) {
    return InvalidArgument(fmt::format("{}: {}", path.string(), what));
  };
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kLargestAdapterConfig_bytes));
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return bad("not a JSON object");
  if (!root.contains("peft_type") || root["peft_type"] != "LORA")
    return bad("peft_type is not LORA, the only kind supported");
  for (const char* key : {"use_dora", "bias", "rank_pattern", "alpha_pattern", "modules_to_save",
                          "fan_in_fan_out", "megatron_config", "layer_replication", "lora_bias",
                          "use_qalora", "trainable_token_indices", "target_parameters"})
    if (root.contains(key) && !IsOff(root[key]))
      return bad(fmt::format("{} is {}, which is not supported", key, JsonText(root[key])));
  if (!root.contains("r") || !root["r"].is_number_unsigned() || root["r"].get<uint64_t>() < 1 ||
      root["r"].get<uint64_t>() > 65536)
    return bad("r is not an integer between 1 and 65536");
  adapter->rank = root["r"].get<int64_t>();
  if (!root.contains("lora_alpha") || !root["lora_alpha"].is_number())
    return bad("lora_alpha is not a number");
  adapter->alpha = root["lora_alpha"].get<double>();
  adapter->use_rslora = root.contains("use_rslora") && root["use_rslora"] == true;
  if (root.contains("lora_dropout") && root["lora_dropout"].is_number())
    adapter->dropout = root["lora_dropout"].get<double>();
  if (root.contains("base_model_name_or_path") && root["base_model_name_or_path"].is_string())
    adapter->base_model = root["base_model_name_or_path"].get<std::string>();
  return Status::Ok();
}

}  // namespace

double LoraAdapter::scale() const {
  const auto by = static_cast<double>(rank);
  return alpha / (use_rslora ? std::sqrt(by) : by);
}

Result<LoraAdapter> LoadLoraAdapter(const fs::path& folder) {
  LoraAdapter adapter;
  DAVINCI_RETURN_IF_ERROR(ReadConfig(folder / "adapter_config.json", &adapter));
  const fs::path weights = folder / "adapter_model.safetensors";
  DAVINCI_ASSIGN_OR_RETURN(const TensorFile file, TensorFile::Open(weights));
  for (const Tensor& tensor : file.tensors()) {
    const auto bad = [&](std::string_view what) {
      return InvalidArgument(fmt::format("{}: tensor {}: {}", weights.string(), tensor.name, what));
    };
    const bool is_a = tensor.name.ends_with(".lora_A.weight");
    if (!tensor.name.starts_with(kPrefix) || (!is_a && !tensor.name.ends_with(".lora_B.weight")))
      return bad("not a base_model.model.….lora_A.weight or lora_B.weight");
    if (tensor.shape.size() != 2 || tensor.shape[is_a ? 0 : 1] != adapter.rank)
      return bad(fmt::format("its shape [{}] does not fit rank {}", fmt::join(tensor.shape, ", "),
                             adapter.rank));
    const std::string name =
        tensor.name.substr(kPrefix.size(), tensor.name.size() - kPrefix.size() -
                                               std::string_view(".lora_A.weight").size());
    LoraModule& module = adapter.modules[name];
    std::vector<float>& values = is_a ? module.a : module.b;
    (is_a ? module.in_features : module.out_features) = tensor.shape[is_a ? 1 : 0];
    values.resize(static_cast<size_t>(tensor.num_elements()));
    DAVINCI_RETURN_IF_ERROR(ReadFloat32(tensor, values));
  }
  if (adapter.modules.empty())
    return InvalidArgument(fmt::format("{}: holds no modules", weights.string()));
  for (const auto& [name, module] : adapter.modules)
    if (module.a.empty() || module.b.empty())
      return InvalidArgument(fmt::format("{}: {} has no lora_{}", weights.string(), name,
                                         module.a.empty() ? "A" : "B"));
  return adapter;
}

Status SaveLoraAdapter(const LoraAdapter& adapter, const fs::path& folder, DType dtype) {
  std::vector<TensorSpec> specs;
  std::set<std::string> targets;
  for (const auto& [name, module] : adapter.modules) {
    specs.push_back({fmt::format("{}{}.lora_A.weight", kPrefix, name),
                     dtype,
                     {adapter.rank, module.in_features}});
    specs.push_back({fmt::format("{}{}.lora_B.weight", kPrefix, name),
                     dtype,
                     {module.out_features, adapter.rank}});
    targets.insert(name.substr(name.rfind('.') + 1));
  }
  SafetensorsOptions options;
  options.stem = "adapter_model";
  options.max_shard_bytes = int64_t{1} << 62;
  DAVINCI_ASSIGN_OR_RETURN(SafetensorsWriter writer,
                           SafetensorsWriter::Create(folder, specs, options));
  for (const auto& [name, module] : adapter.modules) {
    DAVINCI_ASSIGN_OR_RETURN(const auto a, Quantize(dtype, module.a));
    DAVINCI_ASSIGN_OR_RETURN(const auto b, Quantize(dtype, module.b));
    DAVINCI_RETURN_IF_ERROR(writer.Write(fmt::format("{}{}.lora_A.weight", kPrefix, name), a));
    DAVINCI_RETURN_IF_ERROR(writer.Write(fmt::format("{}{}.lora_B.weight", kPrefix, name), b));
  }
  const auto names = writer.Finish();
  if (!names.ok()) return names.status();
  const nlohmann::ordered_json config = {{"peft_type", "LORA"},
                                         {"task_type", "CAUSAL_LM"},
                                         {"base_model_name_or_path", adapter.base_model},
                                         {"r", adapter.rank},
                                         {"lora_alpha", adapter.alpha},
                                         {"lora_dropout", adapter.dropout},
                                         {"use_rslora", adapter.use_rslora},
                                         {"use_dora", false},
                                         {"bias", "none"},
                                         {"fan_in_fan_out", false},
                                         {"inference_mode", true},
                                         {"target_modules", targets}};
  return WriteFileAtomic(folder / "adapter_config.json", JsonText(config, 2) + "\n");
}

Status CheckLoraAdapter(const LoraAdapter& adapter, const ModelConfig& config) {
  std::map<std::string, std::vector<int64_t>> linear;
  for (const TensorShape& tensor : TensorShapes(config))
    if (tensor.shape.size() == 2) linear[tensor.name] = tensor.shape;
  for (const auto& [name, module] : adapter.modules) {
    const auto found = linear.find(name + ".weight");
    if (found == linear.end())
      return InvalidArgument(fmt::format("the adapter changes {}, which this model lacks", name));
    if (found->second != std::vector<int64_t>{module.out_features, module.in_features})
      return InvalidArgument(fmt::format("the adapter's {} is [{}, {}], the model's [{}]", name,
                                         module.out_features, module.in_features,
                                         fmt::join(found->second, ", ")));
  }
  return Status::Ok();
}

Status MergeLora(const LoraAdapter& adapter, const LoraModule& module, std::span<float> weight) {
  const auto in = static_cast<size_t>(module.in_features);
  const auto out = static_cast<size_t>(module.out_features);
  const auto rank = static_cast<size_t>(adapter.rank);
  if (weight.size() != in * out || module.a.size() != rank * in || module.b.size() != out * rank)
    return InvalidArgument("LoRA: weight and adapter have different shapes");
  std::vector<double> row(in);
  for (size_t o = 0; o < out; ++o) {
    std::fill(row.begin(), row.end(), 0.0);
    for (size_t r = 0; r < rank; ++r) {
      const double factor = module.b[o * rank + r];
      for (size_t i = 0; i < in; ++i) row[i] += factor * module.a[r * in + i];
    }
    for (size_t i = 0; i < in; ++i)
      weight[o * in + i] = static_cast<float>(weight[o * in + i] + adapter.scale() * row[i]);
  }
  return Status::Ok();
}

}  // namespace davinci::weights
