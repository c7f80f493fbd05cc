#include "davinci/llm/http_exchange.h"

#include <fmt/format.h>
#include <httplib.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/base/mutex.h"
#include "davinci/llm/proxy_tunnel.h"
#include "davinci/llm/socket_watch.h"

namespace davinci::llm {
namespace {

constexpr size_t kMaxAnswer_bytes = 64 << 20;
constexpr double kLinger_s = 0.2;

// Writing to a connection the other side has closed raises SIGPIPE in this thread. A library must
// not change what the process does with signals, so it is held back for the time of the exchange,
// and one that came is swallowed.
class NoSigPipe {
 public:
  NoSigPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &old_);
  }
  ~NoSigPipe() {
    if (!was_pending_) {
      const timespec none{0, 0};
      while (sigtimedwait(&pipe_, nullptr, &none) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &old_, nullptr);
  }
  NoSigPipe(const NoSigPipe&) = delete;
  NoSigPipe& operator=(const NoSigPipe&) = delete;

 private:
  sigset_t pipe_, old_;
  bool was_pending_ = false;
};

// A connection and the watched exchange that uses it now.
struct Connection {
  std::unique_ptr<httplib::ClientImpl> client;
  TunnelClient* tunnel = nullptr;  // `client`, where it is one
  SocketWatch::Watched* watched = nullptr;
};

std::string Describe(httplib::Error error, const HttpRoute& route) {
  const std::string proxy =
      route.proxy ? " (through the proxy " + route.proxy->ToString() + ")" : "";
  switch (error) {
    case httplib::Error::Connection:
      return "connection refused, or no such host" + proxy;
    case httplib::Error::ConnectionTimeout:
      return "the connection timed out" + proxy;
    case httplib::Error::SSLConnection:
      return "the TLS handshake failed";
    case httplib::Error::SSLLoadingCerts:
      return route.ca_file.empty()
                 ? "the system's certificates cannot be loaded; name a PEM file with llm.ca_file"
                 : fmt::format("the certificates of llm.ca_file {} cannot be loaded",
                               route.ca_file.string());
    case httplib::Error::SSLServerVerification:
      return fmt::format(
          "the server's TLS certificate is not trusted by {}; set llm.ca_file to the PEM file with "
          "the "
          "certificate of the authority that signed it",
          route.ca_file.empty() ? "this system" : "llm.ca_file " + route.ca_file.string());
    case httplib::Error::Write:
      return "the connection broke while sending";
    default:
      return "the connection broke off" + proxy;
  }
}

// A course records what happened while an answer arrived.
struct Course {
  bool stopped = false;
  bool last = false;
  bool too_large = false;
  double last_arrival_s = 0;
};

std::unique_ptr<Connection> Connect(const BaseUrl& url, const HttpRoute& route) {
  auto connection = std::make_unique<Connection>();
  if (url.https && route.proxy) {
    auto tunnel = std::make_unique<TunnelClient>(url.host, url.port, *route.proxy);
    connection->tunnel = tunnel.get();
    connection->client = std::move(tunnel);
  } else if (url.https) {
    connection->client = std::make_unique<httplib::SSLClient>(url.host, url.port);
  } else {
    connection->client = std::make_unique<httplib::ClientImpl>(url.host, url.port);
  }
  httplib::ClientImpl& client = *connection->client;
  client.set_keep_alive(true);
  client.set_tcp_nodelay(true);
  client.set_follow_location(false);
  if (!route.ca_file.empty()) client.set_ca_cert_path(route.ca_file.string());
  if (route.proxy && !url.https) {
    client.set_proxy(route.proxy->host, route.proxy->port);
    if (!route.proxy->user.empty())
      client.set_proxy_basic_auth(route.proxy->user, route.proxy->password);
  }
  client.enable_server_certificate_verification(true);
  client.set_socket_options([holder = connection.get()](int fd) {
    if (holder->watched != nullptr) holder->watched->Use(fd);
  });
  return connection;
}

void SetTimeouts(const HttpRequest& request, httplib::ClientImpl* client) {
  const auto micros = [](double seconds) {
    return std::chrono::microseconds(static_cast<int64_t>(std::max(seconds, 0.001) * 1e6));
  };
  const double left_s = request.deadline_s - MonotonicSeconds();
  client->set_connection_timeout(micros(std::min(request.connect_timeout_s, left_s)));
  client->set_read_timeout(micros(request.idle_timeout_s));
  client->set_write_timeout(micros(request.idle_timeout_s));
}

httplib::Request RequestOf(const BaseUrl& url, const HttpRequest& request) {
  httplib::Request out;
  out.method = request.method;
  out.path = url.path + request.path;
  out.body = request.body;
  out.set_header("Accept", "application/json, text/event-stream");
  out.set_header("User-Agent", "davinci-kernel");
  if (!request.body.empty()) out.set_header("Content-Type", "application/json");
  if (!request.authorization.empty()) out.set_header("Authorization", request.authorization);
  for (const auto& [name, value] : request.headers) {
    out.headers.erase(name);
    out.set_header(name, value);
  }
  return out;
}

// Decides how the exchange ended, and why.
void Conclude(const HttpRequest& request, const Course& course, bool ok, httplib::Error error,
              const HttpRoute& route, const Connection& connection, HttpAnswer* answer) {
  const double now_s = MonotonicSeconds();
  const auto end = [&](HttpEnd how, std::string why) {
    answer->end = how;
    answer->error = std::move(why);
  };
  if (course.stopped) return end(HttpEnd::kStopped, "");
  if (course.too_large)
    return end(HttpEnd::kTooLarge,
               fmt::format("the answer is larger than {} MiB", kMaxAnswer_bytes >> 20));
  // Also when the answer is complete: it may be complete because the socket was shut down.
  if (request.cancel.stop_requested()) return end(HttpEnd::kCancelled, "cancelled");
  if (course.last && !ok) return end(HttpEnd::kStopped, "");
  if (now_s >= request.deadline_s)
    return end(HttpEnd::kTimeout, "no complete answer before the deadline");
  if (ok) return end(HttpEnd::kComplete, "");
  if (error == httplib::Error::ConnectionTimeout)
    return end(HttpEnd::kTimeout, Describe(error, route));
  if (error == httplib::Error::Connection || error == httplib::Error::SSLConnection ||
      error == httplib::Error::SSLLoadingCerts || error == httplib::Error::SSLServerVerification) {
    if (connection.tunnel != nullptr && !connection.tunnel->refusal().empty())
      return end(HttpEnd::kNoConnect,
                 fmt::format("the proxy {} opens no connection: {}", route.proxy.value().ToString(),
                             connection.tunnel->refusal()));
    return end(HttpEnd::kNoConnect, Describe(error, route));
  }
  if (now_s - course.last_arrival_s >= 0.98 * request.idle_timeout_s)
    return end(HttpEnd::kTimeout,
               fmt::format("nothing arrived for {:g} s", request.idle_timeout_s));
  return end(HttpEnd::kBrokenOff, Describe(error, route));
}

}  // namespace

Result<BaseUrl> BaseUrl::Parse(std::string_view url) {
  const auto wrong = [&](std::string_view what) {
    // A URL with a password is not repeated.
    const bool secret = url.find('@') != std::string_view::npos;
    return InvalidArgument(fmt::format("endpoint {}: {}; write it like http://127.0.0.1:8000/v1",
                                       secret ? "URL" : "\"" + std::string(url) + "\"", what));
  };
  BaseUrl base;
  std::string_view rest = url;
  if (rest.starts_with("https://")) {
    base.https = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return wrong("it must begin with http:// or https://");
  }
  if (rest.find('@') != std::string_view::npos) {
    return wrong(
        "a URL must not hold a user name or password; keys come from the environment or a "
        "file");
  }
  if (rest.find_first_of("?# \t\r\n") != std::string_view::npos)
    return wrong("it must not hold a query, a fragment or spaces");
  const size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view host = rest.substr(0, slash);
  base.path = rest.substr(slash);
  base.port = base.https ? 443 : 80;

  const size_t bracket = host.rfind(']');
  const size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    const std::string_view port = host.substr(colon + 1);
    const auto read = std::from_chars(port.data(), port.data() + port.size(), base.port);
    if (read.ec != std::errc{} || read.ptr != port.data() + port.size() || base.port < 1 ||
        base.port > 65535) {
      return wrong("the port must be a number from 1 to 65535");
    }
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) return wrong("there is no host");
  base.host = host;

  constexpr std::string_view kCall = "/chat/completions";
  while (base.path.ends_with('/')) base.path.pop_back();
  if (base.path.ends_with(kCall)) base.path.resize(base.path.size() - kCall.size());
  if (base.path.empty()) base.path = "/v1";
  return base;
}

std::string BaseUrl::ToString() const {
  const bool v6 = host.find(':') != std::string::npos;
  const bool default_port = port == (https ? 443 : 80);
  return fmt::format("{}://{}{}{}{}{}", https ? "https" : "http", v6 ? "[" : "", host,
                     v6 ? "]" : "", default_port ? "" : fmt::format(":{}", port), path);
}

bool BaseUrl::loopback() const {
  return host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

struct HttpEndpoint::Impl {
  HttpRoute route;
  SocketWatch* watch = nullptr;
  Mutex mutex;
  std::vector<std::unique_ptr<Connection>> idle
      DAVINCI_GUARDED_BY(mutex);  // kept alive, most recently used last

  std::unique_ptr<Connection> Take() {
    const MutexLock lock(mutex);
    if (idle.empty()) return nullptr;
    auto connection = std::move(idle.back());
    idle.pop_back();
    return connection;
  }
  void GiveBack(std::unique_ptr<Connection> connection) {
    const MutexLock lock(mutex);
    idle.push_back(std::move(connection));
  }
};

Status CheckCaFile(const std::filesystem::path& file) {
  constexpr uint64_t kMaxFile_bytes = 16 << 20;
  constexpr std::string_view kRemedy =
      "llm.ca_file names a PEM file with the certificate of the authority that signed the "
      "endpoint's "
      "(-----BEGIN CERTIFICATE-----)";
  const auto text = ReadFile(file, kMaxFile_bytes);
  if (!text.ok()) return InvalidArgument(fmt::format("{}; {}", text.status().message(), kRemedy));
  if (text->find("-----BEGIN CERTIFICATE-----") == std::string::npos &&
      text->find("-----BEGIN TRUSTED CERTIFICATE-----") == std::string::npos)
    return InvalidArgument(fmt::format("{}: no certificate in it; {}", file.string(), kRemedy));
  return Status::Ok();
}

HttpEndpoint::HttpEndpoint(BaseUrl url, HttpRoute route, SocketWatch* watch)
    : url_(std::move(url)), impl_(std::make_unique<Impl>()) {
  impl_->route = std::move(route);
  impl_->watch = watch;
}

HttpEndpoint::~HttpEndpoint() = default;

HttpAnswer HttpEndpoint::Send(const HttpRequest& request,
                              const std::function<Flow(std::string_view)>& on_bytes) {
  bool reused = true;
  HttpAnswer answer = SendOnce(request, on_bytes, &reused);
  // Servers close idle connections just when they are used again; that says nothing about them.
  if (answer.end == HttpEnd::kBrokenOff && answer.status == 0 && reused) {
    reused = false;
    answer = SendOnce(request, on_bytes, &reused);
  }
  return answer;
}

HttpAnswer HttpEndpoint::SendOnce(const HttpRequest& request,
                                  const std::function<Flow(std::string_view)>& on_bytes,
                                  bool* reused) {
  const NoSigPipe no_sigpipe;
  SocketWatch::Watched watched(impl_->watch, request.deadline_s, request.cancel);
  std::unique_ptr<Connection> connection = *reused ? impl_->Take() : nullptr;
  *reused = connection != nullptr;
  if (connection == nullptr) connection = Connect(url_, impl_->route);
  httplib::ClientImpl& client = *connection->client;
  connection->watched = &watched;
  if (client.is_socket_open() != 0) watched.Use(client.socket());

  SetTimeouts(request, &client);

  HttpAnswer answer;
  Course course;
  bool streaming = false;
  course.last_arrival_s = MonotonicSeconds();
  httplib::Request out = RequestOf(url_, request);
  out.response_handler = [&](const httplib::Response& response) {
    course.last_arrival_s = MonotonicSeconds();
    answer.status = response.status;
    answer.content_type = response.get_header_value("Content-Type");
    answer.retry_after = response.get_header_value("Retry-After");
    answer.location = response.get_header_value("Location");
    streaming = on_bytes && answer.status == 200 &&
                answer.content_type.find("text/event-stream") != std::string::npos;
    return true;
  };
  size_t num_bytes = 0;
  out.content_receiver = [&](const char* data, size_t size, uint64_t, uint64_t) {
    course.last_arrival_s = MonotonicSeconds();
    num_bytes += size;
    if (num_bytes > kMaxAnswer_bytes) {
      course.too_large = true;
    } else if (streaming) {
      const Flow flow = on_bytes({data, size});
      course.stopped = flow == Flow::kStop;
      if (flow == Flow::kLast && !std::exchange(course.last, true))
        watched.Shorten(MonotonicSeconds() + kLinger_s);
    } else {
      answer.body.append(data, size);
    }
    return !course.stopped && !course.too_large;
  };

  httplib::Response in;
  httplib::Error error = httplib::Error::Success;
  const bool ok = client.send(out, in, error);
  connection->watched = nullptr;
  Conclude(request, course, ok, error, impl_->route, *connection, &answer);
  if (answer.end == HttpEnd::kComplete) impl_->GiveBack(std::move(connection));
  return answer;
}

}  // namespace davinci::llm
