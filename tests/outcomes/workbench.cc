#include "workbench.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "davinci/base/hash.h"
#include "installation.h"

namespace davinci::outcomes {

const char kReference[] = R"(
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return x * 2 + 1

def get_inputs():
    return [torch.rand(64, 128)]

def get_init_inputs():
    return []
)";

const char kImports[] = R"(
import ctypes
import os
import signal
import sys
import time

import torch
import torch.nn as nn
)";

const char kGood[] = R"(
import torch
import torch.nn as nn

class ModelNew(nn.Module):
    def forward(self, x):
        return torch.add(x, x).add_(1)
)";

Result<std::unique_ptr<Workbench>> Workbench::Create(Target target) {
  auto bench = std::make_unique<Workbench>();
  bench->target_ = target;
  DAVINCI_ASSIGN_OR_RETURN(bench->folder_, MakeTempDir("davinci-outcomes"));
  DAVINCI_RETURN_IF_ERROR(MakeDirs(bench->scratch()));
  setenv("TMPDIR", bench->scratch().c_str(), 1);
  DAVINCI_ASSIGN_OR_RETURN(const auto installation, app::FindInstallation(""));
  judge::JudgeOptions options = app::MakeJudgeOptions(installation);
  options.load_timeout_seconds = kLoadTimeoutSeconds;
  options.call_timeout_seconds = kCallTimeoutSeconds;
  options.memory_bytes = target == Target::kCuda ? kMemoryBytesWithDevice : kMemoryBytes;
  bench->options_ = options;
  bench->judges_.emplace(options, std::vector<std::string>{});
  bench->service_.emplace(&*bench->judges_, &bench->lane_, nullptr);
  return bench;
}

Result<Evaluation> Workbench::Ask(const judge::JobFiles& job) {
  DAVINCI_ASSIGN_OR_RETURN(const auto request, judge::ReadRequest(job));
  DAVINCI_ASSIGN_OR_RETURN(auto reply, service_.value().Evaluate(request));
  return std::move(reply.evaluation);
}

std::string Workbench::Write(const std::string& name, std::string_view text) {
  const std::filesystem::path path = folder_.path() / name;
  const Status written = WriteFileAtomic(path, text, Durability::kFastest);
  return written.ok() ? path.string() : written.ToString();
}

Result<Evaluation> Workbench::Judge(std::string_view candidate, std::string_view reference,
                                    const std::string& protocol) {
  judge::JobFiles job;
  // The processes of a task serve its next candidate where the path is the same.
  job.reference_path =
      Write(fmt::format("task_{}.py", Sha256Hex(reference).substr(0, 12)), reference);
  job.candidate_path = Write(fmt::format("candidate{}.py", ++num_files_), candidate);
  job.target = target_;
  job.protocol = protocol;
  return Ask(job);
}

Result<Evaluation> Workbench::JudgeFiles(const std::string& reference,
                                         const std::string& candidate) {
  judge::JobFiles job;
  job.reference_path = reference;
  job.candidate_path = candidate;
  job.protocol = "screening";
  return Ask(job);
}

}  // namespace davinci::outcomes
