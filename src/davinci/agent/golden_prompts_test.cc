// The prompts as a model gets them, compared with the reviewed texts in tests/golden/prompts.
// DAVINCI_UPDATE_GOLDEN=1 writes them anew; read the difference before you commit it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "davinci/agent/device_facts.h"
#include "davinci/agent/policy_agent.h"
#include "davinci/agent/selection_agent.h"
#include "davinci/agent/summary_agent.h"
#include "davinci/agent/testing/evaluations.h"
#include "davinci/base/files.h"

namespace davinci::agent {
namespace {

using testing::Failed;
using testing::Timed;

const std::filesystem::path kSource = DAVINCI_SOURCE_DIR;

const PromptSet& ShippedPrompts() {
  static const auto* prompts = new PromptSet(PromptSet::Load(kSource / "prompts").value());
  return *prompts;
}

TaskBrief Task(Language language) {
  TaskBrief task;
  task.id = "softmax/rows";
  task.reference =
      "import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n"
      "    def forward(self, x):\n        return torch.softmax(x, dim=-1)\n\n\n"
      "def get_inputs():\n    return [torch.randn(1024, 1000)]\n";
  task.language = language;
  task.target = language == Language::kCpp ? Target::kCpu : Target::kCuda;
  if (task.target == Target::kCuda) {
    task.sizes = {{"ROWS", "16384"}, {"COLS", "8192"}};
    task.other_shapes = true;
  }
  return task;
}

std::string Device(const TaskBrief& task) {
  DeviceFacts facts;
  facts.target = task.target;
  if (task.target == Target::kCuda) {
    facts.name = "NVIDIA H200";
    facts.compute_capability = "9.0";
    facts.num_sms = 132;
    facts.memory_bytes = int64_t{139} << 30;
    facts.l2_bytes = 50 << 20;
    facts.bandwidth_gb_per_s = 4210;
    facts.fp32_tflops = 61;
    facts.shared_bytes_per_block = 227 << 10;
  } else {
    facts.name = "Example CPU";
    facts.num_cores = 2;
    facts.isa = {"avx2", "fma", "avx512f"};
    facts.l1_data_bytes = 32 << 10;
    facts.l2_bytes = 1 << 20;
    facts.last_level_bytes = 36 << 20;
    facts.memory_bytes = int64_t{16} << 30;
  }
  return *DescribeDevice(ShippedPrompts(), facts);
}

std::vector<skill::Skill> Skills() {
  skill::Skill one;
  one.name = "one-pass-over-memory";
  one.description = "Fuse what reads the same data, so that it is read once.";
  one.tags = {"fusion", "memory", "bandwidth"};
  one.content =
      "## Motivation\nEvery pass costs bandwidth.\n\n## Key Idea\nDo all of it per tile.\n\n"
      "## Example\n```\ny = f(g(x))\n```";
  skill::Skill two = one;
  two.name = "online-softmax";
  two.description = "Maximum and sum in one sweep, rescaling when the maximum grows.";
  two.scope = "task_specific/softmax";
  two.tags = {"softmax", "reduction", "online"};
  return {one, two};
}

Evaluation Measured(Target target, double speedup) {
  Evaluation evaluation = Timed(speedup);
  if (target == Target::kCuda) {
    evaluation.times["device_ms"] = {{"candidate", 1.9 / speedup}, {"baseline", 1.9}};
    evaluation.evidence["profile"]["device"] = {
        {"custom_time_share", 0.9},
        {"list",
         {{{"name", "softmax_rows"}, {"ms", 1.71 / speedup}, {"custom", true}},
          {{"name", "at::native::elementwise_kernel<4>"},
           {"ms", 0.19 / speedup},
           {"custom", false}}}}};
    evaluation.evidence["roofline"] = {
        {"attainable_ms", 0.31}, {"bound", "memory"}, {"peaks", {{"l2_bytes", 50 << 20}}}};
    evaluation.AddLabel(Label::kVendorOperator, {"aten::copy_"});
  } else {
    evaluation.evidence["profile"] = {{"library_share", 0.0},
                                      {"operators", nlohmann::json::array()}};
    evaluation.evidence["roofline"] = {{"attainable_ms", 0.11}, {"peaks", {{"threads", 2}}}};
  }
  return evaluation;
}

std::string Readable(const llm::Request& request) {
  std::string text;
  for (const llm::Message& message : request.messages)
    text += fmt::format("=== {} ===\n{}\n\n", llm::RoleName(message.role), message.content);
  for (const llm::ToolSpec& tool : request.tools)
    text += fmt::format("=== tool {}{} ===\n{}\n{}\n", tool.name,
                        request.required_tool == tool.name ? " (required)" : "", tool.description,
                        tool.parameters.dump(2));
  return text;
}

void Compare(const std::string& name, const std::string& text) {
  const std::filesystem::path path = kSource / "tests" / "golden" / "prompts" / name;
  if (const char* update = std::getenv("DAVINCI_UPDATE_GOLDEN");
      update != nullptr && *update == '1') {
    ASSERT_TRUE(MakeDirs(path.parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(path, text, Durability::kFastest).ok());
    return;
  }
  const auto golden = ReadFile(path);
  ASSERT_TRUE(golden.ok()) << golden.status().ToString();
  EXPECT_EQ(text, *golden) << "DAVINCI_UPDATE_GOLDEN=1 writes " << path << " anew";
}

class GoldenPrompts : public ::testing::TestWithParam<Language> {
 protected:
  std::string Name(std::string_view agent) {
    return fmt::format("{}_{}.txt", agent, LanguageName(GetParam()));
  }
  const TaskBrief task_ = Task(GetParam());
  const std::string device_ = Device(task_);
};

TEST_P(GoldenPrompts, Selection) {
  const auto request = BuildSelectionRequest(ShippedPrompts(), task_, device_, Skills());
  ASSERT_TRUE(request.ok()) << request.status().ToString();
  Compare(Name("selection"), Readable(*request));
}

TEST_P(GoldenPrompts, Policy) {
  auto conversation = StartConversation(ShippedPrompts(), task_, device_, Skills());
  ASSERT_TRUE(conversation.ok()) << conversation.status().ToString();
  const std::string failed =
      *RenderFeedback(ShippedPrompts(), task_,
                      Failed(Outcome::kCompileError, "source:12:9: error: 'row' was not declared"),
                      {.turn = 1, .num_turns = 3});
  const std::string measured =
      *RenderFeedback(ShippedPrompts(), task_, Measured(task_.target, 1.8),
                      {.turn = 2, .num_turns = 3, .best_turn = 2, .best = Timed(1.8).speedup});
  conversation->turns = {{"(the first reply)", failed}, {"(the second reply)", measured}};
  const auto request = BuildPolicyRequest(*conversation, 100'000);
  ASSERT_TRUE(request.ok()) << request.status().ToString();
  Compare(Name("policy"), Readable(*request));
}

TEST_P(GoldenPrompts, Summary) {
  const auto request = BuildSummaryRequest(ShippedPrompts(), task_, device_, {}, Skills(),
                                           {1, "# first attempt\n", Measured(task_.target, 0.9)},
                                           {3, "# best attempt\n", Measured(task_.target, 1.8)});
  ASSERT_TRUE(request.ok()) << request.status().ToString();
  Compare(Name("summary"), Readable(*request));
}

INSTANTIATE_TEST_SUITE_P(Languages, GoldenPrompts,
                         ::testing::Values(Language::kTriton, Language::kCuda,
                                           Language::kCudaInline, Language::kCpp),
                         [](const auto& language) {
                           std::string name(LanguageName(language.param));
                           std::erase(name, '-');
                           return name;
                         });

TEST(GoldenFeedback, OfEveryKind) {
  const TaskBrief task = Task(Language::kTriton);
  const std::vector<std::pair<const char*, Evaluation>> cases = {
      {"compile error",
       Failed(Outcome::kCompileError, "source:12:9: error: 'row' was not declared")},
      {"mismatch",
       Failed(Outcome::kMismatch,
              "17 of 8388608 values are outside the tolerance on the task's own inputs; first at "
              "[3,1000]: expected 0.25, got nan")},
      {"runtime error",
       Failed(Outcome::kRuntimeError, "IndexError: index 4 is out of range (line 31)")},
      {"not significant", Timed(1.01, 0.97, 1.05)},
      {"without a device", Failed(Outcome::kCompileOnly, "compiled, never run or timed")},
      {"measured", Measured(Target::kCuda, 1.8)},
  };
  std::string text;
  for (const auto& [name, evaluation] : cases)
    text += fmt::format(
        "=== {} ===\n{}\n\n", name,
        *RenderFeedback(ShippedPrompts(), task, evaluation,
                        {.turn = 2, .num_turns = 3, .best_turn = 1, .best = Timed(1.5).speedup}));
  llm::Extraction missing;
  missing.outcome = llm::ExtractionOutcome::kNoFence;
  missing.diagnosis = "The reply holds no fenced block.";
  text += fmt::format("=== no code ===\n{}\n",
                      *RenderNoCode(ShippedPrompts(), task, missing, {.turn = 1, .num_turns = 3}));
  Compare("feedback.txt", text);
}

}  // namespace
}  // namespace davinci::agent
