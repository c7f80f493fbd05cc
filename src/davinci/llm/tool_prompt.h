// Tools for endpoints without native tool calls: described in the system message, called with
// <tool_call>{"name": …, "arguments": …}</tool_call> (the Hermes form, which tool_calls.h reads).
#pragma once

#include <vector>

#include "davinci/llm/backbone.h"

namespace davinci::llm {

// The request's messages with its tools described in the system message (made when there is none),
// earlier calls written as text and their results as user messages.
std::vector<Message> MessagesWithToolsAsText(const Request& request);

}  // namespace davinci::llm
