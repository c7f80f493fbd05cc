// Files of rows as token files (token_file.h): encoded once, on all cores, and kept in the cache
// folder under a name made of the rows, the tokenizer and its template.
//
// Several processes may ask at once: one encodes, the others wait and map what it wrote. A file is
// finished before the next one, so an interrupted start continues with the file it was at. What has
// not been used for long is removed when the folder exceeds its bound.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/trainer/sft_rows.h"
#include "davinci/trainer/token_file.h"

namespace davinci::trainer {

struct TokenFiles {
  std::vector<TokenFile> files;  // of each file of rows
  std::string digest;            // SHA-256 over all rows and the tokenizer
  int64_t num_encoded = 0;       // examples that were not in the cache
};

// Errors name file and line. `threads`: 0: all cores.
Result<TokenFiles> EncodeRowFiles(std::span<const std::filesystem::path> files,
                                  const SftEncoder& encoder, size_t threads = 0);

}  // namespace davinci::trainer
