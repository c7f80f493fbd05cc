// Pieces of chat messages.
#pragma once

#include <string>
#include <utility>

#include "davinci/llm/backbone.h"

namespace davinci::agent {

inline llm::Message Says(llm::Role role, std::string text) {
  llm::Message message;
  message.role = role;
  message.content = std::move(text);
  return message;
}

// Without line breaks at the end: a prompt closes its fences itself.
inline std::string WithoutTrailingNewlines(std::string text) {
  text.erase(text.find_last_not_of("\r\n") + 1);
  return text;
}

}  // namespace davinci::agent
