// Real servers for the client's tests: an HTTP endpoint whose answers a test writes, and a raw
// socket for connections that misbehave below HTTP.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/base/unique_fd.h"

namespace davinci::llm {

// POST /v1/chat/completions answers as `chat` says, GET /v1/models lists `models`.
class HttpServer {
 public:
  using Handler = std::function<void(const httplib::Request&, httplib::Response&)>;

  explicit HttpServer(const Handler& chat, const std::vector<std::string>& models = {"test-model"},
                      std::unique_ptr<httplib::Server> server = std::make_unique<httplib::Server>())
      : server_(std::move(server)) {
    server_->new_task_queue = [] { return new httplib::ThreadPool(96); };
    server_->set_tcp_nodelay(true);
    server_->set_keep_alive_max_count(1'000'000);
    server_->Post("/v1/chat/completions",
                  [this, chat](const httplib::Request& request, httplib::Response& response) {
                    {
                      const MutexLock lock(mutex_);
                      requests_.push_back(request.body);
                      headers_.push_back(request.headers);
                    }
                    chat(request, response);
                  });
    server_->Get("/v1/models", [models](const httplib::Request&, httplib::Response& response) {
      nlohmann::json data = nlohmann::json::array();
      for (const std::string& model : models) data.push_back({{"id", model}});
      response.set_content(nlohmann::json{{"data", data}}.dump(), "application/json");
    });
    port_ = server_->bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_->listen_after_bind(); });
    while (!server_->is_running()) std::this_thread::yield();
  }
  ~HttpServer() {
    server_->stop();
    thread_.join();
  }

  std::string url(const std::string& scheme = "http") const {
    return fmt::format("{}://127.0.0.1:{}", scheme, port_);
  }
  std::vector<nlohmann::json> requests() const {
    const MutexLock lock(mutex_);
    std::vector<nlohmann::json> parsed;
    for (const std::string& body : requests_) parsed.push_back(nlohmann::json::parse(body));
    return parsed;
  }
  // Returns this header of each request; "" where a request had none.
  std::vector<std::string> HeaderValues(const std::string& name) const {
    const MutexLock lock(mutex_);
    std::vector<std::string> values;
    for (const httplib::Headers& headers : headers_) {
      const auto found = headers.find(name);
      values.push_back(found == headers.end() ? "" : found->second);
    }
    return values;
  }
  std::vector<std::string> authorizations() const { return HeaderValues("Authorization"); }
  size_t num_requests() const {
    const MutexLock lock(mutex_);
    return requests_.size();
  }

 private:
  std::unique_ptr<httplib::Server> server_;
  int port_ = 0;
  std::thread thread_;
  mutable Mutex mutex_;
  std::vector<std::string> requests_ DAVINCI_GUARDED_BY(mutex_);  // their bodies
  std::vector<httplib::Headers> headers_ DAVINCI_GUARDED_BY(mutex_);
};

// One event of a stream.
inline std::string Event(const nlohmann::json& chunk) { return "data: " + chunk.dump() + "\n\n"; }
inline nlohmann::json Delta(const std::string& text) {
  return {{"model", "test-model"}, {"choices", {{{"index", 0}, {"delta", {{"content", text}}}}}}};
}
inline nlohmann::json Finished(const std::string& reason = "stop") {
  return {{"choices",
           {{{"index", 0}, {"delta", nlohmann::json::object()}, {"finish_reason", reason}}}}};
}
inline nlohmann::json UsageChunk(int prompt, int completion) {
  return {{"choices", nlohmann::json::array()},
          {"usage", {{"prompt_tokens", prompt}, {"completion_tokens", completion}}}};
}

// Streams the pieces one by one.
inline void Stream(httplib::Response& response, std::vector<std::string> pieces) {
  response.set_chunked_content_provider(
      "text/event-stream", [pieces = std::move(pieces)](size_t, httplib::DataSink& sink) {
        for (const std::string& piece : pieces) {
          if (!sink.write(piece.data(), piece.size())) return false;
        }
        sink.done();
        return true;
      });
}
// A whole good reply.
inline void StreamText(httplib::Response& response, const std::string& text) {
  Stream(response,
         {Event(Delta(text)), Event(Finished()), Event(UsageChunk(10, 5)), "data: [DONE]\n\n"});
}
inline void Fail(httplib::Response& response, int status, const std::string& message,
                 const std::string& code = "") {
  response.status = status;
  response.set_content(nlohmann::json{{"error", {{"message", message}, {"code", code}}}}.dump(),
                       "application/json");
}

// Accepts connections, reads a request's head and body, and lets `serve` answer with whatever bytes
// it likes; then the connection is closed.
class RawServer {
 public:
  // `serve` gets the socket and the number of the connection, from 0.
  explicit RawServer(std::function<void(int fd, int connection)> serve) : serve_(std::move(serve)) {
    listen_.Reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (::bind(listen_.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        ::listen(listen_.get(), 16) != 0 ||
        ::getsockname(listen_.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~RawServer() {
    closing_ = true;
    ::shutdown(listen_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  int num_connections() const { return num_connections_; }

  static void Send(int fd, const std::string& bytes) {
    if (::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return;
  }

  // Up to the end of one request's body.
  static void ReadRequest(int fd) {
    std::string got;
    char buffer[4096];
    while (true) {
      const size_t head = got.find("\r\n\r\n");
      if (head != std::string::npos) {
        size_t length = 0;
        const size_t at = got.find("Content-Length: ");
        if (at != std::string::npos) length = std::strtoul(got.c_str() + at + 16, nullptr, 10);
        if (got.size() >= head + 4 + length) return;
      }
      const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
      if (n <= 0) return;
      got.append(buffer, static_cast<size_t>(n));
    }
  }

 private:
  void Run() {
    while (!closing_) {
      const UniqueFd fd(::accept4(listen_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd.valid()) continue;
      const int connection = num_connections_++;
      ReadRequest(fd.get());
      serve_(fd.get(), connection);
    }
  }
  const std::function<void(int, int)> serve_;
  UniqueFd listen_;
  int port_ = 0;
  std::atomic<bool> closing_ = false;
  std::atomic<int> num_connections_ = 0;
  std::thread thread_;
};

}  // namespace davinci::llm
