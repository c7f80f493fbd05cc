// Chat messages of plain text.
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

}  // namespace davinci::agent
