// LlmServer: the embedded model behind an OpenAI-compatible HTTP API.
//
//   POST /v1/chat/completions, /v1/completions   (stream, n, log-probs, tools, usage)
//   GET  /v1/models, /health
//
// HTTP threads parse and format; the engine's thread computes. At most max_batch answers are in the
// making and max_queue more wait; what comes on top is refused with 429 and Retry-After at once. A
// client that goes away cancels its stream. Errors are OpenAI's documents: 400 for what cannot be
// read or done, 401 without the key, 404 for another model, 429, 500.
//
// Listens on the loopback unless another host is given. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "davinci/base/status.h"
#include "davinci/embedded/embedded_backbone.h"

namespace davinci::server {

struct LlmServerOptions {
  std::string host = "127.0.0.1";
  int port = 8000;      // 0: any free one
  std::string api_key;  // empty: none is asked for
  int max_queue = 64;   // answers that wait for a place in the batch
  size_t max_body_bytes = 16 << 20;
};

class LlmServer {
 public:
  // Listens from now on. `backbone` must outlive the server. kUnavailable: the port is taken.
  static Result<std::unique_ptr<LlmServer>> Start(embedded::EmbeddedBackbone* backbone,
                                                  LlmServerOptions options);
  // Cancels answers in the making and waits for their threads.
  ~LlmServer();
  int port() const;
  void Stop();

 private:
  struct Impl;
  explicit LlmServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace davinci::server
