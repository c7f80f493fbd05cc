#include "davinci/llm/thinking.h"

#include <array>

namespace davinci::llm {
namespace {

constexpr std::array<std::string_view, 2> kOpenTags = {"<think>", "<thinking>"};
constexpr std::array<std::string_view, 2> kCloseTags = {"</think>", "</thinking>"};

struct Tag {
  size_t position = std::string_view::npos;
  size_t length = 0;
  bool found() const { return position != std::string_view::npos; }
};

bool AtLineStart(std::string_view text, size_t position) {
  while (position > 0 && (text[position - 1] == ' ' || text[position - 1] == '\t')) --position;
  return position == 0 || text[position - 1] == '\n';
}

Tag NextOpen(std::string_view text, size_t from) {
  Tag best;
  for (const std::string_view tag : kOpenTags) {
    for (size_t at = text.find(tag, from); at < best.position; at = text.find(tag, at + 1)) {
      if (AtLineStart(text, at)) {
        best = {at, tag.size()};
        break;
      }
    }
  }
  return best;
}

Tag NextClose(std::string_view text, size_t from) {
  Tag best;
  for (const std::string_view tag : kCloseTags) {
    if (const size_t at = text.find(tag, from); at < best.position) best = {at, tag.size()};
  }
  return best;
}

}  // namespace

ThoughtAndAnswer SplitThinking(std::string_view text) {
  ThoughtAndAnswer split;
  size_t position = 0;
  const Tag first_close = NextClose(text, 0);
  if (first_close.found() && NextOpen(text, 0).position > first_close.position) {
    split.thinking = text.substr(0, first_close.position);
    position = first_close.position + first_close.length;
  }
  while (true) {
    const Tag open = NextOpen(text, position);
    split.answer += text.substr(position, open.found() ? open.position - position : open.position);
    if (!open.found()) break;
    const size_t start = open.position + open.length;
    const Tag close = NextClose(text, start);
    split.thinking += text.substr(start, close.found() ? close.position - start : close.position);
    if (!close.found()) {
      split.unclosed = true;
      break;
    }
    position = close.position + close.length;
  }
  return split;
}

}  // namespace davinci::llm
