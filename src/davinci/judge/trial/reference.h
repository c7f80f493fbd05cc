// The reference in its two roles, oracle and baseline: loaded, described, bound.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/judge/roles/oracle_requests.h"
#include "davinci/judge/trial/trial.h"
#include "davinci/task/task.h"

namespace davinci::judge {

// Bytes that a task too large to be drawn without a device is shrunk to, by Job::compile_only_try.
inline constexpr int64_t kShrinkTo[] = {1 << 20, 1 << 20, 32 << 10};

// Asks oracle and baseline to load the reference; FinishReference() waits until both are bound.
Status BeginReference(Trial& trial);
void LoadBaseline(const Job& job, Session* session);
// What the reference's processes may read beside the system.
std::vector<std::filesystem::path> ReferenceFiles(const task::Task& task);
// The oracle's description of the reference: where it is, sizes, mode.
to_oracle::Load ReferenceSpec(Trial& trial);
Status FinishReference(Trial& trial);

}  // namespace davinci::judge
