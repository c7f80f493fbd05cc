#include "davinci/llm/backbone.h"

#include "davinci/llm/token_count.h"

namespace davinci::llm {

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
