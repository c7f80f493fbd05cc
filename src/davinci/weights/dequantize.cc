#include "davinci/weights/dequantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "davinci/weights/half.h"

namespace davinci::weights {
namespace {

template <typename T>
T Load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

float Half(const uint8_t* at) { return FloatFromF16(Load<uint16_t>(at)); }

void BlockQ8_0(const uint8_t* in, float* out) {
  const float scale = Half(in);
  for (int i = 0; i < 32; ++i) out[i] = scale * static_cast<float>(static_cast<int8_t>(in[2 + i]));
}

// Nibbles: the low half of byte i is element i, the high half element i + 16.
void BlockQ4_0(const uint8_t* in, float* out) {
  const float scale = Half(in);
  for (int i = 0; i < 16; ++i) {
    out[i] = scale * static_cast<float>((in[2 + i] & 15) - 8);
    out[i + 16] = scale * static_cast<float>((in[2 + i] >> 4) - 8);
  }
}

void BlockQ4_1(const uint8_t* in, float* out) {
  const float scale = Half(in);
  const float least = Half(in + 2);
  for (int i = 0; i < 16; ++i) {
    out[i] = scale * static_cast<float>(in[4 + i] & 15) + least;
    out[i + 16] = scale * static_cast<float>(in[4 + i] >> 4) + least;
  }
}

// Q5: bit i of a 32-bit word is the fifth bit of element i.
void BlockQ5_0(const uint8_t* in, float* out) {
  const float scale = Half(in);
  const auto fifth = Load<uint32_t>(in + 2);
  for (int i = 0; i < 16; ++i) {
    const int low = (in[6 + i] & 15) | static_cast<int>((fifth >> i & 1) << 4);
    const int high = (in[6 + i] >> 4) | static_cast<int>((fifth >> (i + 16) & 1) << 4);
    out[i] = scale * static_cast<float>(low - 16);
    out[i + 16] = scale * static_cast<float>(high - 16);
  }
}

void BlockQ5_1(const uint8_t* in, float* out) {
  const float scale = Half(in);
  const float least = Half(in + 2);
  const auto fifth = Load<uint32_t>(in + 4);
  for (int i = 0; i < 16; ++i) {
    const int low = (in[8 + i] & 15) | static_cast<int>((fifth >> i & 1) << 4);
    const int high = (in[8 + i] >> 4) | static_cast<int>((fifth >> (i + 16) & 1) << 4);
    out[i] = scale * static_cast<float>(low) + least;
    out[i + 16] = scale * static_cast<float>(high) + least;
  }
}

// 256 elements = 8 groups of 32, each with a 6-bit scale and a 6-bit minimum packed in 12 bytes.
void BlockQ4_K(const uint8_t* in, float* out) {
  const float scale = Half(in);
  const float least = Half(in + 2);
  const uint8_t* packed = in + 4;
  const uint8_t* nibbles = in + 16;
  for (int group = 0; group < 8; ++group) {
    int s;
    int m;
    if (group < 4) {
      s = packed[group] & 63;
      m = packed[group + 4] & 63;
    } else {
      s = (packed[group + 4] & 15) | (packed[group - 4] >> 6) << 4;
      m = (packed[group + 4] >> 4) | (packed[group] >> 6) << 4;
    }
    const float group_scale = scale * static_cast<float>(s);
    const float group_least = least * static_cast<float>(m);
    const int shift = group % 2 * 4;  // two groups share 32 bytes: low nibbles, then high ones
    for (int i = 0; i < 32; ++i) {
      const int q = nibbles[group / 2 * 32 + i] >> shift & 15;
      out[group * 32 + i] = group_scale * static_cast<float>(q) - group_least;
    }
  }
}

// 256 elements in two halves of 128; low 4 bits in 64 bytes, high 2 bits in 32, a signed scale for
// each 16 elements.
void BlockQ6_K(const uint8_t* in, float* out) {
  const float scale = Half(in + 208);
  for (ptrdiff_t half = 0; half < 2; ++half) {
    const uint8_t* low = in + half * 64;
    const uint8_t* high = in + 128 + half * 32;
    const uint8_t* scales = in + 192 + half * 8;
    for (int quarter = 0; quarter < 4; ++quarter) {
      for (int i = 0; i < 32; ++i) {
        const int nibble = low[i + quarter % 2 * 32] >> (quarter / 2 * 4) & 15;
        const int q = (nibble | (high[i] >> (quarter * 2) & 3) << 4) - 32;
        const auto group_scale =
            static_cast<float>(static_cast<int8_t>(scales[quarter * 2 + i / 16]));
        out[half * 128 + ptrdiff_t{quarter} * 32 + i] = scale * group_scale * static_cast<float>(q);
      }
    }
  }
}

using BlockFunction = void (*)(const uint8_t*, float*);

BlockFunction FunctionOf(DType dtype) {
  switch (dtype) {
    case DType::kQ8_0:
      return BlockQ8_0;
    case DType::kQ4_0:
      return BlockQ4_0;
    case DType::kQ4_1:
      return BlockQ4_1;
    case DType::kQ5_0:
      return BlockQ5_0;
    case DType::kQ5_1:
      return BlockQ5_1;
    case DType::kQ4_K:
      return BlockQ4_K;
    case DType::kQ6_K:
      return BlockQ6_K;
    default:
      return nullptr;
  }
}

void QuantizeQ8_0(const float* in, uint8_t* out) {
  float largest = 0;
  for (int i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(in[i]));
  const float scale = largest / 127.0F;
  const float inverse = scale > 0 ? 1.0F / scale : 0.0F;
  const uint16_t half = F16FromFloat(scale);
  std::memcpy(out, &half, 2);
  for (int i = 0; i < 32; ++i) {
    const float q = std::clamp(std::round(in[i] * inverse), -127.0F, 127.0F);
    out[2 + i] = static_cast<uint8_t>(static_cast<int8_t>(std::isnan(q) ? 0 : q));
  }
}

}  // namespace

Status Dequantize(DType dtype, std::span<const std::byte> data, std::span<float> out) {
  if (!IsFloating(dtype))
    return InvalidArgument(fmt::format("{} holds no floating-point numbers", DTypeName(dtype)));
  const Block block = BlockOf(dtype);
  const auto block_bytes = static_cast<size_t>(block.bytes);
  const auto block_elements = static_cast<size_t>(block.elements);
  if (data.size() % block_bytes != 0 || data.size() / block_bytes * block_elements != out.size())
    return InvalidArgument(fmt::format("{} bytes of {} are not {} elements", data.size(),
                                       DTypeName(dtype), out.size()));
  const auto* in = reinterpret_cast<const uint8_t*>(data.data());
  switch (dtype) {
    case DType::kF32:
      if (!out.empty()) std::memcpy(out.data(), in, data.size());
      break;
    case DType::kF16:
      for (size_t i = 0; i < out.size(); ++i) out[i] = Half(in + 2 * i);
      break;
    case DType::kBF16:
      for (size_t i = 0; i < out.size(); ++i) out[i] = FloatFromBf16(Load<uint16_t>(in + 2 * i));
      break;
    case DType::kF64:
      for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(Load<double>(in + 8 * i));
      break;
    default: {
      const BlockFunction function = FunctionOf(dtype);
      for (size_t i = 0; i * block_bytes < data.size(); ++i)
        function(in + i * block_bytes, out.data() + i * block_elements);
    }
  }
  return Status::Ok();
}

bool IsWritable(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16 ||
         dtype == DType::kQ8_0;
}

Result<std::vector<std::byte>> Quantize(DType dtype, std::span<const float> values) {
  if (!IsWritable(dtype))
    return InvalidArgument(
        fmt::format("{} cannot be written; choose F32, F16, BF16 or Q8_0", DTypeName(dtype)));
  const Block block = BlockOf(dtype);
  if (values.size() % static_cast<size_t>(block.elements) != 0)
    return InvalidArgument(fmt::format("{} values are not a whole number of {} blocks",
                                       values.size(), DTypeName(dtype)));
  std::vector<std::byte> bytes(values.size() / static_cast<size_t>(block.elements) *
                               static_cast<size_t>(block.bytes));
  auto* out = reinterpret_cast<uint8_t*>(bytes.data());
  for (size_t i = 0; i < values.size(); i += static_cast<size_t>(block.elements)) {
    const uint16_t half = dtype == DType::kF16 ? F16FromFloat(values[i]) : Bf16FromFloat(values[i]);
    if (dtype == DType::kF32)
      std::memcpy(out, &values[i], 4);
    else if (dtype == DType::kQ8_0)
      QuantizeQ8_0(&values[i], out);
    else
      std::memcpy(out, &half, 2);
    out += block.bytes;
  }
  return bytes;
}

}  // namespace davinci::weights
