#include "davinci/llm/proxy_tunnel.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "davinci/base/table.h"

namespace davinci::llm {

TunnelClient::TunnelClient(const std::string& host, int port, HttpProxy proxy)
    : httplib::SSLClient(host, port),
      target_(host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                                  : fmt::format("[{}]:{}", host, port)),
      proxy_(std::move(proxy)) {}

bool TunnelClient::create_and_connect_socket(Socket& socket, httplib::Error& error) {
  refusal_.clear();
  if (!is_valid()) return false;
  // The base connects to a proxy where one is set; without one it goes on with TLS.
  set_proxy(proxy_.host, proxy_.port);
  // NOLINTNEXTLINE(bugprone-parent-virtual-call): without the TLS of the class between
  const bool connected = httplib::ClientImpl::create_and_connect_socket(socket, error);
  set_proxy("", -1);
  if (!connected) return false;
  if (OpenTunnel(socket.sock)) return true;
  ::close(socket.sock);
  socket.sock = INVALID_SOCKET;
  error = httplib::Error::Connection;
  return false;
}

bool TunnelClient::OpenTunnel(int fd) {
  std::string request = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", target_);
  if (!proxy_.user.empty()) {
    const auto [name, value] =
        httplib::make_basic_authentication_header(proxy_.user, proxy_.password, /*is_proxy=*/true);
    request += fmt::format("{}: {}\r\n", name, value);
  }
  request += "\r\n";
  for (size_t sent = 0; sent < request.size();) {
    const ssize_t n = ::send(fd, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      refusal_ = "it took no request";
      return false;
    }
    sent += static_cast<size_t>(n);
  }
  // Byte by byte: what follows the head belongs to TLS.
  constexpr size_t kMaxHead_bytes = 16 << 10;
  std::string head;
  while (!head.ends_with("\r\n\r\n") && head.size() < kMaxHead_bytes) {
    char c = 0;
    const ssize_t n = ::recv(fd, &c, 1, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      refusal_ = "it answered nothing";
      return false;
    }
    head += c;
  }
  // "HTTP/1.1 200 Connection established"
  const std::string status = head.substr(0, head.find("\r\n"));
  const size_t code = status.find(' ');
  if (status.starts_with("HTTP/1.") && code != std::string::npos && status.size() > code + 1 &&
      status[code + 1] == '2')
    return true;
  refusal_ = Ellipsize(Printable(status), 100);
  return false;
}

}  // namespace davinci::llm
