// Text to token ids and back: byte-level BPE as in tokenizer.json of the GPT-2, Llama-3 and Qwen2/3
// families, or as in a GGUF file. Ids equal those of the `tokenizers` package for the same file.
//
//   DAVINCI_ASSIGN_OR_RETURN(auto tokenizer, Tokenizer::Load("models/qwen3-0.6b"));
//   DAVINCI_ASSIGN_OR_RETURN(auto ids, tokenizer.Encode("def f():", {}));
//
// A Tokenizer is a cheap handle on immutable tables: copy it freely, use it from any thread. What a
// tokenizer.json may ask for beyond the supported parts is an error at loading, never ignored; its
// "truncation" and "padding" are settings of a call in that package and have no meaning here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/text/tokenizer_definition.h"

namespace davinci::text {

struct EncodeOptions {
  // The text of special tokens ("<|im_end|>") becomes their id. False for text of a user, who must
  // not be able to end a turn: it is encoded like any other text. Added tokens that are not special
  // are recognised either way.
  bool parse_special = true;
  // Adds what the tokenizer's template puts around a text (Llama-3: "<|begin_of_text|>"). Chat
  // templates write these themselves.
  bool add_special_tokens = false;
};

class Tokenizer {
 public:
  // A folder (tokenizer.json, else its GGUF), a tokenizer.json, or a *.gguf file. With a
  // tokenizer.json, tokenizer_config.json and chat_template.jinja in its folder are read as well.
  static Result<Tokenizer> Load(const std::filesystem::path& path);
  // InvalidArgument: inconsistent tables (a byte without a token, merges of unknown tokens, …).
  static Result<Tokenizer> FromDefinition(TokenizerDefinition definition);

  // Bytes that are not UTF-8 are encoded byte by byte and come back from Decode's bytes unchanged.
  // InvalidArgument when the tokenizer's pattern exceeds PCRE2's limits on this text.
  Result<std::vector<int32_t>> Encode(std::string_view text,
                                      const EncodeOptions& options = {}) const;

  // The text; bytes that are not UTF-8 become U+FFFD, one for each maximal invalid part. Ids
  // outside the vocabulary yield nothing.
  std::string Decode(std::span<const int32_t> ids, bool skip_special = false) const;
  // The bytes of one token, without repair. Empty for ids outside the vocabulary.
  std::string_view TokenBytes(int32_t id) const;

  // Largest id + 1. A model's embedding may have more rows.
  int32_t vocab_size() const;
  bool IsSpecial(int32_t id) const;
  // The added or ordinary token with this text.
  std::optional<int32_t> FindToken(std::string_view text) const;
  // As the tokenizer's files name them; -1: not named.
  int32_t bos_id() const;
  int32_t eos_id() const;
  int32_t pad_id() const;
  // Jinja source; empty: the files have none. See chat_template.h.
  const std::string& chat_template() const;
  // SHA-256 (hex) over everything that decides about ids: equal digests, equal ids for every text.
  const std::string& digest() const;

 private:
  struct Tables;
  explicit Tokenizer(std::shared_ptr<const Tables> tables) : tables_(std::move(tables)) {}
  std::shared_ptr<const Tables> tables_;
};

}  // namespace davinci::text
