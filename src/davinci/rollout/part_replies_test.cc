#include "davinci/rollout/part_replies.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"
#include "davinci/base/mutex.h"

namespace davinci::rollout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// Answers a part about one step with a kernel for it; no code for a function that it does not know.
class Writer final : public llm::Backbone {
 public:
  Result<llm::Reply> Generate(const llm::Request& request, const CancelToken&) override {
    const std::string& prompt = request.messages.back().content;
    const MutexLock lock(mutex_);
    prompts.push_back(prompt);
    llm::Reply reply;
    reply.usage = {10, 0, 5};
    reply.cost_usd = 0.25;
    reply.model = "writer";
    reply.finish_reason = llm::FinishReason::kStop;
    reply.text = "I do not know.";
    for (const auto& [function, step] :
         {std::pair("exp", "t1"), std::pair("sin", "t2"), std::pair("cos", "t2")})
      if (prompt.find(fmt::format("{} {}", step, function)) != std::string::npos &&
          function != unknown)
        reply.text = fmt::format(
            "```python\n@kernel\ndef f1(x, o, N):\n    st(o, ld(x, N) * {1}, N)\n\n"
            "{0} = torch.empty_like(x)\nf1(x, {0})\n\n\n"
            "class ModelNew(Model):\n    def forward(self, x):\n        ...\n```",
            step, function == slip && slips-- > 0 ? "v9" : std::to_string(prompts.size()));
    return reply;
  }
  Result<std::vector<llm::Reply>> GenerateMany(const llm::Request&, int,
                                               const CancelToken&) override {
    return Internal("not asked");
  }
  int64_t CountPromptTokens(const llm::Request&) const override { return 10; }
  int64_t ContextTokens() const override { return 30000; }
  std::string Name() const override { return "writer"; }

  std::string unknown;
  std::string slip;  // a function whose kernel has a name that nothing defines, `slips` times
  int slips = 0;
  std::vector<std::string> prompts;

 private:
  Mutex mutex_;
};

class PartRepliesTest : public ::testing::Test {
 protected:
  PartRepliesTest()
      : folder_(MakeTempDir("parts").value()),
        store_(store::RunStore::Create(folder_.path() / "run", {{"title", "test"}}).value()),
        prompts_(agent::PromptSet::Load(
                     std::filesystem::path(DAVINCI_SOURCE_DIR) / "prompts",
                     std::filesystem::path(DAVINCI_SOURCE_DIR) / "prompts" / "compact")
                     .value()) {
    task_.id = "task";
    task_.brief.target = Target::kCuda;
    task_.brief.reply = ReplyForm::kDelta;
    task_.brief.steps =
        "forward(x)\nx: [A]\nA = 8\nt1: [A] = exp(x)\nt2: [A] = sin(t1)\nt3: [A] = cos(t2)\n"
        "return t3\n";
    task_.brief.plan = "# t1 exp: x -> t1\n# t2 sin: t1 -> t2\n# t3 cos: t2 -> t3\n";
    task_.brief.plain.code =
        "class ModelNew(Model):\n    def forward(self, x):\n        t1 = torch.exp(x)\n"
        "        t2 = torch.sin(t1)\n        t3 = torch.cos(t2)\n        return t3\n";
    settings_.part_steps = 1;
  }

  // The reply of a turn; no value: it is asked about as a whole.
  std::optional<ModelCall> Ask(int number, const TurnBefore& before = {}) {
    UnitLog log(store_.get(), UnitLog::Mode::kLive);
    Lane lane("model", 4);
    ModelCalls calls(&log, &model_, &lane);
    StopFlag stop;
    StepContext context;
    context.log = &log;
    context.prompts = &prompts_;
    context.calls = &calls;
    context.stop = &stop;
    StepRun run(context, settings_, 1);
    TaskRun task{task_};
    const PlannedRollout planned{{"task", 0, 0, 1}, {}};
    search::TurnPlan plan;
    const auto parts = PartsOfTurn(run, task, plan, before);
    if (parts.empty()) return std::nullopt;
    auto call = CallForParts(run, task, planned, {planned.id, number}, parts, before);
    EXPECT_TRUE(call.ok()) << call.status().ToString();
    return call.ok() ? std::optional(std::move(call).value()) : std::nullopt;
  }

  const TempDir folder_;
  const std::unique_ptr<store::RunStore> store_;
  const agent::PromptSet prompts_;
  TaskInput task_;
  StepSettings settings_;
  Writer model_;
};

TEST_F(PartRepliesTest, AreOneReplyOfAllKernels) {
  model_.unknown = "sin";
  const auto call = Ask(1);
  ASSERT_TRUE(call);
  EXPECT_THAT(model_.prompts,
              UnorderedElementsAre(HasSubstr("t1: [A] = exp(x)"), HasSubstr("t2: [A] = sin(t1)"),
                                   HasSubstr("t2: [A] = cos(t1)")));
  EXPECT_THAT(call->reply.text, HasSubstr("f1(x, t1)\n"));
  EXPECT_THAT(call->reply.text, HasSubstr("f1_2(x, t3)\n"));
  EXPECT_THAT(call->reply.text, Not(HasSubstr("t2 = ")));
  EXPECT_EQ(call->reply.usage.completion_tokens, 15);
  EXPECT_EQ(call->cost.usd, 0.75);
  EXPECT_EQ(call->note["parts"], 3);
  EXPECT_EQ(call->note["kernels"], (nlohmann::json{{"f1"}, nlohmann::json::array(), {"f1_2"}}));
  // A run that goes on takes it from the journal.
  EXPECT_EQ(Ask(1)->reply.text, call->reply.text);
  EXPECT_THAT(model_.prompts, SizeIs(3));
}

TEST_F(PartRepliesTest, AreAskedForAgainWhereTheirTextCannotWork) {
  model_.slip = "sin";
  model_.slips = 1;
  settings_.retries = 2;
  const auto call = Ask(1);
  ASSERT_TRUE(call);
  EXPECT_THAT(model_.prompts, SizeIs(4));
  EXPECT_THAT(call->reply.text, Not(HasSubstr("v9")));
  EXPECT_EQ(call->reply.usage.completion_tokens, 20) << "all calls are paid for";
  EXPECT_EQ(call->cost.usd, 1.0);
  EXPECT_EQ(call->cost.calls, 4);
  EXPECT_EQ(Ask(1)->reply.text, call->reply.text) << "from the journal";
  EXPECT_THAT(model_.prompts, SizeIs(4));
  // No reply is better than the first: it is taken, and the turn goes on.
  model_.slips = 9;
  const auto worst = Ask(2);
  ASSERT_TRUE(worst);
  EXPECT_THAT(model_.prompts, SizeIs(4 + 5));
  EXPECT_THAT(worst->reply.text, HasSubstr("v9"));
}

TEST_F(PartRepliesTest, OfALaterTurnReplaceWhatDidNotStay) {
  const auto first = Ask(1);
  ASSERT_TRUE(first);
  ASSERT_EQ(first->note["kernels"], (nlohmann::json{{"f1"}, {"f1_2"}, {"f1_3"}}));
  model_.prompts.clear();
  const auto second = Ask(
      2, {1, JoinedNoteFromJson(first->note), {{"f1_2", "with it the answer has other values"}}});
  ASSERT_TRUE(second);
  EXPECT_THAT(model_.prompts, ElementsAre(HasSubstr("t2: [A] = sin(t1)")));
  EXPECT_EQ(second->note["turns"], (nlohmann::json{1, 2, 1}));
  EXPECT_EQ(second->reply.usage.completion_tokens, 5);
  // Where all stayed, others may be faster.
  model_.prompts.clear();
  const auto third = Ask(3, {2, JoinedNoteFromJson(second->note), {}});
  ASSERT_TRUE(third);
  EXPECT_THAT(model_.prompts, SizeIs(3));
}

TEST_F(PartRepliesTest, AreNotAskedForWhereOneWillDo) {
  settings_.part_steps = 3;
  EXPECT_FALSE(Ask(1));
  settings_.part_steps = 0;
  EXPECT_FALSE(Ask(1));
  settings_.part_steps = 1;
  EXPECT_FALSE(Ask(2, {1, std::nullopt, {}})) << "the first turn was asked otherwise";
  EXPECT_THAT(model_.prompts, IsEmpty());
}

}  // namespace
}  // namespace davinci::rollout
