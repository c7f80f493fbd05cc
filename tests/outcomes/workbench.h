// Workbench: one pool of judges with small limits, a folder for tiny tasks and candidates, and a
// scratch folder of its own.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "davinci/base/files.h"
#include "davinci/base/status.h"
#include "davinci/judge/judge_pool.h"

namespace davinci::outcomes {

inline constexpr double kLoadTimeoutSeconds = 8;
inline constexpr double kCallTimeoutSeconds = 8;
inline constexpr int64_t kMemoryBytes = int64_t{1} << 30;
// A context on the device takes part of it.
inline constexpr int64_t kMemoryBytesWithDevice = int64_t{4} << 30;

// y = 2 x + 1 on 64 x 128 numbers.
extern const char kReference[];
extern const char kGood[];
// What most candidates begin with: imports.
extern const char kImports[];

class Workbench {
 public:
  // Points TMPDIR at a folder of its own, then starts a judge.
  static Result<std::unique_ptr<Workbench>> Create(Target target = Target::kCpu);

  // Judges `candidate`, as a file, against `reference`. Protocol "screening" unless told otherwise.
  Result<Evaluation> Judge(std::string_view candidate, std::string_view reference = kReference,
                           const std::string& protocol = "screening");
  Result<Evaluation> JudgeFiles(const std::string& reference, const std::string& candidate);
  // What its judge was made with.
  const judge::JudgeOptions& options() const { return options_; }
  std::string Write(const std::string& name, std::string_view text);

  void Settle() { judges_.value().Settle(); }
  void LetGo() { judges_.value().LetGo(); }
  // Ends the judge and all its processes.
  void Close() { judges_.reset(); }
  std::filesystem::path scratch() const { return folder_.path() / "scratch"; }

 private:
  Result<Evaluation> Ask(const judge::JobFiles& job);

  Target target_ = Target::kCpu;
  TempDir folder_;
  judge::JudgeOptions options_;
  std::optional<judge::JudgePool> judges_;
  Lane lane_{"judge", 64};  // more than any test asks for
  std::optional<judge::LocalService> service_;
  std::atomic<int> num_files_ = 0;
};

}  // namespace davinci::outcomes
