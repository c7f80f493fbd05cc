// Whom a skill is for: the targets and languages it speaks about, and the example that a reader of
// one language is shown. Pure.
//
// A skill in several languages has one example per language: sub-headings of "## Example" that name
// languages, and nothing else, begin one ("### triton", "### cuda, cuda-inline"). What stands
// before the first of them is for all.
//
// The languages of a skill, first source that says something:
//   1. the headings of its examples
//   2. the languages of its evidence
//   3. its tags: triton, cpp (also c++), cuda-inline; cuda, unless triton is a tag or the content
//      holds Triton code, which is Triton then
// Its targets: those of its languages and of its evidence, and the tags cpu and cuda.
// A skill without either is for every language and target.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/data/language.h"
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

// The target that a language runs on; nothing for kAuto and kPython.
std::optional<Target> TargetOf(Language language);
// cuda and cuda-inline are one language to a reader.
bool SameFamily(Language a, Language b);

// In the order of the headings, each once; empty without such headings.
std::vector<Language> ExampleLanguages(std::string_view content);
// As stated above; empty: it does not say.
std::vector<Language> LanguagesOf(const Record& record);
Fit FitOf(const Record& record, const Audience& audience);

// The content with the examples of this language only; without one of its own, those of its family,
// else those of its target, else all. kAuto and contents with at most one example: unchanged.
std::string ContentFor(std::string_view content, Language language);

// Has it been measured on this target, in this language (or one of its family, or an unnamed one),
// with a lower end above 1 or correctness raised?
bool IsProvenFor(const Record& record, const Audience& audience);

}  // namespace davinci::skill
