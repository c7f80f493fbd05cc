// Any bytes as a GGUF file: an error with a message, or tensors inside the file's bytes that can be
// dequantized, a configuration and a tokenizer or errors for them.
#include <cstdlib>
#include <span>
#include <vector>

#include "davinci/text/tokenizer.h"
#include "davinci/weights/dequantize.h"
#include "davinci/weights/gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace davinci::weights;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto header = GgufHeader::Parse(bytes, "fuzz");
  if (!header.ok()) {
    if (header.status().message().empty()) std::abort();
    return 0;
  }
  for (const GgufTensor& tensor : header->tensors()) {
    if (!tensor.data.empty() && (tensor.data.data() < bytes.data() ||
                                 tensor.data.data() + tensor.data.size() > bytes.data() + size))
      std::abort();
    const auto elements = NumElements(tensor.shape);
    if (!elements.ok() || !IsFloating(tensor.dtype)) continue;
    std::vector<float> values(static_cast<size_t>(*elements));
    if (!Dequantize(tensor.dtype, tensor.data, values).ok()) std::abort();
  }
  auto definition = davinci::text::ReadGgufTokenizer(*header, "fuzz");
  if (!definition.ok()) return 0;
  const auto tokenizer = davinci::text::Tokenizer::FromDefinition(std::move(*definition));
  if (tokenizer.ok() && !tokenizer->Encode("int main() { return 0; }").ok()) std::abort();
  return 0;
}
