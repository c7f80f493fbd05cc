#include "davinci/llm/request.h"

#include <fmt/format.h>

namespace davinci::llm {

std::string_view RoleName(Role role) {
  switch (role) {
    case Role::kSystem:
      return "system";
    case Role::kUser:
      return "user";
    case Role::kAssistant:
      return "assistant";
    case Role::kTool:
      return "tool";
  }
  return "user";
}

std::string SampleLabel(std::string_view label, int i) { return fmt::format("{}#{}", label, i); }

Request SampleOf(const Request& request, int i) {
  Request sample = request;
  sample.label = SampleLabel(request.label, i);
  if (sample.seed) sample.seed = *sample.seed + i;
  return sample;
}

}  // namespace davinci::llm
