// PrewarmedRunner: a runner and the folder it was given, before or after it has a candidate.
#pragma once

#include <filesystem>
#include <memory>

#include "davinci/base/files.h"
#include "davinci/judge/roles/runner.h"

namespace davinci::judge {

struct PrewarmedRunner {
  TempDir home;  // removed after the process is gone
  std::unique_ptr<Runner> runner;
  int served = 0;  // candidates that it has let go of (shared_process.h)
  // Where the candidate's source goes; the runner sees it read-only.
  std::filesystem::path source_path() const { return home.path() / "source" / "candidate.py"; }
};

}  // namespace davinci::judge
