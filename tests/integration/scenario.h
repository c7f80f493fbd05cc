// A small run whose every answer is known: two tasks, recorded replies, an evaluator that reads the
// verdict off the candidate's text. For tests of what happens around model and judge; the real
// judge is in coevolution_test.py.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "davinci/llm/recorded.h"
#include "davinci/runs/run_loop.h"

namespace davinci::integration {

// Judges by a line of the candidate: "# verdict: ok 3.0" (speedup, interval ±2 %), "# verdict:
// mismatch". Takes `delay_ms` for it. While `busy` is above 0, each verdict of a judge started for
// it alone (certification) takes one from it and has an interval that decides nothing.
class ScriptedEvaluator : public judge::Judges {
 public:
  explicit ScriptedEvaluator(int delay_ms) : delay_ms_(delay_ms) {}
  Result<Evaluation> Evaluate(const judge::EvaluationRequest& request,
                              const CancelToken& cancel) override;
  std::string Identity() override { return "scripted"; }

  std::atomic<int> num_noisy = 0;  // verdicts "ok X noisy"
  std::atomic<int> num_calls = 0;
  std::atomic<int> num_afresh = 0;
  std::atomic<int> busy = 0;
  std::atomic<bool> wrong_afresh = false;  // certification finds a mismatch
  // Called before the verdict; a Status instead of one when it returns such.
  std::function<Status(const judge::EvaluationRequest&)> before;
  // May change a verdict that was found correct.
  std::function<void(const judge::EvaluationRequest&, Evaluation*)> after;

 private:
  const int delay_ms_;
};

// Replies of a recording after `delay_ms`; every call is appended to `call_log` before it is made.
class SlowRecording : public llm::Backbone {
 public:
  SlowRecording(llm::Recording recording, int delay_ms, std::filesystem::path call_log)
      : recorded_(std::move(recording), "recorded:test"),
        delay_ms_(delay_ms),
        call_log_(std::move(call_log)) {}
  Result<llm::Reply> Generate(const llm::Request& request, const CancelToken& cancel) override;
  std::string Name() const override { return recorded_.Name(); }

  std::function<Status(const llm::Request&)> before;

 private:
  llm::RecordedBackbone recorded_;
  const int delay_ms_;
  const std::filesystem::path call_log_;
};

// A reply whose candidate the evaluator finds as `verdict`; `note` keeps texts apart.
std::string Reply(const std::string& verdict, const std::string& note);

// Rules that write what they are told: a kernel for each verdict of a task, in turn.
class ScriptedAuthor : public rollout::RuleAuthor {
 public:
  bool Knows(const std::string& task) const override { return verdicts.contains(task); }
  std::optional<rollout::RuleKernel> Next(const RolloutId& rollout,
                                          const std::vector<Evaluation>& earlier) const override;

  std::map<std::string, std::vector<std::string>> verdicts;
};

struct Scenario {
  // Writes tasks, skills and replies below `folder`: the tasks "alpha" and "beta", each rolled out
  // under the null scheme and under the skill "tile-rows", 2 rollouts × 2 turns. In alpha turn 2 of
  // the skill's first rollout triples the speedup; of its three proposals one is admitted, one is
  // noise, one costs correctness. Nothing of beta is worth a summary.
  static Scenario Make(const std::filesystem::path& folder);

  runs::RunRequest Request(const std::filesystem::path& run_folder) const;
  runs::RunParts Parts(llm::Backbone* backbone, judge::Judges* evaluator) const;
  llm::Recording Replies() const;

  std::filesystem::path folder;
  runs::RunRecipe recipe;
  std::string resolved;
  std::vector<task::TaskEntry> tasks;
  std::string prompts_identity;                // "": that of `prompts`
  std::map<std::string, std::string> replies;  // by label
  std::shared_ptr<agent::PromptSet> prompts;
};

}  // namespace davinci::integration
