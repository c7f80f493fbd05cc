// The replies that call one tool with arguments of its schema. Pure.
//
// These parts of a schema are read: objects (their required members, in that order), arrays
// (minItems, maxItems), texts (enum, maxLength). Objects of a list differ in their first member
// that has an enum, and their texts are not empty. A list without maxItems has at most kMostItems.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "davinci/base/status.h"
#include "davinci/embedded/byte_grammar.h"

namespace davinci::embedded {

inline constexpr int kMostItems = 16;

// How a model writes a call: what stands around the arguments.
struct CallForm {
  std::string open = "<tool_call>\n{\"name\": \"TOOL\", \"arguments\": ";
  std::string close = "}\n</tool_call>";
  bool thinks = false;  // <think>…</think> may come first
};

// InvalidArgument names what of the schema is not supported.
Result<ByteGrammar> GrammarOfCall(const CallForm& form, const nlohmann::json& schema);

}  // namespace davinci::embedded
