// Whom a skill is for: the targets and languages it speaks about. Pure.
//
// The languages of a skill, first source that says something:
//   1. the headings of its examples
//   2. the languages of its evidence
//   3. its tags: triton, cpp (also c++), cuda-inline; cuda, unless triton is a tag or the content
//      holds Triton code, which is Triton then
// Its targets: those of its languages and of its evidence, and the tags cpu and cuda.
// A skill without either is for every language and target.
#pragma once

#include <vector>

#include "davinci/data/language.h"
#include "davinci/skill/examples.h"
#include "davinci/skill/skill.h"

namespace davinci::skill {

// For whom skills are looked for. kAuto: any language of the target.
struct Audience {
  Target target = Target::kCpu;
  Language language = Language::kAuto;
  auto operator<=>(const Audience&) const = default;
};

enum class Fit {
  kOtherTarget,    // of no use here
  kOtherLanguage,  // of this target, every example in another language
  kFits,           // of this target and language, or it does not say
};

// As stated above; empty: it does not say.
std::vector<Language> LanguagesOf(const Record& record);
Fit FitOf(const Record& record, const Audience& audience);

// Has it been measured on this target, in this language (or one of its family, or an unnamed one),
// with a lower end above 1 or correctness raised?
bool IsProvenFor(const Record& record, const Audience& audience);
// Factor on the score of a skill that is proven for the audience of a search.
inline constexpr double kProvenBonus = 1.25;

}  // namespace davinci::skill
