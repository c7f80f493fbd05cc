#include "davinci/worker/channel.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "davinci/base/clock.h"
#include "davinci/base/json_text.h"
#include "davinci/worker/protocol.h"

namespace davinci::worker {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 64;
constexpr size_t kHeaderBytes = 4;

uint32_t LengthIn(const unsigned char (&header)[kHeaderBytes]) {
  uint32_t length = 0;
  for (size_t i = 0; i < kHeaderBytes; ++i) length |= uint32_t{header[i]} << (8 * i);
  return length;
}

int RemainingMs(double deadline_seconds) {
  const double left = deadline_seconds - MonotonicSeconds();
  return left <= 0 ? 0 : static_cast<int>(std::min(left * 1000.0 + 1.0, 1e9));
}

}  // namespace

std::string EncodeFrame(const json& body) {
  const std::string payload = JsonText(body);
  const auto length = static_cast<uint32_t>(payload.size());
  std::string frame(kHeaderBytes, '\0');
  for (size_t i = 0; i < kHeaderBytes; ++i)
    frame[i] = static_cast<char>((length >> (8 * i)) & 0xff);
  return frame + payload;
}

Result<json> DecodePayload(std::string_view payload) {
  if (payload.size() > kMaxFrameBytes) return InvalidArgument("frame too large");
  bool too_deep = false;
  auto guard = [&](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > kMaxDepth;
    return !too_deep;
  };
  // The callback cannot stop the parser, so hostile nesting is refused before it: brackets bound
  // the depth from above.
  int depth = 0;
  int deepest = 0;
  for (char c : payload) {
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  if (deepest > 4 * kMaxDepth) return InvalidArgument("message nested too deeply");
  json body = json::parse(payload, guard, /*allow_exceptions=*/false);
  if (too_deep) return InvalidArgument("message nested too deeply");
  if (body.is_discarded()) return InvalidArgument("message is not JSON");
  if (!body.is_object()) return InvalidArgument("message is not a JSON object");
  return body;
}

Result<std::pair<Channel, UniqueFd>> Channel::CreatePair(double send_timeout_seconds) {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    return FromErrno(errno, "creating a control socket");
  UniqueFd ours(fds[0]);
  UniqueFd theirs(fds[1]);
  const auto microseconds = static_cast<int64_t>(1e6 * send_timeout_seconds);
  const timeval limit{microseconds / 1'000'000, microseconds % 1'000'000};
  if (setsockopt(ours.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0)
    return FromErrno(errno, "limiting a control socket");
  return std::make_pair(Channel(std::move(ours)), std::move(theirs));
}

Status Channel::Send(const json& body, std::span<const int> fds) {
  return SendFrame(EncodeFrame(body), fds);
}

Status Channel::SendFrame(std::string_view frame, std::span<const int> fds) {
  const double patience = MonotonicSeconds() + kSendPatienceSeconds;
  size_t sent = 0;
  while (sent < frame.size()) {
    iovec part{const_cast<char*>(frame.data()) + sent, frame.size() - sent};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(kMaxFds * sizeof(int))];
    if (sent == 0 && !fds.empty()) {
      header.msg_control = control;
      header.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
      cmsghdr* rights = CMSG_FIRSTHDR(&header);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
      std::memcpy(CMSG_DATA(rights), fds.data(), fds.size() * sizeof(int));
    }
    const ssize_t n = sendmsg(socket_.get(), &header, MSG_NOSIGNAL);
    if (n < 0) {
      if (errno == EINTR) continue;
      // Descriptors under way are counted for each user: a neighbour may use them up until it is
      // ended.
      if (errno == ETOOMANYREFS && MonotonicSeconds() < patience) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        continue;
      }
      if (errno == EAGAIN || errno == EWOULDBLOCK)
        return DeadlineExceeded("a worker does not read what it is sent");
      return FromErrno(errno, "writing to a worker");
    }
    sent += static_cast<size_t>(n);
  }
  return Status::Ok();
}

Status Channel::Wait(double timeout_seconds, int alarm_fd) const {
  const double deadline = MonotonicSeconds() + timeout_seconds;
  while (true) {
    pollfd watched[2] = {{socket_.get(), POLLIN, 0}, {alarm_fd, POLLIN, 0}};
    const int n = poll(watched, alarm_fd >= 0 ? 2 : 1, RemainingMs(deadline));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FromErrno(errno, "waiting for a worker");
    if (n == 0) return DeadlineExceeded("no reply in time");
    if (watched[0].revents & POLLIN) return Status::Ok();
    if (alarm_fd >= 0 && watched[1].revents) return Cancelled("the worker ended");
    if (watched[0].revents) return Unavailable("the worker closed its control channel");
  }
}

bool Channel::SpinUntilReadable(double seconds) const {
  const double deadline = MonotonicSeconds() + seconds;
  char byte = 0;
  do {
    if (recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0) return true;
  } while (MonotonicSeconds() < deadline);
  return false;
}

size_t Channel::WaitingBytes() const {
  unsigned char header[kHeaderBytes];
  if (recv(socket_.get(), header, kHeaderBytes, MSG_PEEK | MSG_DONTWAIT) != kHeaderBytes) return 0;
  return LengthIn(header);
}

Status Channel::ReadExactly(char* data, size_t size, double deadline, int alarm_fd,
                            std::vector<UniqueFd>* fds) {
  size_t done = 0;
  while (done < size) {
    DAVINCI_RETURN_IF_ERROR(Wait(std::max(0.0, deadline - MonotonicSeconds()), alarm_fd));
    iovec part{data + done, size - done};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(kMaxFds * sizeof(int))];
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    const ssize_t n = recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return FromErrno(errno, "reading from a worker");
    }
    for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
      const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
        UniqueFd owned(fd);
        if (fds != nullptr && fds->size() < kMaxFds) fds->push_back(std::move(owned));
      }
    }
    if (n == 0) return Unavailable("the worker closed its control channel");
    done += static_cast<size_t>(n);
  }
  return Status::Ok();
}

Result<Message> Channel::Receive(double timeout_seconds, int alarm_fd) {
  const double deadline = MonotonicSeconds() + timeout_seconds;
  Message message;
  unsigned char header[kHeaderBytes];
  DAVINCI_RETURN_IF_ERROR(
      ReadExactly(reinterpret_cast<char*>(header), kHeaderBytes, deadline, alarm_fd, &message.fds));
  const uint32_t length = LengthIn(header);
  if (length > kMaxFrameBytes)
    return InvalidArgument(fmt::format("frame of {} bytes exceeds {}", length, kMaxFrameBytes));
  std::string payload(length, '\0');
  DAVINCI_RETURN_IF_ERROR(ReadExactly(payload.data(), length, deadline, alarm_fd, &message.fds));
  if (NumDonePointers(payload) > 0) {
    message.done = std::move(payload);
    return message;
  }
  DAVINCI_ASSIGN_OR_RETURN(message.body, DecodePayload(payload));
  return message;
}

}  // namespace davinci::worker
