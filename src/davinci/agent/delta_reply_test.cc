#include "davinci/agent/delta_reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/agent/policy_agent.h"
#include "davinci/agent/prompt_set.h"

namespace davinci::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::filesystem::path kProjectFolder = DAVINCI_SOURCE_DIR;

constexpr char kPrelude[] =
    "\"\"\"What replies may use.\n\n    import nothing\n\"\"\"\n\n"
    "import math\nimport triton.language as tl\nfrom triton.runtime import driver\n\n\n"
    "def half(x):\n    return math.floor(x / 2)\n\n\n"
    "class Launch:\n    stream = driver\n\n    def __call__(self):\n        return half(3)\n\n\n"
    "@decorated\ndef alone(x):\n    # half of nothing\n    return x\n";

Prelude SmallPrelude() { return Prelude::Parse(kPrelude, "prelude.py").value(); }

TaskBrief TaskOf(const std::string& reference) {
  TaskBrief task;
  task.reference = reference;
  return task;
}

TEST(AssembleCandidate, FileHasTaskSizesWhatTheReplyNamesAndTheReply) {
  TaskBrief task = TaskOf("import math\n\nN = 4\n\n\nclass Model:\n    pass\n");
  task.sizes = {{"N", "16"}, {"CAUSAL", "true"}};
  EXPECT_EQ(
      AssembleCandidate(SmallPrelude(), task, "class ModelNew(Model):\n    run = Launch()\n"),
      "import math\n\nN = 4\n\n\nclass Model:\n    pass\n\nN = 16\nCAUSAL = True\n\n"
      "from triton.runtime import driver\n\n\n"
      "def half(x):\n    return math.floor(x / 2)\n\n\n"
      "class Launch:\n    stream = driver\n\n    def __call__(self):\n        return half(3)\n"
      "\n\nclass ModelNew(Model):\n    run = Launch()\n");
}

TEST(AssembleCandidate, TaskKeepsItsOwnNames) {
  const std::string file =
      AssembleCandidate(SmallPrelude(), TaskOf("half = 3\n\n\nclass Model:\n    pass\n"),
                        "class ModelNew(Model):\n    run = Launch(), half(2), self.half\n");
  EXPECT_THAT(file, HasSubstr("half = 3\n"));
  EXPECT_THAT(file, HasSubstr("def half_dv(x):\n"));
  EXPECT_THAT(file, HasSubstr("return half_dv(3)\n"));
  EXPECT_THAT(file, HasSubstr("Launch(), half_dv(2), self.half\n"));
}

// A live module's file reads its weights from another one.
TEST(AssembleCandidate, AFileThatACandidateCannotReadIsNotKept) {
  TaskBrief task = TaskOf("import torch\nstate = torch.load(place(__file__))\n");
  task.plain.file = "half = 3\n\n\nclass Model:\n    pass\n";
  EXPECT_EQ(AssembleCandidate(SmallPrelude(), task, "class ModelNew(Model):\n    run = half(2)\n"),
            "half = 3\n\n\nclass Model:\n    pass\n\nimport math\n\n\n"
            "def half_dv(x):\n    return math.floor(x / 2)\n\n\n"
            "class ModelNew(Model):\n    run = half_dv(2)\n");
}

TEST(AssembleCandidate, DefinitionsOfTheReplyWin) {
  const std::string file = AssembleCandidate(SmallPrelude(), TaskOf("class Model: pass\n"),
                                             "def half(x):\n    return x\n\n\nhalf(1)\n");
  EXPECT_THAT(file, Not(HasSubstr("math.floor")));
}

// Beside steps the class is the module's own: what a cut reply has of kernels is code.
TEST(ExtractReply, KernelsCountWithoutAClass) {
  const std::string kernels =
      "# t1 relu: x -> t1\n@kernel\ndef f1(x, o, N):\n    st(o, ld(x, N), N)\n\n"
      "t1 = torch.empty_like(x)\nf1(x, t1)\n";
  const std::string head = "class ModelNew(Model):\n    def forward(self, x, y=1):\n";
  TaskBrief task = TaskOf("class Model: pass\n");
  const auto extracted = [&](const std::string& text, llm::FinishReason finish) {
    return ExtractReply(text, finish, task);
  };
  const std::string cut = "```python\n" + kernels + "\n\n@kernel\ndef f2(x";
  EXPECT_FALSE(extracted(cut, llm::FinishReason::kLength).ok());
  task.plain.code = head + "        return torch.relu(x)\n";
  const llm::Extraction found = extracted(cut, llm::FinishReason::kLength);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.source, kernels + "\n\n@kernel\ndef f2(x\n\n\n" + head + "        ...\n");
  EXPECT_EQ(extracted("```python\n" + kernels + "```\n", llm::FinishReason::kStop).source,
            kernels + "\n\n\n" + head + "        ...\n");
  EXPECT_EQ(extracted("```\n" + kernels + "\nclass ModelN", llm::FinishReason::kLength).source,
            kernels + "\n\n\n" + head + "        ...\n");
  // A class of the reply's own is its own.
  const std::string whole = kernels + "\n\nclass ModelNew(Model):\n    pass\n";
  EXPECT_EQ(extracted("```python\n" + whole + "```", llm::FinishReason::kStop).source, whole);
  EXPECT_FALSE(extracted("```python\nx = 1\n```", llm::FinishReason::kStop).ok());
  EXPECT_FALSE(extracted("No code.", llm::FinishReason::kStop).ok());
}

// The prelude's names are known in kernels, the task's and its sizes' in forward alone.
TEST(AssembleCandidate, KernelsThatCannotWorkAreLeftOut) {
  const PromptSet prompts = PromptSet::Load(kProjectFolder / "prompts").value();
  TaskBrief task = TaskOf("import torch\n\nWIDTH = 4\n\n\nclass Model:\n    pass\n");
  task.sizes = {{"N", "16"}};
  task.plain.code =
      "class ModelNew(Model):\n    def forward(self, x):\n"
      "        t1 = x + 1\n        t2 = t1 * 2\n        return t2\n";
  const auto kernel = [](const std::string& name, const std::string& factor) {
    return "@kernel\ndef " + name + "(x, o, C):\n    i = ids(1024)\n    inside = i < C\n" +
           "    st(o + i, ld(x + i, inside) * " + factor + ", inside)\n\n";
  };
  const std::string reply = kernel("f1", "WIDTH") + "t1 = torch.empty_like(x)\nf1(x, t1)\n\n" +
                            kernel("f2", "2.0") +
                            "t2 = torch.empty_like(x)\nf2[cdiv(N, WIDTH)](t1, t2, N)\n\n\n"
                            "class ModelNew(Model):\n    def forward(self, x):\n        ...\n";
  SoundKernels sound;
  const std::string file = AssembleCandidate(*prompts.prelude(), task, reply, &sound);
  EXPECT_EQ(sound.left_out, (std::vector<LeftOut>{{"f1", "WIDTH is not defined"}}));
  EXPECT_THAT(file, Not(HasSubstr("f1")));
  EXPECT_THAT(file, HasSubstr("        t1 = x + 1\n        t1 = t1.contiguous()\n"
                              "        f2[cdiv(N, WIDTH)](t1, t2, N)\n        return t2\n"));
}

TEST(AssembleCandidate, ForwardTakesWhatTheModulesTakes) {
  const PromptSet prompts = PromptSet::Load(kProjectFolder / "prompts").value();
  TaskBrief task = TaskOf("import torch\n\n\nclass Model:\n    pass\n");
  task.plain.code =
      "class ModelNew(Model):\n    def forward(self, x, scale=2.0):\n        return x * scale\n";
  task.plain.tensors = {{"x", {"", "4"}}};
  const std::string reply =
      "@kernel\ndef f1(x, o, N):\n    i = ids(1024)\n    inside = i < N\n"
      "    st(o + i, ld(x + i, inside), inside)\n\na1 = torch.empty_like(x)\nf1(x, a1)\n\n\n"
      "class ModelNew(Model):\n    def forward(self, x, x):\n        ...\n";
  EXPECT_THAT(
      AssembleCandidate(*prompts.prelude(), task, reply),
      HasSubstr("    def forward(self, x, scale=2.0):\n        a1 = torch.empty_like(x)\n"));
}

TEST(PolicyAgent, DeltaIsAskedForKernelsAndForwardAlone) {
  const PromptSet prompts = PromptSet::Load(kProjectFolder / "prompts").value();
  ASSERT_NE(prompts.prelude(), nullptr);
  TaskBrief task = TaskOf("class Net: pass\n");
  task.entry = "Net";
  task.class_name = "NetNew";
  task.target = Target::kCuda;
  task.reply = ReplyForm::kDelta;
  const auto conversation = StartConversation(prompts, task, "", {});
  ASSERT_TRUE(conversation.ok()) << conversation.status().ToString();
  EXPECT_THAT(conversation->system, HasSubstr("`class NetNew(Net)`"));
  EXPECT_THAT(conversation->task, HasSubstr("write the kernels and `NetNew`"));
  EXPECT_THAT(conversation->task, HasSubstr("class ModelNew(Model):\n    def forward"));
  EXPECT_THAT(conversation->system + conversation->task, Not(HasSubstr("whole file")));
  task.language = Language::kCuda;
  EXPECT_EQ(StartConversation(prompts, task, "", {}).status().code(), StatusCode::kInvalidArgument);
}

// A function is no class that a reply could extend.
TEST(PolicyAgent, DeltaForAFunctionIsAModule) {
  const auto folder = kProjectFolder / "prompts";
  for (const PromptSet& prompts :
       {PromptSet::Load(folder).value(), PromptSet::Load(folder, folder / "compact").value()}) {
    config::TaskConfig config;
    config.entry = "";
    config.function = "net";
    TaskBrief task = BriefOf(config, Target::kCuda, Language::kTriton, ReplyForm::kDelta);
    task.reference = "def net(x): return x\n";
    const auto conversation = StartConversation(prompts, task, "", {});
    ASSERT_TRUE(conversation.ok()) << conversation.status().ToString();
    EXPECT_THAT(conversation->system, HasSubstr("`class ModelNew(nn.Module)`"));
    EXPECT_THAT(conversation->system, HasSubstr("PyTorch function `net`"));
  }
}

}  // namespace
}  // namespace davinci::agent
