#include "davinci/comm/socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>

namespace davinci::comm {
namespace {

constexpr size_t kHeaderBytes = 5;
// A peer that is silent for kIdleSeconds is asked every kProbeSeconds, kProbes times.
constexpr int kIdleSeconds = 10;
constexpr int kProbeSeconds = 5;
constexpr int kProbes = 3;
constexpr int kBacklog = 128;

void SetOption(int fd, int level, int name, int value) {
  ::setsockopt(fd, level, name, &value, sizeof(value));
}

void SetTimeout(int fd, int name, double seconds) {
  timeval time{};
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
  ::setsockopt(fd, SOL_SOCKET, name, &time, sizeof(time));
}

Status ReadExactly(int fd, char* to, size_t size) {
  while (size > 0) {
    const ssize_t got = ::recv(fd, to, size, 0);
    if (got == 0) return Unavailable("the connection was closed");
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return Unavailable(errno == EAGAIN || errno == EWOULDBLOCK ? "no answer in time"
                                                                 : std::strerror(errno));
    to += got;
    size -= static_cast<size_t>(got);
  }
  return Status::Ok();
}

}  // namespace

void Tune(int fd) {
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  SetOption(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 1000 * (kIdleSeconds + kProbeSeconds * kProbes));
}

Result<UniqueFd> Listen(int port) {
  // IPv6 takes IPv4 as well, where the machine has it.
  int error = 0;
  for (const int family : {AF_INET6, AF_INET}) {
    UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid()) {
      error = errno;
      continue;
    }
    SetOption(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    sockaddr_storage address{};
    socklen_t size = 0;
    if (family == AF_INET6) {
      SetOption(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
      auto* v6 = reinterpret_cast<sockaddr_in6*>(&address);
      v6->sin6_family = AF_INET6;
      v6->sin6_port = htons(static_cast<uint16_t>(port));
      size = sizeof(*v6);
    } else {
      auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
      v4->sin_family = AF_INET;
      v4->sin_port = htons(static_cast<uint16_t>(port));
      size = sizeof(*v4);
    }
    if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) == 0 &&
        ::listen(fd.get(), kBacklog) == 0)
      return fd;
    error = errno;
    if (error == EADDRINUSE) break;
  }
  return InvalidArgument(fmt::format(
      "rank 0 cannot listen on port {} ({}); set another MASTER_PORT", port, std::strerror(error)));
}

Result<UniqueFd> Connect(const std::string& host, int port, double seconds) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
      error != 0)
    return InvalidArgument(fmt::format("MASTER_ADDR=\"{}\": {}", host, ::gai_strerror(error)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(list, &::freeaddrinfo);
  int error = 0;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    UniqueFd fd(::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol));
    if (!fd.valid()) continue;
    SetTimeout(fd.get(), SO_SNDTIMEO, seconds);  // Linux: of connect() as well
    if (::connect(fd.get(), one->ai_addr, one->ai_addrlen) == 0) return fd;
    error = errno == EINPROGRESS ? ETIMEDOUT : errno;
  }
  return Unavailable(fmt::format("{}:{}: {}", host, port, std::strerror(error)));
}

Status SendFrame(int fd, FrameKind kind, std::string_view text) {
  std::string bytes(1, static_cast<char>(kind));
  PutUint32(&bytes, static_cast<uint32_t>(text.size()));
  bytes += text;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t sent = ::send(fd, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return Unavailable(std::strerror(errno));
    rest.remove_prefix(static_cast<size_t>(sent));
  }
  return Status::Ok();
}

Result<Frame> ReceiveFrame(int fd, double seconds) {
  SetTimeout(fd, SO_RCVTIMEO, seconds);
  char header[kHeaderBytes];
  DAVINCI_RETURN_IF_ERROR(ReadExactly(fd, header, sizeof(header)));
  const uint32_t size = GetUint32({header, sizeof(header)}, 1);
  if (size > kMaxFrameBytes) return Unavailable("the peer does not speak this protocol");
  Frame frame{static_cast<FrameKind>(header[0]), std::string(size, '\0')};
  DAVINCI_RETURN_IF_ERROR(ReadExactly(fd, frame.text.data(), size));
  return frame;
}

void PutUint32(std::string* to, uint32_t value) {
  for (int i = 0; i < 4; ++i) to->push_back(static_cast<char>(value >> (8 * i) & 255));
}

uint32_t GetUint32(std::string_view from, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4 && at + i < from.size(); ++i)
    value |= static_cast<uint32_t>(static_cast<unsigned char>(from[at + i])) << (8 * i);
  return value;
}

}  // namespace davinci::comm
