// Evaluator: the judge as the rollout engine sees it.
//
// The one production implementation is JudgeEvaluator (judge_evaluator.h); tests put a scripted one
// in its place. Thread-safe; how many calls are made at once is decided by the engine's judge lane.
// The judge keeps other work off a device while it times a kernel there
// (gpu/lease.h).
#pragma once

#include <string>
#include <vector>

#include "davinci/base/cancel.h"
#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/data/language.h"

namespace davinci::rollout {

// Everything a verdict depends on, apart from the device and the judge itself.
struct Question {
  std::string task_path;  // file in KernelBench layout
  std::string task_hash;  // of its source and sidecar
  Target target = Target::kCpu;
  Language language = Language::kAuto;
  std::string source;  // of the candidate
  std::string protocol = "screening";
  std::string baseline = "eager";
  std::vector<std::string> shapes = {};  // judge::Job::shapes
  // Which measurement of the same this is: a repetition asks for a verdict of its own.
  int repetition = 0;

  // Content hash of all fields but task_path.
  std::string Hash() const;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // The candidate's failures are values. A Status, or an Evaluation with kJudgeError, is our
  // failure; InvalidArgument and NotFound blame the task.
  virtual Result<Evaluation> Evaluate(const Question& question, const CancelToken& cancel) = 0;
  // The same by a judge of its own, started for this question alone: no process that has seen
  // earlier candidates takes part.
  virtual Result<Evaluation> EvaluateAfresh(const Question& question,
                                            const CancelToken& cancel) = 0;
  // What verdicts depend on beyond the question: device, judge, torch. Part of cache keys.
  virtual std::string Identity() = 0;
};

}  // namespace davinci::rollout
