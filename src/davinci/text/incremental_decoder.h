// Text of tokens as they come, for streaming. What it gives, joined, is Tokenizer::Decode of all
// ids; no piece ends within a character.
#pragma once

#include <cstdint>
#include <string>

#include "davinci/text/tokenizer.h"

namespace davinci::text {

// One object serves one reply; not thread-safe.
class IncrementalDecoder {
 public:
  explicit IncrementalDecoder(Tokenizer tokenizer, bool skip_special = false)
      : tokenizer_(std::move(tokenizer)), skip_special_(skip_special) {}

  // What `id` completes; "" while a character is incomplete.
  std::string Push(int32_t id);
  // The rest: U+FFFD if a character was begun and not finished, else "". Starts anew afterwards.
  std::string Finish();
  // Bytes held back, 0 to 3.
  size_t pending_bytes() const { return pending_.size(); }

 private:
  Tokenizer tokenizer_;
  bool skip_special_;
  std::string pending_;
};

}  // namespace davinci::text
