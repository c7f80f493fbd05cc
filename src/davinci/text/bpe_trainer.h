// Learns the merges of byte-pair encoding from words and their counts.
//
// The result equals that of BpeTrainer of the `tokenizers` package with the byte-level alphabet for
// the same words: the pair with the highest count is merged first, of equal ones that with the
// smaller ids; ids are special tokens, the alphabet by code point, merged tokens as they come. What
// that trainer does where two merges give the same token is done alike: such a token has one id,
// and words which it joins anew wait in an entry of their own.
//
// Pure; a function of its arguments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/text/tokenizer_definition.h"

namespace davinci::text {

struct WordCount {
  std::string word;  // bytes
  int64_t count = 0;
};

struct BpeTrainerOptions {
  size_t vocab_size = 8192;           // special tokens and alphabet included
  std::vector<std::string> specials;  // the first ids
};

// Fills tokens, merges and added of `definition`. InvalidArgument: vocab_size has no room for the
// special tokens and the 256 bytes.
Status TrainBpe(std::span<const WordCount> words, const BpeTrainerOptions& options,
                TokenizerDefinition* definition);

}  // namespace davinci::text
