#include "davinci/teacher/rules/rules.h"

namespace davinci::teacher {
namespace {

const std::set<Language> kAll = {Language::kTriton, Language::kCpp, Language::kCuda};
const std::set<Language> kTritonCpp = {Language::kTriton, Language::kCpp};
const std::set<Language> kTriton = {Language::kTriton};
const std::set<Language> kCpp = {Language::kCpp};
const std::set<Language> kCuda = {Language::kCuda};

}  // namespace

std::string_view LanguageName(Language language) {
  return language == Language::kTriton ? "triton" : language == Language::kCuda ? "cuda" : "cpp";
}

std::string_view LevelName(Level level) {
  return level == Level::kNaive ? "naive" : level == Level::kBetter ? "better" : "best";
}

std::span<const RuleInfo> Rules() {
#define DAVINCI_RULE(rule, name, skill, languages, level) \
  {Rule::rule, name, skill, languages, Level::level},
  static const RuleInfo rules[] = {DAVINCI_TEACHER_RULES(DAVINCI_RULE)};
#undef DAVINCI_RULE
  return rules;
}

const RuleInfo& InfoOf(Rule rule) { return Rules()[static_cast<size_t>(rule)]; }

std::optional<Rule> RuleNamed(std::string_view name) {
  for (const RuleInfo& info : Rules())
    if (info.name == name) return info.rule;
  return std::nullopt;
}

RuleSet RuleSet::Of(Level level, Language language) {
  RuleSet rules;
  for (const RuleInfo& info : Rules())
    if (info.level <= level && info.languages.contains(language)) rules.Insert(info.rule);
  return rules;
}

RuleSet RuleSet::In(Language language) const {
  RuleSet rules = Of(Level::kBest, language);
  rules.rules_ &= rules_;
  return rules;
}

std::set<std::string> RuleSet::Names() const {
  std::set<std::string> names;
  for (const RuleInfo& info : Rules())
    if (Contains(info.rule)) names.emplace(info.name);
  return names;
}

std::set<std::string> RuleSet::Skills() const {
  std::set<std::string> skills;
  for (const RuleInfo& info : Rules())
    if (Contains(info.rule)) skills.emplace(info.skill);
  return skills;
}

}  // namespace davinci::teacher
