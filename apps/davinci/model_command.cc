// davinci model: models on this machine. Weights are read by src/davinci/weights; pulling is done
// by the huggingface_hub package of the Python environment (python/model_pull.py).

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "commands.h"
#include "davinci/base/json_text.h"
#include "davinci/base/table.h"
#include "davinci/text/chat_template.h"
#include "davinci/text/tokenizer.h"
#include "davinci/weights/model_config.h"
#include "davinci/weights/tensor_file.h"
#include "installation.h"
#include "model_convert.h"
#include "model_make.h"
#include "report.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct ModelArguments {
  std::vector<std::string> folders;
  std::string path;
  std::string to;
  std::string type;
  std::string lora;
  std::string revision;
  double file_gib = 5;
  uint64_t split_bytes = 0;  // 0: file_gib
  bool tensors = false;
  bool json = false;
};

std::string Bytes(int64_t bytes) {
  if (bytes >= int64_t{1} << 30)
    return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30));
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string Count(int64_t count) {
  if (count >= 1'000'000'000) return fmt::format("{:.2f} B", static_cast<double>(count) / 1e9);
  if (count >= 1'000'000) return fmt::format("{:.1f} M", static_cast<double>(count) / 1e6);
  return fmt::format("{:.1f} k", static_cast<double>(count) / 1e3);
}

struct Summary {
  weights::ModelConfig config;
  int64_t parameters = 0;
  int64_t bytes = 0;
  std::string types;  // "BF16", "Q8_0 + F32"
};

Result<Summary> Summarise(const weights::ModelConfig& config, const weights::TensorFile& file) {
  Summary summary{config, 0, file.total_bytes(), ""};
  std::map<weights::DType, int64_t> elements;
  for (const weights::Tensor& tensor : file.tensors()) {
    summary.parameters += tensor.num_elements();
    elements[tensor.dtype] += tensor.num_elements();
  }
  std::vector<std::pair<int64_t, weights::DType>> order;
  for (const auto& [dtype, count] : elements) order.emplace_back(count, dtype);
  std::sort(order.rbegin(), order.rend());
  for (const auto& [count, dtype] : order)
    summary.types += (summary.types.empty() ? "" : " + ") + std::string(DTypeName(dtype));
  return summary;
}

// Folders below `root` with a model, and GGUF files: of a split one the first part.
std::vector<fs::path> FindModels(const fs::path& root) {
  std::set<fs::path> found;
  std::error_code error;
  auto entries =
      fs::recursive_directory_iterator(root, fs::directory_options::skip_permission_denied, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    if (entries.depth() > 6) entries.disable_recursion_pending();
    const fs::path& path = entries->path();
    const std::string name = path.filename().string();
    if (name == "config.json") {
      const fs::path folder = path.parent_path();
      if (fs::exists(folder / "model.safetensors", error) ||
          fs::exists(folder / "model.safetensors.index.json", error))
        found.insert(folder);
    } else if (path.extension() == ".gguf") {
      const auto parts = weights::GgufParts(path);
      found.insert(parts.ok() ? parts->front() : path);
    }
  }
  return {found.begin(), found.end()};
}

std::vector<fs::path> DefaultFolders() {
  std::vector<fs::path> folders = {"models"};
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string hub = variable("HF_HUB_CACHE"); !hub.empty())
    folders.emplace_back(hub);
  else if (const std::string home = variable("HF_HOME"); !home.empty())
    folders.emplace_back(fs::path(home) / "hub");
  else if (const std::string user = variable("HOME"); !user.empty())
    folders.emplace_back(fs::path(user) / ".cache/huggingface/hub");
  return folders;
}

int List(const ModelArguments& arguments) {
  std::vector<fs::path> folders(arguments.folders.begin(), arguments.folders.end());
  std::error_code error;
  for (const fs::path& folder : folders)
    if (!fs::is_directory(folder, error))
      return FailCommand("model", NotFound(fmt::format("{} is not a folder", folder.string())));
  if (folders.empty()) folders = DefaultFolders();
  Table table({{"model"},
               {"family"},
               {"parameters", Align::kRight},
               {"type"},
               {"size", Align::kRight},
               {"context", Align::kRight}});
  ordered_json list = ordered_json::array();
  for (const fs::path& folder : folders) {
    for (const fs::path& path : FindModels(folder)) {
      const auto row = [&]() -> Result<Summary> {
        DAVINCI_ASSIGN_OR_RETURN(const auto file, weights::TensorFile::Open(path));
        DAVINCI_ASSIGN_OR_RETURN(const auto config, weights::LoadModelConfig(path));
        return Summarise(config, file);
      }();
      if (!row.ok()) {
        list.push_back({{"path", path.string()}, {"error", row.status().message()}});
        table.AddRow({path.string(), "not supported: " + row.status().message(), "", "", "", ""});
        continue;
      }
      const std::string family(FamilyName(row->config.family));
      list.push_back({{"path", path.string()},
                      {"family", family},
                      {"parameters", row->parameters},
                      {"type", row->types},
                      {"bytes", row->bytes},
                      {"context", row->config.max_positions}});
      table.AddRow({path.string(), family, Count(row->parameters), row->types, Bytes(row->bytes),
                    std::to_string(row->config.max_positions)});
    }
  }
  if (arguments.json) {
    fmt::print("{}\n", JsonText(list, 2));
  } else if (list.empty()) {
    fmt::print("no models here; see: davinci model pull --help\n");
  } else {
    Table::Options options;
    options.color = UseColor(STDOUT_FILENO);
    fmt::print("{}", table.Render(options));
  }
  return 0;
}

Result<ordered_json> Describe(const ModelArguments& arguments) {
  DAVINCI_ASSIGN_OR_RETURN(const auto config, weights::LoadModelConfig(arguments.path));
  DAVINCI_ASSIGN_OR_RETURN(const auto file, weights::TensorFile::Open(arguments.path));
  DAVINCI_RETURN_IF_ERROR(weights::CheckTensors(config, file));
  DAVINCI_ASSIGN_OR_RETURN(const Summary summary, Summarise(config, file));
  ordered_json root = {
      {"path", arguments.path},
      {"container", file.container() == weights::Container::kGguf ? "GGUF" : "safetensors"},
      {"files", file.files().size()},
      {"family", FamilyName(config.family)},
      {"parameters", summary.parameters},
      {"type", summary.types},
      {"bytes", summary.bytes},
      {"layers", config.num_layers},
      {"hidden", config.hidden_size},
      {"intermediate", config.intermediate_size},
      {"heads", config.num_heads},
      {"kv_heads", config.num_kv_heads},
      {"head_dim", config.head_dim},
      {"vocabulary", config.vocab_size},
      {"context", config.max_positions},
      {"tied_embeddings", config.tied_embeddings},
      {"kv_bytes_per_token_bf16", 4 * config.num_layers * config.num_kv_heads * config.head_dim}};
  // A model without a usable tokenizer can still be converted.
  const auto tokenizer = text::Tokenizer::Load(arguments.path);
  if (tokenizer.ok()) {
    std::string chat = tokenizer->chat_template().empty() ? "none" : "supported";
    if (chat == "supported") {
      const auto parsed = text::ChatTemplate::Of(*tokenizer);
      if (!parsed.ok()) chat = parsed.status().message();
    }
    root["tokenizer"] = {{"tokens", tokenizer->vocab_size()},
                         {"digest", tokenizer->digest()},
                         {"chat_template", chat}};
  } else {
    root["tokenizer"] = {{"error", tokenizer.status().message()}};
  }
  if (arguments.tensors) {
    root["tensors"] = ordered_json::array();
    for (const weights::Tensor& tensor : file.tensors())
      root["tensors"].push_back({{"name", tensor.name},
                                 {"type", DTypeName(tensor.dtype)},
                                 {"shape", tensor.shape},
                                 {"bytes", tensor.data.size()}});
  }
  return root;
}

int Inspect(const ModelArguments& arguments) {
  const auto described = Describe(arguments);
  if (!described.ok()) return FailCommand("model", described.status());
  if (arguments.json) {
    fmt::print("{}\n", JsonText(*described, 2));
    return 0;
  }
  for (const auto& [key, value] : described->items()) {
    if (key == "tensors") {
      for (const auto& tensor : value)
        fmt::print("  {:<55} {:<5} {:<16} {:>14}\n", tensor["name"].get<std::string>(),
                   tensor["type"].get<std::string>(), JsonText(tensor["shape"]),
                   JsonText(tensor["bytes"]));
    } else if (value.is_object()) {
      for (const auto& [inner, item] : value.items())
        fmt::print("{:<24} {}\n", key + " " + inner,
                   item.is_string() ? item.get<std::string>() : JsonText(item));
    } else {
      fmt::print("{:<24} {}\n", key,
                 value.is_string() ? value.get<std::string>() : JsonText(value));
    }
  }
  return 0;
}

int Convert(const ModelArguments& arguments) {
  ConvertOptions options;
  options.from = arguments.path;
  options.to = arguments.to;
  options.lora = arguments.lora;
  options.max_file_bytes = arguments.split_bytes > 0
                               ? static_cast<int64_t>(arguments.split_bytes)
                               : static_cast<int64_t>(arguments.file_gib * (1 << 30));
  if (!arguments.type.empty()) {
    for (const weights::DType dtype :
         {weights::DType::kF32, weights::DType::kF16, weights::DType::kBF16, weights::DType::kQ8_0})
      if (DTypeName(dtype) == arguments.type) options.dtype = dtype;
  }
  const auto written = ConvertModel(options);
  if (!written.ok()) return FailCommand("model", written.status());
  for (const std::string& name : *written) fmt::print("{}\n", name);
  return 0;
}

int Pull(const ModelArguments& arguments, const GlobalOptions& global) {
  const auto installation = FindInstallation(global.python);
  if (!installation.ok()) return FailCommand("model", installation.status());
  std::vector<std::string> words = {arguments.path};
  if (!arguments.revision.empty()) words.insert(words.end(), {"--revision", arguments.revision});
  if (!arguments.to.empty()) words.insert(words.end(), {"--into", arguments.to});
  const auto status = RunPython(*installation, "python/model_pull.py", words);
  return status.ok() ? *status : FailCommand("model", status.status());
}

}  // namespace

void AddModelCommand(CLI::App& app, GlobalOptions& global, int* exit_code) {
  auto* model = app.add_subcommand("model",
                                   "language models on this machine: list, inspect, "
                                   "convert, pull, make");
  model->require_subcommand(1);
  auto* arguments = new ModelArguments;  // lives as long as the process
  auto* list = model->add_subcommand("list", "models in folders, with family and size");
  list->add_option("folder", arguments->folders,
                   "where to look (default: models/ and the Hugging Face cache)");
  list->add_flag("--json", arguments->json, "one JSON document");
  list->callback([=] { *exit_code = List(*arguments); });

  auto* inspect = model->add_subcommand("inspect",
                                        "what a model is made of; checks every tensor's "
                                        "name and shape");
  inspect->add_option("model", arguments->path, "folder, *.safetensors or *.gguf")->required();
  inspect->add_flag("--tensors", arguments->tensors, "name every tensor");
  inspect->add_flag("--json", arguments->json, "one JSON document");
  inspect->callback([=] { *exit_code = Inspect(*arguments); });

  auto* convert = model->add_subcommand(
      "convert", "Hugging Face folder to GGUF or back; merges a LoRA adapter on the way");
  convert->add_option("from", arguments->path, "folder or *.gguf")->required();
  convert->add_option("to", arguments->to, "*.gguf, or a folder to be made")->required();
  convert
      ->add_option("--type,--quantize", arguments->type,
                   "element type of matrices (default: as they are; quantized ones BF16)")
      ->transform(CLI::IsMember({"F32", "F16", "BF16", "Q8_0"}, CLI::ignore_case));
  convert->add_option("--lora", arguments->lora, "PEFT adapter folder to merge");
  convert->add_option("--file-gib", arguments->file_gib, "largest shard or part, GiB")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  convert->add_option("--split", arguments->split_bytes, "the same with a unit: 8MiB")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/true))
      ->excludes("--file-gib");
  convert->callback([=] { *exit_code = Convert(*arguments); });

  AddModelMakers(model, exit_code);

  auto* pull = model->add_subcommand(
      "pull", "fetch ORG/NAME through huggingface_hub (HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE)");
  pull->add_option("name", arguments->path, "ORG/NAME")->required();
  pull->add_option("--revision", arguments->revision, "branch, tag or commit (default: main)");
  pull->add_option("--into", arguments->to, "folder (default: the Hugging Face cache)");
  pull->callback([=, &global] { *exit_code = Pull(*arguments, global); });
}

}  // namespace davinci::app
