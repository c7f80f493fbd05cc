// What each role may see and do. The runner sees the interpreter, its own source and its scratch
// folder; nothing of the task, of other candidates, of the network. Returned as JSON because the
// Python worker hands it to the sandbox.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "davinci/data/language.h"

namespace davinci::judge {

struct JudgeContext;

// `role`: "oracle", "baseline" or "candidate". `trusted` (the first two): may also start programs,
// for torch.compile.
nlohmann::json RolePolicy(const JudgeContext& context, Target target, std::string_view role,
                          const std::string& scratch,
                          const std::vector<std::filesystem::path>& readable, bool trusted);

// Lets a role start programs: Triton runs its assembler, also where there is no device.
void AllowPrograms(nlohmann::json* policy);

// HOME, TMPDIR and the caches of torch and Triton, all inside the scratch folder; on cuda the
// number of hardware queues (0: the driver's default).
nlohmann::json RoleEnvironment(const std::string& scratch, int device_connections);

}  // namespace davinci::judge
