#include "davinci/training/train_recipe.h"

#include <fmt/format.h>

#include "davinci/judge/request/protocol.h"
#include "davinci/training/train_tasks.h"

namespace davinci::training {
namespace {

// What training changes about a rollout step before the user's recipe is merged over it.
constexpr std::string_view kRolloutDefaults = R"(
[llm]
logprobs = true
bound_calls = false
[rollout]
conversation = "append_only"
turns = 3
[selection]
respend_saved_rollouts = false
[policy]
require_own_kernel = true
isolate = 0
[stop]
roofline_share = 0.0
stagnant_turns = 0
shared = false
[judge]
finalists = 1
final_protocol = "screening"
[learn]
enabled = true
[optimizer]
learning_rate = 1e-6
schedule = "constant"
warmup_fraction = 0.0
beta2 = 0.999
[checkpoint]
every = 1
)";

class Reader {
 public:
  Reader(const config::Recipe& recipe, config::RecipeReader* reader)
      : given_(recipe), reader_(*reader) {}

  TrainRecipe Read() {
    made_.run = runs::ReadRunKeys(given_, &reader_);
    trainer::ReadCommon(&reader_, &made_.common);
    ReadTrain();
    ReadRewards();
    ReadFilters();
    ReadLoss();
    ReadCritic();
    ReadReplay();
    ReadCollapse();
    Check();
    return made_;
  }

 private:
  template <typename T>
  void Number(const char* key, T* value, double least, double most = 1e15) {
    reader_.Read(key, value);
    if (static_cast<double>(*value) < least || static_cast<double>(*value) > most)
      reader_.Problem(key, fmt::format("must lie between {} and {:g}", least, most));
  }
  // One of a few names.
  template <typename T>
  void Named(const char* key, T* value, const std::vector<std::pair<std::string, T>>& names) {
    std::string text;
    std::vector<std::string> known;
    for (const auto& [name, one] : names) {
      known.push_back(name);
      if (one == *value) text = name;
    }
    reader_.ReadChoice(key, &text, known);
    for (const auto& [name, one] : names)
      if (name == text) *value = one;
  }
  template <typename T, typename Parse>
  void Parsed(const char* key, T* value, std::string text, Parse parse) {
    reader_.Read(key, &text);
    if (const auto parsed = parse(text); parsed.ok())
      *value = *parsed;
    else
      reader_.Problem(key, parsed.status().message());
  }

  void ReadTrain() {
    reader_.Read("train.tasks", &made_.tasks);
    reader_.Read("train.held_out", &made_.held_out);
    Number("train.eval_every", &made_.eval_every, 0);
    if (made_.eval_every > 0 && made_.held_out.empty())
      reader_.Problem("train.eval_every", "needs tasks in train.held_out, or must be 0");
    Number("train.eval_samples", &made_.eval_samples, 0, 1000);
    std::vector<std::string> protocols = judge::ProtocolNames();
    protocols.emplace_back();
    reader_.ReadChoice("train.eval_protocol", &made_.eval_protocol, protocols);
    const TaskKind usual{made_.run.step.target, made_.run.step.language};
    for (const auto& [key, sets] :
         {std::pair{"train.tasks", &made_.tasks}, std::pair{"train.held_out", &made_.held_out}})
      for (const std::string& set : *sets)
        if (const auto named = ParseTaskSet(set, usual); !named.ok())
          reader_.Problem(key, named.status().message());
    reader_.Read("train.sample_devices", &made_.sample_devices);
    for (const std::string& device : made_.sample_devices)
      if (device != "cpu" && !device.starts_with("cuda:"))
        reader_.Problem("train.sample_devices",
                        fmt::format("\"{}\" is no device: \"cpu\" or \"cuda:N\"", device));
    Number("train.steps", &made_.steps, 0);
    if (made_.steps == 0 && made_.eval_every == 0)
      reader_.Problem("train.steps",
                      "must be 1 at least, or train.eval_every above 0: then the model is "
                      "evaluated and not trained");
    Number("train.tasks_per_step", &made_.tasks_per_step, 1);
    Number("train.max_batches", &made_.max_batches, 1, 1000);
    Number("train.updates_per_step", &made_.updates_per_step, 1, 64);
    Number("train.max_staleness", &made_.max_staleness, 0, 16);
  }

  void ReadRewards() {
    TrainAlgorithm& a = made_.algorithm;
    Parsed("reward.kind", &a.reward.kind, std::string(rl::RewardKindName(a.reward.kind)),
           rl::ParseRewardKind);
    Number("reward.speedup_cap", &a.reward.speedup_cap, 0);
    Number("reward.coverage_weight", &a.reward.coverage_weight, 0);
    Named("returns.kind", &a.returns,
          {{"sum", rl::ReturnKind::kDiscountedSum},
           {"max", rl::ReturnKind::kDiscountedMax},
           {"final", rl::ReturnKind::kFinal}});
    Number("returns.gamma", &a.gamma, 0, 1);
    Named("returns.turn_mask", &a.turn_mask,
          {{"void", rl::TurnMaskRule::kMaskVoid},
           {"penalise-breaking", rl::TurnMaskRule::kPenaliseBreaking},
           {"none", rl::TurnMaskRule::kKeepAll}});
    Number("returns.break_penalty", &a.break_penalty, -100, 0);
    ReadAdvantageKind();
    Named("advantage.group_by", &a.group_by,
          {{"task-turn", GroupBy::kTaskTurn}, {"task", GroupBy::kTask}});
    reader_.Read("advantage.cross_scheme_scaling", &a.cross_scheme_scaling);
    Named("advantage.selection_value", &a.selection_value,
          {{"best", rl::PerRollout::kBest},
           {"mean", rl::PerRollout::kMean},
           {"first", rl::PerRollout::kFirst}});
    reader_.Read("advantage.null_in_baseline", &a.null_in_baseline);
    Number("advantage.policy_weight", &a.policy_weight, 0);
    Number("advantage.selection_weight", &a.selection_weight, 0);
    Number("advantage.summary_weight", &a.summary_weight, 0);
  }

  // "gae" names a critic; every other name an estimator over groups.
  void ReadAdvantageKind() {
    TrainAlgorithm& a = made_.algorithm;
    std::string kind(rl::AdvantageKindName(a.advantage));
    reader_.Read("advantage.kind", &kind);
    a.critic.enabled = kind == "gae";
    if (a.critic.enabled) return;
    if (const auto parsed = rl::ParseAdvantageKind(kind); parsed.ok())
      a.advantage = *parsed;
    else
      reader_.Problem("advantage.kind", parsed.status().message() + ", gae");
  }

  void ReadCritic() {
    CriticSettings& critic = made_.algorithm.critic;
    Number("critic.lambda", &critic.lambda, 0, 1);
    Number("critic.learning_rate", &critic.learning_rate, 0);
    Number("critic.updates_per_step", &critic.updates_per_step, 1, 1000);
    Number("critic.value_clip", &critic.value_clip, 0);
    reader_.Read("critic.whiten", &critic.whiten);
    reader_.Read("critic.pretrain", &critic.pretrain);
    Number("critic.gate", &critic.gate, -1e15, 1);
    Number("critic.gate_steps", &critic.gate_steps, 1);
    if (!critic.enabled) return;
    if (made_.algorithm.cross_scheme_scaling)
      reader_.Problem("advantage.cross_scheme_scaling",
                      "must be false with advantage.kind \"gae\", whose advantages have the scale "
                      "of the critic (critic.whiten)");
    if (made_.algorithm.returns == rl::ReturnKind::kDiscountedMax)
      reader_.Problem("returns.kind",
                      "must be \"sum\" or \"final\" with advantage.kind \"gae\": a critic "
                      "predicts sums");
  }

  void ReadFilters() {
    TrainAlgorithm& a = made_.algorithm;
    Named("mismatch.rule", &a.mismatch,
          {{"none", MismatchRule::kNone},
           {"reject", MismatchRule::kReject},
           {"weigh", MismatchRule::kWeigh}});
    Number("mismatch.low", &a.band.low, 0, 1);
    Number("mismatch.high", &a.band.high, 1);
    Number("mismatch.veto_ratio", &a.band.veto_ratio, 0, 1);
    Number("mismatch.importance_cap", &a.importance_cap, 1);
    reader_.Read("profile_rejection.enabled", &a.profile_rejection);
    Number("profile_rejection.start", &a.profile.start, 0, 1);
    Number("profile_rejection.width", &a.profile.width, 0, 1);
    Number("profile_rejection.always_keep_speedup", &a.profile.always_keep_speedup, 0);
    Number("groups.min_deviation", &a.groups.min_deviation, 0);
    Number("groups.timing_noise", &a.groups.timing_noise, 0);
    Number("groups.min_members", &a.groups.min_members, 1);
    Number("groups.max_members", &a.groups.max_members, 0);
    Number("groups.max_groups", &a.groups.max_groups, 0);
    Named("groups.overlong", &a.overlong,
          {{"keep", rl::OverlongRule::kKeep},
           {"mask", rl::OverlongRule::kMask},
           {"penalty", rl::OverlongRule::kSoftPenalty}});
    Number("groups.overlong_tokens", &a.overlong_tokens, 0);
  }

  void ReadReplay() {
    ReplaySettings& replay = made_.replay;
    reader_.Read("replay.rows", &replay.rows);
    Number("replay.examples", &replay.examples, 1);
    Number("replay.weight", &replay.weight, 0);
    if (made_.algorithm.critic.enabled && !replay.rows.empty())
      reader_.Problem("replay.rows",
                      "must be empty with advantage.kind \"gae\": while the critic is pretrained "
                      "nothing trains the policy");
  }

  void ReadCollapse() {
    rl::CollapseOptions& collapse = made_.algorithm.collapse;
    Number("collapse.baseline_steps", &collapse.baseline_steps, 1, 1000);
    Number("collapse.repetition_gram", &collapse.repetition_gram, 1, 1000);
    Number("collapse.repetition", &collapse.repetition_alert, 0, 1);
    Number("collapse.first_token", &collapse.first_token_alert, 0, 1);
    Number("collapse.entropy", &collapse.entropy_alert, 0, 1);
    Number("collapse.length", &collapse.length_alert, 1);
  }

  void ReadLoss() {
    TrainAlgorithm& a = made_.algorithm;
    Number("loss.clip_low", &a.clip.low, 0, 1);
    Number("loss.clip_high", &a.clip.high, 0);
    Number("loss.dual_clip", &a.clip.dual, 0);
    Parsed("loss.aggregation", &a.aggregation, std::string(rl::AggregationName(a.aggregation)),
           rl::ParseAggregation);
    Number("loss.divisor", &a.divisor, 1e-6);
  }

  void Check() {
    const rollout::StepSettings& step = made_.run.step;
    for (const auto& [name, sampling] : {std::pair{"policy", step.policy_sampling},
                                         {"selection", step.selection_sampling},
                                         {"summary", step.summary_sampling}}) {
      const std::string table(name);
      if (sampling.top_p < 1) reader_.Problem(table + ".top_p", "must be 1: " + Why());
      if (sampling.top_k > 0) reader_.Problem(table + ".top_k", "must be 0: " + Why());
      if (sampling.min_p > 0) reader_.Problem(table + ".min_p", "must be 0: " + Why());
      if (sampling.temperature <= 0)
        reader_.Problem(table + ".temperature", "must be positive: training samples");
      if (sampling.temperature != step.policy_sampling.temperature)
        reader_.Problem(table + ".temperature",
                        "must be that of policy: they are trained in one update");
    }
    if (step.turn_protocol == "staged" && step.paid.best < 1)
      reader_.Problem("judge.paid_best",
                      "must be 1 at least with judge.turn_protocol \"staged\": no reward among a "
                      "group's best is paid without confirmation");
    if (step.turn_protocol == "staged" && step.target == Target::kCuda &&
        (made_.algorithm.reward.coverage_weight > 0 || made_.algorithm.profile_rejection))
      reader_.Problem("judge.turn_protocol",
                      "\"staged\" does not profile kernels on a device; set "
                      "reward.coverage_weight = 0 and profile_rejection.enabled = false");
    if (!step.require_own_kernel)
      reader_.Problem("policy.require_own_kernel",
                      "must be true: a kernel that only calls PyTorch earns nothing");
    if (!step.logprobs)
      reader_.Problem("llm.logprobs", "must be true: training compares with them");
    if (step.bound_calls)
      reader_.Problem("llm.bound_calls",
                      "must be false: training finds other probabilities than those of a grammar");
    if (step.retries > 0)
      reader_.Problem("policy.retries",
                      "must be 0: the best of several replies is no sample of the model's");
    if (step.strategy == "davinci" && step.conversation != rollout::ConversationMode::kAppendOnly)
      reader_.Problem("rollout.conversation",
                      "must be \"append_only\" with search.strategy davinci");
    if (made_.common.checkpoint.every != 1)
      reader_.Problem("checkpoint.every",
                      "must be 1: each step's rollouts sample from the checkpoint before it");
    if (made_.algorithm.reward.kind == rl::RewardKind::kMilestone &&
        step.baseline != "eager,compile" && step.baseline != "compile,eager")
      reader_.Problem("task.baseline",
                      "must be \"eager,compile\": reward.kind \"milestone\" compares with both");
    if (!made_.run.llm.endpoints.empty())
      reader_.Problem("llm.endpoints", "must be empty: the model that is trained is sampled");
  }
  static std::string Why() { return "the trainer compares with the whole distribution"; }

  const config::Recipe& given_;
  config::RecipeReader& reader_;
  TrainRecipe made_;
};

}  // namespace

Result<TrainRecipe> ReadTrainRecipe(const config::Recipe& recipe, std::string* resolved) {
  DAVINCI_ASSIGN_OR_RETURN(config::Recipe layered,
                           config::Recipe::Parse(kRolloutDefaults, "defaults of davinci train"));
  layered.Merge(recipe);
  config::RecipeReader reader(layered);
  TrainRecipe made = Reader(layered, &reader).Read();
  DAVINCI_RETURN_IF_ERROR(reader.Finish());
  if (resolved != nullptr) *resolved = reader.ResolvedToml();
  return made;
}

}  // namespace davinci::training
