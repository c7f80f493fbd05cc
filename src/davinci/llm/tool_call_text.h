// Finds tool calls in text, form by form (tool_calls.h names the forms). Used by tool_calls.cc
// only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/llm/python_literal.h"

namespace davinci::llm {

// A call as found. `error` is set when there is a call but its arguments cannot be read.
struct RawCall {
  std::string name;  // empty: the arguments stood alone
  nlohmann::json arguments;
  LiteralError error = LiteralError::kNone;
};

// What is looked for: a tool, and the member of its arguments that no other tool has.
struct WantedCall {
  std::string_view tool;
  std::string_view list_key;
};

// `text` is valid UTF-8.
std::vector<RawCall> QwenXmlCalls(std::string_view text);
std::vector<RawCall> HermesCalls(std::string_view text, const WantedCall& wanted);
std::vector<RawCall> FencedCalls(std::string_view text, const WantedCall& wanted);
std::vector<RawCall> BareCalls(std::string_view text, const WantedCall& wanted);

// Arguments that are text: the value the text holds, or the text itself when it holds none.
nlohmann::json DecodeText(std::string text);

}  // namespace davinci::llm
