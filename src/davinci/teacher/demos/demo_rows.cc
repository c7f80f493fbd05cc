#include "davinci/teacher/demos/demo_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/agent/feedback.h"
#include "davinci/agent/policy_agent.h"
#include "davinci/agent/selection_agent.h"
#include "davinci/agent/summary_agent.h"
#include "davinci/agent/trigger.h"
#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/data/shown_interval.h"
#include "davinci/llm/tools.h"
#include "davinci/sftdata/example.h"

namespace davinci::teacher {
namespace {

using sftdata::Row;

// What may stand as its number; 0 where it has none.
double SpeedupOf(const Attempt& attempt) {
  return attempt.evaluation.speedup ? FigureOf(*attempt.evaluation.speedup).value : 0;
}
bool IsCorrect(const Attempt& attempt) { return attempt.evaluation.correct.value_or(false); }

bool Gains(const Attempt& best, const Attempt& other, double min_gain) {
  const auto& later = best.evaluation.speedup;
  const auto& first = other.evaluation.speedup;
  return later && first && first->median > 0 && later->median >= min_gain * first->median &&
         agent::SureGain(*later, *first) > 1;
}

// A verdict that says something about the attempt: the judge did not fail, and decided.
bool IsDecided(const Evaluation& evaluation) {
  return evaluation.outcome != Outcome::kJudgeError &&
         (evaluation.outcome != Outcome::kCompileOnly || evaluation.correct.has_value());
}

std::string Fenced(const std::string& source) { return "```python\n" + source + "```"; }

// Returns the code that a reply holds: the file, or what is new of a delta reply.
const std::string& CodeOf(const Attempt& attempt) {
  return attempt.code.empty() ? attempt.source : attempt.code;
}

std::string ReplyOf(const Attempt& attempt) {
  return attempt.reply.empty() ? Fenced(CodeOf(attempt)) : attempt.reply;
}

llm::Reply Says(std::string text) {
  llm::Reply reply;
  reply.text = std::move(text);
  return reply;
}

llm::Reply ReplyWithCall(std::string_view tool, std::string arguments) {
  llm::Reply reply;
  reply.tool_calls.push_back({"", std::string(tool), std::move(arguments)});
  return reply;
}

// In [0, 1), by the text.
double ShareOf(std::string_view text) {
  constexpr double kHashes = 18446744073709551616.0;  // 2^64
  return static_cast<double>(HashBytes(text, 5)) / kHashes;
}

class Maker {
 public:
  Maker(const agent::PromptSet& prompts, const Demonstration& demonstration,
        const std::map<std::string, skill::Skill>& library, const RowLimits& limits)
      : prompts_(prompts), demo_(demonstration), library_(library), limits_(limits) {}

  Result<DemoRows> Make() {
    const Attempt& best = demo_.attempts.back();
    if (!IsCorrect(best)) {
      ++made_.left_out["the best attempt is not correct"];
      return std::move(made_);
    }
    if (best.evaluation.speedup && FindingOf(*best.evaluation.speedup) != SpeedFinding::kFaster) {
      ++made_.left_out["the best attempt is not significantly faster than PyTorch"];
      return std::move(made_);
    }
    if (best.skills.size() > limits_.max_skills) {
      ++made_.left_out["more skills than a prompt holds"];
      return std::move(made_);
    }
    DAVINCI_ASSIGN_OR_RETURN(const auto given, Skills(best.skills));
    DAVINCI_ASSIGN_OR_RETURN(const agent::Conversation start,
                             agent::StartConversation(prompts_, demo_.brief, demo_.device, given));
    DAVINCI_ASSIGN_OR_RETURN(const agent::Conversation bare,
                             agent::StartConversation(prompts_, demo_.brief, demo_.device, {}));
    DAVINCI_RETURN_IF_ERROR(Policy(start, best));
    for (size_t i = 0; i + 1 < demo_.attempts.size(); ++i) {
      const Attempt& other = demo_.attempts[i];
      if (other.source == best.source) continue;
      if (!IsDecided(other.evaluation)) {
        ++made_.left_out["repair: the judge did not decide"];
        continue;
      }
      DAVINCI_RETURN_IF_ERROR(Repair(start, bare, other, best));
      // What a mistake costs says nothing about a skill.
      if (other.mutation.empty() && IsCorrect(other) && Gains(best, other, limits_.min_gain)) {
        if (!selected_) DAVINCI_RETURN_IF_ERROR(Selection(best));
        DAVINCI_RETURN_IF_ERROR(Summary(other, best));
      }
    }
    DAVINCI_RETURN_IF_ERROR(Kept(start, best));
    return std::move(made_);
  }

 private:
  Result<std::vector<skill::Skill>> Skills(const std::vector<std::string>& names) const {
    std::vector<skill::Skill> skills;
    for (const std::string& name : names) {
      const auto found = library_.find(name);
      if (found == library_.end())
        return InvalidArgument(fmt::format("no skill {} in the library", name));
      skills.push_back(found->second);
    }
    return skills;
  }

  void Keep(Row row, const char* kind, const Attempt& best, size_t most_tokens) {
    if (PromptTokens(row, limits_) > static_cast<int64_t>(most_tokens)) {
      ++made_.left_out[fmt::format("{}: the prompt is too long", kind)];
      return;
    }
    row.origin.id = fmt::format("{}.{}{}", best.id, kind, made_.rows.size());
    row.origin.task = demo_.brief.id;
    row.origin.family = demo_.family;
    row.origin.reference = demo_.brief.reference;
    row.origin.entry_point = demo_.brief.entry;
    row.origin.split = demo_.split;
    row.origin.rules = best.rules;
    if (row.origin.skills.empty()) row.origin.skills = best.skills;
    if (best.evaluation.outcome == Outcome::kCompileOnly)
      row.origin.verdict = OutcomeName(Outcome::kCompileOnly);
    if (SpeedupOf(best) > 0) row.origin.speedup = SpeedupOf(best);
    row.enable_thinking = false;
    made_.rows.push_back(std::move(row));
  }

  Status Policy(const agent::Conversation& start, const Attempt& best) {
    DAVINCI_ASSIGN_OR_RETURN(const llm::Request request,
                             agent::BuildPolicyRequest(start, kNoLimit));
    DAVINCI_ASSIGN_OR_RETURN(Row row, sftdata::RowOfRequest(llm::ToJson(request)));
    row.messages.push_back(sftdata::MessageOfReply(Says(ReplyOf(best)), 1));
    row.origin.round_speedups = {SpeedupOf(best)};
    row.origin.best_round = 1;
    Keep(std::move(row), "policy", best, limits_.policy_tokens);
    return Status::Ok();
  }

  // The prompt of the second turn, behind an attempt and what the judge says of it.
  Result<Row> SecondTurn(agent::Conversation conversation, const Attempt& attempt) const {
    agent::Progress progress;
    progress.num_turns = 2;
    if (IsCorrect(attempt)) {
      progress.best_turn = 1;
      progress.best = attempt.evaluation.speedup;
    }
    // A reply without code is answered as in rollouts: it was not judged, and hears why.
    std::string reply = ReplyOf(attempt);
    const llm::Extraction extraction = llm::ExtractCode(Says(reply), demo_.brief.class_name);
    DAVINCI_ASSIGN_OR_RETURN(
        std::string feedback,
        extraction.ok() ? agent::RenderFeedback(prompts_, demo_.brief, attempt.evaluation, progress,
                                                {}, attempt.left_out)
                        : agent::RenderNoCode(prompts_, demo_.brief, extraction, progress));
    conversation.turns.push_back({std::move(reply), std::move(feedback)});
    DAVINCI_ASSIGN_OR_RETURN(const llm::Request request,
                             agent::BuildPolicyRequest(conversation, kNoLimit));
    return sftdata::RowOfRequest(llm::ToJson(request));
  }

  // Nothing faster is known than the best attempt: a turn behind it says it again, whole.
  Status Kept(const agent::Conversation& start, const Attempt& best) {
    DAVINCI_ASSIGN_OR_RETURN(Row row, SecondTurn(start, best));
    row.messages.push_back(sftdata::MessageOfReply(Says(ReplyOf(best)), 1));
    row.origin.round_speedups = {SpeedupOf(best), SpeedupOf(best)};
    row.origin.best_round = 1;
    Keep(std::move(row), "kept", best, limits_.policy_tokens);
    return Status::Ok();
  }

  Status Repair(const agent::Conversation& start, const agent::Conversation& bare,
                const Attempt& other, const Attempt& best) {
    if (IsCorrect(other) && !Gains(best, other, limits_.min_gain)) {
      ++made_.left_out["repair: no significant gain"];
      return Status::Ok();
    }
    // PromptTokens() leaves the reply out.
    const auto fits = [&](Row row) {
      row.messages.emplace_back();
      return PromptTokens(row, limits_) <= static_cast<int64_t>(limits_.policy_tokens);
    };
    const bool is_bare = ShareOf(other.id) < limits_.bare_repairs;
    DAVINCI_ASSIGN_OR_RETURN(Row row, SecondTurn(is_bare ? bare : start, other));
    if (!is_bare && !fits(row)) {
      DAVINCI_ASSIGN_OR_RETURN(row, SecondTurn(bare, other));
    }
    row.messages.push_back(sftdata::MessageOfReply(Says(ReplyOf(best)), 1));
    row.origin.round_speedups = {IsCorrect(other) ? SpeedupOf(other) : 0, SpeedupOf(best)};
    row.origin.best_round = 2;
    Keep(std::move(row), "repair", best, limits_.policy_tokens);
    return Status::Ok();
  }

  // The skills that helped among those that a rollout would show.
  Status Selection(const Attempt& best) {
    selected_ = true;
    std::vector<std::string> shown = demo_.found, helped;
    if (shown.size() > agent::kNumCandidates) shown.resize(agent::kNumCandidates);
    for (const std::string& name : best.skills)
      if (std::find(shown.begin(), shown.end(), name) != shown.end()) helped.push_back(name);
    OrderByGain(limits_.gains, &helped);
    if (std::ssize(helped) > limits_.selected) helped.resize(static_cast<size_t>(limits_.selected));
    if (helped.empty()) {
      ++made_.left_out["selection: retrieval finds no skill that helps"];
      return Status::Ok();
    }
    DAVINCI_ASSIGN_OR_RETURN(const auto candidates, Skills(shown));
    DAVINCI_ASSIGN_OR_RETURN(Row row, SelectionRow(prompts_, demo_.brief, demo_.device, candidates,
                                                   helped, limits_.selected));
    Keep(std::move(row), "selection", best, limits_.selection_tokens);
    return Status::Ok();
  }

  Status Summary(const Attempt& other, const Attempt& best) {
    std::vector<std::string> added;
    for (const std::string& name : best.skills)
      if (std::find(other.skills.begin(), other.skills.end(), name) == other.skills.end())
        added.push_back(name);
    if (added.size() != 1) {
      ++made_.left_out["summary: the attempts differ in several skills"];
      return Status::Ok();
    }
    DAVINCI_ASSIGN_OR_RETURN(const auto injected, Skills(other.skills));
    const skill::Skill& skill = library_.at(added[0]);
    // A library without the skill that is to be written.
    std::vector<std::string> near = demo_.found;
    std::erase(near, skill.name);
    if (near.size() > agent::kNumCandidates) near.resize(agent::kNumCandidates);
    DAVINCI_ASSIGN_OR_RETURN(const auto existing, Skills(near));
    DAVINCI_ASSIGN_OR_RETURN(
        const llm::Request request,
        agent::BuildSummaryRequest(prompts_, demo_.brief, demo_.device, injected, existing,
                                   {1, CodeOf(other), other.evaluation},
                                   {2, CodeOf(best), best.evaluation}));
    const nlohmann::ordered_json arguments = {{"think", ""},
                                              {"new_skills",
                                               {{{"name", skill.name},
                                                 {"description", skill.description},
                                                 {"scope", skill.scope},
                                                 {"tags", skill.tags},
                                                 {"content", skill.content}}}}};
    DAVINCI_ASSIGN_OR_RETURN(Row prompt, sftdata::RowOfRequest(llm::ToJson(request)));
    auto example = sftdata::SummaryExample(
        std::move(prompt), ReplyWithCall(llm::kUpdateSkillLibraryTool, JsonText(arguments)), {0},
        agent::kMaxNewSkills);
    if (!example.problem.empty()) return InvalidArgument(example.problem);
    Keep(std::move(example.row), "summary", best, limits_.policy_tokens);
    return Status::Ok();
  }

  static constexpr size_t kNoLimit = 1 << 20;  // lengths are checked by Keep

  const agent::PromptSet& prompts_;
  const Demonstration& demo_;
  const std::map<std::string, skill::Skill>& library_;
  const RowLimits& limits_;
  DemoRows made_;
  bool selected_ = false;
};

}  // namespace

int64_t PromptTokens(const Row& row, const RowLimits& limits) {
  int64_t tokens = 0;
  for (size_t i = 0; i + 1 < row.messages.size(); ++i)
    tokens += limits.count_tokens(row.messages[i].content) + llm::kMessageOverheadTokens;
  for (const auto& tool : row.tools)
    tokens += limits.count_tokens(tool.name) + limits.count_tokens(tool.description) +
              limits.count_tokens(JsonText(tool.parameters)) + llm::kMessageOverheadTokens;
  return tokens;
}

void OrderByGain(const std::map<std::string, double>& gains, std::vector<std::string>* skills) {
  const auto gain = [&](const std::string& name) {
    const auto found = gains.find(name);
    return found == gains.end() ? 0 : found->second;
  };
  std::stable_sort(skills->begin(), skills->end(), [&](const auto& a, const auto& b) {
    return gain(a) != gain(b) ? gain(a) > gain(b) : a < b;
  });
}

Result<Row> SelectionRow(const agent::PromptSet& prompts, const agent::TaskBrief& brief,
                         const std::string& device, const std::vector<skill::Skill>& shown,
                         const std::vector<std::string>& chosen, int most) {
  DAVINCI_ASSIGN_OR_RETURN(const llm::Request request,
                           agent::BuildSelectionRequest(prompts, brief, device, shown, most));
  nlohmann::ordered_json arguments = {{"think", ""},
                                      {"selected_skills", nlohmann::ordered_json::array()}};
  std::vector<std::string> names;
  for (const skill::Skill& skill : shown) names.push_back(skill.name);
  for (const std::string& name : chosen) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return InvalidArgument(fmt::format("{} is not shown", name));
    arguments["selected_skills"].push_back(
        {{"name", name},
         {"reason", shown[static_cast<size_t>(found - names.begin())].description}});
  }
  DAVINCI_ASSIGN_OR_RETURN(Row prompt, sftdata::RowOfRequest(llm::ToJson(request)));
  auto example = sftdata::SelectionExample(
      std::move(prompt), ReplyWithCall(llm::kSelectSkillsTool, JsonText(arguments)), names, most);
  if (!example.problem.empty()) return InvalidArgument(example.problem);
  example.row.origin.skills = chosen;
  return std::move(example.row);
}

Result<DemoRows> RowsOf(const agent::PromptSet& prompts, const Demonstration& demonstration,
                        const std::map<std::string, skill::Skill>& library,
                        const RowLimits& limits) {
  if (demonstration.attempts.empty()) return InvalidArgument("a demonstration without attempts");
  return Maker(prompts, demonstration, library, limits).Make();
}

}  // namespace davinci::teacher
