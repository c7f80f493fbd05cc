// The strategies on the shipped recordings, around a scripted judge.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/llm/recorded.h"
#include "davinci/orchestrator/task_inputs.h"
#include "scenario.h"

namespace davinci::integration {
namespace {

// Passes on and keeps what was asked.
class Listening : public llm::Backbone {
 public:
  explicit Listening(llm::Backbone* inner) : inner_(inner) {}
  Result<llm::Reply> Generate(const llm::Request& request, const CancelToken& cancel) override {
    {
      const std::lock_guard lock(mutex_);
      asked[request.label] = llm::ContentHash(request);
    }
    return inner_->Generate(request, cancel);
  }
  std::string Name() const override { return inner_->Name(); }

  std::map<std::string, std::string> asked;

 private:
  llm::Backbone* const inner_;
  std::mutex mutex_;  // guards asked
};

TEST(Baseline, Dump) {
  const auto dir = MakeTempDir("strategy");
  ASSERT_TRUE(dir.ok());
  Scenario scenario = Scenario::Make(dir->path());
  auto recipe = config::Recipe::Load(DAVINCI_SOURCE_DIR "/examples/recorded.toml");
  ASSERT_TRUE(recipe.ok());
  ASSERT_TRUE(recipe->Override("task.target=\"cpu\"").ok());
  const auto read = orchestrator::ReadRecipe(*recipe, &scenario.resolved);
  ASSERT_TRUE(read.ok());
  scenario.recipe = *read;
  auto tasks = orchestrator::LoadTasks({DAVINCI_SOURCE_DIR "/examples/gated_gelu.py",
                                        DAVINCI_SOURCE_DIR "/examples/residual_rms_norm.py"},
                                       {});
  ASSERT_TRUE(tasks.ok());
  scenario.tasks = *tasks;
  auto recorded =
      llm::RecordedBackbone::Open(DAVINCI_SOURCE_DIR "/examples/replies_cpu.jsonl", nullptr);
  ASSERT_TRUE(recorded.ok());
  Listening listening(recorded->get());
  ScriptedEvaluator evaluator(0);
  rollout::StopFlag stop;
  auto request = scenario.Request(dir->path() / "run");
  request.library_source = std::getenv("DAVINCI_PINNED_SKILLS");
  const auto result =
      orchestrator::ExecuteRun(request, scenario.Parts(&listening, &evaluator), &stop, {});
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  for (const auto& [label, hash] : listening.asked) fmt::print("ASKED {} {}\n", label, hash);
}

}  // namespace
}  // namespace davinci::integration
