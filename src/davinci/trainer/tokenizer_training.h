// A tokenizer from files of rows or text: byte-level BPE whose pre-tokenizer takes digits one by
// one (text::kQwen2Pattern, NFC), with a chat template for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/text/tokenizer_definition.h"

namespace davinci::trainer {

struct TokenizerTraining {
  std::vector<std::string> files;  // row_files.h; *.jsonl are rows, others text as it stands
  size_t vocab_size = 8192;
  // Bytes of files that are read at most, spread evenly over them: merges hardly change behind it.
  int64_t most_bytes = int64_t{256} << 20;
  size_t threads = 0;  // 0: all cores
};

struct TrainedTokenizer {
  text::TokenizerDefinition definition;
  int64_t num_bytes = 0;  // of text that was counted
  size_t num_words = 0;   // different ones
};

// The texts of a row's messages count: content, thinking and arguments of tool calls. The special
// tokens are <|endoftext|>, <|im_start|>, <|im_end|>. The result is a function of the files alone.
// Errors name the file, and the line of a row.
Result<TrainedTokenizer> TrainTokenizer(const TokenizerTraining& training);

// tokenizer.json and tokenizer_config.json, as transformers loads them.
Status WriteTokenizer(const text::TokenizerDefinition& definition,
                      const std::filesystem::path& folder);

}  // namespace davinci::trainer
