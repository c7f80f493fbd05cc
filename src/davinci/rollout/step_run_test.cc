#include "davinci/rollout/step_run.h"

#include <gtest/gtest.h>

#include "davinci/base/files.h"

namespace davinci::rollout {
namespace {

// A kernel of the reply cannot work: the candidate's unit keeps which one and why.
TEST(StepRun, CandidatesKeepWhatTheirRepliesLost) {
  const auto folder = MakeTempDir("candidates");
  ASSERT_TRUE(folder.ok());
  const auto run = store::RunStore::Create(folder->path() / "run", {{"title", "test"}});
  ASSERT_TRUE(run.ok());
  const auto prompts =
      agent::PromptSet::Load(std::filesystem::path(DAVINCI_SOURCE_DIR) / "prompts");
  ASSERT_TRUE(prompts.ok()) << prompts.status().ToString();
  TaskInput task;
  task.id = "task";
  task.brief.reply = ReplyForm::kDelta;
  task.brief.reference = "import torch\n\n\nclass Model:\n    pass\n";
  task.brief.plain.code =
      "class ModelNew(Model):\n    def forward(self, x):\n"
      "        t1 = x + 1\n        t2 = t1 * 2\n        return t2\n";
  const std::string code =
      "@kernel\ndef f1(x, o, N):\n    st(o, ld(x, N) + v, N)\n\n"
      "t1 = torch.empty_like(x)\nf1(x, t1)\n\n\n"
      "@kernel\ndef f2(x, o, N):\n    st(o, ld(x, N) * 2, N)\n\n"
      "t2 = torch.empty_like(x)\nf2(t1, t2)\n\n\n"
      "class ModelNew(Model):\n    def forward(self, x):\n        ...\n";
  const UnitId id = UnitOf(UnitKind::kGeneration, 1, TurnId{{"task", 0, 0}, 1});
  const std::vector<agent::LeftOut> left_out = {{"f1", "v is not defined"}};
  std::string source;
  for (const UnitLog::Mode mode : {UnitLog::Mode::kLive, UnitLog::Mode::kReplay}) {
    UnitLog log(run->get(), mode);
    StepContext context;
    context.log = &log;
    context.prompts = &*prompts;
    const StepSettings settings;
    StepRun step(context, settings, 1);
    const auto candidate = step.CandidateOf(id, task, code);
    ASSERT_TRUE(candidate.ok()) << candidate.status().ToString();
    EXPECT_EQ(candidate->kernels.left_out, left_out);
    EXPECT_EQ(candidate->source.find("f1"), std::string::npos);
    EXPECT_TRUE(source.empty() || candidate->source == source);
    source = candidate->source;
  }
  // Units of older runs lack it.
  UnitLog log(run->get(), UnitLog::Mode::kLive);
  UnitId older = UnitOf(UnitKind::kCandidate, 1, TurnId{{"task", 0, 1}, 1});
  ASSERT_TRUE(log.Record(older, {{"source", log.Keep("x = 1\n").value()}}).ok());
  StepContext context;
  context.log = &log;
  const StepSettings settings;
  const auto candidate = StepRun(context, settings, 1).CandidateOf(older, task, code);
  ASSERT_TRUE(candidate.ok()) << candidate.status().ToString();
  EXPECT_EQ(candidate->source, "x = 1\n");
  EXPECT_TRUE(candidate->kernels.left_out.empty());
}

}  // namespace
}  // namespace davinci::rollout
