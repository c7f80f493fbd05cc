#include "davinci/teacher/candidate/imported_forward.h"

#include <cctype>

namespace davinci::teacher {

std::string Filled(const std::string& form, const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < form.size(); ++i) {
    size_t end = i + 1;
    while (end < form.size() && std::isdigit(static_cast<unsigned char>(form[end])) != 0) ++end;
    if (form[i] == '{' && end > i + 1 && end < form.size() && form[end] == '}') {
      text += names[std::stoul(form.substr(i + 1, end - i - 1))];
      i = end;
      continue;
    }
    text += form[i];
    // A doubled brace is one brace of an imported text.
    if ((form[i] == '{' || form[i] == '}') && i + 1 < form.size() && form[i + 1] == form[i]) ++i;
  }
  return text;
}

}  // namespace davinci::teacher
