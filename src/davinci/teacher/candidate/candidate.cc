#include "davinci/teacher/candidate/candidate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace davinci::teacher {

std::string EveryCallStays(const std::vector<LeftOperator>& left) {
  std::vector<std::string> reasons;
  for (const LeftOperator& call : left) {
    std::string reason = fmt::format("{} ({})", call.op, call.why);
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
      reasons.push_back(std::move(reason));
  }
  return fmt::format("every call stays PyTorch's{}{}", reasons.empty() ? "" : ": ",
                     fmt::join(reasons, "; "));
}

}  // namespace davinci::teacher
