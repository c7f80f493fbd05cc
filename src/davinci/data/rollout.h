// The records of a rollout: who it was (ids), what was chosen, said, judged, proposed and verified.
//
// One record = one finished unit of work; the run's journal holds each exactly once, and reports,
// scores and replays are computed from nothing else. Records hold hashes of prompts and of code;
// the texts lie in the run's content store under these hashes (SHA-256, 64 hex digits). Replies are
// held in full: they are what cannot be computed again.
//
// JSON: ToJson() writes one object with "schema": "davinci.<record>/1"; the FromJson functions are
// strict inverses: a missing key, an unknown key, a wrong type or another schema is
// InvalidArgument naming the key. Adding a key raises the number. Nothing here does I/O; values may
// be shared between threads as any value may.
//
// Units: seconds (double), US dollars (double), Unix time in seconds (double).
#pragma once

#include <compare>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/data/language.h"

namespace davinci {

// One trajectory of one task. `task` is TaskEntry::id (task/task_set.h), unique within a run.
struct RolloutId {
  std::string task;
  int scheme = 0;   // index of the skill set given to it, from 0
  int rollout = 0;  // among the rollouts of this scheme, from 0
  int step = 1;     // of the run, from 1: the same task may come again in a later one

  auto operator<=>(const RolloutId&) const = default;
  bool operator==(const RolloutId&) const = default;
};

// One generate-judge step of it.
struct TurnId {
  RolloutId rollout;
  int turn = 1;  // from 1, as the papers count

  auto operator<=>(const TurnId&) const = default;
  bool operator==(const TurnId&) const = default;
};

// "softmax/rows@1#s0r2" and "softmax/rows@1#s0r2t1", the step behind '@'. Parse* accept exactly
// what ToString writes; the last '#' and the last '@' before it separate, so a task id may contain
// any character.
std::string ToString(const RolloutId& id);
std::string ToString(const TurnId& id);
Result<RolloutId> ParseRolloutId(std::string_view text);
Result<TurnId> ParseTurnId(std::string_view text);

// Label of a model call that belongs to no turn: "softmax/rows@1/summary/0".
std::string CallLabel(std::string_view task, int step, std::string_view call);

// What model calls took. Sums with +=.
struct LlmCost {
  int calls = 0;  // paid requests, retries that were billed included
  int64_t prompt_tokens = 0;
  int64_t completion_tokens = 0;
  double usd = 0;      // of the calls whose price is known
  double seconds = 0;  // waiting for the endpoint
  int unpriced = 0;    // calls whose price is not known; a key in JSON only where there are some

  LlmCost& operator+=(const LlmCost& other);
  bool operator==(const LlmCost&) const = default;
};

// "$0.0120", "$3.40"; "price unknown"; "$3.40 + 2 calls of unknown price".
std::string MoneyText(const LlmCost& cost);

// The choice of a skill set ("scheme") for a task. The null scheme chooses nothing without a
// model call and is the control.
struct Selection {
  std::string task;
  int scheme = 0;
  bool null_scheme = false;
  std::vector<std::string> shown;   // names offered to the model, in order
  std::vector<std::string> chosen;  // names, in order of injection; empty for the null scheme
  std::optional<int> merged_into;   // the scheme with the same set that is rolled out instead
  std::string problem;              // why the reply gave no usable choice; "" = it did
  std::string prompt_hash;          // "" without a model call
  std::string reply;
  LlmCost cost;
  double finished_unix_s = 0;
  int step = 1;
};

// One reply and its judgement. A reply without usable code is a turn, too: its evaluation has the
// outcome kParseError and its code_hash is "". A turn that the judge failed on
// has the outcome kJudgeError: it carries no reward, and nothing may be learned from it.
struct Turn {
  TurnId id;
  std::string prompt_hash;
  std::string reply;      // the text as received
  std::string reasoning;  // when the endpoint returns it apart from the text
  std::string finish_reason;
  std::string code_hash;  // of the extracted candidate source
  Language language = Language::kAuto;
  Evaluation evaluation;
  bool judged_before = false;  // the verdict of an identical candidate of this run was taken over
  std::string model;           // as the endpoint named it
  // Blob with the tokens read and drawn (llm/token_trace.h); "": the backbone knows none.
  std::string trace_hash;
  LlmCost cost;
  double queue_seconds = 0;  // waiting for a free judge
  double judge_seconds = 0;  // 0 when judged_before
  double finished_unix_s = 0;
};

// Reply of the one turn that holds the kernel which a run starts from (--start, --more).
inline constexpr std::string_view kStartReply = "(the kernel that the run starts from)";
// Model of the turns that rules wrote (rollout/rule_author.h).
inline constexpr std::string_view kRulesModel = "(the expert)";

// Why a trajectory has no further turn.
enum class TrajectoryEnd {
  kTurns,      // it had all its turns
  kConverged,  // further gain would be noise, the roofline is near, or it stagnated
  kContext,    // an append-only conversation filled the model's context
  kBudget,     // money, time or calls ran out
  kStopped,    // the user interrupted
  kFailed,     // our failure; `problem` says which
};
std::string_view TrajectoryEndName(TrajectoryEnd end);
std::optional<TrajectoryEnd> ParseTrajectoryEnd(std::string_view name);

struct Trajectory {
  RolloutId id;
  std::vector<std::string> skills;  // names injected, in order; empty under the null scheme
  std::vector<Turn> turns;          // in order; turns[i].id == {id, i + 1}
  TrajectoryEnd end = TrajectoryEnd::kTurns;
  std::string problem;
  double started_unix_s = 0;
  double finished_unix_s = 0;
};

// A call of the Summary agent, whatever came of it.
struct SummaryCall {
  std::string task;
  int step = 1;
  int summary = 0;  // index of the call for this task and step, from 0
  TurnId before;    // the pair that was summarised
  TurnId after;
  std::string prompt_hash;
  std::string reply;
  std::string trace_hash;  // as Turn::trace_hash
  int num_proposals = 0;   // in the reply, refused ones included
  std::string problem;     // why the reply gave no proposal; "" = it did, or chose to give none
  LlmCost cost;
  double finished_unix_s = 0;
};

// A skill written by the Summary agent from one trajectory.
struct SkillProposal {
  std::string task;
  int summary = 0;   // index of the call for this task, from 0
  int proposal = 0;  // index within the reply, from 0
  TurnId before;     // the pair that was summarised
  TurnId after;
  std::string name;
  std::string description;
  std::vector<std::string> tags;
  std::string scope;
  std::string content;
  std::string refused;  // why it was not even verified (lazy, malformed, duplicate); "" = it was
  std::string prompt_hash;
  std::string reply;
  LlmCost cost;  // of the whole call, carried by proposal 0 only
  double finished_unix_s = 0;
  int step = 1;
};

// A ratio with its 95 % interval; high is infinite when nothing bounds it (null in JSON).
struct Interval {
  double median = 0;
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

// One generation of a verification: same task and seed as its partner of the other arm.
struct VerificationSample {
  std::string task;
  int64_t seed = 0;
  bool with_skill = false;
  std::string reply;
  std::string code_hash;
  Evaluation evaluation;
  LlmCost cost;
};

// The paired experiment that admits or refuses a proposal.
struct Verification {
  std::string task;
  int summary = 0;
  int proposal = 0;
  std::vector<VerificationSample> samples;
  std::optional<Interval> uplift;  // time without / time with; none when too few pairs were correct
  double threshold = 0;            // the lower bound of uplift had to reach it
  bool admitted = false;
  std::string reason;  // one sentence, for people
  double finished_unix_s = 0;
  int step = 1;
};

nlohmann::json ToJson(const LlmCost& cost);
nlohmann::json ToJson(const Selection& selection);
nlohmann::json ToJson(const Turn& turn);
nlohmann::json ToJson(const Trajectory& trajectory);
nlohmann::json ToJson(const SummaryCall& call);
nlohmann::json ToJson(const SkillProposal& proposal);
nlohmann::json ToJson(const Verification& verification);

Result<LlmCost> LlmCostFromJson(const nlohmann::json& document);
Result<Selection> SelectionFromJson(const nlohmann::json& document);
Result<Turn> TurnFromJson(const nlohmann::json& document);
// Also checks that the turns' ids continue the trajectory's.
Result<Trajectory> TrajectoryFromJson(const nlohmann::json& document);
Result<SummaryCall> SummaryCallFromJson(const nlohmann::json& document);
Result<SkillProposal> SkillProposalFromJson(const nlohmann::json& document);
Result<Verification> VerificationFromJson(const nlohmann::json& document);

}  // namespace davinci
