#include "davinci/weights/gguf_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "davinci/weights/dequantize.h"
#include "davinci/weights/gguf.h"
#include "davinci/weights/gguf_names.h"
#include "davinci/weights/rope_frequencies.h"

namespace davinci::weights {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kAlignment_bytes = 32;

class Buffer {
 public:
  template <typename T>
  void Put(T value) {
    const auto* bytes = reinterpret_cast<const char*>(&value);
    text_.append(bytes, sizeof value);
  }
  void PutString(std::string_view text) {
    Put<uint64_t>(text.size());
    text_ += text;
  }
  void PutType(GgufType type) { Put(static_cast<uint32_t>(type)); }

  void PutValue(const GgufMetadataValue& value) {
    if (const auto* number = std::get_if<uint32_t>(&value)) {
      PutType(GgufType::kU32);
      Put(*number);
    } else if (const auto* real = std::get_if<float>(&value)) {
      PutType(GgufType::kF32);
      Put(*real);
    } else if (const auto* boolean = std::get_if<bool>(&value)) {
      PutType(GgufType::kBool);
      Put<uint8_t>(*boolean ? 1 : 0);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      PutType(GgufType::kString);
      PutString(*text);
    } else if (const auto* strings = std::get_if<std::vector<std::string>>(&value)) {
      PutType(GgufType::kArray);
      PutType(GgufType::kString);
      Put<uint64_t>(strings->size());
      for (const std::string& item : *strings) PutString(item);
    } else {
      const auto& integers = std::get<std::vector<int32_t>>(value);
      PutType(GgufType::kArray);
      PutType(GgufType::kI32);
      Put<uint64_t>(integers.size());
      for (const int32_t item : integers) Put(item);
    }
  }
  void Align() {
    text_.resize((text_.size() + kAlignment_bytes - 1) / kAlignment_bytes * kAlignment_bytes);
  }
  void Append(std::string_view bytes) { text_ += bytes; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Magic, version, counts, the three keys of a split file, and the alignment behind the head.
constexpr int64_t kMostHeadBytes = 256;
// Bytes of a tensor in the head, without its name: lengths, four dimensions, type, offset.
constexpr int64_t kMostEntryBytes = 56;

int64_t Aligned(int64_t bytes) {
  return (bytes + kAlignment_bytes - 1) / kAlignment_bytes * kAlignment_bytes;
}

}  // namespace

Result<GgufWriter> GgufWriter::Create(const fs::path& path, const GgufMetadata& metadata,
                                      const std::vector<TensorSpec>& tensors,
                                      int64_t max_part_bytes) {
  GgufWriter writer;
  std::vector<std::vector<size_t>> parts;
  std::vector<int64_t> sizes;  // of their data
  std::vector<int64_t> heads;  // bytes in front of it, at most
  Buffer described;
  for (const auto& [key, value] : metadata) {
    described.PutString(key);
    described.PutValue(value);
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorSpec& tensor = tensors[i];
    if (!IsWritable(tensor.dtype) || tensor.shape.size() > 4)
      return InvalidArgument(
          fmt::format("{}: GGUF tensors are written as F32, F16, BF16 or Q8_0 "
                      "with at most 4 dimensions",
                      tensor.name));
    DAVINCI_ASSIGN_OR_RETURN(const int64_t bytes, NumBytes(tensor.dtype, tensor.shape));
    const int64_t entry = kMostEntryBytes + static_cast<int64_t>(tensor.name.size());
    if (parts.empty() || (sizes.back() > 0 &&
                          heads.back() + entry + sizes.back() + Aligned(bytes) > max_part_bytes)) {
      heads.push_back(kMostHeadBytes +
                      (parts.empty() ? static_cast<int64_t>(described.text().size()) : 0));
      parts.emplace_back();
      sizes.push_back(0);
    }
    heads.back() += entry;
    DAVINCI_RETURN_IF_ERROR(
        writer.files_.Announce(tensor.name, parts.size() - 1, sizes.back(), bytes));
    parts.back().push_back(i);
    sizes.back() += Aligned(bytes);
  }
  if (parts.empty()) return InvalidArgument("a model without tensors");
  if (parts.size() > 99999) return InvalidArgument("more than 99999 parts; make them larger");
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool split = parts.size() > 1;
    Buffer head;
    head.Put<uint32_t>(0x46554747);
    head.Put<uint32_t>(3);
    head.Put<uint64_t>(parts[i].size());
    head.Put<uint64_t>((i == 0 ? metadata.size() : 0) + (split ? 3 : 0));
    if (i == 0) head.Append(described.text());
    if (split) {
      for (const auto& [key, value] : {std::pair("split.no", static_cast<uint16_t>(i)),
                                       {"split.count", static_cast<uint16_t>(parts.size())}}) {
        head.PutString(key);
        head.PutType(GgufType::kU16);
        head.Put(value);
      }
      head.PutString("split.tensors.count");
      head.PutType(GgufType::kI32);
      head.Put(static_cast<int32_t>(tensors.size()));
    }
    for (const size_t index : parts[i]) {
      const TensorSpec& tensor = tensors[index];
      head.PutString(tensor.name);
      head.Put(static_cast<uint32_t>(tensor.shape.size()));
      for (auto size = tensor.shape.rbegin(); size != tensor.shape.rend(); ++size)
        head.Put(static_cast<uint64_t>(*size));
      head.Put(GgmlTypeOf(tensor.dtype).value());
      head.Put(static_cast<uint64_t>(writer.files_.places().find(tensor.name)->second.offset));
    }
    head.Align();
    fs::path part = path;
    if (split)
      part.replace_filename(
          fmt::format("{}-{:05}-of-{:05}.gguf", path.stem().string(), i + 1, parts.size()));
    DAVINCI_RETURN_IF_ERROR(writer.files_.Add(part, head.text(), sizes[i]));
  }
  return writer;
}

Result<GgufMetadata> GgufMetadataOf(const ModelConfig& config, std::string_view name) {
  const std::string architecture(FamilyName(config.family));
  GgufMetadata metadata = {{"general.architecture", architecture},
                           {"general.name", std::string(name)},
                           {"general.quantization_version", uint32_t{2}}};
  const auto put = [&](std::string_view key, int64_t value) {
    metadata.emplace_back(fmt::format("{}.{}", architecture, key), static_cast<uint32_t>(value));
  };
  const auto number = [&](std::string_view key, double value) {
    metadata.emplace_back(fmt::format("{}.{}", architecture, key), static_cast<float>(value));
  };
  put("block_count", config.num_layers);
  put("context_length", config.max_positions);
  put("embedding_length", config.hidden_size);
  put("feed_forward_length", config.intermediate_size);
  put("attention.head_count", config.num_heads);
  put("attention.head_count_kv", config.num_kv_heads);
  put("attention.key_length", config.head_dim);
  put("attention.value_length", config.head_dim);
  put("rope.dimension_count", config.head_dim);
  put("vocab_size", config.vocab_size);
  number("attention.layer_norm_rms_epsilon", config.rms_norm_eps);
  number("rope.freq_base", config.rope_theta);
  const RopeScaling& scaling = config.rope_scaling;
  using Kind = RopeScaling::Kind;
  if (scaling.kind == Kind::kDynamic || (scaling.kind == Kind::kYarn && !scaling.truncate))
    return InvalidArgument(
        "GGUF cannot express this RoPE scaling (dynamic, or yarn with "
        "truncate off); keep the Hugging Face folder");
  if (scaling.kind == Kind::kLinear || scaling.kind == Kind::kYarn) {
    metadata.emplace_back(architecture + ".rope.scaling.type",
                          std::string(scaling.kind == Kind::kLinear ? "linear" : "yarn"));
    number("rope.scaling.factor", scaling.factor);
  }
  if (scaling.kind == Kind::kYarn) {
    put("rope.scaling.original_context_length", scaling.original_max_positions);
    const double own = scaling.factor <= 1 ? 1.0 : 0.1 * std::log(scaling.factor) + 1.0;
    number("rope.scaling.yarn_attn_factor", scaling.attention_factor / own);
    number("rope.scaling.yarn_beta_fast", scaling.beta_fast);
    number("rope.scaling.yarn_beta_slow", scaling.beta_slow);
  }
  return metadata;
}

std::vector<float> GgufRopeFactors(const ModelConfig& config) {
  if (config.rope_scaling.kind == RopeScaling::Kind::kFactors) return config.rope_scaling.factors;
  if (config.rope_scaling.kind != RopeScaling::Kind::kLlama3) return {};
  ModelConfig plain = config;
  plain.rope_scaling = {};
  std::vector<float> factors = ComputeRopeFrequencies(plain).inverse;
  const std::vector<float> scaled = ComputeRopeFrequencies(config).inverse;
  for (size_t i = 0; i < factors.size(); ++i) factors[i] /= scaled[i];
  return factors;
}

std::vector<float> InGgufOrder(const ModelConfig& config, std::string_view hf_name,
                               std::vector<float> values) {
  if (config.family != Family::kLlama || !IsQueryOrKey(hf_name)) return values;
  const auto half = static_cast<size_t>(config.head_dim / 2);
  const auto heads = static_cast<size_t>(
      hf_name.find(".q_proj.") != std::string_view::npos ? config.num_heads : config.num_kv_heads);
  const size_t row = values.size() / (heads * half * 2);
  std::vector<float> ordered(values.size());
  for (size_t head = 0; head < heads; ++head)
    for (size_t part = 0; part < 2; ++part)
      for (size_t i = 0; i < half; ++i)
        std::copy_n(values.data() + ((head * 2 + part) * half + i) * row, row,
                    ordered.data() + ((head * half + i) * 2 + part) * row);
  return ordered;
}

}  // namespace davinci::weights
