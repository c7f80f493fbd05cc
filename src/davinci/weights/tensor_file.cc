#include "davinci/weights/tensor_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>

#include "davinci/base/files.h"
#include "davinci/weights/dequantize.h"
#include "davinci/weights/gguf_names.h"
#include "davinci/weights/half.h"
#include "davinci/weights/safetensors.h"

namespace davinci::weights {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kIndexName = "model.safetensors.index.json";
constexpr uint64_t kLargestIndex_bytes = 100'000'000;
constexpr int64_t kMostParts = 4096;

struct PartName {
  std::string stem;  // everything before "-00001-of-00003.gguf"
  int64_t part = 0;
  int64_t count = 0;
};

// Of a name that ends in "-NNNNN-of-NNNNN.gguf".
std::optional<PartName> ParsePartName(std::string_view name) {
  constexpr std::string_view kPattern = "-ddddd-of-ddddd.gguf";
  if (name.size() <= kPattern.size()) return std::nullopt;
  const std::string_view tail = name.substr(name.size() - kPattern.size());
  for (size_t i = 0; i < kPattern.size(); ++i) {
    const bool digit = tail[i] >= '0' && tail[i] <= '9';
    if (kPattern[i] == 'd' ? !digit : tail[i] != kPattern[i]) return std::nullopt;
  }
  PartName result{std::string(name.substr(0, name.size() - kPattern.size())), 0, 0};
  std::from_chars(tail.data() + 1, tail.data() + 6, result.part);
  std::from_chars(tail.data() + 10, tail.data() + 15, result.count);
  return result;
}

Result<fs::path> ChooseInFolder(const fs::path& folder) {
  std::error_code error;
  // The order of transformers: the index of former shards may lie beside one whole file.
  for (const std::string_view name : {std::string_view("model.safetensors"), kIndexName})
    if (fs::exists(folder / name, error)) return folder / name;
  DAVINCI_ASSIGN_OR_RETURN(const auto ggufs, ListFiles(folder, ".gguf"));
  std::set<std::string> models;
  for (const fs::path& path : ggufs) {
    const auto part = ParsePartName(path.filename().string());
    models.insert(part ? part->stem : path.filename().string());
  }
  if (models.size() == 1) return ggufs.front();
  if (models.size() > 1)
    return InvalidArgument(fmt::format("{}: holds {} GGUF models; name one of the files",
                                       folder.string(), models.size()));
  DAVINCI_ASSIGN_OR_RETURN(const auto pickles, ListFiles(folder, ".bin"));
  return NotFound(fmt::format(
      "{}: no model.safetensors, {} or *.gguf{}", folder.string(), kIndexName,
      pickles.empty() ? "" : "; *.bin weights are not supported, save them as safetensors"));
}

// Row `row` (HF order) of a tensor whose heads are interleaved is this row of the file.
int64_t StoredRow(int64_t row, int64_t head_rows) {
  const int64_t head = row / head_rows;
  const int64_t within = row % head_rows;
  const int64_t half = head_rows / 2;
  return head * head_rows + within % half * 2 + within / half;
}

}  // namespace

int64_t Tensor::num_elements() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

const Tensor* TensorFile::Find(std::string_view name) const {
  const auto found = std::lower_bound(
      tensors_.begin(), tensors_.end(), name,
      [](const Tensor& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return found != tensors_.end() && found->name == name ? &*found : nullptr;
}

int64_t TensorFile::total_bytes() const {
  int64_t bytes = 0;
  for (const Tensor& tensor : tensors_) bytes += static_cast<int64_t>(tensor.data.size());
  return bytes;
}

Result<TensorFile> TensorFile::Open(const fs::path& path) {
  std::error_code error;
  fs::path chosen = path;
  if (fs::is_directory(path, error)) {
    DAVINCI_ASSIGN_OR_RETURN(chosen, ChooseInFolder(path));
  }
  TensorFile file;
  const std::string name = chosen.filename().string();
  if (name.ends_with(".safetensors.index.json")) {
    DAVINCI_RETURN_IF_ERROR(file.OpenIndex(chosen));
  } else if (name.ends_with(".safetensors")) {
    DAVINCI_RETURN_IF_ERROR(file.AddSafetensors(chosen, nullptr));
  } else if (name.ends_with(".gguf")) {
    DAVINCI_RETURN_IF_ERROR(file.OpenGguf(chosen));
  } else if (!fs::exists(chosen, error)) {
    return NotFound(fmt::format("{}: no such file or folder", chosen.string()));
  } else {
    return InvalidArgument(
        fmt::format("{}: not a folder, *.safetensors, *.safetensors.index.json "
                    "or *.gguf file",
                    chosen.string()));
  }
  DAVINCI_RETURN_IF_ERROR(file.Finish());
  return file;
}

Status TensorFile::AddSafetensors(const fs::path& path,
                                  const std::map<std::string, std::string>* owner) {
  DAVINCI_ASSIGN_OR_RETURN(auto mapped, MappedFile::Open(path));
  DAVINCI_ASSIGN_OR_RETURN(auto header, ParseSafetensors(mapped->bytes(), path.string()));
  const std::string file_name = path.filename().string();
  for (SafetensorsEntry& entry : header.tensors) {
    // The index says which file counts for a name.
    if (owner != nullptr) {
      const auto found = owner->find(entry.name);
      if (found == owner->end() || found->second != file_name) continue;
    }
    tensors_.push_back(
        {std::move(entry.name), entry.dtype, std::move(entry.shape), entry.data, path.string(), 0});
  }
  metadata_.merge(header.metadata);
  files_.push_back(std::move(mapped));
  return Status::Ok();
}

Status TensorFile::OpenIndex(const fs::path& path) {
  const auto bad = [&](std::string_view what) {
    return InvalidArgument(fmt::format("{}: {}", path.string(), what));
  };
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kLargestIndex_bytes));
  const json index = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
    return bad("no object with a weight_map");
  std::map<std::string, std::string> owner;
  std::set<std::string> shards;
  for (const auto& [name, shard] : index["weight_map"].items()) {
    if (!shard.is_string()) return bad(fmt::format("weight_map.{} is not a file name", name));
    const auto file = shard.get<std::string>();
    if (file.empty() || file.find('/') != std::string::npos ||
        file.find('\0') != std::string::npos || file == "." || file == "..")
      return bad(fmt::format("weight_map.{}: \"{}\" is not the name of a file in this folder", name,
                             file));
    owner[name] = file;
    shards.insert(file);
  }
  for (const std::string& shard : shards)
    DAVINCI_RETURN_IF_ERROR(AddSafetensors(path.parent_path() / shard, &owner));
  if (tensors_.size() != owner.size()) {
    std::set<std::string> found;
    for (const Tensor& tensor : tensors_) found.insert(tensor.name);
    for (const auto& [name, shard] : owner)
      if (!found.contains(name)) return bad(fmt::format("{} holds no tensor {}", shard, name));
  }
  return Status::Ok();
}

Result<std::vector<fs::path>> GgufParts(const fs::path& path) {
  const auto name = ParsePartName(path.filename().string());
  if (!name) return std::vector<fs::path>{path};
  if (name->count < 1 || name->count > kMostParts || name->part < 1 || name->part > name->count)
    return InvalidArgument(
        fmt::format("{}: part {} of {} parts", path.string(), name->part, name->count));
  std::vector<fs::path> parts;
  for (int64_t part = 1; part <= name->count; ++part) {
    parts.push_back(path.parent_path() /
                    fmt::format("{}-{:05}-of-{:05}.gguf", name->stem, part, name->count));
    std::error_code error;
    if (!fs::exists(parts.back(), error))
      return NotFound(
          fmt::format("{}: missing; the model has {} parts", parts.back().string(), name->count));
  }
  return parts;
}

Status TensorFile::OpenGguf(const fs::path& path) {
  container_ = Container::kGguf;
  DAVINCI_ASSIGN_OR_RETURN(const auto parts, GgufParts(path));
  std::optional<int64_t> claimed_tensors;
  for (size_t i = 0; i < parts.size(); ++i) {
    DAVINCI_ASSIGN_OR_RETURN(auto mapped, MappedFile::Open(parts[i]));
    DAVINCI_ASSIGN_OR_RETURN(auto header, GgufHeader::Parse(mapped->bytes(), parts[i].string()));
    const auto bad = [&](std::string_view what) {
      return InvalidArgument(fmt::format("{}: {}", parts[i].string(), what));
    };
    DAVINCI_ASSIGN_OR_RETURN(const auto number, header.Integer("split.no"));
    DAVINCI_ASSIGN_OR_RETURN(const auto count, header.Integer("split.count"));
    if (count.value_or(1) != static_cast<int64_t>(parts.size()))
      return bad(
          fmt::format("split.count is {}, but its name says {} parts; a split file keeps "
                      "the name -NNNNN-of-NNNNN.gguf",
                      count.value_or(1), parts.size()));
    if (number.value_or(0) != static_cast<int64_t>(i))
      return bad(
          fmt::format("split.no is {}, but its name says part {}", number.value_or(0), i + 1));
    files_.push_back(std::move(mapped));
    const GgufHeader* read = &header;
    if (i == 0) {
      DAVINCI_ASSIGN_OR_RETURN(claimed_tensors, header.Integer("split.tensors.count"));
      gguf_ = std::make_shared<const GgufHeader>(std::move(header));
      read = gguf_.get();
    }
    DAVINCI_RETURN_IF_ERROR(AddGgufTensors(*read, parts[i].string()));
  }
  const auto found = static_cast<int64_t>(tensors_.size() + (rope_factors_.empty() ? 0 : 1));
  if (claimed_tensors && *claimed_tensors != found)
    return InvalidArgument(fmt::format("{}: split.tensors.count is {}, the parts hold {}",
                                       path.string(), *claimed_tensors, found));
  return Status::Ok();
}

Status TensorFile::AddGgufTensors(const GgufHeader& header, const std::string& file) {
  DAVINCI_ASSIGN_OR_RETURN(const auto architecture, gguf_->String("general.architecture"));
  const bool interleaved = architecture == "llama";
  DAVINCI_ASSIGN_OR_RETURN(const auto heads, gguf_->Integer("llama.attention.head_count"));
  DAVINCI_ASSIGN_OR_RETURN(const auto kv_heads, gguf_->Integer("llama.attention.head_count_kv"));
  for (const GgufTensor& stored : header.tensors()) {
    const auto bad = [&](std::string_view what) {
      return InvalidArgument(fmt::format("{}: tensor {}: {}", file, stored.name, what));
    };
    if (stored.name == "rope_freqs.weight") {
      if (stored.dtype != DType::kF32 || stored.shape.size() != 1 || stored.shape[0] == 0 ||
          stored.shape[0] > 4096)
        return bad("not a list of up to 4096 F32 factors");
      rope_factors_.resize(static_cast<size_t>(stored.shape[0]));
      DAVINCI_RETURN_IF_ERROR(Dequantize(stored.dtype, stored.data, rope_factors_));
      continue;
    }
    const auto name = HfNameOf(stored.name);
    if (!name) return bad("no tensor of the supported families (llama, qwen2, qwen3)");
    Tensor tensor{*name, stored.dtype, stored.shape, stored.data, file, 0};
    if (interleaved && IsQueryOrKey(*name)) {
      const bool query = name->find(".q_proj.") != std::string::npos;
      const int64_t count = query ? heads.value_or(0) : kv_heads.value_or(heads.value_or(0));
      if (count < 1) return bad("llama.attention.head_count is missing or below 1");
      if (tensor.shape.empty() || tensor.shape[0] % count != 0 || tensor.shape[0] / count % 2 != 0)
        return bad(fmt::format("rows cannot be shared out to {} heads", count));
      if (tensor.shape.size() < 2 && IsQuantized(tensor.dtype))
        return bad("a quantized bias is not supported");
      tensor.interleaved_heads = count;
    }
    tensors_.push_back(std::move(tensor));
  }
  return Status::Ok();
}

Status TensorFile::Finish() {
  std::sort(tensors_.begin(), tensors_.end(),
            [](const Tensor& a, const Tensor& b) { return a.name < b.name; });
  for (size_t i = 1; i < tensors_.size(); ++i)
    if (tensors_[i].name == tensors_[i - 1].name)
      return InvalidArgument(fmt::format("tensor {} is in {} and in {}", tensors_[i].name,
                                         tensors_[i - 1].file, tensors_[i].file));
  return Status::Ok();
}

Status ReadFloat32(const Tensor& tensor, std::span<float> out) {
  const auto elements = static_cast<size_t>(tensor.num_elements());
  const auto annotate = [&](const Status& status) {
    return status.ok() ? status : status.Annotate(tensor.file + ": tensor " + tensor.name);
  };
  if (out.size() != elements)
    return annotate(Internal(fmt::format("room for {} of {} elements", out.size(), elements)));
  if (tensor.interleaved_heads == 0) return annotate(Dequantize(tensor.dtype, tensor.data, out));
  const int64_t rows = tensor.shape[0];
  if (rows == 0) return Status::Ok();
  const size_t row_elements = elements / static_cast<size_t>(rows);
  const size_t row_bytes = tensor.data.size() / static_cast<size_t>(rows);
  for (int64_t row = 0; row < rows; ++row) {
    const auto stored = static_cast<size_t>(StoredRow(row, rows / tensor.interleaved_heads));
    DAVINCI_RETURN_IF_ERROR(
        annotate(Dequantize(tensor.dtype, tensor.data.subspan(stored * row_bytes, row_bytes),
                            out.subspan(static_cast<size_t>(row) * row_elements, row_elements))));
  }
  return Status::Ok();
}

Status ReadBFloat16(const Tensor& tensor, std::span<uint16_t> out) {
  if (tensor.dtype == DType::kBF16 && tensor.interleaved_heads == 0 &&
      tensor.data.size() == out.size_bytes()) {
    std::copy_n(tensor.data.data(), tensor.data.size(), reinterpret_cast<std::byte*>(out.data()));
    return Status::Ok();
  }
  if (out.size() != static_cast<size_t>(tensor.num_elements()))
    return Internal(fmt::format("{}: tensor {}: room for {} of {} elements", tensor.file,
                                tensor.name, out.size(), tensor.num_elements()));
  // Piece by piece: a whole fp32 copy of an embedding would be large. Interleaved ones are not.
  const int64_t rows =
      tensor.shape.size() < 2 || tensor.interleaved_heads > 0 ? 1 : tensor.shape[0];
  if (rows == 0) return Status::Ok();
  const size_t piece = out.size() / static_cast<size_t>(rows);
  const size_t piece_bytes = tensor.data.size() / static_cast<size_t>(rows);
  std::vector<float> values(piece);
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    if (tensor.interleaved_heads > 0)
      DAVINCI_RETURN_IF_ERROR(ReadFloat32(tensor, values));
    else if (const Status status = Dequantize(
                 tensor.dtype, tensor.data.subspan(row * piece_bytes, piece_bytes), values);
             !status.ok())
      return status.Annotate(tensor.file + ": tensor " + tensor.name);
    for (size_t i = 0; i < piece; ++i) out[row * piece + i] = Bf16FromFloat(values[i]);
  }
  return Status::Ok();
}

}  // namespace davinci::weights
