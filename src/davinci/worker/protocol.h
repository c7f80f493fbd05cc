// The protocol between the supervisor and the Python worker (python/davinci_worker), version 1.
//
// Fork server (control socket in DAVINCI_CONTROL_FD):
//   <- {"hello": {protocol, python, torch, triton, pid}}
//   -> {role: "oracle"|"runner", target, threads, env, scratch, policy} + fds [control, status, output]
// Status pipe of a child: 8-byte records {int32 kind, uint32 value}: kind 1 value = pid, kind 2 value = raw wait status,
// kind -1 = it could not be started.
// Child's control socket: <- {"ready": {sandbox}} or {"error": {...}}, then one reply {"ok": …} | {"error": {kind, message}} per
// request. A runner's reply to {"op":"call"} is {"done": {structure, outputs[], inner_ns}}; while it loads or runs it may send
// {"build": request} and waits for {"built": outcome}.
#pragma once

#include <cstdint>

namespace davinci::worker {

inline constexpr int kProtocolVersion = 1;

struct StatusRecord {
  int32_t kind;
  uint32_t value;
};
inline constexpr int32_t kStatusFailed = -1;
inline constexpr int32_t kStatusPid = 1;
inline constexpr int32_t kStatusExit = 2;

}  // namespace davinci::worker
