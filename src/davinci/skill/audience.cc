#include "davinci/skill/audience.h"

#include <algorithm>
#include <set>

namespace davinci::skill {
namespace {

bool HasTag(const Skill& skill, std::string_view tag) {
  return std::any_of(skill.tags.begin(), skill.tags.end(), [&](const std::string& one) {
    return one.size() == tag.size() &&
           std::equal(one.begin(), one.end(), tag.begin(), [](char a, char b) {
             return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
           });
  });
}

std::vector<Language> TaggedLanguages(const Skill& skill) {
  std::vector<Language> languages;
  const bool cuda = HasTag(skill, "cuda");
  const bool triton =
      HasTag(skill, "triton") || (cuda && (skill.content.find("tl.") != std::string::npos ||
                                           skill.content.find("triton") != std::string::npos));
  if (triton) languages.push_back(Language::kTriton);
  if (HasTag(skill, "cpp") || HasTag(skill, "c++")) languages.push_back(Language::kCpp);
  if (HasTag(skill, "cuda-inline")) languages.push_back(Language::kCudaInline);
  if (cuda && !triton) languages.push_back(Language::kCuda);
  return languages;
}

}  // namespace

std::vector<Language> LanguagesOf(const Record& record) {
  std::vector<Language> languages = ExampleLanguages(record.skill.content);
  if (!languages.empty()) return languages;
  for (const Evidence& evidence : record.evidence)
    if (const auto language = ParseLanguage(evidence.language); language && TargetOf(*language))
      languages.push_back(*language);
  return languages.empty() ? TaggedLanguages(record.skill) : languages;
}

Fit FitOf(const Record& record, const Audience& audience) {
  const std::vector<Language> languages = LanguagesOf(record);
  std::set<Target> targets;
  for (const Language language : languages) targets.insert(TargetOf(language).value());
  for (const Evidence& evidence : record.evidence)
    if (const auto target = ParseTarget(evidence.target)) targets.insert(*target);
  for (const Target target : {Target::kCpu, Target::kCuda})
    if (HasTag(record.skill, TargetName(target))) targets.insert(target);
  if (!targets.empty() && !targets.contains(audience.target)) return Fit::kOtherTarget;
  if (languages.empty() || audience.language == Language::kAuto) return Fit::kFits;
  const bool speaks = std::any_of(languages.begin(), languages.end(), [&](Language language) {
    return SameFamily(language, audience.language);
  });
  return speaks ? Fit::kFits : Fit::kOtherLanguage;
}

bool IsProvenFor(const Record& record, const Audience& audience) {
  return std::any_of(record.evidence.begin(), record.evidence.end(), [&](const Evidence& evidence) {
    const bool helps =
        evidence.uplift.low > 1 || (evidence.correctness && evidence.correctness->raised);
    if (evidence.target != TargetName(audience.target) || !helps) return false;
    const auto language = ParseLanguage(evidence.language);
    return !language || audience.language == Language::kAuto ||
           SameFamily(*language, audience.language);
  });
}

}  // namespace davinci::skill
