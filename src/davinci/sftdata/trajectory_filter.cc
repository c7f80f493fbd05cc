#include "davinci/sftdata/trajectory_filter.h"

#include <cctype>
#include <set>
#include <unordered_set>

#include "davinci/base/hash.h"

namespace davinci::sftdata {
namespace {

constexpr TurnChoice kChoices[] = {TurnChoice::kCorrect, TurnChoice::kImproving, TurnChoice::kBest,
                                   TurnChoice::kAll};

std::string RuleOf(const Turn& turn, const std::set<std::string>& earlier_code,
                   const TrajectoryRules& rules) {
  if (turn.evaluation.outcome == Outcome::kJudgeError) return "judge_error";
  if (turn.code_hash.empty()) return "no_code";
  if (turn.finish_reason == "length") return "truncated";
  if (RepeatedShare(turn.reply) > rules.max_repeated) return "loop";
  if (earlier_code.contains(turn.code_hash)) return "repeated_code";
  return "";
}

}  // namespace

std::string_view TurnChoiceName(TurnChoice choice) {
  switch (choice) {
    case TurnChoice::kCorrect:
      return "correct";
    case TurnChoice::kImproving:
      return "improving";
    case TurnChoice::kBest:
      return "best";
    case TurnChoice::kAll:
      return "all";
  }
  return "";
}

std::optional<TurnChoice> ParseTurnChoice(std::string_view name) {
  for (const TurnChoice choice : kChoices)
    if (TurnChoiceName(choice) == name) return choice;
  return std::nullopt;
}

double RepeatedShare(std::string_view text) {
  std::vector<uint64_t> words;
  for (size_t i = 0; i < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[i])) != 0) {
      ++i;
      continue;
    }
    const size_t begin = i;
    while (i < text.size() && std::isspace(static_cast<unsigned char>(text[i])) == 0) ++i;
    words.push_back(HashBytes(text.substr(begin, i - begin)));
  }
  if (words.size() < kMinLoopWords) return 0;
  std::unordered_set<uint64_t> seen;
  size_t repeated = 0;
  const size_t runs = words.size() - kLoopWords + 1;
  for (size_t i = 0; i < runs; ++i) {
    uint64_t hash = 0;
    for (size_t k = i; k < i + kLoopWords; ++k)
      hash = (hash ^ words[k]) * 0x9e3779b97f4a7c15ULL, hash ^= hash >> 29;
    repeated += !seen.insert(hash).second;
  }
  return static_cast<double>(repeated) / static_cast<double>(runs);
}

TrajectoryVerdict AssessTrajectory(const Trajectory& trajectory, const TrajectoryRules& rules) {
  TrajectoryVerdict verdict;
  std::set<std::string> code;
  double best = 0;
  for (const Turn& turn : trajectory.turns) {
    TurnVerdict& one = verdict.turns.emplace_back();
    one.rule = RuleOf(turn, code, rules);
    const bool correct = turn.evaluation.outcome == Outcome::kOk;
    if (correct && turn.evaluation.speedup) one.speedup = turn.evaluation.speedup->median;
    if (one.rule.empty() && !correct && rules.turns != TurnChoice::kAll) one.rule = "not_chosen";
    if (one.rule.empty() && rules.turns == TurnChoice::kImproving && one.speedup <= best)
      one.rule = "not_chosen";
    if (one.speedup > best) {
      best = one.speedup;
      verdict.best = static_cast<int>(verdict.turns.size());
    }
    if (!turn.code_hash.empty()) code.insert(turn.code_hash);
  }
  if (rules.turns == TurnChoice::kBest)
    for (size_t t = 0; t < verdict.turns.size(); ++t)
      if (verdict.turns[t].rule.empty() && static_cast<int>(t) + 1 != verdict.best)
        verdict.turns[t].rule = "not_chosen";
  if (best < rules.min_speedup) verdict.rule = "no_gain";
  return verdict;
}

}  // namespace davinci::sftdata
