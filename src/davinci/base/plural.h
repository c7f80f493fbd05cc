// Counts in messages: "1 task", "2 tasks".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace davinci {

// `noun` forms its plural with s.
inline std::string Counted(int64_t count, std::string_view noun) {
  std::string text = std::to_string(count);
  text += ' ';
  text += noun;
  if (count != 1) text += 's';
  return text;
}

}  // namespace davinci
