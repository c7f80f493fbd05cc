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
#include <string_view>

#include "davinci/base/status.h"
#include "davinci/text/chat_template.h"
#include "davinci/text/tokenizer.h"
#include "davinci/trainer/token_file.h"

namespace davinci::trainer {

// What turns rows into examples.
class SftEncoder {
 public:
  // The tokenizer and template in a model's folder.
  static Result<SftEncoder> Open(const std::filesystem::path& model);
  // InvalidArgument: the row is not of the form above or has no trained reply. Any thread.
  Result<SftExample> Encode(std::string_view row) const;
  const text::Tokenizer& tokenizer() const { return tokenizer_; }

 private:
  SftEncoder(text::Tokenizer tokenizer, text::ChatTemplate chat)
      : tokenizer_(std::move(tokenizer)), template_(std::move(chat)) {}
  text::Tokenizer tokenizer_;
  text::ChatTemplate template_;
  bool knows_tools_ = false;
};

}  // namespace davinci::trainer
