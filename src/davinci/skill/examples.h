// The examples in a skill's content, one per language. Pure.
//
// A skill in several languages has one example per language: sub-headings of "## Example" that name
// languages, and nothing else, begin one ("### triton", "### cuda, cuda-inline"). What stands
// before the first of them is for all.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/data/language.h"

namespace davinci::skill {

// The target that a language runs on; nothing for kAuto and kPython.
std::optional<Target> TargetOf(Language language);
// cuda and cuda-inline are one language to a reader.
bool SameFamily(Language a, Language b);

// In the order of the headings, each once; empty without such headings.
std::vector<Language> ExampleLanguages(std::string_view content);

// The content with the examples of this language only; without one of its own, those of its family,
// else those of its target, else all. kAuto and contents with at most one example: unchanged.
std::string ContentFor(std::string_view content, Language language);

}  // namespace davinci::skill
