// Rows of SFT data, and what a model is trained on of them.
//
// A file holds one native row per line (sftdata/row.h). A reply's weight scales its loss, 0 makes
// it context.
//
// The prompt is the model's own chat template, and a reply's ids are those the template makes of it
// behind that prompt, the end of the turn included. Earlier replies stand in later prompts as these
// ids: the same sequence a conversation has when it is rolled out (text/chat_template.h).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/rl/packing.h"
#include "davinci/text/chat_template.h"
#include "davinci/text/tokenizer.h"

namespace davinci::trainer {

struct SftExample {
  std::vector<int32_t> tokens;
  std::vector<int32_t> targets;  // indices of trained tokens
  std::vector<float> weights;    // of each
  rl::AgentKind agent = rl::AgentKind::kPolicy;
};

// What turns rows into examples.
class SftEncoder {
 public:
  // The tokenizer and template in a model's folder.
  static Result<SftEncoder> Open(const std::filesystem::path& model);
  // InvalidArgument: the row is not of the form above or has no trained reply.
  Result<SftExample> Encode(std::string_view row) const;
  const text::Tokenizer& tokenizer() const { return tokenizer_; }

 private:
  SftEncoder(text::Tokenizer tokenizer, text::ChatTemplate chat)
      : tokenizer_(std::move(tokenizer)), template_(std::move(chat)) {}
  text::Tokenizer tokenizer_;
  text::ChatTemplate template_;
  bool knows_tools_ = false;
};

struct SftData {
  std::vector<SftExample> examples;
  int64_t num_skipped = 0;  // too long
  int64_t num_tokens = 0;
  int64_t num_trained = 0;
  int64_t longest = 0;
  std::string digest;  // SHA-256 over what was read and the tokenizer
};

// All rows of the files, in order. Errors name file and line. InvalidArgument: no example, or one
// above `max_tokens` unless `skip_overlong`.
Result<SftData> LoadSftData(const std::vector<std::filesystem::path>& files,
                            const SftEncoder& encoder, int64_t max_tokens, bool skip_overlong);

}  // namespace davinci::trainer
