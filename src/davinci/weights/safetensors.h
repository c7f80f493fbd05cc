// The header of a safetensors file: 8 bytes of length (little endian), that many bytes of JSON,
// then the data. Everything in it is checked against the size of the file before it is used.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/weights/dtype.h"

namespace davinci::weights {

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;  // inside the file's bytes
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;  // in the order of their data
  std::map<std::string, std::string> metadata;
};

// `file` is the whole file, `name` what errors call it. InvalidArgument: truncated, a header above
// 100 MB, malformed or duplicate entries, an unknown dtype, offsets that leave holes, overlap, or
// do not fit shape and dtype.
Result<SafetensorsHeader> ParseSafetensors(std::span<const std::byte> file, std::string_view name);

}  // namespace davinci::weights
