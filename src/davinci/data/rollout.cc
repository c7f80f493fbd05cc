#include "davinci/data/rollout.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "davinci/base/json_text.h"
#include "davinci/base/plural.h"
#include "davinci/data/object_reader.h"

namespace davinci {
namespace {

using nlohmann::json;

constexpr std::string_view kSelectionSchema = "davinci.selection/2";
constexpr std::string_view kTurnSchema = "davinci.turn/2";
constexpr std::string_view kTrajectorySchema = "davinci.trajectory/2";
constexpr std::string_view kSummarySchema = "davinci.summary/1";
constexpr std::string_view kProposalSchema = "davinci.proposal/2";
constexpr std::string_view kVerificationSchema = "davinci.verification/2";

constexpr std::array<std::pair<TrajectoryEnd, std::string_view>, 6> kEnds = {{
    {TrajectoryEnd::kTurns, "turns"},
    {TrajectoryEnd::kConverged, "converged"},
    {TrajectoryEnd::kBudget, "budget"},
    {TrajectoryEnd::kContext, "context"},
    {TrajectoryEnd::kStopped, "stopped"},
    {TrajectoryEnd::kFailed, "failed"},
}};

Result<Language> LanguageFromJson(const json& document) {
  if (document.is_string()) {
    if (const auto language = ParseLanguage(document.get<std::string>())) return *language;
  }
  return InvalidArgument(fmt::format("must be a language, not {}", JsonText(document)));
}

Result<TrajectoryEnd> EndFromJson(const json& document) {
  if (document.is_string()) {
    if (const auto end = ParseTrajectoryEnd(document.get<std::string>())) return *end;
  }
  return InvalidArgument(fmt::format("must be an end of a trajectory, not {}", JsonText(document)));
}

Result<TurnId> TurnIdFromJson(const json& document) {
  if (!document.is_string()) return InvalidArgument("must be an id like TASK#s0r0t1");
  return ParseTurnId(document.get<std::string>());
}

Result<RolloutId> RolloutIdFromJson(const json& document) {
  if (!document.is_string()) return InvalidArgument("must be an id like TASK#s0r0");
  return ParseRolloutId(document.get<std::string>());
}

json IntervalJson(const Interval& interval) {
  return {{"median", interval.median},
          {"low", interval.low},
          {"high", std::isfinite(interval.high) ? json(interval.high) : json(nullptr)}};
}

Result<std::optional<Interval>> OptionalIntervalFromJson(const json& document) {
  if (document.is_null()) return std::optional<Interval>();
  Interval interval;
  ObjectReader reader = ObjectReader::Nested(document, "interval");
  reader.Read("median", &interval.median);
  reader.Read("low", &interval.low);
  reader.ReadWith("high", &interval.high, [](const json& high) -> Result<double> {
    if (high.is_null()) return std::numeric_limits<double>::infinity();
    if (high.is_number() && std::isfinite(high.get<double>())) return high.get<double>();
    return InvalidArgument("must be a finite number or null");
  });
  DAVINCI_RETURN_IF_ERROR(reader.Finish());
  return std::optional<Interval>(interval);
}

Result<std::optional<int>> OptionalIndexFromJson(const json& document) {
  if (document.is_null()) return std::optional<int>();
  if (document.is_number_integer() && document >= 0 && document <= std::numeric_limits<int>::max())
    return std::optional<int>(document.get<int>());
  return InvalidArgument("must be null or an index");
}

json SampleJson(const VerificationSample& sample) {
  return {{"task", sample.task},
          {"seed", sample.seed},
          {"with_skill", sample.with_skill},
          {"reply", sample.reply},
          {"code_hash", sample.code_hash},
          {"evaluation", ToJson(sample.evaluation)},
          {"cost", ToJson(sample.cost)}};
}

Result<VerificationSample> SampleFromJson(const json& document) {
  VerificationSample sample;
  ObjectReader reader = ObjectReader::Nested(document, "sample");
  reader.Read("task", &sample.task);
  reader.Read("seed", &sample.seed);
  reader.Read("with_skill", &sample.with_skill);
  reader.Read("reply", &sample.reply);
  reader.Read("code_hash", &sample.code_hash);
  reader.ReadWith("evaluation", &sample.evaluation, EvaluationFromJson);
  reader.ReadWith("cost", &sample.cost, LlmCostFromJson);
  DAVINCI_RETURN_IF_ERROR(reader.Finish());
  return sample;
}

}  // namespace

std::string_view TrajectoryEndName(TrajectoryEnd end) {
  for (const auto& [value, name] : kEnds)
    if (value == end) return name;
  return "unknown";
}

std::optional<TrajectoryEnd> ParseTrajectoryEnd(std::string_view name) {
  for (const auto& [value, known] : kEnds)
    if (known == name) return value;
  return std::nullopt;
}

LlmCost& LlmCost::operator+=(const LlmCost& other) {
  calls += other.calls;
  prompt_tokens += other.prompt_tokens;
  completion_tokens += other.completion_tokens;
  usd += other.usd;
  unpriced += other.unpriced;
  seconds += other.seconds;
  return *this;
}

std::string MoneyText(const LlmCost& cost) {
  if (cost.unpriced > 0 && cost.unpriced >= cost.calls) return "price unknown";
  std::string text = cost.usd < 1 && cost.usd > 0 ? fmt::format("${:.4f}", cost.usd)
                                                  : fmt::format("${:.2f}", cost.usd);
  if (cost.unpriced > 0)
    text += fmt::format(" + {} of unknown price", Counted(cost.unpriced, "call"));
  return text;
}

json ToJson(const LlmCost& cost) {
  json document = {{"calls", cost.calls},
                   {"prompt_tokens", cost.prompt_tokens},
                   {"completion_tokens", cost.completion_tokens},
                   {"usd", cost.usd},
                   {"seconds", cost.seconds}};
  if (cost.unpriced > 0) document["unpriced"] = cost.unpriced;
  return document;
}

Result<LlmCost> LlmCostFromJson(const json& document) {
  LlmCost cost;
  ObjectReader reader = ObjectReader::Nested(document, "cost");
  reader.Read("calls", &cost.calls);
  reader.Read("prompt_tokens", &cost.prompt_tokens);
  reader.Read("completion_tokens", &cost.completion_tokens);
  reader.Read("usd", &cost.usd);
  reader.Read("seconds", &cost.seconds);
  if (document.is_object() && document.contains("unpriced"))
    reader.Read("unpriced", &cost.unpriced);
  DAVINCI_RETURN_IF_ERROR(reader.Finish());
  return cost;
}

json ToJson(const Selection& selection) {
  return {{"schema", kSelectionSchema},
          {"task", selection.task},
          {"scheme", selection.scheme},
          {"null_scheme", selection.null_scheme},
          {"shown", selection.shown},
          {"chosen", selection.chosen},
          {"merged_into", selection.merged_into ? json(*selection.merged_into) : json(nullptr)},
          {"problem", selection.problem},
          {"prompt_hash", selection.prompt_hash},
          {"reply", selection.reply},
          {"cost", ToJson(selection.cost)},
          {"finished_unix_s", selection.finished_unix_s},
          {"step", selection.step}};
}

Result<Selection> SelectionFromJson(const json& document) {
  Selection selection;
  ObjectReader reader(document, kSelectionSchema);
  reader.Read("task", &selection.task);
  reader.Read("scheme", &selection.scheme);
  reader.Read("null_scheme", &selection.null_scheme);
  reader.Read("shown", &selection.shown);
  reader.Read("chosen", &selection.chosen);
  reader.ReadWith("merged_into", &selection.merged_into, OptionalIndexFromJson);
  reader.Read("problem", &selection.problem);
  reader.Read("prompt_hash", &selection.prompt_hash);
  reader.Read("reply", &selection.reply);
  reader.ReadWith("cost", &selection.cost, LlmCostFromJson);
  reader.Read("finished_unix_s", &selection.finished_unix_s);
  reader.Read("step", &selection.step);
  DAVINCI_RETURN_IF_ERROR(reader.Finish());
  return selection;
}

json ToJson(const Turn& turn) {
  return {{"schema", kTurnSchema},
          {"id", ToString(turn.id)},
          {"prompt_hash", turn.prompt_hash},
          {"reply", turn.reply},
          {"reasoning", turn.reasoning},
          {"finish_reason", turn.finish_reason},
          {"code_hash", turn.code_hash},
          {"language", LanguageName(turn.language)},
          {"evaluation", ToJson(turn.evaluation)},
          {"judged_before", turn.judged_before},
          {"model", turn.model},
          {"trace_hash", turn.trace_hash},
          {"cost", ToJson(turn.cost)},
          {"queue_seconds", turn.queue_seconds},
          {"judge_seconds", turn.judge_seconds},
          {"finished_unix_s", turn.finished_unix_s}};
}

Result<Turn> TurnFromJson(const json& document) {
  Turn turn;
  ObjectReader reader(document, kTurnSchema);
  reader.ReadWith("id", &turn.id, TurnIdFromJson);
  reader.Read("prompt_hash", &turn.prompt_hash);
  reader.Read("reply", &turn.reply);
  reader.Read("reasoning", &turn.reasoning);
  reader.Read("finish_reason", &turn.finish_reason);
  reader.Read("code_hash", &turn.code_hash);
  reader.ReadWith("language", &turn.language, LanguageFromJson);
  reader.ReadWith("evaluation", &turn.evaluation, EvaluationFromJson);
  reader.Read("judged_before", &turn.judged_before);
  reader.Read("model", &turn.model);
  reader.Read("trace_hash", &turn.trace_hash);
  reader.ReadWith("cost", &turn.cost, LlmCostFromJson);
  reader.Read("queue_seconds", &turn.queue_seconds);
  reader.Read("judge_seconds", &turn.judge_seconds);
  reader.Read("finished_unix_s", &turn.finished_unix_s);
  DAVINCI_RETURN_IF_ERROR(reader.Finish());
  return turn;
}

json ToJson(const Trajectory& trajectory) {
  json turns = json::array();
  for (const Turn& turn : trajectory.turns) turns.push_back(ToJson(turn));
  return {{"schema", kTrajectorySchema},
          {"id", ToString(trajectory.id)},
          {"skills", trajectory.skills},
          {"turns", std::move(turns)},
          {"end", TrajectoryEndName(trajectory.end)},
          {"problem", trajectory.problem},
          {"started_unix_s", trajectory.started_unix_s},
          {"finished_unix_s", trajectory.finished_unix_s}};
}

Result<Trajectory> TrajectoryFromJson(const json& document) {
  Trajectory trajectory;
  ObjectReader reader(document, kTrajectorySchema);
  reader.ReadWith("id", &trajectory.id, RolloutIdFromJson);
  reader.Read("skills", &trajectory.skills);
  reader.ReadListWith("turns", &trajectory.turns, TurnFromJson);
  reader.ReadWith("end", &trajectory.end, EndFromJson);
  reader.Read("problem", &trajectory.problem);
  reader.Read("started_unix_s", &trajectory.started_unix_s);
  reader.Read("finished_unix_s", &trajectory.finished_unix_s);
  for (size_t i = 0; i < trajectory.turns.size(); ++i) {
    const TurnId expected{trajectory.id, static_cast<int>(i) + 1};
    if (trajectory.turns[i].id != expected)
      reader.Fail("turns", fmt::format("has {} where {} belongs", ToString(trajectory.turns[i].id),
                                       ToString(expected)));
  }
  DAVINCI_RETURN_IF_ERROR(reader.Finish());
  return trajectory;
}

json ToJson(const SummaryCall& call) {
  return {{"schema", kSummarySchema},
          {"task", call.task},
          {"step", call.step},
          {"summary", call.summary},
          {"before", ToString(call.before)},
          {"after", ToString(call.after)},
          {"prompt_hash", call.prompt_hash},
          {"reply", call.reply},
          {"trace_hash", call.trace_hash},
          {"num_proposals", call.num_proposals},
          {"problem", call.problem},
          {"cost", ToJson(call.cost)},
          {"finished_unix_s", call.finished_unix_s}};
}

Result<SummaryCall> SummaryCallFromJson(const json& document) {
  SummaryCall call;
  ObjectReader reader(document, kSummarySchema);
  reader.Read("task", &call.task);
  reader.Read("step", &call.step);
  reader.Read("summary", &call.summary);
  reader.ReadWith("before", &call.before, TurnIdFromJson);
  reader.ReadWith("after", &call.after, TurnIdFromJson);
  reader.Read("prompt_hash", &call.prompt_hash);
  reader.Read("reply", &call.reply);
  reader.Read("trace_hash", &call.trace_hash);
  reader.Read("num_proposals", &call.num_proposals);
  reader.Read("problem", &call.problem);
  reader.ReadWith("cost", &call.cost, LlmCostFromJson);
  reader.Read("finished_unix_s", &call.finished_unix_s);
  DAVINCI_RETURN_IF_ERROR(reader.Finish());
  return call;
}

json ToJson(const SkillProposal& proposal) {
  return {{"schema", kProposalSchema},
          {"task", proposal.task},
          {"summary", proposal.summary},
          {"proposal", proposal.proposal},
          {"before", ToString(proposal.before)},
          {"after", ToString(proposal.after)},
          {"name", proposal.name},
          {"description", proposal.description},
          {"tags", proposal.tags},
          {"scope", proposal.scope},
          {"content", proposal.content},
          {"refused", proposal.refused},
          {"prompt_hash", proposal.prompt_hash},
          {"reply", proposal.reply},
          {"cost", ToJson(proposal.cost)},
          {"finished_unix_s", proposal.finished_unix_s},
          {"step", proposal.step}};
}

Result<SkillProposal> SkillProposalFromJson(const json& document) {
  SkillProposal proposal;
  ObjectReader reader(document, kProposalSchema);
  reader.Read("task", &proposal.task);
  reader.Read("summary", &proposal.summary);
  reader.Read("proposal", &proposal.proposal);
  reader.ReadWith("before", &proposal.before, TurnIdFromJson);
  reader.ReadWith("after", &proposal.after, TurnIdFromJson);
  reader.Read("name", &proposal.name);
  reader.Read("description", &proposal.description);
  reader.Read("tags", &proposal.tags);
  reader.Read("scope", &proposal.scope);
  reader.Read("content", &proposal.content);
  reader.Read("refused", &proposal.refused);
  reader.Read("prompt_hash", &proposal.prompt_hash);
  reader.Read("reply", &proposal.reply);
  reader.ReadWith("cost", &proposal.cost, LlmCostFromJson);
  reader.Read("finished_unix_s", &proposal.finished_unix_s);
  reader.Read("step", &proposal.step);
  DAVINCI_RETURN_IF_ERROR(reader.Finish());
  return proposal;
}

json ToJson(const Verification& verification) {
  json samples = json::array();
  for (const VerificationSample& sample : verification.samples)
    samples.push_back(SampleJson(sample));
  return {{"schema", kVerificationSchema},
          {"task", verification.task},
          {"summary", verification.summary},
          {"proposal", verification.proposal},
          {"samples", std::move(samples)},
          {"uplift", verification.uplift ? IntervalJson(*verification.uplift) : json(nullptr)},
          {"threshold", verification.threshold},
          {"admitted", verification.admitted},
          {"reason", verification.reason},
          {"finished_unix_s", verification.finished_unix_s},
          {"step", verification.step}};
}

Result<Verification> VerificationFromJson(const json& document) {
  Verification verification;
  ObjectReader reader(document, kVerificationSchema);
  reader.Read("task", &verification.task);
  reader.Read("summary", &verification.summary);
  reader.Read("proposal", &verification.proposal);
  reader.ReadListWith("samples", &verification.samples, SampleFromJson);
  reader.ReadWith("uplift", &verification.uplift, OptionalIntervalFromJson);
  reader.Read("threshold", &verification.threshold);
  reader.Read("admitted", &verification.admitted);
  reader.Read("reason", &verification.reason);
  reader.Read("finished_unix_s", &verification.finished_unix_s);
  reader.Read("step", &verification.step);
  DAVINCI_RETURN_IF_ERROR(reader.Finish());
  return verification;
}

}  // namespace davinci
