// Settings of one co-evolution step. Filled from a recipe (runs/run_recipe.h); the defaults
// here are those of recipes/davinci.toml.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/agent/admission.h"
#include "davinci/agent/feedback.h"
#include "davinci/agent/trigger.h"
#include "davinci/data/language.h"
#include "davinci/data/reply_form.h"
#include "davinci/data/rollout.h"
#include "davinci/search/strategy.h"

namespace davinci::rollout {

struct Sampling {
  double temperature = 1.0;
  double top_p = 1.0;
  int max_tokens = 8192;
  int top_k = 0;              // 0: all tokens
  double min_p = 0;           // 0: all tokens
  std::string thinking = {};  // "on", "off"; "": the template's own default
};

enum class ConversationMode {
  kWindowed,    // every turn's prompt is built anew: thinking left out, old turns dropped when the
                // context is short
  kAppendOnly,  // turn t + 1 continues turn t's tokens; nothing is left out, and the trajectory
                // ends when the context is full. What training on whole trajectories needs
};

struct StopSettings {
  // A trajectory gets no further turn once its best kernel reaches this share of the roofline
  // (lower end of the interval); 0: never for this reason.
  double roofline_share = 0.9;
  // … nor once this many turns in a row brought nothing better than noise; 0: never.
  int stagnant_turns = 3;
  // A turn counts as better than the best before when the lower end of the ratio of both speedups
  // is above this.
  double min_gain = 1.0;
  // A kernel at the roofline ends the other rollouts of its task, too. Off where rollouts are
  // independent samples of a benchmark.
  bool shared = true;
};

// Who chooses the skills of a scheme.
enum class SelectionMethod {
  kAgent,   // the Selection agent, one call per scheme
  kBm25,    // no model: the best matches
  kRandom,  // no agent: drawn from all skills for target and language, by the run's seed
};
std::string_view SelectionMethodName(SelectionMethod method);
std::optional<SelectionMethod> ParseSelectionMethod(std::string_view name);

// What prompts of the Policy agent show of a task.
enum class TaskText {
  kFile,
  kSteps,  // agent::TaskBrief::steps
  kPlan,   // and agent::TaskBrief::plan
};
std::string_view TaskTextName(TaskText text);
std::optional<TaskText> ParseTaskText(std::string_view name);

// Rules about a candidate's source.
enum class StaticRules {
  kNone,
  kKevin,  // score/kevin_screen.h
};

struct VerificationSettings {
  bool second_task = true;  // every other pair on another task of the step, where one fits
  std::string protocol = "davinci";
  // An experiment that would admit a skill is measured again so many times, every kernel of both
  // arms; all have to admit it. The intervals of a judgement know the noise within it, not what a
  // machine does between two of them.
  int repetitions = 1;
  agent::AdmissionOptions admission;
};

// Which turns are judged again before they are paid for (paid_turns.h).
struct PaidTurnSettings {
  int best = 0;            // of each group; 0: none
  double audit_share = 0;  // of all judged turns; the run's seed and the turn's name decide
  // Whether a task's rollouts, by their first verdicts, are paid for at all; null: they are. Pure.
  std::function<bool(const std::vector<Trajectory>&)> is_due = nullptr;
};

struct StepSettings {
  Target target = Target::kCpu;
  Language language = Language::kCpp;
  std::string baseline = "eager";
  int64_t seed = 0;
  // Counts as the step's number in the seeds of model calls, so that steps with the same tasks draw
  // alike; nothing: the step's own.
  std::optional<int> seed_step;
  std::vector<std::string> shapes;     // further ones to verify (task::ParseShape)
  std::string hints;                   // the user's advice, shown with every task
  ReplyForm reply = ReplyForm::kFile;  // what a reply of the Policy agent holds
  TaskText task_text = TaskText::kFile;
  // A kernel that only calls PyTorch (label "only PyTorch") is a policy violation.
  bool require_own_kernel = false;
  // A source that the static rules of a paper object to is a violation, too; it is not judged.
  StaticRules static_rules = StaticRules::kNone;
  // So is a kernel in another language than `language`. On where the user named one.
  bool require_language = false;
  // Judgements that a delta reply may take to find its wrong and slow kernels (reply_verdict.h).
  int isolate = 8;
  // A turn about more steps than this asks for parts of the plan (part_replies.h); 0: none does.
  int part_steps = 0;
  // Calls more for a delta reply beside steps whose text shows kernels that cannot work
  // (sound_reply.h). An append-only conversation has none.
  int retries = 0;

  // Selection.
  int schemes = 3;  // k: calls of the Selection agent per task
  SelectionMethod selection = SelectionMethod::kAgent;
  bool null_scheme = true;  // one group of rollouts without skills, the control
  int retrieve = 20;        // skills found by BM25 and shown
  int select = 3;           // at most this many are chosen
  // Rollouts that identical schemes would have repeated go to the remaining schemes, in turn.
  bool respend_saved_rollouts = true;

  // Judge a task's reference against itself before the first reply: who is refused costs no call,
  // and prompts tell what the device reaches.
  bool probe = true;

  // Rollouts.
  int rollouts = 4;  // n: per scheme
  int turns = 3;     // T: per iteration
  int iterations = 1;
  int carried_turns = 0;             // R: turns that an iteration takes over from the one before
  std::string strategy = "davinci";  // search::StrategyNames()
  search::EvolveSettings evolve;
  search::WindowRule window_rule = search::WindowRule::kBest;
  search::WindowMetric window_metric = search::WindowMetric::kPerformance;
  int context_tokens = 32768;  // prompt and reply together, where the backbone does not say less
  ConversationMode conversation = ConversationMode::kWindowed;
  bool logprobs = false;    // ask for log-probabilities of what the agents sample
  bool bound_calls = true;  // llm::Request
  agent::FeedbackOptions feedback;
  StopSettings stop;

  // Seconds of model calls and judgements that a task's rollouts may take together, waiting for
  // places left out; then it gets no further turn. 0: no limit.
  double task_seconds = 0;

  // Judging.
  std::string turn_protocol = "screening";
  std::string final_protocol = "davinci";
  int finalists = 2;  // kernels per task that are judged under final_protocol
  PaidTurnSettings paid;
  std::string paid_protocol = "davinci";   // of turns that are among the best of their group …
  std::string audit_protocol = "davinci";  // … and of those that are drawn
  int keep_best = 5;                       // w: kernels per task that the run remembers as its best

  // Learning.
  bool learn = false;
  agent::TriggerOptions trigger;
  int summaries = 2;       // s: calls of the Summary agent per triggered task
  int max_new_skills = 2;  // per call
  VerificationSettings verification;

  Sampling selection_sampling{1.0, 1.0, 1024};
  Sampling policy_sampling{1.0, 1.0, 8192};
  Sampling summary_sampling{1.0, 1.0, 2048};
};

}  // namespace davinci::rollout
