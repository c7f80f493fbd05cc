// Any bytes as a safetensors file: an error with a message, or tensors inside the file's bytes.
#include <cstdlib>
#include <span>

#include "davinci/weights/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace davinci::weights;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto header = ParseSafetensors(bytes, "fuzz");
  if (!header.ok()) {
    if (header.status().message().empty()) std::abort();
    return 0;
  }
  size_t total = 0;
  for (const SafetensorsEntry& entry : header->tensors) {
    total += entry.data.size();
    if (!entry.data.empty() && (entry.data.data() < bytes.data() ||
                                entry.data.data() + entry.data.size() > bytes.data() + size))
      std::abort();
    const auto expected = NumBytes(entry.dtype, entry.shape);
    if (!expected.ok() || static_cast<size_t>(*expected) != entry.data.size()) std::abort();
  }
  if (total > size) std::abort();
  return 0;
}
