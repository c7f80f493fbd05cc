#include "davinci/teacher/emit/emitter.h"

#include <fmt/format.h>

#include "davinci/teacher/regions/kernel_form.h"

namespace davinci::teacher {

std::string CeilDiv(const std::string& size, int64_t by) {
  return fmt::format("({} + {}) // {}", size, by - 1, by);
}
std::string NextPowerOfTwo(const std::string& size) {
  return fmt::format("1 << ({} - 1).bit_length()", size);
}

std::string Substituted(const std::string& form, const std::vector<std::string>& operands) {
  // Of "{0} + {1}": how tight an operand must be. Sums and products are read from the left.
  const bool binary = form.size() > 8 && form.starts_with("{0} ") && form.ends_with(" {1}");
  const std::string op = binary ? form.substr(4, form.size() - 8) : "";
  int left = 3, right = 3;
  if (op == "+" || op == "-") left = 1, right = 2;
  if (op == "*" || op == "/") left = 2;
  if (op == "<" || op == ">" || op == "<=" || op == ">=" || op == "==" || op == "!=")
    left = right = 1;
  std::string text;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] == '{' && i + 2 < form.size() && form[i + 2] == '}') {
      const auto index = static_cast<size_t>(form[i + 1] - '0');
      const bool alone = (i == 0 || form[i - 1] == '(' || form.substr(0, i).ends_with(", ")) &&
                         (i + 3 == form.size() || form[i + 3] == ')' || form[i + 3] == ',');
      const std::string& operand = operands[index];
      const bool fits = binary && Precedence(operand) >= (index == 0 ? left : right) &&
                        !(index == 1 && operand.starts_with('-'));
      text += alone || fits ? operand : Bracketed(operand);
      i += 2;
    } else {
      text += form[i];
    }
  }
  return text;
}

}  // namespace davinci::teacher
