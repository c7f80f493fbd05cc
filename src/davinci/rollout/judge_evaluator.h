// JudgeEvaluator: the Evaluator that asks the judge. The only production one.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "davinci/base/files.h"
#include "davinci/judge/judge.h"
#include "davinci/judge/judge_pool.h"
#include "davinci/rollout/evaluator.h"

namespace davinci::rollout {

// What a verdict depends on beyond the question: part of the verdict cache's key.
struct JudgeVersions {
  std::string judge;      // davinci's version, and its program, worker library and Python files
  std::string libraries;  // interpreter, torch, Triton
  std::string driver;     // of the GPU; "" on cpu
  std::string device;     // name, cores, memory
};
std::string JudgeIdentityOf(const JudgeVersions& versions);

class JudgeEvaluator : public Evaluator {
 public:
  // `identity` names device, judge version and torch (part of cache keys). The judge is started by
  // the first question, and anew when its fork server has died.
  static Result<std::unique_ptr<JudgeEvaluator>> Create(judge::JudgeOptions options,
                                                        std::string identity);

  Result<Evaluation> Evaluate(const Question& question, const CancelToken& cancel) override;
  Result<Evaluation> EvaluateAfresh(const Question& question, const CancelToken& cancel) override;
  std::string Identity() override { return identity_; }

 private:
  JudgeEvaluator(judge::JudgeOptions options, std::string identity, TempDir scratch);
  Result<judge::Job> MakeJob(const Question& question) const;

  const judge::JudgeOptions options_;
  const std::string identity_;
  const TempDir scratch_;  // candidate files, by content
  judge::JudgePool judges_;
};

}  // namespace davinci::rollout
