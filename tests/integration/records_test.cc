// What a run's records hold for training: tokens as they were read and drawn, append-only
// conversations, judge errors; and that a long run's memory does not grow.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>

#include "davinci/base/files.h"
#include "davinci/rollout/model_calls.h"
#include "davinci/runs/task_inputs.h"
#include "scenario.h"

namespace davinci::integration {
namespace {

using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Pair;

// A model whose tokens are bytes, 0 the end of a turn. It renders a message as its bytes and a 1.
// `forgetful`: tokenises everything anew and differently, as a careless backbone would.
class ByteModel : public llm::Backbone {
 public:
  explicit ByteModel(llm::Recording replies) : replies_(std::move(replies), "bytes") {}

  Result<llm::Reply> Generate(const llm::Request& request, const CancelToken& cancel) override {
    DAVINCI_ASSIGN_OR_RETURN(llm::Reply reply, replies_.Generate(request, cancel));
    llm::TokenTrace trace;
    if (!forgetful) trace.prompt_tokens = request.prefix_tokens;
    const size_t first = forgetful ? 0 : static_cast<size_t>(request.prefix_messages);
    for (size_t i = first; i < request.messages.size(); ++i) {
      for (const char c : request.messages[i].content)
        trace.prompt_tokens.push_back(static_cast<unsigned char>(c));
      trace.prompt_tokens.push_back(1);
    }
    for (const char c : reply.text) trace.output_tokens.push_back(static_cast<unsigned char>(c));
    trace.output_tokens.push_back(0);
    if (request.logprobs) trace.logprobs.assign(trace.output_tokens.size(), -0.5F);
    trace.weights_digest = "w";
    trace.tokenizer_digest = "bytes";
    trace.template_digest = "ones";
    trace.update = 7;
    reply.trace = std::move(trace);
    const std::lock_guard lock(mutex_);
    requests[request.label] = request;
    return reply;
  }
  int64_t CountTokens(std::string_view text) const override {
    return static_cast<int64_t>(text.size());
  }
  int64_t CountPromptTokens(const llm::Request& request) const override {
    int64_t tokens = static_cast<int64_t>(request.prefix_tokens.size());
    for (size_t i = static_cast<size_t>(request.prefix_messages); i < request.messages.size(); ++i)
      tokens += static_cast<int64_t>(request.messages[i].content.size()) + 1;
    return tokens;
  }
  int64_t ContextTokens() const override { return context; }
  std::string Name() const override { return "bytes"; }

  bool forgetful = false;
  int64_t context = 1'000'000;
  std::map<std::string, llm::Request> requests;

 private:
  llm::RecordedBackbone replies_;
  std::mutex mutex_;  // guards requests
};

// Every reply is another text, as a real model's would be.
class Endless : public llm::Backbone {
 public:
  Result<llm::Reply> Generate(const llm::Request& request, const CancelToken&) override {
    const std::lock_guard lock(mutex_);
    if (request.seed) seeds.insert(*request.seed);
    llm::Reply reply;
    reply.text = Reply("ok 1.2", request.label);
    reply.model = "endless";
    return reply;
  }
  std::string Name() const override { return "endless"; }

  std::set<int64_t> seeds;

 private:
  std::mutex mutex_;  // guards seeds
};

// What single steps run in. Nothing is owned.
struct StepWorld {
  StepWorld(store::RunStore* run, llm::Backbone* model, judge::Judges* judges,
            rollout::StopFlag* stop, const agent::PromptSet* prompts)
      : log(run, rollout::UnitLog::Mode::kLive),
        calls(&log, model, &llm_lane),
        service(judges, &judge_lane, nullptr),
        verdicts(&log, &service) {
    context.log = &log;
    context.calls = &calls;
    context.verdicts = &verdicts;
    context.prompts = prompts;
    context.devices = {agent::CpuFacts(2)};
    context.rollout_lane = &rollout_lane;
    context.stop = stop;
  }
  rollout::UnitLog log;
  Lane llm_lane{"model", 4};
  Lane judge_lane{"judge", 4};
  Lane rollout_lane{"rollouts", 8};
  rollout::ModelCalls calls;
  judge::LocalService service;
  rollout::Verdicts verdicts;
  rollout::StepContext context;
};

class RecordsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto dir = MakeTempDir("records-test");
    ASSERT_TRUE(dir.ok());
    dir_ = std::move(dir).value();
    scenario_ = Scenario::Make(dir_.path());
    scenario_.recipe.step.learn = false;
    scenario_.recipe.step.context_tokens = 1'000'000;
    scenario_.recipe.step.conversation = rollout::ConversationMode::kAppendOnly;
    scenario_.recipe.step.logprobs = true;
    for (auto& [label, text] : scenario_.replies)
      text = "<think>so much to think about</think>" + text;
    model_ = std::make_unique<ByteModel>(scenario_.Replies());
  }
  runs::RunResult Execute() {
    auto result = runs::ExecuteRun(scenario_.Request(dir_.path() / "run"),
                                   scenario_.Parts(model_.get(), &evaluator_), &stop_, {});
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return std::move(result).value();
  }
  std::unique_ptr<store::RunStore> Store() {
    auto run = store::RunStore::OpenForReading(dir_.path() / "run");
    EXPECT_TRUE(run.ok());
    return std::move(run).value();
  }

  TempDir dir_;
  Scenario scenario_;
  ScriptedEvaluator evaluator_{0};
  std::unique_ptr<ByteModel> model_;
  rollout::StopFlag stop_;
};

TEST_F(RecordsTest, EveryTurnNamesItsTokensAndTheNextTurnContinuesThem) {
  const auto result = Execute();
  ASSERT_TRUE(result.finished()) << result.trouble.ToString();
  auto run = Store();
  int pairs = 0;
  for (const report::TaskView& task : result.view.tasks)
    for (const Trajectory& trajectory : task.trajectories) {
      ASSERT_EQ(trajectory.turns.size(), 2u);
      const auto first = rollout::LoadTrace(*run, trajectory.turns[0].trace_hash);
      const auto second = rollout::LoadTrace(*run, trajectory.turns[1].trace_hash);
      ASSERT_TRUE(first.ok() && second.ok());
      EXPECT_TRUE(llm::Continues(*second, *first));
      EXPECT_EQ(second->logprobs.size(), second->output_tokens.size());
      EXPECT_EQ(second->update, 7);
      std::string drawn(first->output_tokens.begin(), first->output_tokens.end() - 1);
      EXPECT_EQ(drawn, trajectory.turns[0].reply) << "thinking included";
      // Only what is new is stored.
      EXPECT_LT(run->GetBlob(trajectory.turns[1].trace_hash)->size(),
                4 * (second->prompt_tokens.size() - first->prompt_tokens.size()) +
                    8 * second->output_tokens.size() + 200);
      ++pairs;
    }
  EXPECT_EQ(pairs, 12);
  const auto unit = run->Find("generation step=1 task=alpha scheme=1 rollout=0 turn=2", 1);
  ASSERT_TRUE(unit.ok() && unit->has_value());
  const auto& body = unit->value().body;
  EXPECT_EQ(body["trace"]["weights"], "w");
  EXPECT_EQ(body["label"], "alpha@1#s1r0t2");
  EXPECT_FALSE(body["reply"].contains("trace"));
}

TEST_F(RecordsTest, ARunThatWasStoppedContinuesTheTokensOfItsJournal) {
  (void)Execute();
  const auto expected = model_->requests.at("alpha@1#s1r0t2").prefix_tokens;
  // The same from a journal that ends behind turn 1 of one rollout.
  const auto journal = dir_.path() / "run" / "steps" / "00000001.jsonl";
  std::string kept;
  std::istringstream lines(*ReadFile(journal));
  for (std::string line; std::getline(lines, line);)
    if (line.find("scheme=1 rollout=0") == std::string::npos || line.find("turn=1") != line.npos)
      kept += line + "\n";
  ASSERT_TRUE(WriteFileAtomic(journal, kept).ok());
  model_->requests.clear();
  EXPECT_TRUE(Execute().finished());
  EXPECT_FALSE(model_->requests.contains("alpha@1#s1r0t1"));
  EXPECT_EQ(model_->requests.at("alpha@1#s1r0t2").prefix_tokens, expected);
}

TEST_F(RecordsTest, ABackboneThatTokenisesAnewIsFoundOut) {
  model_->forgetful = true;
  const auto result = Execute();
  EXPECT_FALSE(result.finished());
  int failed = 0;
  for (const Trajectory& trajectory : result.view.tasks[0].trajectories) {
    EXPECT_EQ(trajectory.turns.size(), 1u);
    if (trajectory.end == TrajectoryEnd::kFailed) ++failed;
    EXPECT_THAT(trajectory.problem, HasSubstr("did not continue"));
  }
  EXPECT_EQ(failed, 6);
}

TEST_F(RecordsTest, AFullContextEndsATrajectoryAndNothingIsLeftOut) {
  (void)Execute();
  const llm::Request second = model_->requests.at("alpha@1#s0r0t2");
  std::filesystem::remove_all(dir_.path() / "run");
  // Room for turn 1 and less than 256 tokens behind turn 2's prompt.
  model_->context = model_->CountPromptTokens(second) + 100;
  const auto result = Execute();
  EXPECT_TRUE(result.finished()) << result.trouble.ToString();
  const Trajectory& trajectory = result.view.tasks[0].trajectories[0];
  EXPECT_EQ(trajectory.end, TrajectoryEnd::kContext);
  EXPECT_EQ(trajectory.turns.size(), 1u);
  EXPECT_THAT(trajectory.problem, HasSubstr("tokens for a reply"));
}

TEST_F(RecordsTest, AJudgeThatFailsCostsOneTurnAndIsNotAskedAgain) {
  evaluator_.before = [](const judge::EvaluationRequest& request) {
    return request.candidate.find("beta scheme 0 rollout 0 turn 1") != std::string::npos
               ? Internal("the worker died")
               : Status::Ok();
  };
  const auto result = Execute();
  EXPECT_TRUE(result.finished()) << result.trouble.ToString();
  const Trajectory& trajectory = result.view.tasks[1].trajectories[0];
  ASSERT_EQ(trajectory.turns.size(), 2u);
  EXPECT_EQ(trajectory.turns[0].evaluation.outcome, Outcome::kJudgeError);
  EXPECT_FALSE(trajectory.turns[0].evaluation.correct.has_value());
  EXPECT_THAT(trajectory.turns[0].evaluation.message, HasSubstr("the worker died"));
  EXPECT_NE(trajectory.turns[1].evaluation.outcome, Outcome::kJudgeError);
  const int judged = evaluator_.num_calls;
  EXPECT_TRUE(Execute().finished());
  EXPECT_EQ(evaluator_.num_calls, judged);
}

TEST_F(RecordsTest, TheBestOfAGroupIsPaidAfterConfirmationAlone) {
  scenario_.recipe.step.paid.best = 1;
  scenario_.recipe.step.paid_protocol = "davinci";
  scenario_.recipe.step.final_protocol = "screening";
  evaluator_.after = [](const judge::EvaluationRequest& request, Evaluation* evaluation) {
    evaluation->provenance["protocol"] = request.protocol;
    const bool fooled = request.candidate.find("rows in tiles") != std::string::npos;
    if (fooled && request.protocol == "davinci")
      evaluation->speedup = Speedup{1.05, 1.0, 1.1, false, request.baseline};
  };
  const auto result = Execute();
  ASSERT_TRUE(result.finished()) << result.trouble.ToString();
  std::map<std::string, double> paid;
  for (const report::TaskView& task : result.view.tasks)
    for (const Trajectory& trajectory : task.trajectories)
      for (const Turn& turn : trajectory.turns)
        if (turn.evaluation.provenance.value("protocol", "") == "davinci")
          paid[ToString(turn.id)] = turn.evaluation.speedup.value().median;
  // One of each task and turn, and the next in line where the first lost its place.
  EXPECT_EQ(paid.size(), 5u);
  EXPECT_EQ(paid.at("alpha@1#s1r0t1"), 1.5);
  EXPECT_EQ(paid.at("alpha@1#s1r0t2"), 1.05);
  EXPECT_EQ(paid.at("alpha@1#s1r3t2"), 1.3);
  const int judged = evaluator_.num_calls;
  EXPECT_TRUE(Execute().finished());
  EXPECT_EQ(evaluator_.num_calls, judged) << "payments are units of the run";
}

TEST_F(RecordsTest, NothingIsPaidOfATaskThatIsNotTrained) {
  rollout::StepSettings& step = scenario_.recipe.step;
  step.paid.best = 1;
  step.paid_protocol = "davinci";
  step.final_protocol = "screening";
  step.paid.is_due = [](const std::vector<Trajectory>& trajectories) {
    return trajectories.front().id.task == "beta";
  };
  std::map<std::string, int> judged_again;
  std::mutex mutex;
  evaluator_.after = [&](const judge::EvaluationRequest& request, Evaluation*) {
    const std::lock_guard lock(mutex);
    if (request.protocol == "davinci")
      ++judged_again[std::filesystem::path(request.task->path).stem().string()];
  };
  EXPECT_TRUE(Execute().finished());
  EXPECT_THAT(judged_again, ElementsAre(Pair("beta", Gt(0))));
}

TEST_F(RecordsTest, AJudgeThatAlwaysFailsEndsTheRun) {
  evaluator_.before = [](const judge::EvaluationRequest& request) {
    return request.candidate.find("# verdict") != std::string::npos ? Internal("no compiler")
                                                                    : Status::Ok();
  };
  const auto result = Execute();
  EXPECT_EQ(result.stopped, TrajectoryEnd::kFailed);
  EXPECT_THAT(result.trouble.message(), HasSubstr("10 times in a row"));
}

// Resident memory of this process in bytes.
int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  statm >> pages >> pages;
  return pages * 4096;
}

TEST_F(RecordsTest, MemoryStaysFlatOverAHundredSteps) {
  scenario_.recipe.step.conversation = rollout::ConversationMode::kWindowed;
  scenario_.recipe.step.logprobs = false;
  rollout::StepSettings settings = scenario_.recipe.step;
  settings.schemes = 0;
  settings.rollouts = 1;
  settings.turns = 1;
  settings.final_protocol = settings.turn_protocol;
  auto run = store::RunStore::Create(dir_.path() / "long", {{"title", "long"}});
  ASSERT_TRUE(run.ok());
  Endless endless;
  StepWorld world(run->get(), &endless, &evaluator_, &stop_, scenario_.prompts.get());
  const auto inputs = runs::MakeTaskInputs(scenario_.tasks, settings);
  ASSERT_TRUE(inputs.ok());
  constexpr int kSteps = 100;
  int64_t after_warmup = 0;
  for (int step = 1; step <= kSteps; ++step) {
    for (const rollout::TaskOutcome& outcome : RunStep(world.context, settings, step, *inputs, 2))
      ASSERT_TRUE(outcome.status.ok() && outcome.complete) << outcome.status.ToString();
    (*run)->Release(step);
    if (step == kSteps / 4) after_warmup = ResidentBytes();
  }
  EXPECT_EQ((*run)->Steps().size(), 100u);
  EXPECT_EQ((*run)->NumOpenUnits(), 0);
  EXPECT_LT(ResidentBytes() - after_warmup, 4 << 20);
}

TEST_F(RecordsTest, StepsWithOneSeedStepDrawAlike) {
  auto run = store::RunStore::Create(dir_.path() / "seeds", nlohmann::json::object());
  ASSERT_TRUE(run.ok());
  rollout::StepSettings settings = scenario_.recipe.step;
  settings.schemes = 0;
  settings.conversation = rollout::ConversationMode::kWindowed;
  const auto inputs = runs::MakeTaskInputs(scenario_.tasks, settings);
  ASSERT_TRUE(inputs.ok());
  const auto seeds_of = [&](int step, std::optional<int> seed_step) {
    Endless model;
    StepWorld world(run->get(), &model, &evaluator_, &stop_, scenario_.prompts.get());
    settings.seed_step = seed_step;
    for (const rollout::TaskOutcome& outcome : RunStep(world.context, settings, step, *inputs, 2))
      EXPECT_TRUE(outcome.status.ok()) << outcome.status.ToString();
    return model.seeds;
  };
  const auto first = seeds_of(1, 0);
  EXPECT_GT(first.size(), 2u);
  EXPECT_EQ(seeds_of(2, 0), first);
  EXPECT_NE(seeds_of(3, std::nullopt), first);
}

}  // namespace
}  // namespace davinci::integration
