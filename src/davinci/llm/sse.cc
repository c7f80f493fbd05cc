#include "davinci/llm/sse.h"

#include <utility>

namespace davinci::llm {

void SseParser::EndEvent(std::vector<std::string>* events) {
  if (has_data_) events->push_back(std::exchange(data_, {}));
  has_data_ = false;
}

void SseParser::EndLine(std::vector<std::string>* events) {
  const std::string line = std::exchange(line_, {});
  if (line.empty()) {
    EndEvent(events);
    return;
  }
  constexpr std::string_view kData = "data";
  if (!line.starts_with(kData)) return;
  std::string_view value = std::string_view(line).substr(kData.size());
  if (!value.empty() && value.front() != ':') return;  // a field that only begins so
  if (!value.empty()) value.remove_prefix(1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (has_data_) data_ += '\n';
  data_ += value;
  has_data_ = true;
}

std::vector<std::string> SseParser::Feed(std::string_view bytes) {
  std::vector<std::string> events;
  while (!bytes.empty()) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (end == std::string_view::npos) break;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    EndLine(&events);
  }
  return events;
}

std::vector<std::string> SseParser::Finish() {
  std::vector<std::string> events;
  EndEvent(&events);
  line_.clear();
  return events;
}

}  // namespace davinci::llm
