#include "davinci/weights/gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <unordered_set>

namespace davinci::weights {
namespace {

constexpr std::array<std::pair<uint32_t, DType>, 15> kGgmlTypes = {{{0, DType::kF32},
                                                                    {1, DType::kF16},
                                                                    {2, DType::kQ4_0},
                                                                    {3, DType::kQ4_1},
                                                                    {6, DType::kQ5_0},
                                                                    {7, DType::kQ5_1},
                                                                    {8, DType::kQ8_0},
                                                                    {12, DType::kQ4_K},
                                                                    {14, DType::kQ6_K},
                                                                    {24, DType::kI8},
                                                                    {25, DType::kI16},
                                                                    {26, DType::kI32},
                                                                    {27, DType::kI64},
                                                                    {28, DType::kF64},
                                                                    {30, DType::kBF16}}};
constexpr uint32_t kMostGgufDimensions = 4;  // ggml's own limit
constexpr uint64_t kLongestName_bytes = 1024;
constexpr uint64_t kDefaultAlignment_bytes = 32;

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  size_t position() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }

  Status Truncated(std::string_view what) const {
    return InvalidArgument(
        fmt::format("the file ends within {} (byte {}): it is truncated", what, bytes_.size()));
  }

  template <typename T>
  Result<T> Get(std::string_view what) {
    T value;
    if (left() < sizeof value) return Truncated(what);
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  Result<std::string_view> GetString(std::string_view what) {
    DAVINCI_ASSIGN_OR_RETURN(const auto length, Get<uint64_t>(what));
    if (length > left()) return Truncated(what);
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + at_, length);
    at_ += length;
    return text;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

size_t ScalarBytes(GgufType type) {
  switch (type) {
    case GgufType::kU8:
    case GgufType::kI8:
    case GgufType::kBool:
      return 1;
    case GgufType::kU16:
    case GgufType::kI16:
      return 2;
    case GgufType::kU32:
    case GgufType::kI32:
    case GgufType::kF32:
      return 4;
    case GgufType::kU64:
    case GgufType::kI64:
    case GgufType::kF64:
      return 8;
    default:
      return 0;
  }
}

template <typename T>
Result<int64_t> GetInteger(Reader& in, std::string_view what) {
  DAVINCI_ASSIGN_OR_RETURN(const T value, in.Get<T>(what));
  if constexpr (std::is_same_v<T, uint64_t>) {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return InvalidArgument(fmt::format("{} is larger than 2^63", what));
  }
  return static_cast<int64_t>(value);
}

Result<int64_t> GetInteger(Reader& in, GgufType type, std::string_view what) {
  switch (type) {
    case GgufType::kU8:
      return GetInteger<uint8_t>(in, what);
    case GgufType::kI8:
      return GetInteger<int8_t>(in, what);
    case GgufType::kU16:
      return GetInteger<uint16_t>(in, what);
    case GgufType::kI16:
      return GetInteger<int16_t>(in, what);
    case GgufType::kU32:
      return GetInteger<uint32_t>(in, what);
    case GgufType::kI32:
      return GetInteger<int32_t>(in, what);
    case GgufType::kU64:
      return GetInteger<uint64_t>(in, what);
    case GgufType::kI64:
      return GetInteger<int64_t>(in, what);
    case GgufType::kBool:
      return GetInteger<uint8_t>(in, what);
    default:
      return InvalidArgument(fmt::format("{}: not an integer type", what));
  }
}

Result<double> GetFloat(Reader& in, GgufType type, std::string_view what) {
  if (type == GgufType::kF64) return in.Get<double>(what);
  DAVINCI_ASSIGN_OR_RETURN(const auto value, in.Get<float>(what));
  return static_cast<double>(value);
}

bool IsFloat(GgufType type) { return type == GgufType::kF32 || type == GgufType::kF64; }

Result<GgufType> GetType(Reader& in, std::string_view what) {
  DAVINCI_ASSIGN_OR_RETURN(const auto number, in.Get<uint32_t>(what));
  if (number > static_cast<uint32_t>(GgufType::kF64))
    return InvalidArgument(fmt::format("{}: unknown value type {}", what, number));
  return static_cast<GgufType>(number);
}

Result<GgufArray> GetArray(Reader& in, std::string_view what) {
  GgufArray array;
  DAVINCI_ASSIGN_OR_RETURN(array.type, GetType(in, what));
  DAVINCI_ASSIGN_OR_RETURN(const auto count, in.Get<uint64_t>(what));
  if (array.type == GgufType::kArray)
    return InvalidArgument(fmt::format("{}: arrays of arrays are not supported", what));
  // An element needs at least these bytes, so a count that passes is no larger than the file.
  const size_t least = array.type == GgufType::kString ? 8 : ScalarBytes(array.type);
  if (count > in.left() / least) return in.Truncated(what);
  for (uint64_t i = 0; i < count; ++i) {
    if (array.type == GgufType::kString) {
      DAVINCI_ASSIGN_OR_RETURN(const auto text, in.GetString(what));
      array.strings.push_back(text);
    } else if (IsFloat(array.type)) {
      DAVINCI_ASSIGN_OR_RETURN(const double value, GetFloat(in, array.type, what));
      array.floats.push_back(value);
    } else {
      DAVINCI_ASSIGN_OR_RETURN(const int64_t value, GetInteger(in, array.type, what));
      array.integers.push_back(value);
    }
  }
  return array;
}

Result<GgufValue> GetValue(Reader& in, std::string_view what) {
  DAVINCI_ASSIGN_OR_RETURN(const GgufType type, GetType(in, what));
  if (type == GgufType::kArray) {
    DAVINCI_ASSIGN_OR_RETURN(GgufArray array, GetArray(in, what));
    return GgufValue(std::move(array));
  }
  if (type == GgufType::kString) {
    DAVINCI_ASSIGN_OR_RETURN(const std::string_view text, in.GetString(what));
    return GgufValue(text);
  }
  if (type == GgufType::kBool) {
    DAVINCI_ASSIGN_OR_RETURN(const auto value, in.Get<uint8_t>(what));
    return GgufValue(value != 0);
  }
  if (IsFloat(type)) {
    DAVINCI_ASSIGN_OR_RETURN(const double value, GetFloat(in, type, what));
    return GgufValue(value);
  }
  DAVINCI_ASSIGN_OR_RETURN(const int64_t value, GetInteger(in, type, what));
  return GgufValue(value);
}

struct PlacedTensor {
  GgufTensor tensor;
  uint64_t offset = 0;
};

Result<PlacedTensor> GetTensor(Reader& in) {
  PlacedTensor placed;
  DAVINCI_ASSIGN_OR_RETURN(const std::string_view name, in.GetString("a tensor's name"));
  if (name.empty() || name.size() > kLongestName_bytes)
    return InvalidArgument(fmt::format("a tensor's name has {} bytes", name.size()));
  placed.tensor.name = name;
  const auto bad = [&](std::string_view what) {
    return InvalidArgument(fmt::format("tensor {}: {}", name, what));
  };
  DAVINCI_ASSIGN_OR_RETURN(const auto dimensions, in.Get<uint32_t>(name));
  if (dimensions > kMostGgufDimensions)
    return bad(fmt::format("{} dimensions, at most {}", dimensions, kMostGgufDimensions));
  for (uint32_t i = 0; i < dimensions; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(const auto size, in.Get<uint64_t>(name));
    if (size > uint64_t{1} << 62) return bad("a dimension above 2^62");
    placed.tensor.shape.insert(placed.tensor.shape.begin(), static_cast<int64_t>(size));
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto type, in.Get<uint32_t>(name));
  const auto known = std::find_if(kGgmlTypes.begin(), kGgmlTypes.end(),
                                  [&](const auto& row) { return row.first == type; });
  if (known == kGgmlTypes.end())
    return bad(
        fmt::format("tensor type {} is not supported; supported are F32, F16, BF16, Q8_0, "
                    "Q4_0, Q4_1, Q5_0, Q5_1, Q4_K and Q6_K",
                    type));
  placed.tensor.dtype = known->second;
  DAVINCI_ASSIGN_OR_RETURN(placed.offset, in.Get<uint64_t>(name));
  return placed;
}

}  // namespace

std::optional<uint32_t> GgmlTypeOf(DType dtype) {
  for (size_t i = 0; i < kGgmlTypes.size(); ++i)
    if (kGgmlTypes[i].second == dtype) return kGgmlTypes[i].first;
  return std::nullopt;
}

Result<GgufHeader> GgufHeader::Parse(std::span<const std::byte> file, std::string_view name) {
  auto parsed = [&]() -> Result<GgufHeader> {
    GgufHeader header;
    Reader in(file);
    DAVINCI_ASSIGN_OR_RETURN(const auto magic, in.Get<uint32_t>("the magic number"));
    if (magic != 0x46554747) return InvalidArgument("not a GGUF file");
    DAVINCI_ASSIGN_OR_RETURN(const auto version, in.Get<uint32_t>("the version"));
    if (version != 2 && version != 3) {
      const bool swapped = version != 0 && (version & 0xffff) == 0;
      return InvalidArgument(swapped ? std::string("big-endian GGUF files are not supported")
                                     : fmt::format("GGUF version {} is not supported", version));
    }
    DAVINCI_ASSIGN_OR_RETURN(const auto num_tensors, in.Get<uint64_t>("the header"));
    DAVINCI_ASSIGN_OR_RETURN(const auto num_values, in.Get<uint64_t>("the header"));
    for (uint64_t i = 0; i < num_values; ++i) {
      DAVINCI_ASSIGN_OR_RETURN(const std::string_view key, in.GetString("a key"));
      if (key.empty() || key.size() > kLongestName_bytes)
        return InvalidArgument(fmt::format("a key has {} bytes", key.size()));
      DAVINCI_ASSIGN_OR_RETURN(GgufValue value, GetValue(in, key));
      if (!header.by_key_.emplace(key, header.metadata_.size()).second)
        return InvalidArgument(fmt::format("the key {} stands twice", key));
      header.metadata_.emplace_back(key, std::move(value));
    }
    std::vector<PlacedTensor> placed;
    std::unordered_set<std::string> names;
    for (uint64_t i = 0; i < num_tensors; ++i) {
      DAVINCI_ASSIGN_OR_RETURN(PlacedTensor tensor, GetTensor(in));
      if (!names.insert(tensor.tensor.name).second)
        return InvalidArgument(fmt::format("tensor {} stands twice", tensor.tensor.name));
      placed.push_back(std::move(tensor));
    }
    DAVINCI_ASSIGN_OR_RETURN(const auto given, header.Integer("general.alignment"));
    const auto alignment = static_cast<uint64_t>(given.value_or(kDefaultAlignment_bytes));
    if (alignment == 0 || alignment > 1 << 20 || alignment % 8 != 0)
      return InvalidArgument(
          fmt::format("general.alignment {} is not a multiple of 8 up to 2^20", alignment));
    const uint64_t begin = (in.position() + alignment - 1) / alignment * alignment;
    const auto data = begin < file.size() ? file.subspan(begin) : std::span<const std::byte>();
    for (PlacedTensor& tensor : placed) {
      const std::string& who = tensor.tensor.name;
      auto bytes = NumBytes(tensor.tensor.dtype, tensor.tensor.shape);
      if (!bytes.ok()) return bytes.status().Annotate("tensor " + who);
      if (tensor.offset % alignment != 0)
        return InvalidArgument(fmt::format("tensor {}: offset {} is not aligned to {} bytes", who,
                                           tensor.offset, alignment));
      if (tensor.offset > data.size() ||
          static_cast<uint64_t>(*bytes) > data.size() - tensor.offset)
        return InvalidArgument(
            fmt::format("tensor {}: {} bytes at offset {} of {} bytes of data: "
                        "the file is truncated",
                        who, *bytes, tensor.offset, data.size()));
      tensor.tensor.data = data.subspan(tensor.offset, static_cast<size_t>(*bytes));
      header.tensors_.push_back(std::move(tensor.tensor));
    }
    return header;
  }();
  if (!parsed.ok()) return parsed.status().Annotate(name);
  return parsed;
}

const GgufValue* GgufHeader::Find(std::string_view key) const {
  const auto found = by_key_.find(std::string(key));
  return found == by_key_.end() ? nullptr : &metadata_[found->second].second;
}

Result<std::optional<int64_t>> GgufHeader::Integer(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return std::optional<int64_t>();
  if (const auto* integer = std::get_if<int64_t>(value)) return std::optional<int64_t>(*integer);
  return InvalidArgument(fmt::format("{} is not an integer", key));
}

Result<std::optional<double>> GgufHeader::Number(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return std::optional<double>();
  if (const auto* number = std::get_if<double>(value)) return std::optional<double>(*number);
  if (const auto* integer = std::get_if<int64_t>(value))
    return std::optional<double>(static_cast<double>(*integer));
  return InvalidArgument(fmt::format("{} is not a number", key));
}

Result<std::optional<bool>> GgufHeader::Boolean(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return std::optional<bool>();
  if (const auto* boolean = std::get_if<bool>(value)) return std::optional<bool>(*boolean);
  return InvalidArgument(fmt::format("{} is not a boolean", key));
}

Result<std::optional<std::string>> GgufHeader::String(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (value == nullptr) return std::optional<std::string>();
  if (const auto* text = std::get_if<std::string_view>(value))
    return std::optional<std::string>(*text);
  return InvalidArgument(fmt::format("{} is not a string", key));
}

}  // namespace davinci::weights
