// From a reply to a typed tool call. Total: any bytes give a result, none an exception.
//
// Looked for in this order, first find wins:
//   1. native tool calls of the reply
//   2. Qwen XML          <function=NAME><parameter=KEY>value</parameter>…</function>
//   3. Hermes            <tool_call>{"name": …, "arguments": {…}}</tool_call>   ("args" and
//                        "parameters" are accepted for "arguments", and a text that holds JSON)
//   4. fenced blocks     as Hermes, or the arguments alone, or the list alone
//   5. bare values       the same anywhere in the text
// Values are JSON or Python literals (python_literal.h), models mix them. Thinking sections
// (thinking.h) are never searched. Several calls of the wanted tool in one form count as one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/llm/backbone.h"
#include "davinci/llm/tools.h"

namespace davinci::llm {

enum class ToolCallError {
  kNoCall,     // nothing that looks like a call
  kWrongTool,  // a call, but of another tool
  kMalformed,  // a call whose arguments cannot be read
  kTruncated,  // a call that ends in the middle
  kWrongType,  // arguments of the wrong shape: a required member missing or of another type
  kNoneShown,  // select_skills: names were given, but none of those shown
};
std::string_view ToolCallErrorName(ToolCallError error);  // "no_call", …

enum class ToolCallForm { kNative, kQwenXml, kHermes, kFenced, kBare };
std::string_view ToolCallFormName(ToolCallForm form);

// Either a value or an error with a message that can be shown to the model.
template <typename T>
struct ToolResult {
  std::optional<T> value;
  ToolCallForm form = ToolCallForm::kNative;     // with a value
  ToolCallError error = ToolCallError::kNoCall;  // without
  std::string message;                           // without
  bool ok() const { return value.has_value(); }
};

// Names match exactly, or else but for case and the difference of '-', '_' and ' ', where that is
// unambiguous. max_selected > 0.
ToolResult<SkillSelection> ParseSelectSkills(const Reply& reply,
                                             const std::vector<std::string>& shown,
                                             int max_selected);

// A skill without name or content is rejected, not an error. max_new_skills > 0.
ToolResult<SkillProposals> ParseUpdateSkillLibrary(const Reply& reply, int max_new_skills);

}  // namespace davinci::llm
