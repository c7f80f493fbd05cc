// Job: a request as it is examined.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "davinci/judge/request/request.h"

namespace davinci::judge {

struct Job : EvaluationRequest {
  // Target cuda on a machine without a GPU; `target` is then the CPU on which kernels are
  // interpreted.
  bool compile_only = false;
  int compile_only_arch =
      90;  // compute capability that kernels are compiled for then, major * 10 + minor
  int compile_only_try = 0;  // 0: at the task's own size where it fits, then at ever smaller ones
  // True keeps the candidate out of processes that serve others (shared_process.h).
  bool alone = false;
  // Whose sizes the reference is traced at: a device's on a machine without one, too.
  std::optional<Target> sizes_of = std::nullopt;
  // The record of the task's inputs that an earlier admission has kept (task_admission.h); where it
  // is null, the oracle looks at every draw.
  nlohmann::json specification = nullptr;
};

}  // namespace davinci::judge
