// JudgeContext: what every trial borrows from its Judge. All pointers outlive the trial.
#pragma once

#include <nlohmann/json.hpp>

#include "davinci/data/evaluation.h"
#include "davinci/gpu/lease.h"
#include "davinci/judge/machine/machine.h"
#include "davinci/judge/request/judge_options.h"
#include "davinci/store/kv_cache.h"
#include "davinci/worker/fork_server.h"

namespace davinci::judge {

class BaselineProfiles;
class RunnerPool;
class ExpectedParts;
class SessionPool;
class SlowCalls;
class TimingCores;

struct JudgeContext {
  worker::Spawner* server = nullptr;
  gpu::DeviceLeases* leases = nullptr;
  Machine* machine = nullptr;
  std::string device;  // uuid of the GPU; empty where there is none
  const TimingCores* timing_cores = nullptr;
  SessionPool* sessions = nullptr;
  BaselineProfiles* profiles = nullptr;
  RunnerPool* runner_pool = nullptr;
  SlowCalls* slow_calls = nullptr;
  ExpectedParts* expected_parts = nullptr;  // null: nothing is known of other tasks
  worker::BuildHandler build;
  // Device peaks and task admission; null where nothing can be kept.
  store::KvCache* facts = nullptr;
  nlohmann::json hello;  // of the fork server: versions and prefixes of the interpreter
  JudgeOptions options;
  int threads = 1;

  // Host threads of reference and candidate. On cuda one, unless the user says otherwise: every
  // idle thread of a pool wakes and is stopped again at each call (H200, 16 cores: 0.3 ms, and most
  // of the spread of a call of 1 ms).
  int RunnerThreads(Target target) const {
    return target == Target::kCuda && options.threads <= 0 ? 1 : threads;
  }
};

}  // namespace davinci::judge
