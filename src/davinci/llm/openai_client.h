// OpenAiClient: a Backbone behind one or more OpenAI-compatible endpoints (vLLM, SGLang,
// llama-server, hosted APIs): chat completions, streamed or not.
//
// Every call goes to the endpoint with the fewest calls in flight among those that are healthy. An
// endpoint that keeps failing is left alone for a while (circuit breaker); one that answers 429 or
// 503 with Retry-After is left alone for as long as it asked. Connection errors, time-outs, 408,
// 409, 425, 429, 5xx, streams that break off and answers that are not what the protocol promises
// are tried again with jittered exponential back-off, on another endpoint where there is one, while
// the client's retry budget lasts. Everything else is an error at once.
//
// Endpoints differ in what they accept. When one refuses an optional field (seed, logprobs,
// stream_options, tools, max_tokens, …) it is asked again without it, or in the other spelling, and
// that is remembered; Notices() tells. Without native tools the tools are described in the system
// message (tool_prompt.h).
//
// Keys are read from the environment or a file when the client is made (api_key.h); they are in no
// message, no record and no log. TLS certificates are always verified.
//
// Thread-safe. One background thread ends calls that were cancelled or are out of time.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/llm/backbone.h"
#include "davinci/llm/endpoint_health.h"
#include "davinci/llm/ledger.h"
#include "davinci/llm/prices.h"

namespace davinci::llm {

struct RetryPolicy {
  int max_attempts = 6;            // per call, the first included
  double first_delay_s = 0.5;      // before the second attempt; doubles each time
  double max_delay_s = 30;         // a delay is drawn uniformly from its upper half
  double max_retry_after_s = 300;  // an endpoint that asks for more ends the call
  // Waiting that endpoints asked for (Retry-After) counts as no attempt; all of it per call,
  // seconds.
  double max_paused_s = 900;
  // Retries of all calls together: a stock that each retry draws 1 from and each success puts
  // `budget_per_success` back into, so that an outage is not answered by a storm.
  double budget = 200;
  double budget_per_success = 0.5;
};

struct OpenAiOptions {
  // Base URLs: "http://127.0.0.1:8000" or "https://host/some/v1"; without a path, /v1 is added.
  std::vector<std::string> endpoints;
  std::string model;  // empty: the only one the endpoints serve (asked by Probe)

  // Where the key comes from. The file wins. The default variable may be unset (local servers need
  // no key), and its key is sent only over https or to this machine; a variable or file that was
  // named by the user must exist, and its key is sent to every endpoint.
  std::string api_key_env = "OPENAI_API_KEY";
  std::filesystem::path api_key_file;
  std::filesystem::path ca_file;  // certificates to trust instead of the system's

  // What users add to every request (request_extras.h).
  nlohmann::json extra_body = nlohmann::json::object();
  std::vector<std::pair<std::string, std::string>> headers;
  std::string proxy;

  bool stream = true;
  int max_in_flight = 64;  // per endpoint; further callers wait
  double connect_timeout_s = 10;
  double idle_timeout_s = 300;  // nothing arrived for so long
  double attempt_timeout_s = 1800;
  RetryPolicy retry;
  BreakerPolicy breaker;
  uint64_t jitter_seed = 0;  // of back-off delays; 0: unpredictable

  // Each of Notices() when it comes up after Create, from the thread that makes the call.
  std::function<void(const std::string&)> on_notice;
  // "URL: busy (429 …); the call waits 40 s and is made again": before a call waits for at least
  // two seconds, at most once in ten seconds. Not among Notices().
  std::function<void(const std::string&)> on_wait;

  PriceTable prices;
  Ledger* ledger = nullptr;  // not owned; may be null
};

class OpenAiClient : public Backbone {
 public:
  // InvalidArgument for URLs that are none (or hold a password or a query), FailedPrecondition when
  // a key that was asked for is not there. Certificates, headers and proxy are checked, too. Sends
  // nothing.
  static Result<std::unique_ptr<OpenAiClient>> Create(OpenAiOptions options);
  ~OpenAiClient() override;

  // Asks every endpoint for its models. OK when at least one is reachable and serves the model (the
  // others are in Notices() and stay out until they answer). Otherwise the error says for each
  // endpoint what is wrong: unreachable, key refused, or model unknown with those it has. An
  // endpoint that offers no list is taken at its word.
  Status Probe(const CancelToken& cancel);

  Result<Reply> Generate(const Request& request, const CancelToken& cancel) override;
  // Uses the endpoint's own `n`; an endpoint that answers with fewer is asked for the rest.
  Result<std::vector<Reply>> GenerateMany(const Request& request, int n,
                                          const CancelToken& cancel) override;
  std::string Name() const override;

  // As asked for, or the one that Probe() found; "" before.
  std::string model() const;
  std::vector<EndpointHealth> Health() const;
  // What the user should know once: fields an endpoint refused, keys not sent, endpoints left out.
  std::vector<std::string> Notices() const;

 private:
  struct Impl;
  explicit OpenAiClient(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace davinci::llm
