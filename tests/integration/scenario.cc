#include "scenario.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "davinci/base/files.h"
#include "davinci/runs/run_identity.h"
#include "davinci/runs/task_inputs.h"

namespace davinci::integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kTask[] = R"py(import torch
import torch.nn as nn


class Model(nn.Module):
    """{0}"""

    def forward(self, x):
        return torch.softmax(x, dim=-1)


def get_inputs():
    return [torch.randn(8, 8)]


def get_init_inputs():
    return []
)py";

constexpr char kSkillText[] =
    "## Motivation\\nRows fit the cache.\\n\\n## Key Idea\\nTreat a softmax row at a time.\\n\\n"
    "## Example\\nOne loop per row.\\n";

void SleepMs(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

void Write(const fs::path& file, const std::string& text) {
  ASSERT_TRUE(WriteFileAtomic(file, text).ok()) << file;
}

std::string Selects(const std::string& name) {
  const json call = {
      {"name", "select_skills"},
      {"arguments",
       {{"think", "rows"}, {"selected_skills", {{{"name", name}, {"reason", "it fits"}}}}}}};
  return "<tool_call>\n" + call.dump() + "\n</tool_call>";
}

std::string Proposes(const std::string& name, const std::string& idea) {
  const json skill = {
      {"name", name},
      {"description", "When rows are reduced: " + idea},
      {"scope", "general"},
      {"tags", {"cpp", "rows", "reduction"}},
      {"content", fmt::format("## Motivation\nRows are read more than once.\n\n## Key Idea\n{}\n\n"
                              "## Example\n```cpp\n// {}\nfor (int i = 0; i < n; ++i) sum += x[i];"
                              "\n```\n",
                              idea, name)}};
  const json call = {{"name", "update_skill_library"},
                     {"arguments", {{"think", "loops"}, {"new_skills", {skill}}}}};
  return "<tool_call>\n" + call.dump() + "\n</tool_call>";
}

}  // namespace

namespace {

std::string KernelText(const std::string& verdict, const std::string& note) {
  return fmt::format(
      "import torch\n\n# verdict: {}\n# {}\n\n\nclass ModelNew(torch.nn.Module):"
      "\n    def forward(self, x):\n        return x\n",
      verdict, note);
}

}  // namespace

std::string Reply(const std::string& verdict, const std::string& note) {
  return fmt::format("{}.\n\n```python\n{}```\n", note, KernelText(verdict, note));
}

std::optional<rollout::RuleKernel> ScriptedAuthor::Next(
    const RolloutId& rollout, const std::vector<Evaluation>& earlier) const {
  const auto found = verdicts.find(rollout.task);
  if (found == verdicts.end() || earlier.size() >= found->second.size()) return std::nullopt;
  rollout::RuleKernel kernel;
  kernel.name = fmt::format("way {}", earlier.size());
  kernel.source = KernelText(found->second[earlier.size()], "by rules " + kernel.name);
  kernel.rules = {"fuse"};
  kernel.skills = {"tile-rows"};
  kernel.kept = "sort (net.py:3; no rule)";
  return kernel;
}

Result<Evaluation> ScriptedEvaluator::Evaluate(const judge::EvaluationRequest& request,
                                               const CancelToken&) {
  ++num_calls;
  if (before) DAVINCI_RETURN_IF_ERROR(before(request));
  SleepMs(delay_ms_);
  Evaluation evaluation;
  evaluation.provenance = {{"device", {{"name", "scripted"}}}};
  const size_t at = request.candidate.find("# verdict: ");
  // The reference itself, judged as a probe.
  std::string verdict = "ok 1.0";
  if (at != std::string::npos) {
    verdict = request.candidate.substr(at + 11);
    verdict.resize(verdict.find('\n'));
  }
  if (!verdict.starts_with("ok ") || (wrong_afresh && request.afresh)) {
    evaluation.outcome = Outcome::kMismatch;
    evaluation.correct = false;
    evaluation.message = "element 0 differs";
    return evaluation;
  }
  const double speedup = std::stod(verdict.substr(3));
  evaluation.outcome = Outcome::kOk;
  evaluation.correct = true;
  double spread = 1.02;
  if (verdict.ends_with(" noisy")) {
    // Each measurement of the same kernel spreads differently; the second one least.
    constexpr std::array<double, 3> kSpreads = {3.0, 1.3, 2.0};
    spread = kSpreads[static_cast<size_t>(num_noisy++) % kSpreads.size()];
  }
  evaluation.speedup =
      Speedup{speedup, speedup / spread, speedup * spread, speedup > 1.05, request.baseline};
  if (request.afresh) {
    ++num_afresh;
    if (busy-- > 0)
      evaluation.speedup =
          Speedup{2 * speedup, 0.2 * speedup, 12 * speedup, false, request.baseline};
    else
      busy = 0;
  }
  if (request.export_of) {
    evaluation.evidence["export"] = {{"runs_kernel", !verdict.ends_with(" falls back")}};
    if (verdict.ends_with(" falls back")) evaluation.evidence["export"]["why"] = "weight is gone";
  }
  evaluation.baseline_time = TimeSummary{8, 8, 8, 10};
  evaluation.candidate_time = TimeSummary{8 / speedup, 8 / speedup, 8 / speedup, 10};
  if (after) after(request, &evaluation);
  return evaluation;
}

Result<llm::Reply> SlowRecording::Generate(const llm::Request& request, const CancelToken& cancel) {
  if (before) DAVINCI_RETURN_IF_ERROR(before(request));
  if (!call_log_.empty()) {
    const int fd = ::open(call_log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    DAVINCI_RETURN_IF_ERROR(WriteAll(fd, request.label + "\n", "call log"));
    ::close(fd);
  }
  SleepMs(delay_ms_);
  return recorded_.Generate(request, cancel);
}

Scenario Scenario::Make(const fs::path& folder) {
  Scenario scenario;
  scenario.folder = folder;
  for (const char* task : {"alpha", "beta"})
    Write(folder / (std::string(task) + ".py"), fmt::format(kTask, task));
  Write(folder / "skills.jsonl",
        fmt::format(R"({{"name":"tile-rows","description":"Tile softmax rows","scope":"general",)"
                    R"("tags":["softmax","rows","cpp"],"content":"{}"}})"
                    "\n",
                    kSkillText));
  auto entries =
      runs::LoadTasks({(folder / "alpha.py").string(), (folder / "beta.py").string()}, {});
  EXPECT_TRUE(entries.ok()) << entries.status().ToString();
  scenario.tasks = *entries;
  EXPECT_TRUE(runs::KeepSources(&scenario.tasks).ok());

  config::Recipe recipe;
  for (const char* set :
       {"task.target=\"cpu\"", "selection.schemes=2", "rollout.rollouts=2", "rollout.turns=2",
        "learn.enabled=true", "summary.summaries=3", "summary.max_new_skills=1",
        "llm.concurrency=3", "judge.in_flight=2", "certify.also_against=[]"})
    EXPECT_TRUE(recipe.Override(set).ok()) << set;
  auto read = runs::ReadRecipe(recipe, &scenario.resolved);
  EXPECT_TRUE(read.ok()) << read.status().ToString();
  scenario.recipe = *read;
  auto prompts = agent::PromptSet::Load(DAVINCI_SOURCE_DIR "/prompts");
  EXPECT_TRUE(prompts.ok()) << prompts.status().ToString();
  scenario.prompts = std::make_shared<agent::PromptSet>(*prompts);

  auto& replies = scenario.replies;
  for (const std::string task : {"alpha", "beta"}) {
    // Both selections choose the same, so the second one's rollouts go to the first.
    replies[CallLabel(task, 1, "selection/1")] = Selects("tile-rows");
    replies[CallLabel(task, 1, "selection/2")] = Selects("tile-rows");
    for (int rollout = 0; rollout < 4; ++rollout)
      for (int turn = 1; turn <= 2; ++turn)
        for (int scheme = 0; scheme < 2; ++scheme)
          replies[ToString(TurnId{{task, scheme, rollout}, turn})] =
              Reply(turn == 1 && rollout == 1 ? "mismatch" : fmt::format("ok 1.{}", rollout),
                    fmt::format("{} scheme {} rollout {} turn {}", task, scheme, rollout, turn));
  }
  replies["alpha@1#s1r0t1"] = Reply("ok 1.5", "a first loop");
  replies["alpha@1#s1r0t2"] = Reply("ok 4.5", "rows in tiles");
  replies["alpha@1/summary/0"] = Proposes("keep-rows-in-registers", "Keep a row in registers.");
  replies["alpha@1/summary/1"] =
      Proposes("rename-loop-counters", "Give loop counters short names.");
  replies["alpha@1/summary/2"] = Proposes("drop-the-tail", "Leave out the last partial vector.");
  for (int sample = 0; sample < 12; ++sample) {
    replies[fmt::format("alpha@1/verify/without/{}", sample)] =
        Reply(fmt::format("ok 1.{}", 500 + sample), fmt::format("control {}", sample));
    replies[fmt::format("alpha@1/verify/with/0.0/{}", sample)] =
        Reply(fmt::format("ok 3.{:03}", sample), fmt::format("registers {}", sample));
    replies[fmt::format("alpha@1/verify/with/1.0/{}", sample)] =
        Reply(fmt::format("ok 1.{}", 511 - sample), fmt::format("renamed {}", sample));
    replies[fmt::format("alpha@1/verify/with/2.0/{}", sample)] =
        Reply(sample % 2 == 1 ? "mismatch" : fmt::format("ok 4.{:03}", sample),
              fmt::format("cut {}", sample));
  }
  return scenario;
}

llm::Recording Scenario::Replies() const {
  llm::Recording recording;
  for (const auto& [label, text] : replies) {
    llm::RecordedReply record;
    record.label = label;
    record.reply.text = text;
    record.reply.model = "test";
    record.reply.finish_reason = llm::FinishReason::kStop;
    record.reply.usage = {100, 0, 50, false};
    record.reply.cost_usd = 0.001;
    recording.Add(std::move(record));
  }
  return recording;
}

runs::RunRequest Scenario::Request(const fs::path& run_folder) const {
  runs::RunRequest request;
  request.header.command = "optimize";
  request.header.title = "davinci optimize alpha beta";
  request.header.version = "test";
  request.header.recorded = true;
  request.header.tasks = tasks;
  request.header.identity = runs::Identity(recipe);
  request.header.identity["agents.prompts"] =
      prompts_identity.empty() ? prompts->hash() : prompts_identity;
  request.recipe = recipe;
  request.resolved_recipe = resolved;
  request.folder = run_folder;
  request.library_sources = {(folder / "skills.jsonl").string()};
  return request;
}

runs::RunParts Scenario::Parts(llm::Backbone* backbone, judge::Judges* evaluator) const {
  runs::RunParts parts;
  parts.backbones = backbone;
  parts.judges = evaluator;
  parts.prompts = prompts.get();
  parts.device = agent::CpuFacts(2);
  parts.num_cores = 2;
  return parts;
}

}  // namespace davinci::integration
