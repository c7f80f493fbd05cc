// Encoded examples in one file, mapped into memory: ids in 16 bits where the vocabulary allows it,
// trained tokens as runs of equal weight. Files of the cache (token_cache.h): of this machine, made
// again at any time.
//
//   magic | ids and runs of example 0, 1, … | one Entry per example | names of splits | Footer
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/base/unique_fd.h"
#include "davinci/rl/packing.h"
#include "davinci/weights/mapped_file.h"

namespace davinci::trainer {

// One sequence with its trained tokens.
struct SftExample {
  std::vector<int32_t> tokens;
  std::vector<int32_t> targets;  // indices of trained tokens
  std::vector<float> weights;    // of each
  rl::AgentKind agent = rl::AgentKind::kPolicy;
  std::string split;  // of generated tasks; "": none
};

class TokenFile {
 public:
  struct Entry {
    uint64_t offset = 0;  // of the ids
    uint32_t num_tokens = 0;
    uint32_t num_targets = 0;
    uint32_t num_runs = 0;
    uint32_t line = 0;  // of the rows' file, from 1
    uint16_t split = 0;
    uint8_t agent = 0;
    uint8_t unused = 0;
    uint32_t unused_too = 0;
  };

  // InvalidArgument: not a file that TokenFileWriter finished.
  static Result<TokenFile> Open(const std::filesystem::path& path);

  size_t size() const { return entries_.size(); }
  const Entry& entry(size_t i) const { return entries_[i]; }
  const std::string& split(size_t i) const { return splits_[entries_[i].split]; }
  SftExample Read(size_t i) const;

 private:
  std::shared_ptr<const weights::MappedFile> file_;
  std::span<const Entry> entries_;
  std::vector<std::string> splits_;
  uint32_t id_bytes_ = 4;
};

// Examples that were encoded together, before they have a place in a file.
class TokenBatch {
 public:
  explicit TokenBatch(bool wide) : wide_(wide) {}
  void Add(const SftExample& example, int64_t line);  // line: of the batch

 private:
  friend class TokenFileWriter;
  bool wide_;
  std::string data_;
  std::vector<TokenFile::Entry> entries_;
  std::vector<std::string> splits_;
};

// The file appears under its name with Finish(). One thread.
class TokenFileWriter {
 public:
  // `wide`: ids need more than 16 bits.
  static Result<TokenFileWriter> Create(const std::filesystem::path& path, bool wide);
  // `first_line`: lines of the file before those of the batch.
  Status Append(const TokenBatch& batch, int64_t first_line);
  Status Finish();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  UniqueFd file_;
  bool wide_ = false;
  uint64_t size_ = 0;
  std::vector<TokenFile::Entry> entries_;
  std::vector<std::string> splits_;
};

}  // namespace davinci::trainer
