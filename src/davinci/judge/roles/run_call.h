// One call of a runner, from GO to where every thread of it stands, on our clock.
#pragma once

#include <cstdint>

#include "davinci/judge/roles/call.h"
#include "davinci/judge/roles/done_reader.h"
#include "davinci/judge/roles/runner_link.h"

namespace davinci::judge {

// Bytes of a message that surely fit into a control socket, whose buffer has 208 KiB by default:
// whether sent by a process that is stopped next or to one that is stopped, all of it is there.
inline constexpr size_t kSentAtOnceBytes = 64 << 10;

// Lets go of a process that stands, was armed and used `cpu_when_frozen_ns` of CPU time when it
// was stopped, which is set anew. It stands afterwards, or has ended.
CallResult RunCall(RunnerLink& link, DoneReader& reader, int64_t& cpu_when_frozen_ns,
                   const CallOptions& options);

}  // namespace davinci::judge
