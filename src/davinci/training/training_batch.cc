#include "davinci/training/training_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "davinci/data/shown_interval.h"
#include "davinci/data/turn_facts.h"
#include "davinci/rollout/model_calls.h"
#include "davinci/rollout/paid_turns.h"
#include "davinci/rollout/turn_calls.h"

namespace davinci::training {
namespace {

using rl::AgentKind;

// A mean that grows.
struct Mean {
  double sum = 0;
  int64_t count = 0;
  void Add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
};

// The p of FastPOf.
constexpr std::array<double, 5> kFastP = {0, 1, 1.2, 1.5, 2};

// A Drawn says which sample a turn's call drew. Calls about a part are compared with others' about
// the same part.
struct Drawn {
  size_t sample = 0;  // in the batch
  int part = 0;       // rollout::TurnCall::part
  double stayed = 1;  // rollout::TurnCall::stayed
};

// Returns what a call earns of what its turn did. A part earns for the share of its kernels that
// stayed; all calls share the blame.
double Earned(double of_turn, const Drawn& call) {
  return of_turn > 0 ? of_turn * call.stayed : of_turn;
}

// Intervals of speedups hold 95 %: so many standard deviations on either side.
constexpr double kDeviationsOfInterval = 1.96;

// One rollout with what its turns earned.
struct Scored {
  const Trajectory* trajectory = nullptr;
  rl::Rewards rewards;        // after the turn mask
  std::vector<double> noise;  // rl::GroupMember::noise of each turn
  rl::Rewards returns;
  std::vector<bool> trained;
  std::vector<bool> decoy;                // turns without a kernel of their own
  std::vector<std::vector<Drawn>> calls;  // of each turn whose backbone knew tokens
};

rl::TurnReward RewardAt(const Turn& turn, double speedup, const rl::RewardOptions& options) {
  return rl::RewardOf(EarnsReward(turn.language, turn.evaluation), speedup,
                      Coverage(turn.evaluation), options, SpeedupsOf(turn.evaluation));
}

// The result is empty where the judge failed.
std::optional<rl::TurnReward> RewardOf(const Turn& turn, const rl::RewardOptions& options) {
  const Evaluation& evaluation = turn.evaluation;
  if (evaluation.outcome == Outcome::kJudgeError) return std::nullopt;
  return RewardAt(turn, evaluation.speedup ? evaluation.speedup->median : 0, options);
}

double NoiseOf(const Turn& turn, const rl::RewardOptions& options) {
  const auto& speedup = turn.evaluation.speedup;
  if (!speedup) return 0;
  const double high =
      std::isfinite(speedup->high) ? speedup->high : 2 * speedup->median - speedup->low;
  return (RewardAt(turn, high, options).value - RewardAt(turn, speedup->low, options).value) /
         (2 * kDeviationsOfInterval);
}

// `rewards`, `noise`: of a rollout's turns. The last that was judged counts.
rl::GroupMember MemberOf(const Trajectory& trajectory, const rl::Rewards& rewards,
                         const std::vector<double>& noise) {
  rl::GroupMember member{ToString(trajectory.id), std::nullopt, 0};
  for (size_t t = 0; t < rewards.size(); ++t)
    if (rewards[t]) {
      member.reward = rewards[t];
      member.noise = noise[t];
    }
  return member;
}

class Builder {
 public:
  Builder(const TrainRecipe& recipe, rollout::UnitLog& log)
      : algorithm_(recipe.algorithm), recipe_(recipe), log_(log) {}

  Status Add(const rollout::TaskOutcome& outcome) {
    std::vector<Scored> rollouts;
    for (const Trajectory& trajectory : outcome.trajectories) {
      DAVINCI_ASSIGN_OR_RETURN(Scored scored, Score(trajectory));
      rollouts.push_back(std::move(scored));
    }
    PolicyAdvantages(rollouts);
    DAVINCI_RETURN_IF_ERROR(AddSelection(outcome, rollouts));
    DAVINCI_RETURN_IF_ERROR(AddSummaries(outcome));
    for (const rollout::PaidCheck& check : outcome.paid_checks) {
      if (check.second.outcome == Outcome::kJudgeError) continue;
      (check.audited ? audits_agree_ : payments_agree_)
          .Add(rollout::Agree(check.first, check.second) ? 1 : 0);
    }
    tasks_.push_back({outcome.task, std::move(rollouts)});
    return Status::Ok();
  }

  TrainingBatch Finish() {
    FilterTasks();
    auto& figures = batch_.figures;
    figures["reward/policy"] = reward_.value();
    figures["reward/best_of_rollout"] = best_.value();
    figures["reward/coverage_share"] = reward_.sum > 0 ? coverage_ / reward_.sum : 0;
    figures["reward/selection"] = selection_.value();
    figures["reward/summary"] = summary_.value();
    figures["turns/correct"] = correct_.value();
    figures["turns/faster"] = faster_.value();
    figures["turns/decoys"] = decoys_.value();
    figures["turns/judge_failed"] = failed_.value();
    figures["turns/untrained"] = untrained_.value();
    for (const auto& [name, agree] :
         {std::pair{"paid", &payments_agree_}, {"audit", &audits_agree_}}) {
      if (agree->count == 0) continue;
      figures[fmt::format("{}/judged_again", name)] = static_cast<double>(agree->count);
      figures[fmt::format("{}/agree", name)] = agree->value();
    }
    if (batch_.bounded > 0) figures["calls/bounded"] = static_cast<double>(batch_.bounded);
    return std::move(batch_);
  }

 private:
  // A sample for the trace in `blob`; nothing where the backbone knew no tokens.
  Result<std::optional<size_t>> Sample(const std::string& blob, std::string id, AgentKind agent,
                                       int turn) {
    if (blob.empty()) {
      ++batch_.without_trace;
      return std::optional<size_t>();
    }
    DAVINCI_ASSIGN_OR_RETURN(llm::TokenTrace trace, rollout::LoadTrace(log_.run(), blob));
    if (trace.output_tokens.empty()) return std::optional<size_t>();
    if (trace.bounded) {
      ++batch_.bounded;
      return std::optional<size_t>();
    }
    if (trace.logprobs.size() != trace.output_tokens.size())
      return Internal(fmt::format("{}: the recorded reply has no log-probabilities", id));
    rl::TrainingSample& sample = batch_.samples.emplace_back();
    sample.id = std::move(id);
    sample.agent = agent;
    sample.turn = turn;
    sample.prompt = std::move(trace.prompt_tokens);
    sample.output = std::move(trace.output_tokens);
    sample.log_probs = std::move(trace.logprobs);
    sample.policy_update = trace.update;
    sample.trained = false;
    return std::optional<size_t>(batch_.samples.size() - 1);
  }

  Result<Scored> Score(const Trajectory& trajectory) {
    Scored scored;
    scored.trajectory = &trajectory;
    rl::Rewards rewards;
    TrainUnit unit;
    std::optional<double> best;
    std::vector<bool> in_length;
    for (const Turn& turn : trajectory.turns) {
      DAVINCI_ASSIGN_OR_RETURN(scored.calls.emplace_back(), Calls(turn));
      int64_t longest = 0;
      for (const Drawn& call : scored.calls.back()) {
        unit.samples.push_back(call.sample);
        longest = std::max(longest, NumTokens(call));
      }
      const rl::Overlong overlong = rl::AssessOverlong(
          algorithm_.overlong, longest, recipe_.run.step.policy_sampling.max_tokens,
          algorithm_.overlong_tokens, turn.finish_reason == "length");
      in_length.push_back(overlong.trained);
      rewards.push_back(RewardOfTurn(turn, overlong.penalty));
      scored.noise.push_back(NoiseOf(turn, algorithm_.reward));
      scored.decoy.push_back(rewards.back() && OnlyPyTorch(turn.language, turn.evaluation));
      if (rewards.back())
        best = std::max(best.value_or(rewards.back().value()), rewards.back().value());
    }
    if (best) best_.Add(*best);
    const rl::MaskedTurns masked =
        rl::ApplyTurnMask(rewards, algorithm_.turn_mask, algorithm_.break_penalty);
    scored.rewards = masked.rewards;
    scored.trained = masked.trained;
    scored.returns = rl::Returns(masked.rewards, algorithm_.returns, algorithm_.gamma);
    const rl::Rewards paid = rl::PaidRewards(masked.rewards, algorithm_.returns);
    for (size_t t = 0; t < paid.size(); ++t) {
      scored.trained[t] = scored.trained[t] && in_length[t];
      // A decoy has no part in what later turns earn.
      if (scored.decoy[t]) scored.returns[t] = std::min(scored.returns[t].value(), paid[t].value());
    }
    if (algorithm_.critic.enabled) {
      for (size_t t = 0; t < paid.size(); ++t) {
        if (!paid[t]) continue;
        for (const Drawn& call : scored.calls[t]) {
          rl::TrainingSample& sample = batch_.samples[call.sample];
          sample.valued = true;
          sample.paid = Earned(paid[t].value(), call);
        }
      }
    }
    if (!unit.samples.empty()) batch_.units.push_back(std::move(unit));
    return scored;
  }

  Result<std::vector<Drawn>> Calls(const Turn& turn) {
    DAVINCI_ASSIGN_OR_RETURN(const auto calls, rollout::CallsOf(turn, log_));
    std::vector<Drawn> drawn;
    for (const rollout::TurnCall& call : calls) {
      DAVINCI_ASSIGN_OR_RETURN(const auto sample,
                               Sample(call.trace_hash, call.id, AgentKind::kPolicy, turn.id.turn));
      if (sample) drawn.push_back({*sample, call.part, call.stayed});
    }
    return drawn;
  }

  int64_t NumTokens(const Drawn& call) const {
    return static_cast<int64_t>(batch_.samples[call.sample].output.size());
  }

  // The result is empty where the judge failed. `penalty` <= 0.
  std::optional<double> RewardOfTurn(const Turn& turn, double penalty) {
    const Evaluation& evaluation = turn.evaluation;
    const auto reward = RewardOf(turn, algorithm_.reward);
    failed_.Add(reward ? 0 : 1);
    if (!reward) return std::nullopt;
    const bool correct = EarnsReward(turn.language, evaluation);
    reward_.Add(reward->value + penalty);
    coverage_ += reward->coverage;
    correct_.Add(correct ? 1 : 0);
    faster_.Add(correct && evaluation.speedup && IsFaster(*evaluation.speedup) ? 1 : 0);
    decoys_.Add(OnlyPyTorch(turn.language, evaluation) ? 1 : 0);
    return reward->value + penalty;
  }

  void PolicyAdvantages(const std::vector<Scored>& rollouts) {
    struct Member {
      Drawn call;
      double earned = 0;
      bool decoy = false;
    };
    // By turn, or all in 0; by part.
    std::map<std::pair<size_t, int>, std::vector<Member>> groups;
    for (const Scored& rollout : rollouts)
      for (size_t t = 0; t < rollout.returns.size(); ++t) {
        if (!rollout.trained[t] || !rollout.returns[t]) continue;
        for (const Drawn& call : rollout.calls[t])
          groups[{algorithm_.group_by == GroupBy::kTaskTurn ? t : 0, call.part}].push_back(
              {call, Earned(rollout.returns[t].value(), call), rollout.decoy[t]});
      }
    std::vector<size_t> indices;
    std::vector<double> advantages;
    std::vector<int64_t> tokens;
    for (const auto& [turn_and_part, members] : groups) {
      std::vector<double> returns;
      std::vector<bool> decoy;
      for (const Member& member : members) {
        returns.push_back(member.earned);
        decoy.push_back(member.decoy);
      }
      const auto found = rl::GroupAdvantages(returns, decoy, algorithm_.advantage);
      for (size_t i = 0; i < members.size(); ++i) {
        indices.push_back(members[i].call.sample);
        advantages.push_back(found[i]);
        tokens.push_back(NumTokens(members[i].call));
      }
    }
    // A critic gives each token its own (train_critic.h).
    if (algorithm_.critic.enabled) std::ranges::fill(advantages, 0.0);
    if (algorithm_.cross_scheme_scaling) advantages = rl::ScaleAcrossSchemes(advantages, tokens);
    for (size_t i = 0; i < indices.size(); ++i) {
      rl::TrainingSample& sample = batch_.samples[indices[i]];
      sample.advantage = algorithm_.policy_weight * advantages[i];
      sample.trained = algorithm_.policy_weight > 0;
    }
    // Profiling rejection: kernels that hardly matter.
    if (!algorithm_.profile_rejection) return;
    for (const Scored& rollout : rollouts)
      for (size_t t = 0; t < rollout.calls.size(); ++t) {
        const Evaluation& evaluation = rollout.trajectory->turns[t].evaluation;
        const double keep = rl::KeepProbability(
            evaluation.outcome == Outcome::kOk, Coverage(evaluation),
            evaluation.speedup ? evaluation.speedup->median : 0, algorithm_.profile);
        for (const Drawn& call : rollout.calls[t]) {
          rl::TrainingSample& sample = batch_.samples[call.sample];
          if (rl::SeededDraw(static_cast<uint64_t>(recipe_.common.seed), sample.id) >= keep)
            sample.trained = false;
        }
      }
  }

  Status AddSelection(const rollout::TaskOutcome& outcome, const std::vector<Scored>& rollouts) {
    std::vector<rl::SchemeReturn> schemes;
    for (const Selection& selection : outcome.selections) {
      const int scheme = selection.merged_into.value_or(selection.scheme);
      std::vector<std::vector<std::optional<double>>> rewards;
      for (const Scored& rollout : rollouts)
        if (rollout.trajectory->id.scheme == scheme) rewards.push_back(rollout.rewards);
      schemes.push_back(
          {selection.null_scheme, rl::SchemeValue(rewards, algorithm_.selection_value)});
      if (schemes.back().value && !selection.null_scheme)
        selection_.Add(schemes.back().value.value());
    }
    const auto advantages =
        rl::SelectionAdvantages(schemes, algorithm_.selection_weight, algorithm_.null_in_baseline);
    for (size_t i = 0; i < outcome.selections.size(); ++i) {
      const Selection& selection = outcome.selections[i];
      if (selection.null_scheme || selection.prompt_hash.empty()) continue;
      rollout::UnitId id = rollout::UnitOf(rollout::UnitKind::kSelection, outcome.step,
                                           std::string_view(outcome.task));
      id.scheme = selection.scheme;
      DAVINCI_ASSIGN_OR_RETURN(const auto body, log_.Find(id));
      const std::string blob =
          body.is_object() && body.contains("trace") ? body["trace"].value("blob", "") : "";
      DAVINCI_ASSIGN_OR_RETURN(const auto sample,
                               Sample(blob,
                                      CallLabel(outcome.task, outcome.step,
                                                fmt::format("selection/{}", selection.scheme)),
                                      AgentKind::kSelection, 1));
      if (!sample) continue;
      batch_.units.push_back({{*sample}});
      if (!advantages[i]) continue;
      batch_.samples[*sample].advantage = advantages[i].value();
      batch_.samples[*sample].trained = algorithm_.selection_weight > 0;
    }
    return Status::Ok();
  }

  Status AddSummaries(const rollout::TaskOutcome& outcome) {
    std::vector<double> rewards;
    std::vector<size_t> indices;
    for (const SummaryCall& call : outcome.summaries) {
      std::vector<rl::ProposalResult> proposals;
      for (const SkillProposal& proposal : outcome.proposals) {
        if (proposal.summary != call.summary) continue;
        rl::ProposalResult result;
        result.fate =
            proposal.refused.empty() ? rl::ProposalFate::kUndecided : rl::ProposalFate::kRefused;
        for (const Verification& verification : outcome.verifications)
          if (verification.summary == proposal.summary &&
              verification.proposal == proposal.proposal && verification.uplift)
            result = {rl::ProposalFate::kVerified, verification.uplift->low};
        proposals.push_back(result);
      }
      const double reward = rl::SummaryReward(proposals, call.problem.empty());
      summary_.Add(reward);
      DAVINCI_ASSIGN_OR_RETURN(
          const auto sample,
          Sample(call.trace_hash,
                 CallLabel(outcome.task, outcome.step, fmt::format("summary/{}", call.summary)),
                 AgentKind::kSummary, 1));
      if (!sample) continue;
      batch_.units.push_back({{*sample}});
      rewards.push_back(reward);
      indices.push_back(*sample);
    }
    const auto advantages = rl::GroupAdvantages(rewards, rl::AdvantageKind::kTrloo);
    for (size_t i = 0; i < indices.size(); ++i) {
      batch_.samples[indices[i]].advantage = algorithm_.summary_weight * advantages[i];
      batch_.samples[indices[i]].trained = algorithm_.summary_weight > 0;
    }
    return Status::Ok();
  }

  // Which tasks' policy samples are trained.
  void FilterTasks() {
    rl::GroupFilterOptions options = algorithm_.groups;
    options.seed = static_cast<uint64_t>(recipe_.common.seed);
    std::vector<rl::Group> groups;
    for (const auto& [task, rollouts] : tasks_) {
      rl::Group& group = groups.emplace_back();
      group.key = task;
      for (const Scored& rollout : rollouts) {
        rl::GroupMember member = MemberOf(*rollout.trajectory, rollout.rewards, rollout.noise);
        for (const auto& calls : rollout.calls)
          for (const Drawn& call : calls) member.num_tokens += NumTokens(call);
        group.members.push_back(member);
      }
    }
    const auto fates = rl::FilterGroups(groups, options);
    Mean kept;
    for (size_t g = 0; g < groups.size(); ++g) {
      const bool differs = fates[g].fate == rl::GroupFate::kTrained;
      batch_.trained_groups += differs;
      kept.Add(differs ? 1 : 0);
      for (size_t r = 0; r < tasks_[g].second.size(); ++r) {
        const bool trained = std::ranges::binary_search(fates[g].members, r);
        for (const auto& turn : tasks_[g].second[r].calls)
          for (const Drawn& call : turn) {
            if (!trained) batch_.samples[call.sample].trained = false;
            untrained_.Add(batch_.samples[call.sample].trained ? 0 : 1);
          }
      }
    }
    batch_.figures["groups/trained"] = kept.value();
  }

  const TrainAlgorithm& algorithm_;
  const TrainRecipe& recipe_;
  rollout::UnitLog& log_;
  TrainingBatch batch_;
  std::vector<std::pair<std::string, std::vector<Scored>>> tasks_;
  Mean reward_, best_, selection_, summary_, correct_, faster_, decoys_, failed_, untrained_;
  Mean payments_agree_, audits_agree_;
  double coverage_ = 0;
};

}  // namespace

bool IsTrained(const std::vector<Trajectory>& trajectories, const TrainAlgorithm& algorithm) {
  // A critic learns from every turn; and overlong replies differ in more than their verdicts.
  if (algorithm.critic.enabled || algorithm.overlong != rl::OverlongRule::kKeep) return true;
  rl::Group group;
  for (const Trajectory& trajectory : trajectories) {
    rl::Rewards rewards;
    std::vector<double> noise;
    for (const Turn& turn : trajectory.turns) {
      const auto reward = RewardOf(turn, algorithm.reward);
      rewards.push_back(reward ? std::optional(reward->value) : std::nullopt);
      noise.push_back(NoiseOf(turn, algorithm.reward));
    }
    const rl::MaskedTurns masked =
        rl::ApplyTurnMask(rewards, algorithm.turn_mask, algorithm.break_penalty);
    group.members.push_back(MemberOf(trajectory, masked.rewards, noise));
  }
  const rl::Group groups[] = {std::move(group)};
  return rl::FilterGroups(groups, algorithm.groups).front().fate == rl::GroupFate::kTrained;
}

std::map<std::string, double> FastPOf(const std::vector<rollout::TaskOutcome>& outcomes) {
  std::array<Mean, kFastP.size()> fast;
  for (const rollout::TaskOutcome& outcome : outcomes) {
    bool correct = false;
    double fastest = 0;  // median of what is significantly faster
    for (const Trajectory& trajectory : outcome.trajectories)
      for (const Turn& turn : trajectory.turns) {
        if (!EarnsReward(turn.language, turn.evaluation)) continue;
        correct = true;
        if (turn.evaluation.speedup && IsFaster(*turn.evaluation.speedup))
          fastest = std::max(fastest, turn.evaluation.speedup->median);
      }
    for (size_t i = 0; i < kFastP.size(); ++i)
      fast[i].Add((kFastP[i] == 0 ? correct : fastest > kFastP[i]) ? 1 : 0);
  }
  std::map<std::string, double> by_p;
  for (size_t i = 0; i < kFastP.size(); ++i) by_p[fmt::format("{:g}", kFastP[i])] = fast[i].value();
  return by_p;
}

Result<TrainingBatch> MakeTrainingBatch(const std::vector<rollout::TaskOutcome>& outcomes,
                                        const TrainRecipe& recipe, rollout::UnitLog& log) {
  Builder builder(recipe, log);
  for (const rollout::TaskOutcome& outcome : outcomes) {
    DAVINCI_RETURN_IF_ERROR(builder.Add(outcome));
  }
  return builder.Finish();
}

}  // namespace davinci::training
