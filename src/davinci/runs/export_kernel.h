// A kernel as a file that runs in plain PyTorch, wherever davinci is not installed. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "davinci/config/task_config.h"
#include "davinci/data/evaluation.h"

namespace davinci::runs {

// What an export is made of besides the kernel.
struct ExportParts {
  std::string runtime_source;    // python/davinci_runtime/__init__.py
  std::string guard_source;      // python/davinci_runtime/guard.py; "" = no guard
  std::string reference_source;  // of the task
  std::string harness_source;    // python/davinci_runtime/harness.py
  std::string package;           // where the reference's relative imports begin; "" = it has none
};

// The candidate's source as a file that needs no installation of davinci_runtime: where it imports
// that helper, the helper's text stands below the kernel, and a few lines in front make a module of
// it. `from __future__` lines come first, as Python wants it. A source that imports
// davinci_runtime's `harness` brings that along, too. This is the text that is certified.
std::string StandaloneSource(std::string_view source, const ExportParts& parts);

// A text as a Python literal over several lines: as it stands where a raw literal can hold it, else
// escaped.
std::string PythonLiteral(std::string_view text);

// Why there is no export of what was judged, for people; empty where there is one. An export needs
// a verdict from a device, or from the cpu target, and must run its kernel.
std::string WhyNotExported(const Evaluation& evaluation);

// `standalone` with a comment in front; each line of `remarks` becomes one. Nothing that runs
// differs.
std::string WithRemarks(std::string_view standalone, const std::vector<std::string>& remarks);

// The file for the user: the kernel stand-alone, and below it the reference and the guard. The
// kernel runs for what `verified` (evidence.verified of a correct evaluation) says it was verified
// with, the reference for every other call. The comment in front names both.
std::string ExportSource(std::string_view source, const config::TaskConfig& config, Target target,
                         const Evaluation& verified, const ExportParts& parts,
                         std::vector<std::string> remarks);

}  // namespace davinci::runs
