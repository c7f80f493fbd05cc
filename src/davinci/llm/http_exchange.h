// One HTTP exchange with an endpoint over kept-alive connections; all of cpp-httplib is behind
// this.
//
// An exchange ends early when its token fires, its deadline passes or nothing arrives for too long,
// also while connecting: a watchdog shuts the socket down, which ends every read, write and connect
// on it. Only the look-up of a host name cannot be interrupted. Redirects are not followed (a key
// must not travel to where it was not sent). Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/base/cancel.h"
#include "davinci/base/status.h"
#include "davinci/llm/request_extras.h"

namespace davinci::llm {

// A base URL taken apart: "https://host:8443/some/v1".
struct BaseUrl {
  bool https = false;
  std::string host;  // without brackets
  int port = 0;
  std::string path;  // "/v1"; no slash at the end

  // InvalidArgument for anything but http and https, for user names, passwords, queries and
  // fragments. Without a path, /v1 is added; "/chat/completions" at the end is taken off.
  static Result<BaseUrl> Parse(std::string_view url);
  std::string ToString() const;
  bool loopback() const;  // this machine
};

struct HttpRequest {
  std::string method = "POST";
  std::string path;                                          // after the base URL's
  std::string authorization;                                 // header value; empty: none
  std::vector<std::pair<std::string, std::string>> headers;  // further ones; they win
  std::string body;                                          // JSON; empty: none
  double connect_timeout_s = 10;
  double idle_timeout_s = 300;
  double deadline_s = 0;  // MonotonicSeconds()
  CancelToken cancel;
};

enum class HttpEnd {
  kComplete,   // the whole answer is here
  kNoConnect,  // refused, no such host, TLS failed
  kTimeout,    // connecting, waiting or in all took too long
  kBrokenOff,  // the connection ended before the answer did
  kCancelled,  // by the token
  kStopped,    // `on_bytes` had enough
  kTooLarge,   // more than 64 MiB
};

// What the taker of a streamed body wants next.
enum class Flow {
  kMore,
  kLast,  // all it needs is here; what is left (a chunk's end) may come, so that the connection can
          // be kept, but not for long
  kStop,
};

struct HttpAnswer {
  HttpEnd end = HttpEnd::kNoConnect;
  std::string error;  // unless kComplete or kStopped: what went wrong, for people
  int status = 0;     // 0: no answer had begun
  std::string content_type;
  std::string retry_after;
  std::string location;
  std::string body;  // unless `on_bytes` took it
};

class SocketWatch;

// How an endpoint is reached.
struct HttpRoute {
  std::filesystem::path ca_file;  // certificates to trust instead of the system's
  std::optional<HttpProxy> proxy;
};
// InvalidArgument, naming file and remedy, unless `file` holds a certificate in PEM.
Status CheckCaFile(const std::filesystem::path& file);

class HttpEndpoint {
 public:
  HttpEndpoint(BaseUrl url, HttpRoute route, SocketWatch* watch);
  ~HttpEndpoint();

  // `on_bytes` (may be empty) gets the body of answers of status 200 and type text/event-stream as
  // it arrives.
  HttpAnswer Send(const HttpRequest& request,
                  const std::function<Flow(std::string_view)>& on_bytes);

  const BaseUrl& url() const { return url_; }

 private:
  // In: may a kept connection be used? Out: was one?
  HttpAnswer SendOnce(const HttpRequest& request,
                      const std::function<Flow(std::string_view)>& on_bytes, bool* reused);

  struct Impl;
  const BaseUrl url_;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace davinci::llm
