// The protocol between the supervisor and the Python worker (python/davinci_worker), version 1.
//
// Fork server (control socket in DAVINCI_CONTROL_FD):
//   <- {"hello": {protocol, python, torch, triton, pid}}
//   -> {role: "oracle"|"runner", target, threads, env, scratch, policy}
//      + fds [control, status, output]
// Status pipe of a child: 8-byte records {int32 kind, uint32 value}: kind 1 value = pid, kind 2
// value = raw wait status, kind -1 = it could not be started.
// Child's control socket: <- {"ready": {sandbox}} or {"error": {...}}, then one reply {"ok": …} |
// {"error": {kind, message}} per request. While a runner loads or runs it may send
// {"build": request} and waits for {"built": outcome}.
// A call has two steps. {"op":"arm", shift, args} prepares the arguments and is answered {"ok"};
// then the four bytes ff ff ff ff (GO) start the forward, followed by a uint64 seed when the arm
// message said "seeded". Its end is {"done": {structure, outputs[], inner_ns}}, or, when the
// outputs look like those described last, the frame 'D', int64 inner_ns, one uint64 data pointer
// for each (DONE).
// A window of several calls (judge/timing/timed_windows.cc): {"op":"arm", window: {calls, shifts,
// args, flush, idle, empty}}; GO carries a seed. Its end is {"done": {"several": [done…]}}, or DONE
// with the pointers of all calls; what comes in DONE of an empty one has no meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace davinci::worker {

inline constexpr int kProtocolVersion = 1;

struct StatusRecord {
  int32_t kind;
  uint32_t value;
};
inline constexpr std::string_view kGo = "\xff\xff\xff\xff";
inline constexpr char kDoneMark = 'D';
inline constexpr size_t kDoneHeadBytes = 9;
inline constexpr size_t kMaxDonePointers = 1 << 14;
// Pointers in a DONE payload; 0 when it is none. No JSON begins with its mark.
constexpr size_t NumDonePointers(std::string_view payload) {
  if (payload.size() <= kDoneHeadBytes || payload[0] != kDoneMark) return 0;
  const size_t rest = payload.size() - kDoneHeadBytes;
  const size_t count = rest / sizeof(uint64_t);
  return rest % sizeof(uint64_t) == 0 && count <= kMaxDonePointers ? count : 0;
}

inline constexpr int32_t kStatusFailed = -1;
inline constexpr int32_t kStatusPid = 1;
inline constexpr int32_t kStatusExit = 2;

}  // namespace davinci::worker
