// For tests: a tokenizer whose tokens are the bytes.
#pragma once

#include <filesystem>
#include <string>

#include "davinci/base/files.h"
#include "davinci/base/status.h"
#include "davinci/text/byte_alphabet.h"
#include "davinci/text/tokenizer_definition.h"

namespace davinci::text {

// Writes tokenizer.json and tokenizer_config.json into `folder`. Token 256 is "<end>", which ends a
// turn; a prompt of the chat template is "u:…<end>a:".
inline Status WriteByteTokenizer(const std::filesystem::path& folder) {
  TokenizerDefinition definition;
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    definition.tokens.push_back(ToByteAlphabet({&c, 1}));
  }
  definition.tokens.emplace_back();
  definition.added.push_back({256, "<end>", true});
  definition.eos_id = 256;
  definition.patterns = {std::string(kQwen2Pattern)};
  definition.chat_template =
      "{% for m in messages %}{{ m.role[0] }}:{{ m.content }}<end>{% endfor %}"
      "{% if add_generation_prompt %}a:{% endif %}";
  DAVINCI_RETURN_IF_ERROR(
      WriteFileAtomic(folder / "tokenizer.json", ToTokenizerJson(definition).dump()));
  return WriteFileAtomic(folder / "tokenizer_config.json", ToTokenizerConfig(definition).dump());
}

}  // namespace davinci::text
