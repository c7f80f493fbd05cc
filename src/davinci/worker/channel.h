// Channel: framed JSON messages over a stream socket, with optional file descriptors.
//
// Wire format (python/davinci_worker/channel.py is the other end): uint32 little-endian length,
// then that many bytes of UTF-8 JSON. Descriptors travel as SCM_RIGHTS with the first byte of a
// frame.
//
// The peer may be hostile: frames are bounded, every read has a deadline, malformed JSON is a
// Status, and descriptors beyond kMaxFds are closed. A Channel is used by one thread at a time.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/base/unique_fd.h"

namespace davinci::worker {

inline constexpr size_t kMaxFrameBytes = 16u << 20;
inline constexpr size_t kMaxFds = 8;
inline constexpr double kSendPatienceSeconds = 10;

struct Message {
  nlohmann::json body;
  std::string done;  // the payload of a DONE frame instead of a body (protocol.h)
  std::vector<UniqueFd> fds;
};

// Renders `body` as one frame, ready to be written with SendFrame.
std::string EncodeFrame(const nlohmann::json& body);
// Parses the payload of a frame (without the length). Depth and size are bounded. Fuzzed.
Result<nlohmann::json> DecodePayload(std::string_view payload);

class Channel {
 public:
  Channel() = default;
  explicit Channel(UniqueFd socket) : socket_(std::move(socket)) {}
  // A connected pair: our end and the descriptor to hand to the peer. Sending fails with
  // kDeadlineExceeded when the peer has read nothing for that long: who fills its own buffer with
  // answers and is stopped then would hold the sender for ever.
  static Result<std::pair<Channel, UniqueFd>> CreatePair(
      double send_timeout_seconds = kSendPatienceSeconds);

  Status Send(const nlohmann::json& body, std::span<const int> fds = {});
  // Writes a frame made by EncodeFrame, or GO (protocol.h); nothing is allocated.
  Status SendFrame(std::string_view frame, std::span<const int> fds = {});

  // Waits until a frame's first byte can be read, `alarm_fd` (may be -1) becomes readable or hangs
  // up, or the deadline passes. kUnavailable: the peer closed. kDeadlineExceeded: nothing came.
  // kCancelled: alarm_fd fired first.
  Status Wait(double timeout_seconds, int alarm_fd = -1) const;
  // Wait without sleeping, for up to `seconds`: the first byte is seen within a microsecond, at the
  // price of a core. True when something can be read.
  bool SpinUntilReadable(double seconds) const;
  // Payload bytes of the frame that waits to be read, as its header says; 0 where none waits. Reads
  // nothing.
  size_t WaitingBytes() const;
  // Reads one frame; the deadline covers all of it.
  Result<Message> Receive(double timeout_seconds, int alarm_fd = -1);

  int fd() const { return socket_.get(); }

 private:
  Status ReadExactly(char* data, size_t size, double deadline_seconds, int alarm_fd,
                     std::vector<UniqueFd>* fds);
  UniqueFd socket_;
};

}  // namespace davinci::worker
