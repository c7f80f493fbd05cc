// Batch jobs: the lines of a job file (JSON Lines), each naming a reference and a candidate.
//
//   {"id": "softmax-3", "reference": "softmax.py", "candidate": "out/3.py", "target": "cpu"}
//
// Keys: reference and candidate (required), id, target, language, protocol, baseline. Paths are
// relative to the folder of the job file. Blank lines are skipped. A bad line never spoils its
// neighbours: it becomes an entry whose `bad` says what to change. Nothing here runs anything.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/judge/request/request.h"

namespace davinci::judge {

inline constexpr size_t kMaxBatchLineBytes = size_t{1} << 20;

// One line. `defaults` provides every key the line leaves out; relative paths are appended
// to `folder`. An absent id stays empty. The error does not name the file or the line, only what is
// wrong and the remedy. Reads no file.
Result<JobFiles> ParseBatchLine(std::string_view line, const JobFiles& defaults,
                                const std::filesystem::path& folder);

struct BatchEntry {
  int line = 0;               // from 1
  JobFiles job;               // id is "line <n>" when the file gives none
  EvaluationRequest request;  // its files, read
  // EvaluationRequest::Hash(): two entries with one hash need one evaluation. Empty when `bad` is
  // set.
  std::string hash;
  Status bad;  // message starts with "<file>:<line>: "
};

// All lines of a job file, in order. Fails only when the file itself cannot be read. An id used for
// two different questions is an error of the later line.
Result<std::vector<BatchEntry>> ReadBatchFile(const std::filesystem::path& path,
                                              const JobFiles& defaults);

}  // namespace davinci::judge
