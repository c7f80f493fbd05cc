// The header of a GGUF file (versions 2 and 3, little endian): metadata and a list of tensors.
// Names, values and data stay in the file's bytes; nothing is allocated by a count that the file
// merely claims.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/weights/dtype.h"

namespace davinci::weights {

enum class GgufType : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

// Numbers are widened: every integer to int64 (a u64 above 2^63 is refused when it is read), every
// float to double.
struct GgufArray {
  GgufType type = GgufType::kU8;
  std::vector<std::string_view> strings;  // type kString
  std::vector<double> floats;             // kF32, kF64
  std::vector<int64_t> integers;          // all others
  size_t size() const { return strings.size() + floats.size() + integers.size(); }
};

using GgufValue = std::variant<int64_t, double, bool, std::string_view, GgufArray>;

struct GgufTensor {
  std::string name;  // as in the file: "blk.0.attn_q.weight"
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // slowest dimension first, as everywhere else here
  std::span<const std::byte> data;
};

class GgufHeader {
 public:
  // `file` must outlive the header. InvalidArgument: no GGUF, truncated, big endian, version 1,
  // duplicate keys or tensors, nested arrays, tensor types outside DType, data outside the file or
  // not aligned.
  static Result<GgufHeader> Parse(std::span<const std::byte> file, std::string_view name);

  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  const std::vector<std::pair<std::string, GgufValue>>& metadata() const { return metadata_; }
  const GgufValue* Find(std::string_view key) const;  // nullptr: absent

  // Absent: nothing. InvalidArgument when the value has another type.
  Result<std::optional<int64_t>> Integer(std::string_view key) const;
  Result<std::optional<double>> Number(std::string_view key) const;  // integers widen
  Result<std::optional<bool>> Boolean(std::string_view key) const;
  Result<std::optional<std::string>> String(std::string_view key) const;

 private:
  std::vector<std::pair<std::string, GgufValue>> metadata_;
  std::unordered_map<std::string, size_t> by_key_;
  std::vector<GgufTensor> tensors_;
};

// Numbers of ggml's tensor types, for DTypes that GGUF has.
std::optional<uint32_t> GgmlTypeOf(DType dtype);

}  // namespace davinci::weights
