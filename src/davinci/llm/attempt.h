// What one attempt at one endpoint came to, and what to do about it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/llm/api_key.h"
#include "davinci/llm/backbone.h"
#include "davinci/llm/http_exchange.h"
#include "davinci/llm/openai_wire.h"

namespace davinci::llm {

enum class Verdict {
  kReplied,  // `replies` holds the answer
  kRetry,    // the endpoint failed; another attempt may succeed
  kPause,    // the endpoint is busy; another attempt after retry_after_s
  kAdapt,    // the endpoint refused an optional field; ask again without it
  kFatal,    // another attempt will fail the same way
};

struct Attempt {
  Verdict verdict = Verdict::kFatal;
  std::vector<Reply> replies;
  Status status;                        // unless kReplied; scrubbed
  std::optional<double> retry_after_s;  // kPause, kRetry: as the endpoint asked
  std::optional<std::string> adapted;   // kAdapt: what was changed
  std::optional<Usage> lost;            // the answer had begun: it may be charged for
  double latency_s = 0;
};

// One POST to /chat/completions. `dialect` is the endpoint's and changed on kAdapt.
struct AttemptInput {
  const Request* request = nullptr;
  std::string model;
  int n = 1;
  bool stream = true;
  const ApiKey* key = nullptr;                 // may be empty; sent when not
  std::string key_origin;                      // for messages: "the environment variable X"
  const nlohmann::json* extra_body = nullptr;  // members in the place of ours; may be null
  HttpRequest http;                            // time-outs and token; the rest is filled in
};
Attempt TryEndpoint(HttpEndpoint& endpoint, const AttemptInput& input, Dialect* dialect);

// The models GET /models lists; an empty list when the endpoint does not offer one.
Result<std::vector<std::string>> ListModels(HttpEndpoint& endpoint, const ApiKey& key,
                                            const std::string& key_origin, HttpRequest http);

// Seconds of a Retry-After header: a number, or an HTTP date.
std::optional<double> ParseRetryAfter(const std::string& value);

}  // namespace davinci::llm
