#include "davinci/runs/run_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "davinci/judge/request/baselines.h"
#include "davinci/judge/request/protocol.h"
#include "davinci/search/strategy.h"
#include "davinci/task/task.h"

namespace davinci::runs {
namespace {

using config::RecipeReader;

// Reads one struct's worth of keys; called for the recipe of the user, and for nothing else.
class Reader {
 public:
  Reader(const config::Recipe& recipe, RecipeReader* reader) : given_(recipe), reader_(*reader) {}

  RunRecipe Read();
  void ReadLlm();

 private:
  void ReadTask();
  void ReadModel(const std::string& table, LlmSettings* llm);
  void ReadSearch();
  void ReadAgents();
  void ReadRollout();
  void ReadJudge();
  void ReadLearning();

  template <typename T>
  void Number(const char* key, T* value, double least, double most = 1e15) {
    reader_.Read(key, value);
    if (static_cast<double>(*value) < least || static_cast<double>(*value) > most)
      reader_.Problem(key, most < 1e15 ? fmt::format("must lie between {} and {}", least, most)
                                       : fmt::format("must be at least {}", least));
  }
  void ReadSampling(const std::string& table, rollout::Sampling* sampling);
  template <typename T, typename Parse>
  void Named(const char* key, T* value, std::string text, const std::vector<std::string>& names,
             Parse parse) {
    reader_.ReadChoice(key, &text, names);
    if (const auto parsed = parse(text)) *value = *parsed;
  }

  const config::Recipe& given_;
  RecipeReader& reader_;
  RunRecipe recipe_;
};

void Reader::ReadSampling(const std::string& table, rollout::Sampling* sampling) {
  Number((table + ".temperature").c_str(), &sampling->temperature, 0, 5);
  Number((table + ".top_p").c_str(), &sampling->top_p, 0.001, 1);
  Number((table + ".top_k").c_str(), &sampling->top_k, 0);
  Number((table + ".min_p").c_str(), &sampling->min_p, 0, 1);
  reader_.ReadChoice(table + ".thinking", &sampling->thinking, {"", "on", "off"});
  Number((table + ".max_tokens").c_str(), &sampling->max_tokens, 16);
}

void Reader::ReadTask() {
  rollout::StepSettings& step = recipe_.step;
  reader_.Read("run.seed", &step.seed);
  std::string target(TargetName(step.target));
  reader_.ReadChoice("task.target", &target, {"cpu", "cuda"});
  if (const auto parsed = ParseTarget(target)) step.target = *parsed;
  // Each target has the language that most models write best.
  std::string language = step.target == Target::kCuda ? "triton" : "cpp";
  reader_.ReadChoice("task.language", &language, {"triton", "cuda", "cuda-inline", "cpp"});
  if (const auto parsed = ParseLanguage(language)) step.language = *parsed;
  reader_.Read("policy.require_own_kernel", &step.require_own_kernel);
  reader_.Read("policy.require_language", &step.require_language);
  Number("policy.isolate", &step.isolate, 0, 64);
  Number("policy.part_steps", &step.part_steps, 0, 64);
  Number("policy.retries", &step.retries, 0, 16);
  Named("policy.static_rules", &step.static_rules, "none", {"none", "kevin"},
        [](std::string_view name) {
          return std::optional(name == "kevin" ? rollout::StaticRules::kKevin
                                               : rollout::StaticRules::kNone);
        });
  reader_.Read("task.shapes", &step.shapes);
  for (const std::string& shape : step.shapes)
    if (const auto parsed = task::ParseShape(shape); !parsed.ok())
      reader_.Problem("task.shapes", parsed.status().message());
  reader_.Read("task.hints", &step.hints);
  reader_.Read("task.baseline", &step.baseline);
  if (const auto baselines = judge::ParseBaselines(step.baseline); !baselines.ok())
    reader_.Problem("task.baseline", baselines.status().message());
}

void Reader::ReadModel(const std::string& table, LlmSettings* llm) {
  const auto key = [&](const char* name) { return table + "." + name; };
  reader_.Read(key("endpoints"), &llm->endpoints);
  reader_.Read(key("model"), &llm->model);
  reader_.Read(key("api_key_env"), &llm->api_key_env);
  reader_.Read(key("api_key_file"), &llm->api_key_file);
  reader_.Read(key("ca_file"), &llm->ca_file);
  reader_.Read(key("prices"), &llm->prices);
  reader_.ReadTable(key("extra_body"), &llm->extra_body);
  nlohmann::json headers = llm->headers;
  reader_.ReadTable(key("headers"), &headers);
  llm->headers.clear();
  for (const auto& [name, value] : headers.items()) {
    if (value.is_string())
      llm->headers[name] = value.get<std::string>();
    else
      reader_.Problem(key("headers"), fmt::format("{} must be text in quotes", name));
  }
  reader_.Read(key("proxy"), &llm->proxy);
  reader_.Read(key("stream"), &llm->stream);
  Number(key("attempt_timeout_seconds").c_str(), &llm->attempt_timeout_seconds, 1);
  Number(key("max_attempts").c_str(), &llm->max_attempts, 1, 100);
  reader_.Read(key("lora"), &llm->lora);
  Number(key("release_after_seconds").c_str(), &llm->release_after_seconds, -1);
}

void Reader::ReadLlm() {
  ReadModel("llm", &recipe_.llm);
  Number("llm.concurrency", &recipe_.llm.concurrency, 1, 4096);
  Number("llm.context_tokens", &recipe_.step.context_tokens, 1024);
  reader_.Read("llm.logprobs", &recipe_.step.logprobs);
  reader_.Read("llm.bound_calls", &recipe_.step.bound_calls);
  // A role's table is read only where it exists: most runs have one model for everything.
  const auto& tables = given_.tree().values;
  for (const std::string role : {"policy", "selection", "summary"}) {
    if (!tables.contains("llm") || !tables["llm"].is_object() || !tables["llm"].contains(role))
      continue;
    LlmSettings own = recipe_.llm;
    ReadModel("llm." + role, &own);
    recipe_.roles[role] = std::move(own);
  }
}

void Reader::ReadAgents() {
  rollout::StepSettings& step = recipe_.step;
  reader_.Read("agents.prompts", &recipe_.prompts);
  Named("agents.reply", &step.reply, "file", {"file", "delta"}, [](std::string_view name) {
    return std::optional(name == "delta" ? ReplyForm::kDelta : ReplyForm::kFile);
  });
  Named("agents.task", &step.task_text, "file", {"file", "steps", "plan"}, rollout::ParseTaskText);
  Number("selection.schemes", &step.schemes, 0, 64);
  Named("selection.method", &step.selection, "agent", {"agent", "bm25", "random"},
        rollout::ParseSelectionMethod);
  reader_.Read("selection.null_scheme", &step.null_scheme);
  Number("selection.retrieve", &step.retrieve, 1, 200);
  Number("selection.select", &step.select, 1, 20);
  reader_.Read("selection.respend_saved_rollouts", &step.respend_saved_rollouts);
  ReadSampling("selection", &step.selection_sampling);
  ReadSampling("policy", &step.policy_sampling);
  int64_t message_bytes = static_cast<int64_t>(step.feedback.max_message_bytes);
  int64_t bytes = static_cast<int64_t>(step.feedback.max_bytes);
  Number("feedback.max_message_bytes", &message_bytes, 100);
  Number("feedback.max_bytes", &bytes, 500);
  Number("feedback.max_kernels", &step.feedback.max_kernels, 0, 50);
  step.feedback.max_message_bytes = static_cast<size_t>(message_bytes);
  step.feedback.max_bytes = static_cast<size_t>(bytes);
}

// The strategy, and the budget that its authors gave it as the default.
void Reader::ReadSearch() {
  rollout::StepSettings& step = recipe_.step;
  reader_.ReadChoice("search.strategy", &step.strategy, search::StrategyNames());
  if (step.strategy == "kevin") {
    step.rollouts = 16;
    step.turns = 8;
  } else if (step.strategy == "best_of_n") {
    step.rollouts = 16;
    step.turns = 1;
  }
  search::EvolveSettings& evolve = step.evolve;
  Number("evolve.trials", &evolve.trials, 1, 100000);
  Number("evolve.population", &evolve.population, 1, 1000);
  Number("evolve.offspring", &evolve.offspring, 1, 1000);
  Named("evolve.policy", &evolve.policy, "elite", {"single_best", "elite", "diverse"},
        search::ParsePopulationPolicy);
  std::vector<std::string> layers = {"task", "solutions", "insights"};
  reader_.Read("evolve.layers", &layers);
  evolve.layers = {false, false, false, false};
  for (const std::string& layer : layers) {
    bool* const flag = layer == "task"        ? &evolve.layers.task
                       : layer == "solutions" ? &evolve.layers.solutions
                       : layer == "insights"  ? &evolve.layers.insights
                       : layer == "knowledge" ? &evolve.layers.knowledge
                                              : nullptr;
    if (flag != nullptr) {
      *flag = true;
    } else {
      reader_.Problem("evolve.layers",
                      fmt::format("\"{}\" is no layer; known: task, solutions, insights, "
                                  "knowledge",
                                  layer));
    }
  }
  Number("evolve.insights", &evolve.insights, 0, 100);
}

void Reader::ReadRollout() {
  rollout::StepSettings& step = recipe_.step;
  Named("rollout.conversation", &step.conversation, "windowed", {"windowed", "append_only"},
        [](std::string_view name) {
          return std::optional(name == "append_only" ? rollout::ConversationMode::kAppendOnly
                                                     : rollout::ConversationMode::kWindowed);
        });
  Number("rollout.rollouts", &step.rollouts, 1, 1000);
  Number("rollout.turns", &step.turns, 1, 1000);
  Number("rollout.iterations", &step.iterations, 1, 1000);
  Number("rollout.carried_turns", &step.carried_turns, 0, 100);
  if (step.task_text != rollout::TaskText::kFile && step.reply == ReplyForm::kFile)
    reader_.Problem("agents.task",
                    fmt::format("\"{}\" is for agents.reply = \"delta\": a whole file is written "
                                "from the task's file; set agents.reply, or agents.task = \"file\"",
                                rollout::TaskTextName(step.task_text)));
  if (step.reply == ReplyForm::kDelta && (step.strategy == "kevin" || step.strategy == "evolve"))
    reader_.Problem("agents.reply", fmt::format("\"delta\" is not for search.strategy = \"{}\", "
                                                "whose prompts ask for whole files",
                                                step.strategy));
  if (step.iterations > 1 && step.carried_turns >= step.turns)
    reader_.Problem("rollout.carried_turns",
                    "must be less than rollout.turns, or an iteration has no turn of its own");
  if (step.conversation == rollout::ConversationMode::kAppendOnly &&
      (step.iterations > 1 || step.strategy == "kevin" || step.strategy == "evolve"))
    reader_.Problem("rollout.conversation",
                    "append_only goes with one iteration and the strategies davinci and best_of_n: "
                    "others leave parts of the conversation out");
  Named("rollout.window", &step.window_rule, "best", {"last", "best", "top"},
        search::ParseWindowRule);
  Named("rollout.window_metric", &step.window_metric, "performance",
        {"reward", "performance", "coverage", "coverage_then_reward"}, search::ParseWindowMetric);
  reader_.ReadChoice("rollout.expert", &recipe_.expert, {"auto", "on", "off"});
  reader_.Read("rollout.probe", &recipe_.step.probe);
  Number("rollout.in_flight", &recipe_.rollouts_in_flight, 0, 10000);
  Number("rollout.tasks_in_flight", &recipe_.tasks_in_flight, 1, 1000);
  Number("rollout.keep_best", &step.keep_best, 1, 1000);
  Number("stop.roofline_share", &step.stop.roofline_share, 0, 2);
  Number("stop.stagnant_turns", &step.stop.stagnant_turns, 0);
  Number("stop.min_gain", &step.stop.min_gain, 1, 10);
  reader_.Read("stop.shared", &step.stop.shared);
}

void Reader::ReadJudge() {
  rollout::StepSettings& step = recipe_.step;
  JudgeSettings& judge = recipe_.judge;
  const std::vector<std::string> protocols = judge::ProtocolNames();
  reader_.ReadChoice("judge.turn_protocol", &step.turn_protocol, protocols);
  reader_.ReadChoice("judge.final_protocol", &step.final_protocol, protocols);
  Number("judge.finalists", &step.finalists, 1, 100);
  Number("judge.paid_best", &step.paid.best, 0, 1000);
  reader_.ReadChoice("judge.paid_protocol", &step.paid_protocol, protocols);
  Number("judge.audit_share", &step.paid.audit_share, 0, 1);
  reader_.ReadChoice("judge.audit_protocol", &step.audit_protocol, protocols);
  for (const auto& [key, protocol] : {std::pair{"judge.paid_protocol", &step.paid_protocol},
                                      {"judge.audit_protocol", &step.audit_protocol},
                                      {"judge.final_protocol", &step.final_protocol}})
    if (*protocol == "staged")
      reader_.Problem(key, "must not be \"staged\": it is what others confirm");
  Number("judge.in_flight", &judge.in_flight, 0, 1024);
  Number("judge.threads", &judge.threads, 0, 4096);
  reader_.Read("judge.devices", &judge.devices);
  reader_.Read("judge.verdict_cache", &judge.verdict_cache);
  reader_.Read("judge.unsafe_no_sandbox", &judge.unsafe_no_sandbox);
  reader_.Read("certify.also_against", &recipe_.also_against);
  for (const std::string& baseline : recipe_.also_against)
    if (baseline != "compile" && baseline != "compile-max-autotune" && baseline != "eager")
      reader_.Problem("certify.also_against",
                      fmt::format("\"{}\" is no baseline; known: eager, compile, "
                                  "compile-max-autotune",
                                  baseline));
  Number("certify.attempts", &recipe_.certify_attempts, 1, 100);
  Number("budget.usd", &recipe_.budget.usd, 0);
  Number("budget.minutes", &recipe_.budget.minutes, 0);
  Number("budget.task_minutes", &recipe_.budget.task_minutes, 0);
  recipe_.step.task_seconds = 60 * recipe_.budget.task_minutes;
  Number("budget.calls", &recipe_.budget.calls, 0);
}

void Reader::ReadLearning() {
  rollout::StepSettings& step = recipe_.step;
  reader_.Read("skills.library", &recipe_.skills);
  reader_.Read("learn.enabled", &step.learn);
  Number("learn.tasks_per_step", &recipe_.tasks_per_step, 1, 100000);
  Number("trigger.min_gain", &step.trigger.min_gain, 0);
  Number("trigger.min_speedup", &step.trigger.min_speedup, 0);
  reader_.Read("trigger.require_first_correct", &step.trigger.require_first_correct);
  reader_.Read("trigger.as_published", &step.trigger.as_published);
  Number("summary.summaries", &step.summaries, 1, 64);
  Number("summary.max_new_skills", &step.max_new_skills, 1, 10);
  ReadSampling("summary", &step.summary_sampling);
  Number("verification.max_pairs", &step.verification.admission.max_pairs, agent::kMinPairs,
         agent::kMaxPairs);
  reader_.Read("verification.second_task", &step.verification.second_task);
  Number("verification.repetitions", &step.verification.repetitions, 0, 10);
  reader_.ReadChoice("verification.protocol", &step.verification.protocol, judge::ProtocolNames());
  Number("verification.min_uplift", &step.verification.admission.min_uplift, 1, 100);
}

RunRecipe Reader::Read() {
  ReadTask();
  ReadLlm();
  ReadAgents();
  ReadSearch();
  ReadRollout();
  ReadJudge();
  ReadLearning();
  return recipe_;
}

}  // namespace

Result<RunRecipe> ReadRecipe(const config::Recipe& recipe, std::string* resolved) {
  RecipeReader reader(recipe);
  RunRecipe made = ReadRunKeys(recipe, &reader);
  DAVINCI_RETURN_IF_ERROR(reader.Finish());
  if (resolved != nullptr) *resolved = reader.ResolvedToml();
  return made;
}

Status CheckLlmTables(const config::Recipe& recipe) {
  RecipeReader reader(recipe);
  Reader(recipe, &reader).ReadLlm();
  return reader.Finish();
}

RunRecipe ReadRunKeys(const config::Recipe& recipe, RecipeReader* reader) {
  return Reader(recipe, reader).Read();
}

int JudgePlaces(const JudgeSettings& settings, int num_cores) {
  // A judgement is two to four processes that each want a core while they load and check; timing
  // is exclusive anyway, so more would only queue for the device.
  return settings.in_flight > 0 ? settings.in_flight : std::max(1, num_cores / 2);
}

int RolloutPlaces(const RunRecipe& recipe, int judge_places) {
  // Twice what both lanes hold: enough that neither runs dry while rollouts change sides, and the
  // bound of both queues.
  if (recipe.rollouts_in_flight > 0) return recipe.rollouts_in_flight;
  return 2 * (recipe.llm.concurrency + judge_places);
}

}  // namespace davinci::runs
