// The candidate inside a reply: the last fenced block that defines `class <entry>New` at the top
// level.
//
// Fences are three or more backticks or tildes, indented or not. A fence line inside a Python
// triple-quoted string does not end a block, a fence with an info string inside a block opens an
// inner one (both are looked at). Thinking sections (thinking.h) are not searched. A block that is
// never closed counts only when no closed one fits, and not when the reply was cut at its length
// limit.
#pragma once

#include <string>
#include <string_view>

#include "davinci/llm/backbone.h"

namespace davinci::llm {

enum class ExtractionOutcome {
  kOk,
  kEmptyReply,    // no text outside thinking
  kOnlyThinking,  // the thinking section never ends
  kNoFence,       // text, but no fenced block
  kNoClass,       // blocks, but none defines the class
  kTruncated,     // the block with the class was cut at the length limit
};
std::string_view ExtractionOutcomeName(ExtractionOutcome outcome);  // "ok", "empty_reply", …

struct Extraction {
  ExtractionOutcome outcome = ExtractionOutcome::kEmptyReply;
  std::string source;     // kOk: the block's content, line ends '\n', ending in one
  std::string diagnosis;  // else: what is missing and what to do, addressed to the model
  int num_blocks = 0;
  bool unclosed = false;  // the source's fence was never closed
  bool ok() const { return outcome == ExtractionOutcome::kOk; }
};

// `class_name` is the whole name ("ModelNew").
Extraction ExtractCode(std::string_view text, FinishReason finish, std::string_view class_name);
inline Extraction ExtractCode(const Reply& reply, std::string_view class_name) {
  return ExtractCode(reply.text, reply.finish_reason, class_name);
}

}  // namespace davinci::llm
