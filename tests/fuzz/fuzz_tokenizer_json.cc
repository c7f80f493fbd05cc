// Any bytes as a tokenizer.json: an error with a message, or a tokenizer whose bytes come back.
#include <cstdlib>
#include <string>
#include <string_view>

#include "davinci/text/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace davinci::text;
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  auto definition = ReadTokenizerJson(source, "fuzz");
  if (!definition.ok()) {
    if (definition.status().message().empty()) std::abort();
    return 0;
  }
  const bool exact = !definition->nfc && !definition->add_prefix_space && definition->added.empty();
  const auto tokenizer = Tokenizer::FromDefinition(std::move(*definition));
  if (!tokenizer.ok()) {
    if (tokenizer.status().message().empty()) std::abort();
    return 0;
  }
  const std::string text = "def f(x):\n\treturn x  # caf\xc3\xa9 \xff\xf0\x9f\x98\x80 123";
  const auto ids = tokenizer->Encode(text);
  if (!ids.ok()) return 0;  // a pattern may exceed its limits
  std::string bytes;
  for (const int32_t id : *ids) bytes += tokenizer->TokenBytes(id);
  if (exact && bytes != text) std::abort();
  return 0;
}
