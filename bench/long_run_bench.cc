// A run of many steps around a scripted model and judge: units per second, and memory over its
// length.
//
//   long_run_bench [STEPS [TASKS [FOLDER]]]      default 1000 steps of 64 tasks
//
// Every task of every step: probe, one rollout of two turns with replies that differ, judged at
// once. What is measured is the journal, the blobs and the engine.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

#include "davinci/agent/prompt_set.h"
#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/rollout/step.h"
#include "davinci/runs/task_inputs.h"

namespace davinci {
namespace {

class Replies : public llm::Backbone {
 public:
  Result<llm::Reply> Generate(const llm::Request& request, const CancelToken&) override {
    llm::Reply reply;
    reply.text = fmt::format(
        "One loop.\n\n```python\nimport torch\n\n# {}\n\n\nclass ModelNew(torch.nn.Module):\n"
        "    def forward(self, x):\n        return x\n```\n",
        request.label);
    reply.model = "scripted";
    return reply;
  }
  std::string Name() const override { return "scripted"; }
};

class Judge : public judge::Judges {
 public:
  Result<Evaluation> Evaluate(const judge::EvaluationRequest& request,
                              const CancelToken&) override {
    Evaluation evaluation;
    evaluation.outcome = Outcome::kOk;
    evaluation.correct = true;
    evaluation.speedup = Speedup{1.2, 1.19, 1.21, true, request.baseline};
    return evaluation;
  }
  std::string Identity() override { return "scripted"; }
};

double ResidentMiB() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;
  return pages * 4096 / (1 << 20);
}

Status Run(int steps, int tasks, const std::filesystem::path& folder) {
  DAVINCI_ASSIGN_OR_RETURN(auto prompts, agent::PromptSet::Load(DAVINCI_SOURCE_DIR "/prompts"));
  rollout::StepSettings settings;
  settings.schemes = 0;
  settings.rollouts = 1;
  settings.turns = 2;
  settings.final_protocol = settings.turn_protocol;
  DAVINCI_ASSIGN_OR_RETURN(
      auto entries, runs::LoadTasks({DAVINCI_SOURCE_DIR "/examples/residual_rms_norm.py"}, {}));
  DAVINCI_ASSIGN_OR_RETURN(const auto one, runs::MakeTaskInputs(entries, settings));
  std::vector<rollout::TaskInput> inputs(static_cast<size_t>(tasks), one.front());
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i].id = fmt::format("task{}", i);

  DAVINCI_ASSIGN_OR_RETURN(auto run, store::RunStore::Create(folder, {{"title", "long run"}}));
  rollout::UnitLog log(run.get(), rollout::UnitLog::Mode::kLive);
  Lane model_lane("model", 8);
  Lane judge_lane("judge", 8);
  Lane rollout_lane("rollouts", 32);
  Replies replies;
  Judge judge;
  rollout::ModelCalls calls(&log, &replies, &model_lane);
  judge::LocalService service(&judge, &judge_lane, nullptr);
  rollout::Verdicts verdicts(&log, &service);
  rollout::StopFlag stop;
  rollout::StepContext context;
  context.log = &log;
  context.calls = &calls;
  context.verdicts = &verdicts;
  context.prompts = &prompts;
  context.devices = {agent::CpuFacts(2)};
  context.rollout_lane = &rollout_lane;
  context.stop = &stop;
  const Stopwatch watch;
  double cpu_before_s = 0;
  int step_before = 0;
  for (int step = 1; step <= steps; ++step) {
    for (const rollout::TaskOutcome& outcome : RunStep(context, settings, step, inputs, 8))
      DAVINCI_RETURN_IF_ERROR(outcome.status);
    run->Release(step);
    if (step == 1 || step % std::max(steps / 20, 1) == 0) {
      const auto cost = run->write_cost();
      // CPU time does not feel what else the machine does.
      const double cpu_s = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
      fmt::print(
          "step {:5}  resident {:7.1f} MiB  units {:8}  journal {:7.1f} MiB  {:6.0f} s  CPU "
          "{:5.1f} "
          "ms per step\n",
          step, ResidentMiB(), cost.num_units, static_cast<double>(cost.bytes) / (1 << 20),
          watch.Seconds(), 1e3 * (cpu_s - cpu_before_s) / (step - step_before));
      cpu_before_s = cpu_s;
      step_before = step;
      std::fflush(stdout);
    }
  }
  return Status::Ok();
}

}  // namespace
}  // namespace davinci

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int tasks = argc > 2 ? std::atoi(argv[2]) : 64;
  auto scratch = davinci::MakeTempDir("long-run");
  if (!scratch.ok()) return 1;
  const std::filesystem::path folder =
      argc > 3 ? std::filesystem::path(argv[3]) : scratch->path() / "run";
  const davinci::Status status = davinci::Run(steps, tasks, folder);
  if (!status.ok()) fmt::print(stderr, "{}\n", status.ToString());
  return status.ok() ? 0 : 1;
}
