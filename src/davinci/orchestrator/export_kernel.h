// A kernel as a file that runs in plain PyTorch, wherever davinci is not installed. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "davinci/config/task_config.h"
#include "davinci/data/evaluation.h"

namespace davinci::orchestrator {

// The candidate's source, with davinci_runtime's text in front when it imports that helper, so that
// `import davinci_runtime` finds it without an installation. `from __future__` lines come first, as
// Python wants it. A source that imports davinci_runtime's `harness` brings `harness_source` along,
// too. This is the text that is certified.
std::string StandaloneSource(std::string_view source, std::string_view runtime_source,
                             std::string_view harness_source = {});

// A text as a Python literal in three quotes.
std::string PythonLiteral(std::string_view text);

// `standalone` with a comment in front; each line of `remarks` becomes one. Nothing that runs
// differs.
std::string WithRemarks(std::string_view standalone, const std::vector<std::string>& remarks);

// What an export is made of besides the kernel.
struct ExportParts {
  std::string runtime_source;    // python/davinci_runtime/__init__.py
  std::string guard_source;      // python/davinci_runtime/guard.py; "" = no guard
  std::string reference_source;  // of the task
  std::string harness_source;    // python/davinci_runtime/harness.py
};

// The file for the user: the kernel stand-alone, and behind it the guard, through which the kernel
// runs for what `verified` (evidence.verified of a correct evaluation) says it was verified with,
// and the reference, which is inlined, for every other call. The comment in front names both.
std::string ExportSource(std::string_view source, const config::TaskConfig& config, Target target,
                         const Evaluation& verified, const ExportParts& parts,
                         std::vector<std::string> remarks);

}  // namespace davinci::orchestrator
