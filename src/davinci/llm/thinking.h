// Thinking sections that models write into their text: <think>…</think> (also <thinking>).
//
// An opening tag counts at the start of a line; a closing tag without an opening one ends a section
// that began with the text (chat templates often supply the opening tag themselves).
#pragma once

#include <string>
#include <string_view>

namespace davinci::llm {

struct ThoughtAndAnswer {
  std::string thinking;
  std::string answer;     // the text without its thinking sections
  bool unclosed = false;  // the last section never ends
};

ThoughtAndAnswer SplitThinking(std::string_view text);

}  // namespace davinci::llm
