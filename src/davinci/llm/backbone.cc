#include "davinci/llm/backbone.h"

#include <fmt/format.h>

#include "davinci/llm/token_count.h"

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

std::string_view FinishReasonName(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kToolCalls:
      return "tool_calls";
    case FinishReason::kContentFilter:
      return "content_filter";
    case FinishReason::kOther:
      break;
  }
  return "other";
}

std::string SampleLabel(std::string_view label, int i) { return fmt::format("{}#{}", label, i); }

Request SampleOf(const Request& request, int i) {
  Request sample = request;
  sample.label = SampleLabel(request.label, i);
  if (sample.seed) sample.seed = *sample.seed + i;
  return sample;
}

Result<std::vector<Reply>> Backbone::GenerateMany(const Request& request, int n,
                                                  const CancelToken& cancel) {
  std::vector<Reply> replies;
  for (int i = 0; i < n; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(Reply reply, Generate(SampleOf(request, i), cancel));
    replies.push_back(std::move(reply));
  }
  return replies;
}

int64_t Backbone::CountTokens(std::string_view text) const { return EstimateTokens(text); }

int64_t Backbone::CountPromptTokens(const Request& request) const {
  return EstimatePromptTokens(request);
}

}  // namespace davinci::llm
