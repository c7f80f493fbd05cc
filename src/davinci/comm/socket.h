// Blocking TCP sockets with bounded waits, and the frames that ranks exchange over them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "davinci/base/status.h"
#include "davinci/base/unique_fd.h"

namespace davinci::comm {

// A frame is its kind (1 byte), its length (4 bytes, little-endian) and its text.
enum class FrameKind : char {
  kHello = 'H',    // rank -> 0: who it is
  kWelcome = 'W',  // 0 -> rank
  kRefused = 'R',  // 0 -> rank: why
  kText = 'T',     // rank -> 0: its part of an exchange
  kAll = 'A',      // 0 -> rank: all parts
  kBye = 'B',      // the sender leaves in order
  kAbort = 'X',    // the sender ends because some rank failed
};

struct Frame {
  FrameKind kind = FrameKind::kBye;
  std::string text;
};

// Longer ones are taken for the words of a stranger.
inline constexpr uint32_t kMaxFrameBytes = 64u << 20;

// Listens on all of this machine's addresses; accepting does not block.
Result<UniqueFd> Listen(int port);
// Tries once, all addresses of `host`, each for at most `seconds`.
Result<UniqueFd> Connect(const std::string& host, int port, double seconds);
// Sends at once, notices a silent peer within half a minute.
void Tune(int fd);

// Unavailable: the connection broke, or `seconds` passed (0: waits for ever).
Status SendFrame(int fd, FrameKind kind, std::string_view text);
Result<Frame> ReceiveFrame(int fd, double seconds);

// Numbers inside a frame's text.
void PutUint32(std::string* to, uint32_t value);
uint32_t GetUint32(std::string_view from, size_t at);  // 0 behind the end

}  // namespace davinci::comm
