// What a tokenizer file says, before tables are made of it: the form between tokenizer.json, GGUF
// and Tokenizer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/weights/gguf.h"

namespace davinci::text {

struct AddedToken {
  int32_t id = -1;
  std::string content;
  bool special = false;
  bool single_word = false;  // only between characters that are not part of a word
  bool lstrip = false;       // takes whitespace before it
  bool rstrip = false;       // takes whitespace behind it
  bool normalized = false;   // looked for in the normalized text
};

struct TokenizerDefinition {
  // By id, in the byte-level alphabet (byte_alphabet.h); "" where an id is not used.
  std::vector<std::string> tokens;
  std::vector<std::pair<std::string, std::string>> merges;  // best first, in the same alphabet
  std::vector<AddedToken> added;
  // Applied one after the other: each match, and what is between matches, is a piece.
  std::vector<std::string> patterns;  // syntax of tokenizer.json
  bool add_prefix_space = false;
  bool nfc = false;
  bool ignore_merges = false;  // a piece that is a token needs no merges
  // Around a text with add_special_tokens.
  std::vector<int32_t> prefix;
  std::vector<int32_t> suffix;

  int32_t bos_id = -1;
  int32_t eos_id = -1;
  int32_t pad_id = -1;
  std::string chat_template;
};

// The patterns of the families, as their files state them.
inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// A tokenizer.json. InvalidArgument names what is malformed or not supported.
Result<TokenizerDefinition> ReadTokenizerJson(std::string_view text, std::string_view name);
// bos, eos, pad and chat template of a tokenizer_config.json. Tokens are looked up in `definition`.
Status ReadTokenizerConfig(std::string_view text, std::string_view name,
                           TokenizerDefinition* definition);
// Both of a folder, and chat_template.jinja, which wins over tokenizer_config.json.
Result<TokenizerDefinition> ReadTokenizerFolder(const std::filesystem::path& tokenizer_json);
// The tokenizer inside a GGUF. Pre-tokenizers known by their GGUF names: gpt-2, llama-bpe, qwen2,
// smollm. NFC is on for qwen2, as in that family's tokenizer.json.
Result<TokenizerDefinition> ReadGgufTokenizer(const weights::GgufHeader& header,
                                              std::string_view name);

// A tokenizer.json and a tokenizer_config.json that `tokenizers` and transformers load.
nlohmann::ordered_json ToTokenizerJson(const TokenizerDefinition& definition);
nlohmann::ordered_json ToTokenizerConfig(const TokenizerDefinition& definition);
// GGUF's name of the pre-tokenizer, "" for one that GGUF has no name for.
std::string GgufPreTokenizerName(const TokenizerDefinition& definition);

}  // namespace davinci::text
